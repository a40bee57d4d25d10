//! Asks for addresses with curl, several hosts at once, one address after another on each.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};

/// So many hosts are asked at once.
const AT_ONCE: usize = 8;
/// What curl ends with where a host has no address (`CURLE_COULDNT_RESOLVE_HOST`).
const UNKNOWN_HOST: u32 = 6;
/// What curl prints of an answer: status, its own code, redirects, the last address.
const PRINTED: &str = "%{http_code} %{exitcode} %{num_redirects} %{url_effective}\\n";

/// What came of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// Status of the last response; 0 without one.
    pub status: u32,
    /// Whether its host has no address.
    pub is_unknown_host: bool,
    /// Whether it was led elsewhere, and not to a login.
    pub is_moved: bool,
    /// The address that answered.
    pub from: String,
}

/// The answers, in the order of the hosts.
///
/// # Errors
/// When curl cannot be run.
pub(super) fn ask(urls: &[&str]) -> Result<Vec<(String, Answer)>> {
    let mut by_host: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for url in urls {
        by_host.entry(url.split('/').nth(2).unwrap_or("")).or_default().push(url);
    }
    let waiting = Mutex::new(by_host.into_values());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let work = || {
        let mut answers = Vec::new();
        while let Some(urls) = next() {
            answers.extend(ask_host(&urls)?);
        }
        anyhow::Ok(answers)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE.min(urls.len())).map(|_| scope.spawn(work)).collect();
        let mut answers = Vec::new();
        for thread in threads {
            answers.extend(thread.join().expect("asking does not panic")?);
        }
        answers.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(answers)
    })
}

/// Asks for the heads first, and for the beginnings of those that were refused.
fn ask_host(urls: &[&str]) -> Result<Vec<(String, Answer)>> {
    let heads = curl(urls, "head")?;
    let (good, bad): (Vec<_>, Vec<_>) = heads
        .into_iter()
        .partition(|(_, answer)| matches!(answer.status, 200..=399) || answer.is_unknown_host);
    let again: Vec<&str> = bad.iter().map(|(url, _)| url.as_str()).collect();
    let mut answers = good;
    if !again.is_empty() {
        answers.extend(curl(&again, "range = \"0-1023\"")?);
    }
    Ok(answers)
}

/// One curl for all, so that a connection serves many addresses.
fn curl(urls: &[&str], how: &str) -> Result<Vec<(String, Answer)>> {
    let mut child = Command::new("curl")
        .args(["--silent", "--location", "--max-redirs", "10", "--connect-timeout", "10", "--max-time", "30"])
        .args(["--proto", "=https,http", "--proto-redir", "=https,http", "--compressed"])
        .args(["--user-agent", concat!("kbgen-links/", env!("CARGO_PKG_VERSION"))])
        .args(["--write-out", PRINTED, "--config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot run `curl`, which asks for the addresses")?;
    let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let entries: Vec<String> = urls
        .iter()
        .map(|url| {
            format!("url = \"{}\"\noutput = \"{nowhere}\"\n", url.replace('\\', "%5C").replace('"', "%22"))
        })
        .collect();
    let mut input = child.stdin.take().context("curl takes no input")?;
    input
        .write_all(format!("{how}\ngloboff\n{}", entries.concat()).as_bytes())
        .context("curl ended early")?;
    drop(input);
    let output = child.wait_with_output().context("curl did not end")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = said.lines();
    Ok(urls.iter().map(|url| ((*url).to_string(), read(url, lines.next().unwrap_or("")))).collect())
}

/// Reads what curl printed of one address.
fn read(url: &str, line: &str) -> Answer {
    let mut words = line.splitn(4, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let (status, code, redirects) = (number(), number(), number());
    let from = words.next().unwrap_or(url).to_string();
    Answer {
        status,
        is_unknown_host: code == UNKNOWN_HOST,
        is_moved: redirects > 0 && !["login", "signin", "sign_in"].iter().any(|word| from.contains(word)),
        from,
    }
}
