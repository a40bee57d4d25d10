//! Sizes in the allocator's arithmetic: plain bytes, and bytes that grow linearly with the cache.

use std::fmt::Debug;
use std::ops::{Add, Mul, Sub};

/// Size in the allocator's arithmetic. Every comparison limits the horizon to the steps for which its result
/// is valid.
pub(crate) trait Size:
    Copy + Debug + Default + PartialEq + From<u64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Validity of the comparisons so far.
    type Horizon: Debug + Default;

    /// Larger than any buffer.
    const UNBOUNDED: Self;

    /// Returns the bytes at the current number of cells.
    fn now(self) -> u64;

    /// Returns whether this is at least `other`.
    fn at_least(self, other: Self, horizon: &mut Self::Horizon) -> bool;

    /// Returns whether this equals `other`.
    fn equals(self, other: Self, horizon: &mut Self::Horizon) -> bool;

    /// Rounds up to a multiple of `alignment`, a power of two.
    fn aligned(self, alignment: u64, horizon: &mut Self::Horizon) -> Self;
}

impl Size for u64 {
    type Horizon = ();

    const UNBOUNDED: u64 = u64::MAX / 4;

    fn now(self) -> u64 {
        self
    }

    fn at_least(self, other: u64, (): &mut ()) -> bool {
        self >= other
    }

    fn equals(self, other: u64, (): &mut ()) -> bool {
        self == other
    }

    fn aligned(self, alignment: u64, (): &mut ()) -> u64 {
        self.next_multiple_of(alignment)
    }
}

/// Size of `at` bytes now, and of `at + slope * n` bytes after `n` more steps of 256 cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Linear {
    pub(crate) at: i64,
    pub(crate) slope: i64,
}

impl Linear {
    /// Creates the size that is `now` at the current step and `then` one step later.
    pub(crate) fn between(now: u64, then: u64) -> Linear {
        Linear { at: now as i64, slope: then as i64 - now as i64 }
    }

    /// Returns the size shifted by a number of steps.
    pub(crate) fn after(self, steps: u64) -> Linear {
        Linear { at: self.at + self.slope * steps as i64, slope: self.slope }
    }
}

impl From<u64> for Linear {
    fn from(bytes: u64) -> Linear {
        Linear { at: bytes as i64, slope: 0 }
    }
}

impl Add for Linear {
    type Output = Linear;
    fn add(self, other: Linear) -> Linear {
        Linear { at: self.at + other.at, slope: self.slope + other.slope }
    }
}

impl Sub for Linear {
    type Output = Linear;
    fn sub(self, other: Linear) -> Linear {
        Linear { at: self.at - other.at, slope: self.slope - other.slope }
    }
}

impl Mul for Linear {
    type Output = Linear;
    /// At least one factor must be constant: no tensor has the cells in two dimensions.
    fn mul(self, other: Linear) -> Linear {
        debug_assert!(self.slope == 0 || other.slope == 0, "a size is a line over cells");
        Linear { at: self.at * other.at, slope: self.slope * other.at + self.at * other.slope }
    }
}

/// Number of further steps in which all comparisons have the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Horizon {
    pub(crate) steps: u64,
}

impl Default for Horizon {
    /// Creates a horizon without any comparison: more steps than any context has.
    fn default() -> Horizon {
        Horizon { steps: 1 << 22 }
    }
}

impl Horizon {
    /// Creates a horizon of at most this number of steps.
    pub(crate) fn within(steps: u64) -> Horizon {
        Horizon { steps: steps.min(Horizon::default().steps) }
    }

    /// Limits the horizon to the steps in which `gap` stays at least zero, if it shrinks by `slope` bytes per
    /// step (both above zero).
    fn closes(&mut self, gap: i64, slope: i64) {
        // A multiplication usually shows that no division is needed.
        if gap < slope.saturating_mul(self.steps as i64) {
            self.steps = (gap / slope) as u64;
        }
    }
}

impl Size for Linear {
    type Horizon = Horizon;

    const UNBOUNDED: Linear = Linear { at: i64::MAX / 4, slope: 0 };

    fn now(self) -> u64 {
        self.at as u64
    }

    #[inline]
    fn at_least(self, other: Linear, horizon: &mut Horizon) -> bool {
        let gap = self - other;
        let answer = gap.at >= 0;
        if answer && gap.slope < 0 {
            horizon.closes(gap.at, -gap.slope);
        } else if !answer && gap.slope > 0 {
            // the result changes when the gap reaches zero
            horizon.closes(-gap.at - 1, gap.slope);
        }
        answer
    }

    #[inline]
    fn equals(self, other: Linear, horizon: &mut Horizon) -> bool {
        let gap = self - other;
        if gap.at == 0 {
            if gap.slope != 0 {
                horizon.steps = 0;
            }
            return true;
        }
        if gap.slope != 0 && (gap.at < 0) == (gap.slope > 0) {
            let (gap, slope) = (gap.at.abs(), gap.slope.abs());
            if gap <= slope.saturating_mul(horizon.steps as i64) && gap % slope == 0 {
                horizon.steps = (gap / slope - 1) as u64;
            }
        }
        false
    }

    #[inline]
    fn aligned(self, alignment: u64, horizon: &mut Horizon) -> Linear {
        let alignment = alignment as i64;
        if self.slope & (alignment - 1) != 0 {
            horizon.steps = 0;
        }
        Linear { at: (self.at + alignment - 1) & !(alignment - 1), slope: self.slope }
    }
}
