//! Terminal output: results to stdout, messages to stderr, color if the stream is a terminal and `NO_COLOR` is not set.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};
use serde::Serialize;

use crate::diag::{self, Diagnostic};
use crate::escape::{self, ColorChoice, Style, TerminalText, WorkflowCommands};
use crate::files::Sources;
use crate::site::format_count;

/// Color settings of stdout and stderr.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    messages: ColorChoice,
    results: ColorChoice,
    /// Why a result could not be written.
    failure: Arc<OnceLock<io::Error>>,
}

impl Terminal {
    /// Detects color support from the streams and `NO_COLOR` (<https://no-color.org>).
    pub fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let color = |terminal: bool| if terminal && wanted { ColorChoice::On } else { ColorChoice::Off };
        Self {
            messages: color(io::stderr().is_terminal()),
            results: color(io::stdout().is_terminal()),
            failure: Arc::default(),
        }
    }

    /// Returns whether all results were written.
    ///
    /// # Errors
    /// The first failure, such as a full disk. A closed pipe is none: its reader has read enough.
    pub fn finish(&self) -> Result<()> {
        match self.failure.get() {
            Some(error) => bail!("cannot write to standard output: {error}"),
            None => Ok(()),
        }
    }

    /// Writes a result to stdout; see [`Terminal::finish`] for failures.
    pub fn print(&self, text: impl Into<TerminalText>) {
        self.write_result(&text.into().render(self.results));
    }

    /// Writes a result as JSON.
    pub fn print_json(&self, value: &impl Serialize) {
        self.print(escape::json(value));
    }

    /// Writes GitHub workflow commands to stdout.
    pub fn print_commands(&self, commands: &WorkflowCommands) {
        self.write_result(&commands.to_string());
    }

    fn write_result(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                let _ = self.failure.set(error);
            }
            _ => {}
        }
    }

    /// Returns stdout for bytes that are not text of kbgen: the output of a command, messages of a protocol.
    pub fn raw_stdout(&self) -> impl Write + Send + use<> {
        io::stdout()
    }

    /// Returns stderr for the output of a command.
    pub fn raw_stderr(&self) -> impl Write + Send + use<> {
        io::stderr()
    }

    /// Writes a message to stderr.
    pub fn message(&self, text: impl Into<TerminalText>) {
        let mut stderr = io::stderr().lock();
        let _ = writeln!(stderr, "{}", text.into().render(self.messages));
    }

    /// Writes findings and their count to stdout.
    pub fn print_findings(&self, found: &[Diagnostic], sources: &Sources) {
        let mut text = with_summary(found, sources);
        text.push("\n");
        self.print(text);
    }

    /// Writes findings and their count to stderr, if there are any.
    pub fn findings(&self, found: &[Diagnostic], sources: &Sources) {
        if !found.is_empty() {
            self.message(with_summary(found, sources));
        }
    }

    /// Writes the error of a command with its chain of causes to stderr.
    pub fn error(&self, error: &anyhow::Error) {
        let mut text = TerminalText::styled(Style::Error, "error");
        text.push(format!(": {error:#}"));
        self.message(text);
    }
}

/// Formats a number of things whose plural ends in `s`: `1 page`, `1,200 pages`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", format_count(number as u64), if number == 1 { "" } else { "s" })
}

/// Returns the warning of commands that go on without the files that they cannot read.
pub(crate) fn faulty_files_warning(count: usize) -> String {
    let (files, have) = (counted(count, "file"), if count == 1 { "has" } else { "have" });
    format!("warning: {files} {have} errors and may be missing from the result; run `kbgen check`")
}

fn with_summary(found: &[Diagnostic], sources: &Sources) -> TerminalText {
    let mut text = diag::report(found, sources);
    text.push(diag::summary(found));
    text
}

#[cfg(test)]
mod tests {
    use super::{counted, faulty_files_warning};

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([counted(1, "page"), counted(1200, "page")], ["1 page", "1,200 pages"]);
        assert!(faulty_files_warning(1).contains("1 file has errors"));
    }
}
