//! What is said on the terminal: results to stdout, messages to stderr, color only where it is wanted.

use std::io::{IsTerminal, Write};

use serde::Serialize;

use crate::diag::{self, Diagnostic};
use crate::escape::{self, ColorChoice, Style, TerminalText, WorkflowCommands};
use crate::files::Sources;

/// The two streams, and whether they are colored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    messages: ColorChoice,
    results: ColorChoice,
}

impl Terminal {
    /// Looks at the streams and at `NO_COLOR` (<https://no-color.org>).
    pub fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let color = |terminal: bool| if terminal && wanted { ColorChoice::On } else { ColorChoice::Off };
        Self {
            messages: color(std::io::stderr().is_terminal()),
            results: color(std::io::stdout().is_terminal()),
        }
    }

    /// Writes a result. A reader that has gone away is no fault.
    pub fn print(&self, text: impl Into<TerminalText>) {
        self.write_result(&text.into().render(self.results));
    }

    /// Writes a result as JSON.
    pub fn print_json(&self, value: &impl Serialize) {
        self.print(escape::json(value));
    }

    /// Writes commands for the runner of a workflow.
    pub fn print_commands(&self, commands: &WorkflowCommands) {
        self.write_result(&commands.to_string());
    }

    fn write_result(&self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes());
        let _ = stdout.flush();
    }

    /// Writes a message.
    pub fn say(&self, text: impl Into<TerminalText>) {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{}", text.into().render(self.messages));
    }

    /// Writes findings and their count as a result.
    pub fn print_findings(&self, found: &[Diagnostic], sources: &Sources) {
        let mut text = with_summary(found, sources);
        text.push("\n");
        self.print(text);
    }

    /// Writes findings and their count as a message; nothing where there are none.
    pub fn findings(&self, found: &[Diagnostic], sources: &Sources) {
        if !found.is_empty() {
            self.say(with_summary(found, sources));
        }
    }

    /// Writes the failure of a command, with its causes.
    pub fn error(&self, error: &anyhow::Error) {
        let mut text = TerminalText::styled(Style::Error, "error");
        text.push(format!(": {error:#}"));
        self.say(text);
    }
}

fn with_summary(found: &[Diagnostic], sources: &Sources) -> TerminalText {
    let mut text = diag::report(found, sources);
    text.push(diag::summary(found));
    text
}
