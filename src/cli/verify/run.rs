//! Passes the commands of pages to a program that runs them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, Result, bail};

/// Returns, for each command, why it was rejected. The runner reads one JSON array of words per line, and prints a line for
/// each: empty, or the reason.
///
/// # Errors
/// If the runner cannot be started, fails, or prints another number of lines.
pub(super) fn run(runner: &Path, commands: &[Vec<String>]) -> Result<Vec<Option<String>>> {
    let fails = || format!("cannot run `{}`", runner.display());
    let mut child =
        Command::new(runner).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().with_context(fails)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let mut requests = String::new();
    for command in commands {
        requests += &serde_json::to_string(command)?;
        requests.push('\n');
    }
    let lines = thread::scope(|scope| {
        // A runner that stops reading reports the reason with its exit code.
        scope.spawn(|| input.map(|mut input| input.write_all(requests.as_bytes())));
        output.map_or_else(|| Ok(Vec::new()), |output| BufReader::new(output).lines().collect())
    });
    let (lines, status): (Vec<String>, _) = (lines.with_context(fails)?, child.wait().with_context(fails)?);
    if !status.success() {
        bail!("`{}` failed: {status}", runner.display());
    }
    if lines.len() != commands.len() {
        bail!("`{}` printed {} lines for {} commands", runner.display(), lines.len(), commands.len());
    }
    let reason = |line: String| Some(line.trim().to_string()).filter(|line| !line.is_empty());
    Ok(lines.into_iter().map(reason).collect())
}
