//! What is said on the terminal: results to stdout, messages to stderr, color only where it is wanted.

use std::io::{IsTerminal, Write};

use crate::diag::{self, Colour, Diagnostic};
use crate::files::Sources;

/// How a part of a result looks on a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    /// What the result is about.
    Title,
    /// What matters in it.
    Strong,
    /// What was quoted.
    Muted,
}

/// The two streams, and whether they are colored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    messages: Colour,
    results: Colour,
}

impl Terminal {
    /// Looks at the streams and at `NO_COLOR` (<https://no-color.org>).
    pub fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let colour = |terminal: bool| if terminal && wanted { Colour::On } else { Colour::Off };
        Self {
            messages: colour(std::io::stderr().is_terminal()),
            results: colour(std::io::stdout().is_terminal()),
        }
    }

    /// A part of a result in its style.
    pub fn style(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Title => "1;36",
            Style::Strong => "1",
            Style::Muted => "2",
        };
        match self.results {
            Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Colour::Off => text.to_string(),
        }
    }

    /// A result. A reader that has gone away is no fault.
    pub fn print(&self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes());
        let _ = stdout.flush();
    }

    /// A message.
    pub fn say(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{text}");
    }

    /// Findings and their count as a result.
    pub fn print_findings(&self, found: &[Diagnostic], sources: &Sources) {
        let report = diag::human(found, sources, self.results);
        self.print(&format!("{}\n\n{}\n", report.trim_end(), diag::summary(found)));
    }

    /// Findings and their count as a message.
    pub fn findings(&self, found: &[Diagnostic], sources: &Sources) {
        if !found.is_empty() {
            self.say(diag::human(found, sources, self.messages).trim_end());
            self.say(&format!("\n{}", diag::summary(found)));
        }
    }

    /// What stood in the way, with its causes.
    pub fn error(&self, error: &anyhow::Error) {
        let (start, end) = match self.messages {
            Colour::On => ("\x1b[1;31m", "\x1b[0m"),
            Colour::Off => ("", ""),
        };
        self.say(&format!("{start}error{end}: {error:#}"));
    }
}
