//! Commands, printing, exit codes.

mod arguments;
mod build;
mod build_cache;
mod changed;
mod check;
mod completions;
mod curl;
mod diagnose;
mod environment;
mod estimate;
mod explain;
mod fit;
mod import;
mod init;
mod knowledge_base;
mod links;
mod man;
mod mcp;
mod migrate;
mod mine;
mod mv;
mod new;
mod progress;
mod rewrite;
mod serve;
mod stale;
mod terminal;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

pub use crate::cli::estimate::estimate_csv;

use crate::cli::arguments::{Arguments, Command, engines};
use crate::cli::terminal::Terminal;

/// Result of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No findings: exit code 0.
    Success,
    /// The content has errors, or a search found nothing: exit code 1.
    Findings,
    /// A command was run, and ended with this exit code.
    Command(i32),
}

/// Runs the program. The first argument is the program name.
///
/// The exit code is 0 on success, 1 for errors in the content, 2 for environment errors (I/O, bad arguments).
/// If the arguments name a command to run, the process exits with its code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let terminal = Terminal::new();
    let arguments = match Arguments::try_parse_from(engines::with_long_names(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match command(&arguments, &terminal).and_then(|outcome| terminal.finish().map(|()| outcome)) {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        // The exit code of a Windows program has 32 bits.
        Ok(Outcome::Command(code)) => std::process::exit(code),
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(2)
        }
    }
}

fn command(arguments: &Arguments, terminal: &Terminal) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::Build(options) => build::run(arguments, options, terminal),
        Command::Serve(options) => serve::run(arguments, options, terminal),
        Command::Check(options) => check::run(arguments, options, terminal),
        Command::New(options) => new::run(arguments, options, terminal),
        Command::Diagnose(options) => diagnose::run(arguments, options, terminal),
        Command::Explain(options) => explain::run(arguments, options, terminal),
        Command::Fit(options) => fit::run(arguments, options, terminal),
        Command::Estimate(options) => estimate::run(arguments, options, terminal),
        Command::Stale(options) => stale::run(arguments, options, terminal),
        Command::Links(options) => links::run(arguments, options, terminal),
        Command::Mcp(options) => mcp::run(arguments, options, terminal),
        Command::Migrate(options) => migrate::run(arguments, options, terminal),
        Command::Mv(options) => mv::run(arguments, options, terminal),
        Command::Mine(options) => mine::run(arguments, options, terminal),
        Command::Verify(options) => verify::run(arguments, options, terminal),
        Command::Import(_) | Command::Init(_) | Command::Completions(_) | Command::Man(_)
            if arguments.root.is_some() =>
        {
            anyhow::bail!("`--root` does not apply to a command that reads no site; remove it")
        }
        Command::Import(options) => import::run(options, terminal),
        Command::Init(options) => init::run(options, terminal),
        Command::Completions(options) => completions::run(options, terminal),
        Command::Man(options) => man::run(options, terminal),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
