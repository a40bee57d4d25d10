//! Functions and statements that report errors.

use serde::Serialize;

/// How a program reports a message, least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Site {
    /// Logged as a warning.
    Warning,
    /// Logged as an error.
    Error,
    /// Thrown, raised, returned as an error, or followed by an abort.
    Exception,
}

impl Site {
    /// Returns how a function or a keyword reports its message: `throw`, `LLAMA_LOG_ERROR`, `fmt.Errorf`, `ValueError`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        const EXCEPTIONS: [&str; 11] = [
            "fatal",
            "panic",
            "abort",
            "assert",
            "throw",
            "raise",
            "exception",
            "runtime_error",
            "bail",
            "ensure",
            "errorf",
        ];
        let lower = name.to_lowercase();
        let is_macro = !name.contains(|c: char| c.is_lowercase());
        if lower.contains("warn") || lower.contains("wrn") {
            return Some(Self::Warning);
        }
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_type = last != "Error" && last.ends_with("Error")
            || name.ends_with("errors.New")
            || name.ends_with("_argument");
        if is_type
            || EXCEPTIONS.iter().any(|word| lower.contains(word))
            || is_macro && ["check", "fail"].iter().any(|word| lower.contains(word))
        {
            return Some(Self::Exception);
        }
        let is_error = lower.contains("error")
            || lower.split('_').any(|word| word == "err")
            || ["stderr", "cerr", "critical"].iter().any(|word| lower.ends_with(word));
        is_error.then_some(Self::Error)
    }
}
