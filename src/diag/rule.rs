//! What every kind of finding carries with it: its code, what it says and why it matters.

/// A rule that content has to keep; `docs/checks.md` is written from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable name, in words joined by hyphens.
    pub code: &'static str,
    /// What is demanded, in one sentence.
    pub demands: &'static str,
    /// Why it is demanded, in one sentence.
    pub why: &'static str,
}
