//! Counts the steps of matching, and ends the work on a stretch of text that takes too many.

use serde::{Deserialize, Serialize};

/// Characters of normal text that share one limit.
pub(crate) const STRETCH: usize = 1024;
/// Steps that matching may take in one stretch. A log of the programs that this site knows takes at most a twelfth of it.
pub const STEPS: usize = 1 << 16;

/// Steps that were taken in the stretch being read. A step is one end of a hole, or 16 compared characters. The script
/// `static/js/match.js` counts alike, so that both end at the same place.
#[derive(Debug, Clone)]
pub(crate) struct Effort {
    /// Steps so far, in the whole text.
    pub steps: u64,
    left: usize,
    exhausted: bool,
}

/// Steps that one pattern took in one stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cost {
    /// How many.
    pub steps: u64,
    /// Index of the pattern in the table.
    pub pattern: usize,
}

impl Effort {
    /// A counter with the limit of each stretch.
    pub fn new() -> Self {
        Self { steps: 0, left: STEPS, exhausted: false }
    }

    /// Counts `steps`; none where the limit is reached, and from then on until the next stretch.
    pub fn charge(&mut self, steps: usize) -> Option<()> {
        self.exhausted |= steps > self.left;
        if self.exhausted {
            return None;
        }
        self.left -= steps;
        self.steps += steps as u64;
        Some(())
    }

    /// Whether the limit of this stretch was reached.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Begins the next stretch.
    pub fn renew(&mut self) {
        self.left = STEPS;
        self.exhausted = false;
    }
}
