//! Sends every request of `tests/attacks.md` to the server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::served::{Served, starter, write};

/// Secrets, which must not be in any response.
const SECRET: &str = "the-secret";
/// Word in requests. A response with it reflects the request.
const CANARY: &str = "canary";

/// Row of a table.
struct Attack {
    what: String,
    sent: Vec<u8>,
    statuses: Vec<u16>,
    headers: Vec<(String, String)>,
}

/// One of possibly several responses.
#[derive(Debug)]
struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

fn attacks() -> Vec<Attack> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks.md");
    let page = fs::read_to_string(page).unwrap();
    page.lines().filter_map(attack).collect()
}

/// Parses a table row; returns `None` for other lines.
fn attack(line: &str) -> Option<Attack> {
    let (what, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
    let (sent, right) = rest.strip_suffix(" |")?.rsplit_once("` | ")?;
    let mut right = right.split(", ").peekable();
    let statuses = match right.next()? {
        "closed" => Vec::new(),
        statuses => statuses.split(' ').map(|status| status.parse().unwrap()).collect(),
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    for part in right {
        match (part.split_once(':'), headers.last_mut()) {
            (Some((name, value)), _) => headers.push((name.to_string(), value.trim().to_string())),
            (None, Some((_, value))) => *value = format!("{value}, {part}"),
            (None, None) => panic!("{line}"),
        }
    }
    Some(Attack { what: what.to_string(), sent: bytes(sent), statuses, headers })
}

/// Expands a cell to bytes.
fn bytes(cell: &str) -> Vec<u8> {
    if cell.contains("\\n") {
        return unescaped(&repeated(cell));
    }
    let mut lines = cell.split(" ⏎ ");
    let request = lines.next().expect("a cell has a line");
    let headers: Vec<&str> = lines.collect();
    let mut text = format!("{request} HTTP/1.1\r\n");
    let named = |name: &str| headers.iter().any(|line| line.starts_with(name));
    if !named("Host:") {
        text.push_str("Host: localhost\r\n");
    }
    if !named("Connection:") {
        text.push_str("Connection: close\r\n");
    }
    headers.iter().for_each(|line| text.push_str(&format!("{line}\r\n")));
    repeated(&(text + "\r\n")).into_bytes()
}

/// Expands repetitions such as `{x*9}`.
fn repeated(text: &str) -> String {
    let Some((before, rest)) = text.split_once('{') else { return text.to_string() };
    let (inner, after) = rest.split_once('}').expect("a brace is closed");
    let (what, times) = inner.rsplit_once('*').expect("`{what*times}`");
    before.to_string() + &what.repeat(times.parse().expect("a number")) + &repeated(after)
}

/// Decodes the escapes `\r`, `\n`, `\t`, `\0` and `\xNN`. Other backslashes are literal.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [b'0', ..]) => (0, 2),
            (b'\\', [b'x', high, low, ..]) => {
                let digits = [*high, *low];
                (u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap(), 4)
            }
            _ => (first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes
}

/// Splits the responses on one connection. Responses to HEAD have no body.
fn replies(mut text: &str, is_head: bool) -> Vec<Reply> {
    let mut replies = Vec::new();
    while let Some((head, rest)) = text.split_once("\r\n\r\n") {
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1."));
        let status = status.and_then(|line| line.split(' ').nth(1)).expect("a status line").parse().unwrap();
        let headers: BTreeMap<String, String> = lines
            .map(|line| line.split_once(": ").expect("a header"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let (body, after) = rest.split_at(if is_head || status == 304 { 0 } else { length });
        replies.push(Reply { status, headers, body: body.to_string() });
        text = after;
    }
    assert_eq!(text, "", "nothing but replies comes");
    replies
}

/// Returns the violations in the response to an attack.
fn faults(attack: &Attack, answer: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let replies = replies(answer, attack.sent.starts_with(b"HEAD "));
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    if statuses != attack.statuses {
        faults.push(format!("is answered {statuses:?}, not {:?}", attack.statuses));
    }
    for (name, begin) in &attack.headers {
        let value = replies.last().and_then(|reply| reply.headers.get(name));
        if !value.is_some_and(|value| value.starts_with(begin)) {
            faults.push(format!("has {name}: {value:?}, not {begin}"));
        }
    }
    for secret in [SECRET, "root:x:", CANARY] {
        let reflects = |reply: &Reply| {
            reply.body.contains(secret) || reply.headers.values().any(|value| value.contains(secret))
        };
        let is_allowed = secret == CANARY && attack.headers.iter().any(|(_, value)| value.contains(secret));
        if replies.iter().any(reflects) && !is_allowed {
            faults.push(format!("tells `{secret}`"));
        }
    }
    for reply in &replies {
        for name in
            reply.headers.keys().filter(|name| name.starts_with("access-control-") || *name == "set-cookie")
        {
            faults.push(format!("has {name}"));
        }
        let location = reply.headers.get("location");
        if location.is_some_and(|location| !location.starts_with("./")) {
            faults.push(format!("leads to {location:?}"));
        }
        if reply.body.is_empty() {
            continue;
        }
        for (name, begin) in [
            ("content-type", ""),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-cache"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            if !reply.headers.get(name).is_some_and(|value| value.starts_with(begin)) {
                faults.push(format!("has {name}: {:?}", reply.headers.get(name)));
            }
        }
    }
    faults
}

#[test]
fn no_attack_succeeds() {
    let root = starter();
    for path in ["secret.txt", ".env", ".git/config", "public/secret.txt", "public/index.html", "errors/.env"]
    {
        write(&root.path().join(path), SECRET);
    }
    symlink("/etc/passwd", root.path().join("public/leak")).unwrap();
    symlink(root.path(), root.path().join("public/up")).unwrap();
    let served = Served::start(root, &["--port", "0", "--allow-host", "kb.test"]);
    let attacks = attacks();
    let mut wrong = Vec::new();
    for attack in &attacks {
        let answer = served.exchange(&attack.sent);
        wrong.extend(faults(attack, &answer).into_iter().map(|fault| format!("{}: {fault}", attack.what)));
        if served.get("/").0 != 200 {
            wrong.push(format!("{}: no page comes after it", attack.what));
        }
    }
    assert!(attacks.len() >= 80, "{} attacks", attacks.len());
    assert!(wrong.is_empty(), "{} of {} attacks:\n{}", wrong.len(), attacks.len(), wrong.join("\n"));
}
