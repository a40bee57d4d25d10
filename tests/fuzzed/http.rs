//! Fuzzes requests to the server over a socket, according to the rules of `tests/attacks.md`.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;

use kbgen::files::Outputs;
use kbgen::serve;
use kbgen::serve::{Event, Limits, OpenBrowser, Rebuild, Running, ServeOptions, StallLimit};

/// Text that no response may contain.
const SECRET: &str = "the-secret";
/// Text of a request that a response may contain only in the URL of a redirect.
const CANARY: &str = "canary";
/// Host names that the server accepts.
const NAMES: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "kb.test"];
/// Allowed statuses according to `tests/attacks.md`.
const STATUSES: [u16; 14] = [200, 206, 304, 307, 400, 403, 404, 405, 412, 414, 416, 421, 431, 503];
/// Start of the first event of a stream, which stays open.
const EVENT: &[u8] = b"event: state";
/// Timeout of a response.
const PATIENCE: Duration = Duration::from_secs(20);

/// Files of the site, and files that must not be served.
const FILES: [(&str, &str); 9] = [
    ("index.html", "<!doctype html><title>Home</title>"),
    ("404.html", "<!doctype html><title>Not found</title>"),
    ("errors/index.html", "<!doctype html><title>Errors</title>"),
    ("errors/out of memory/index.html", "<!doctype html><title>Space</title>"),
    ("style.css", "a { color: red }"),
    (
        "_headers",
        "/*\n  Content-Security-Policy: default-src 'none'\n  Set-Cookie: a=b\n  Access-Control-Allow-Origin: *\n",
    ),
    (".env", SECRET),
    ("errors/.git/config", SECRET),
    ("a\\b/index.html", SECRET),
];

struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Sends the bytes and checks the responses until the server closes the connection.
pub fn hold(data: &[u8]) {
    let mut stream = TcpStream::connect(server()).expect("the server takes connections");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time can be set");
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(data);
    let _ = stream.shutdown(Shutdown::Write);
    let answer = rest(&mut stream);
    let replies = replies(&answer);
    let heads = data.windows(2).filter(|pair| pair == b"\r\n").count().max(1);
    assert!(replies.len() <= heads, "{} replies to {heads} lines", replies.len());
    for (at, reply) in replies.iter().enumerate() {
        judge(reply, data);
        let ends = reply.headers.get("connection").is_some_and(|value| value == "close");
        assert!(at + 1 == replies.len() || !ends, "a reply comes after the last one");
    }
}

fn judge(reply: &Reply, data: &[u8]) {
    let sent = String::from_utf8_lossy(data).to_lowercase();
    assert!(STATUSES.contains(&reply.status), "{}", reply.status);
    let is_named = NAMES.iter().any(|name| sent.contains(name));
    assert!(
        is_named || matches!(reply.status, 400 | 421 | 431 | 414),
        "{} for a name that is not ours",
        reply.status
    );
    let body = String::from_utf8_lossy(&reply.body);
    assert!(!body.contains(SECRET) && !body.contains(CANARY), "{body}");
    for (name, value) in &reply.headers {
        assert!(!name.starts_with("access-control-") && name != "set-cookie", "{name}: {value}");
        assert!(name == "location" || !value.contains(CANARY), "{name}: {value}");
    }
    if let Some(location) = reply.headers.get("location") {
        assert!(location.starts_with("./") && reply.status == 307, "{location}");
        assert!(!location[2..].starts_with(['/', '\\']), "{location}");
    }
    if matches!(reply.status, 200 | 206) && !reply.body.is_empty() {
        is_of_the_site(&body);
    }
    if !reply.body.is_empty() {
        let has =
            |name: &str, value: &str| reply.headers.get(name).is_some_and(|known| known.starts_with(value));
        assert!(has("content-type", "") && has("x-content-type-options", "nosniff"), "{:?}", reply.headers);
        assert!(has("cache-control", "no-cache"), "{:?}", reply.headers);
        assert!(has("cross-origin-resource-policy", "same-origin"), "{:?}", reply.headers);
    }
}

/// Returns whether a body is a file of the site, a part of one, or a generated file.
fn is_of_the_site(body: &str) {
    let is_file = FILES.iter().any(|(_, text)| text.contains(body));
    let is_own =
        ["event: state", "EventSource", "#kbgen-broken", "kbgen"].iter().any(|mark| body.contains(mark));
    assert!(is_file || is_own, "{body}");
}

/// Reads until the server closes the connection, or the first event of a stream.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        match stream.read(&mut part) {
            Ok(0) => return bytes,
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return bytes,
            // Timeout of the fuzzing engine.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("the server does not close: {error}"),
        }
        if bytes.windows(EVENT.len()).any(|some| some == EVENT) {
            return bytes;
        }
    }
}

/// Splits the responses on one connection.
fn replies(mut bytes: &[u8]) -> Vec<Reply> {
    let mut replies = Vec::new();
    while let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = std::str::from_utf8(&bytes[..end]).expect("heads are ASCII or UTF-8");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1."));
        let status = status.and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
        let headers: BTreeMap<String, String> = lines
            .map(|line| line.split_once(": ").expect("a header"))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
            .collect();
        let rest = &bytes[end + 4..];
        let is_next = rest.starts_with(b"HTTP/1.");
        // Responses to HEAD and 304 responses have a length and no body.
        let length = match headers.get("content-length").and_then(|length| length.parse::<usize>().ok()) {
            Some(_) if is_next || rest.is_empty() || status == 304 => 0,
            Some(length) => length,
            None => rest.len(),
        };
        assert!(length <= rest.len(), "a reply is cut short");
        let (body, after) = rest.split_at(length);
        replies.push(Reply { status, headers, body: body.to_vec() });
        bytes = after;
    }
    assert!(bytes.is_empty(), "what comes is no reply: {}", String::from_utf8_lossy(bytes));
    replies
}

/// Starts a server that runs until the program ends.
fn server() -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let root = std::env::temp_dir();
        let options = ServeOptions {
            interface: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            names: vec!["kb.test".parse().expect("a name")],
            limits: Limits::default(),
            stall_limit: StallLimit::default(),
            root,
            watch: Vec::new(),
            ignore: Vec::new(),
            open: OpenBrowser::No,
        };
        let (sender, events) = mpsc::channel();
        let announce = move |event| drop(sender.send(event));
        let running: Running =
            serve::start(options, |_, _| Rebuild::Site(outputs()), announce).expect("a port is free");
        while !matches!(events.recv_timeout(PATIENCE), Ok(Event::Listening { .. })) {}
        let address = running.address;
        // Keep it, because it stops on drop.
        std::mem::forget(running);
        address
    })
}

fn outputs() -> Outputs {
    let mut outputs = Outputs::default();
    FILES.iter().for_each(|(path, text)| outputs.add(*path, *text));
    outputs
}
