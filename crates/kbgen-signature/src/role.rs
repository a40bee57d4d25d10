//! Roles of readings.

use serde::{Deserialize, Serialize};

/// Claim of a reading about the cause, in the order of an answer. Those that do not name the cause are left out where another one
/// does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadingRole {
    /// Names the cause.
    #[default]
    Cause,
    /// Names the cause in any message of a form. It says nothing of a message that only passes on a failure, which a reading
    /// that does not name the cause has.
    Form,
    /// Says what failed, not why.
    Outcome,
    /// Says that the program crashed. A warning or a failed import before the crash is not its cause.
    Crash,
    /// Says where the cause is.
    Pointer,
    /// Only repeats a message; left out where a page or another reading has its line.
    Repeat,
}

impl ReadingRole {
    pub(crate) fn is_cause(&self) -> bool {
        *self == Self::Cause
    }

    /// Returns whether it names the cause, not only how the program ended or where the cause is.
    pub(crate) fn names_cause(self) -> bool {
        self <= Self::Form
    }

    /// Returns whether it says how the program ended, without the cause.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Outcome | Self::Crash)
    }

    /// Returns whether it explains a failure without its cause.
    pub(crate) fn explains(self) -> bool {
        self.ends() || self == Self::Pointer
    }
}
