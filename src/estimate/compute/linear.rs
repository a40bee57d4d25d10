//! Sizes that grow with the cache: a value now, and what each further step of cells adds.

use std::ops::{Add, Sub};

/// `at` bytes now, `at + slope * n` after `n` more steps of 256 cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Linear {
    pub(crate) at: i64,
    pub(crate) slope: i64,
}

impl Linear {
    /// The size between `now` and, one step later, `then`.
    pub(crate) fn between(now: u64, then: u64) -> Linear {
        Linear { at: now as i64, slope: then as i64 - now as i64 }
    }

    /// The size from so many steps later on.
    pub(crate) fn after(self, steps: u64) -> Linear {
        Linear { at: self.at + self.slope * steps as i64, slope: self.slope }
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

/// How many further steps every answer given so far stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Horizon {
    pub(crate) steps: u64,
}

impl Horizon {
    /// No answer given yet.
    pub(crate) fn new() -> Horizon {
        Horizon { steps: u64::MAX }
    }

    fn limit(&mut self, steps: i64) {
        self.steps = self.steps.min(steps.max(0) as u64);
    }

    /// Whether `a` is at least `b`.
    pub(crate) fn at_least(&mut self, a: Linear, b: Linear) -> bool {
        let gap = a - b;
        let answer = gap.at >= 0;
        match (answer, gap.slope) {
            (true, slope) if slope < 0 => self.limit(gap.at / -slope),
            (false, slope) if slope > 0 => self.limit((-gap.at - 1) / slope),
            _ => {}
        }
        answer
    }

    /// Whether `a` and `b` are equal.
    pub(crate) fn equal(&mut self, a: Linear, b: Linear) -> bool {
        let gap = a - b;
        if gap.at == 0 {
            if gap.slope != 0 {
                self.limit(0);
            }
            return true;
        }
        if gap.slope != 0 && gap.at % gap.slope == 0 && -gap.at / gap.slope > 0 {
            self.limit(-gap.at / gap.slope - 1);
        }
        false
    }

    /// The next multiple of `alignment`.
    pub(crate) fn aligned(&mut self, size: Linear, alignment: u64) -> Linear {
        let alignment = alignment as i64;
        if size.slope % alignment != 0 {
            self.limit(0);
        }
        let rest = size.at.rem_euclid(alignment);
        let at = if rest == 0 { size.at } else { size.at + alignment - rest };
        Linear { at, slope: size.slope }
    }
}
