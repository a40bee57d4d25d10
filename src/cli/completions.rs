//! `kbgen completions`: prints a completion script, generated from the command line.

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, CompletionsOptions};
use crate::cli::terminal::Terminal;

pub(super) fn run(options: &CompletionsOptions, terminal: &Terminal) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "kbgen", &mut script);
    terminal.print(String::from_utf8(script)?);
    Ok(Outcome::Success)
}
