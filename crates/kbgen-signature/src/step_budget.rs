//! Limits the steps that matching may take in each window of the text, and in the long run.

use serde::{Deserialize, Serialize};

/// Length of a window in characters of normal text.
pub(crate) const WINDOW_LENGTH: usize = 1024;
/// Maximum steps in a window of 1,024 characters. Logs of the programs in the knowledge base need at most a twelfth of it.
pub const MAX_STEPS_PER_WINDOW: usize = 1 << 16;
/// Steps that each window adds to those which the windows before it left over, up to the maximum. A long hostile log is
/// limited to these. The median log of 770 reports needs half of them, as does the densest of those with 20,000 letters.
pub const STEPS_PER_WINDOW: usize = 1 << 11;
/// Number of different patterns after which the rest of a text is skipped. 27 logs without errors together contain 78.
pub const MAX_FOUND_PATTERNS: usize = 1 << 8;

/// Counts the steps of matching. A step is one tried end of a placeholder, or 16 compared characters.
///
/// `static/js/match.js` counts in the same way, so that both implementations stop at the same position.
#[derive(Debug, Clone)]
pub(crate) struct StepBudget {
    /// Steps in all windows so far.
    pub steps: u64,
    remaining: usize,
    exhausted: bool,
    closed: bool,
}

/// The steps of one pattern in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PatternCost {
    /// Number of steps.
    pub steps: u64,
    /// Index of the pattern in the table.
    pub pattern: usize,
}

impl StepBudget {
    pub fn new() -> Self {
        Self { steps: 0, remaining: MAX_STEPS_PER_WINDOW, exhausted: false, closed: false }
    }

    /// Adds steps; returns `None` once the limit is exceeded, until the next window starts.
    pub fn charge(&mut self, steps: usize) -> Option<()> {
        self.exhausted |= steps > self.remaining;
        if self.exhausted {
            return None;
        }
        self.remaining -= steps;
        self.steps += steps as u64;
        Some(())
    }

    /// Allows no more steps in this window and all later ones.
    pub fn close(&mut self) {
        self.closed = true;
        self.exhausted = true;
    }

    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    pub fn start_window(&mut self) {
        self.remaining = (self.remaining + STEPS_PER_WINDOW).min(MAX_STEPS_PER_WINDOW);
        self.exhausted = self.closed;
    }
}
