//! Runs the system's curl, which knows its proxies and certificates.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use url::Url;

/// Starts curl. It reads its configuration from standard input, because other users can read arguments.
///
/// # Errors
/// If the program cannot be run.
pub(super) fn start(program: &OsStr, options: &[&str], configuration: &str) -> io::Result<Child> {
    let mut child = Command::new(program)
        // Without ~/.curlrc, whose options could follow redirects or change the output.
        .arg("-q")
        .args(["--silent", "--show-error", "--globoff", "--proto", "=https,http", "--config", "-"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().expect("it is piped");
    // curl may have ended already; its message is the reason.
    let _ = input.write_all(configuration.as_bytes());
    Ok(child)
}

/// Returns the line of the configuration for a URL, no character of which ends its string.
pub(super) fn url_line(url: &Url) -> String {
    format!("url = \"{}\"\n", url.as_str().replace('\\', "%5C").replace('"', "%22"))
}

/// Returns the reason of a failure from the error output.
pub(super) fn reason(errors: &str) -> Option<&str> {
    let line = errors.lines().last()?;
    Some(line.strip_prefix("curl: ").unwrap_or(line)).filter(|line| !line.is_empty())
}
