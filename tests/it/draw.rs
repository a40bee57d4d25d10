//! Deterministic pseudorandom numbers.

/// A linear congruential generator with its state.
pub struct Draw(pub u64);

impl Draw {
    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    /// Returns an element of a list.
    pub fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}
