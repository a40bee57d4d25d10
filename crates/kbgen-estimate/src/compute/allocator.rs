//! Simulates ggml's graph allocator with one growing buffer.
//!
//! The rules are those of ggml's `src/ggml-alloc.c` (<https://github.com/ggml-org/ggml>, state of October
//! 2026): best fit among free blocks, and merging of adjacent free blocks on release.

use crate::compute::size::Size;

/// Simulated buffer that grows as needed. Sizes are multiples of its alignment.
#[derive(Debug)]
pub(crate) struct Buffer<N> {
    /// Free blocks `(offset, size)`, ordered by offset as in ggml; the last one is unbounded.
    pub(crate) free: Vec<(N, N)>,
    /// Largest end of an allocation so far.
    pub(crate) largest: N,
}

impl<N: Size> Buffer<N> {
    /// Creates an empty buffer.
    pub(crate) fn new() -> Buffer<N> {
        Buffer { free: vec![(N::default(), N::UNBOUNDED)], largest: N::default() }
    }

    /// Allocates from the smallest free block that is large enough, and from the last of several equal ones.
    /// Returns the offset.
    pub(crate) fn allocate(&mut self, size: N, horizon: &mut N::Horizon) -> N {
        let last = self.free.len() - 1;
        let mut best = last;
        let mut best_size = N::UNBOUNDED;
        for (place, (_, free)) in self.free[..last].iter().enumerate() {
            if free.at_least(size, horizon) && best_size.at_least(*free, horizon) {
                best = place;
                best_size = *free;
            }
        }
        let (offset, free) = self.free[best];
        self.free[best] = (offset + size, free - size);
        if best != last && free.equals(size, horizon) {
            self.free.remove(best);
        }
        let end = offset + size;
        if !self.largest.at_least(end, horizon) {
            self.largest = end;
        }
        offset
    }

    /// Releases a block and merges it with adjacent free blocks. As in ggml, all free blocks are compared: empty ones, of
    /// tensors without elements, can lie within others, so the order of the blocks does not show which are adjacent.
    pub(crate) fn release(&mut self, offset: N, size: N, horizon: &mut N::Horizon) {
        for place in 0..self.free.len() {
            let (start, free) = self.free[place];
            if (start + free).equals(offset, horizon) {
                self.free[place].1 = free + size;
                self.merge(place, horizon);
                return;
            }
            if (offset + size).equals(start, horizon) {
                self.free[place] = (offset, free + size);
                if place > 0 {
                    self.merge(place - 1, horizon);
                }
                return;
            }
        }
        let mut place = 0;
        while place < self.free.len() && !self.free[place].0.at_least(offset, horizon) {
            place += 1;
        }
        self.free.insert(place, (offset, size));
    }

    /// Merges a block with the next one if they are adjacent.
    fn merge(&mut self, place: usize, horizon: &mut N::Horizon) {
        let (offset, size) = self.free[place];
        if let Some((next, more)) = self.free.get(place + 1).copied()
            && (offset + size).equals(next, horizon)
        {
            self.free[place].1 = size + more;
            self.free.remove(place + 1);
        }
    }
}
