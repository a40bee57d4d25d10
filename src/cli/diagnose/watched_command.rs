//! Runs a command, passes its output on as it comes, and keeps the end of it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::future::ready;
use std::io::{ErrorKind, Read, Write};
use std::pin::pin;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::terminal::Terminal;

/// Bytes of output that are kept.
const TAIL_BYTES: usize = 1024 * 1024;
/// Bytes of a line that are held back until the line ends, so that standard output and error do not mix within it.
const LINE_BYTES: usize = 64 * 1024;
/// Time for the rest of the output after the command has ended. A process that it started can keep the streams open.
const REST: Duration = Duration::from_secs(3);
/// Exit code of a shell for a command that Ctrl-C ended.
const INTERRUPTED: i32 = 130;
/// Exit code of a Windows program that Ctrl-C ended (`STATUS_CONTROL_C_EXIT`).
const CONTROL_C_EXIT: i32 = 0xC000_013A_u32.cast_signed();

/// End of a command.
pub(super) struct CommandEnd {
    /// Exit code; 128 and the number of the signal if one ended it, as in a shell.
    pub code: i32,
    /// End of the output and the reason, if the command failed and was not interrupted with Ctrl-C.
    pub failure: Option<String>,
}

/// Runs a command to its end. Ctrl-C reaches the command, not kbgen.
///
/// # Errors
/// If the command cannot be started.
pub(super) fn watch(program: &OsStr, arguments: &[OsString], terminal: &Terminal) -> Result<CommandEnd> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let mut interrupt = pin!(tokio::signal::ctrl_c());
    // The first poll installs the handler. The terminal sends the signal to the command, too, which decides on its end.
    runtime.context("cannot handle Ctrl-C")?.block_on(async {
        tokio::select! {
            biased;
            _ = &mut interrupt => {}
            () = ready(()) => {}
        }
    });
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let fails = || format!("cannot run `{}`", program.display());
    let mut child = command.spawn().with_context(fails)?;
    let tail = Arc::default();
    let (open, streams) = channel();
    if let Some(output) = child.stdout.take() {
        in_background(output, terminal.raw_stdout(), &tail, open.clone());
    }
    if let Some(errors) = child.stderr.take() {
        in_background(errors, terminal.raw_stderr(), &tail, open);
    }
    let status = child.wait().with_context(fails)?;
    // Nothing is sent: the wait ends when both threads have dropped their sender.
    let _ = streams.recv_timeout(REST);
    let code = exit_code(status);
    let is_failure = !status.success() && ![INTERRUPTED, CONTROL_C_EXIT].contains(&code);
    let failure = is_failure.then(|| {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        format!("{}{}\n", String::from_utf8_lossy(tail.make_contiguous()), reason(code))
    });
    Ok(CommandEnd { code, failure })
}

/// Passes a stream on in a thread of its own, which drops `open` at the end of the stream.
fn in_background(
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
    tail: &Arc<Mutex<VecDeque<u8>>>,
    open: Sender<()>,
) {
    let tail = Arc::clone(tail);
    thread::spawn(move || {
        pass_on(from, to, &tail);
        drop(open);
    });
}

/// Copies a stream to one of ours, and its lines to the tail. If ours is closed, the command finds its own closed.
fn pass_on(mut from: impl Read, mut to: impl Write, tail: &Mutex<VecDeque<u8>>) {
    let mut buffer = vec![0; LINE_BYTES];
    let mut line = Vec::new();
    loop {
        let piece = match from.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(length) if length > 0 => &buffer[..length],
            _ => break,
        };
        // A Windows console accepts nothing but UTF-8.
        let written = to.write_all(piece).or_else(|error| match error.kind() {
            ErrorKind::InvalidData => to.write_all(String::from_utf8_lossy(piece).as_bytes()),
            _ => Err(error),
        });
        line.extend_from_slice(piece);
        let end = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = if line.len() - end > LINE_BYTES { line.len() } else { end };
        keep(line.drain(..end), tail);
        if written.and_then(|()| to.flush()).is_err() {
            break;
        }
    }
    if !line.is_empty() {
        line.push(b'\n');
        keep(line, tail);
    }
}

fn keep(bytes: impl IntoIterator<Item = u8>, tail: &Mutex<VecDeque<u8>>) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend(bytes);
    let excess = tail.len().saturating_sub(TAIL_BYTES);
    tail.drain(..excess);
}

#[cfg(unix)]
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;

    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

#[cfg(not(unix))]
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

/// Returns the line that a shell or Docker prints for this exit code. Signatures match it.
fn reason(code: i32) -> String {
    match code - 128 {
        4 => "Illegal instruction".to_string(),
        6 => "Aborted".to_string(),
        8 => "Floating point exception".to_string(),
        9 => "Killed".to_string(),
        11 => "Segmentation fault".to_string(),
        15 => "Terminated".to_string(),
        _ => format!("exited with code {code}"),
    }
}
