//! Opens the system's browser.

use std::process::{Command, Stdio};

/// Starts the browser and waits until the command exits.
///
/// # Errors
/// Describes the failure in a phrase.
pub(crate) fn open(url: &str) -> Result<(), String> {
    let (program, arguments) = command(std::env::consts::OS);
    let status = Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{program}` ended with {status}")) }
}

/// Returns the command that opens a URL, to which the URL is appended.
fn command(os: &str) -> (&'static str, &'static [&'static str]) {
    match os {
        "macos" => ("open", &[]),
        // The first quoted argument of `start` is a title: https://learn.microsoft.com/windows-server/administration/windows-commands/start
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    }
}
