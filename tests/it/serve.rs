//! The development server over real sockets: browsers, authors, attackers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use kbgen::files::Outputs;
use kbgen::progress::BuildProgress;
use kbgen::serve;
use kbgen::serve::{
    Changes, Event, Limits, OpenBrowser, Rebuild, Running, ServeOptions, StallLimit, Tracker,
};
use tempfile::TempDir;

/// Timeout of a response.
const PATIENCE: Duration = Duration::from_secs(20);

/// Builds a site whose pages are the files of `content/`. A file `content/broken` makes the build fail.
struct Session {
    root: TempDir,
    events: Receiver<Event>,
    running: Running,
    /// Receives a message for each build that stalls on the file `endless`.
    stalled: Receiver<()>,
    /// Stall limit in seconds. It is raised when the server reports a stall.
    limit: Arc<AtomicU64>,
}

const LONG: u64 = 3600;

struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Session {
    /// Running server with its site.
    fn start(files: &[(&str, &str)]) -> Self {
        let session = Self::start_on(files, 0);
        session.wait_for(|event| matches!(event, Event::Listening { .. }));
        session
    }

    fn start_on(files: &[(&str, &str)], port: u16) -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("content")).unwrap();
        let (sender, events) = mpsc::channel();
        for (path, text) in files {
            write(&root.path().join("content").join(path), text);
        }
        let limit = Arc::new(AtomicU64::new(LONG));
        let (seconds, long_again) = (Arc::clone(&limit), Arc::clone(&limit));
        let options = ServeOptions {
            interface: Ipv4Addr::LOCALHOST.into(),
            port,
            names: vec!["kb.test".parse().unwrap()],
            limits: Limits::default(),
            stall_limit: StallLimit::new(move || Duration::from_secs(seconds.load(Ordering::Relaxed))),
            root: root.path().to_path_buf(),
            watch: vec!["site.toml".into(), "content".into(), "static".into()],
            ignore: vec!["content/public".into()],
            open: OpenBrowser::No,
        };
        let content = root.path().join("content");
        let announce = move |event| {
            if matches!(event, Event::Broken { .. }) {
                long_again.store(LONG, Ordering::Relaxed);
            }
            drop(sender.send(event));
        };
        let (stall, stalled) = mpsc::channel();
        let rebuild = move |_: &Changes, tracker: &Tracker| {
            if content.join("endless").exists() {
                tracker.start_page("content/endless");
                stall.send(()).unwrap();
                loop {
                    thread::park();
                }
            }
            build(&content)
        };
        let running = serve::start(options, rebuild, announce).unwrap();
        Self { root, events, running, stalled, limit }
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.root.path().join(path), text);
    }

    /// Waits for the first matching event.
    fn wait_for(&self, fits: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.events.recv_timeout(PATIENCE).expect("the event comes");
            if fits(&event) {
                return event;
            }
        }
    }

    /// Returns the changes of the next build.
    fn next_changes(&self) -> BTreeSet<PathBuf> {
        match self.wait_for(|event| matches!(event, Event::Rebuilt { .. } | Event::Broken { .. })) {
            Event::Rebuilt { changes, .. } | Event::Broken { changes, .. } => changes.paths,
            other => panic!("{other:?}"),
        }
    }

    fn connect(&self) -> TcpStream {
        connect(self.running.address)
    }

    /// Sends raw bytes and reads the response.
    fn send(&self, request: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        reply(&mut stream).expect("a whole reply")
    }

    fn ask(&self, line: &str, headers: &str) -> Reply {
        self.send(
            format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").as_bytes(),
        )
    }

    fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path}"), "")
    }

    /// Event stream of a page.
    fn listen(&self) -> News {
        let mut stream = self.connect();
        stream.write_all(b"GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        News { lines: BufReader::new(stream) }
    }
}

struct News {
    lines: BufReader<TcpStream>,
}

impl News {
    /// Returns the next state, or `None` if the server ends the stream.
    fn next(&mut self) -> Option<serde_json::Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("the stream goes on or ends") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn build(content: &Path) -> Rebuild {
    let mut outputs = Outputs::default();
    for entry in
        walkdir::WalkDir::new(content).into_iter().flatten().filter(|entry| entry.file_type().is_file())
    {
        let path = entry.path().strip_prefix(content).unwrap().to_str().unwrap().to_string();
        // A file may disappear between listing and reading.
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        assert!(path != "panic", "told to");
        if path == "broken" {
            return Rebuild::Broken { plain: text };
        }
        outputs.add(path, text);
    }
    Rebuild::Site(outputs)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Returns the response, if the server sent one before it closed the connection.
fn reply(stream: &mut TcpStream) -> Option<Reply> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    // A reset after the response ends it.
    while let Ok(length) = stream.read(&mut part) {
        if length == 0 {
            break;
        }
        bytes.extend_from_slice(&part[..length]);
    }
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_string()))
        .collect();
    Some(Reply { status, headers, body: body.to_string() })
}

#[test]
fn pages_have_a_type_and_security_headers() {
    let session =
        Session::start(&[("index.html", "home"), ("a.css", "a{}"), ("errors/oom/index.html", "oom")]);
    let home = session.get("/");
    assert_eq!((home.status, home.body.as_str()), (200, "home"));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-length", "4"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-cache"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(home.headers.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(session.get("/errors/oom/?q=1").body, "oom");
    assert_eq!(session.get("/a.css").headers["content-type"], "text/css; charset=utf-8");
}

#[test]
fn head_is_get_without_the_body() {
    let session = Session::start(&[("index.html", "home")]);
    let (get, head) = (session.get("/"), session.ask("HEAD /", ""));
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for name in ["content-length", "content-type", "etag"] {
        assert_eq!(get.headers[name], head.headers[name]);
    }
}

#[test]
fn cached_pages_are_not_sent_again() {
    let session = Session::start(&[("index.html", "home")]);
    let tag = session.get("/").headers["etag"].clone();
    for list in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_string()] {
        let again = session.ask("GET /", &format!("If-None-Match: {list}\r\n"));
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{list}");
        assert_eq!(again.headers["etag"], tag);
    }
    assert_eq!(session.ask("GET /", "If-None-Match: \"x\"\r\n").status, 200);
}

#[test]
fn a_folder_without_its_slash_redirects_within_the_server() {
    let session = Session::start(&[("x/dir/index.html", "dir"), ("evil.example/index.html", "")]);
    let redirect = session.get("/x/dir?q=1");
    assert_eq!((redirect.status, redirect.headers["location"].as_str()), (307, "./dir/?q=1"));
    for path in [
        "//x/dir",
        "///x/dir",
        "//evil.example",
        "/\\evil.example",
        "/%2fevil.example",
        "/x//dir",
        "/.//evil.example",
    ] {
        let reply = session.get(path);
        assert!(!reply.headers.contains_key("location"), "{path}: {:?}", reply.headers);
        assert!(matches!(reply.status, 400 | 404), "{path}: {}", reply.status);
    }
}

#[test]
fn the_policy_of_the_published_site_holds_here_too() {
    let headers = "/*\n  Content-Security-Policy: default-src 'self'\n  Cache-Control: max-age=9999\n  \
                   Access-Control-Allow-Origin: *\n/x\n  X-Frame-Options: DENY\n";
    let session = Session::start(&[("index.html", "home"), ("_headers", headers), ("404.html", "lost")]);
    for path in ["/", "/nowhere"] {
        let reply = session.get(path);
        assert_eq!(reply.headers["content-security-policy"], "default-src 'self'", "{path}");
        assert_eq!(reply.headers["cache-control"], "no-cache", "{path}");
        assert!(!reply.headers.contains_key("access-control-allow-origin"), "{path}");
        assert!(!reply.headers.contains_key("x-frame-options"), "{path}");
    }
}

#[test]
fn missing_pages_get_the_404_page() {
    let session = Session::start(&[("index.html", "home"), ("404.html", "lost")]);
    let reply = session.get("/errors/none/");
    assert_eq!((reply.status, reply.body.as_str()), (404, "lost"));
    assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
}

#[test]
fn a_page_receives_every_change_and_styles_separately() {
    let session = Session::start(&[("index.html", "1"), ("css/site.css", "a{}")]);
    let mut news = session.listen();
    let first = news.next().unwrap();
    let script = session.get("/_kbgen/reload.js");
    assert!(script.body.contains(first["version"].as_str().unwrap()), "the script knows the page's version");
    assert_eq!(script.headers["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(session.get("/_kbgen/overlay.css").headers["content-type"], "text/css; charset=utf-8");

    session.write("content/index.html", "2");
    let edited = news.next().unwrap();
    assert_ne!(edited["version"], first["version"]);
    assert_eq!(edited["styles"], serde_json::json!([]));
    assert_eq!(session.get("/").body, "2");

    session.write("content/css/site.css", "b{}");
    let styled = news.next().unwrap();
    assert_eq!(styled["from"], edited["version"]);
    assert_eq!(styled["styles"], serde_json::json!([{"from": "css/site.css", "to": "css/site.css"}]));
    let again = session.listen().next().unwrap();
    assert_eq!(again["version"], styled["version"], "a page that comes back is told the newest state");
}

#[test]
fn a_broken_site_keeps_its_last_good_pages_and_shows_errors() {
    let session = Session::start(&[("index.html", "good")]);
    let mut news = session.listen();
    let good = news.next().unwrap();
    assert_eq!(good["broken"], serde_json::Value::Null);
    session.write("content/broken", "error: `a`\n  --> x.md:1:1");
    let broken = news.next().unwrap();
    assert_eq!(broken["broken"], "error: `a`\n  --> x.md:1:1");
    assert_eq!(broken["version"], good["version"]);
    assert_eq!(session.get("/").body, "good");
    fs::remove_file(session.root.path().join("content/broken")).unwrap();
    let mended = news.next().unwrap();
    assert_eq!(mended["broken"], serde_json::Value::Null);
    assert_eq!(mended["version"], good["version"], "the same site needs no reload");
}

#[test]
fn a_site_that_never_built_shows_errors_until_it_does() {
    let session = Session::start(&[("index.html", "good"), ("broken", "<script>alert(1)</script> & more")]);
    let page = session.get("/any/where/");
    assert_eq!(page.status, 503);
    assert!(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"), "{}", page.body);
    assert!(page.headers["content-security-policy"].starts_with("default-src 'none'"));
    let mut news = session.listen();
    let before = news.next().unwrap();
    assert!(session.get("/_kbgen/reload.js").body.contains(before["version"].as_str().unwrap()));
    fs::remove_file(session.root.path().join("content/broken")).unwrap();
    assert_ne!(news.next().unwrap()["version"], before["version"]);
    assert_eq!(session.get("/").body, "good");
}

#[test]
fn a_panic_in_a_build_does_not_end_the_session() {
    let session = Session::start(&[("index.html", "good")]);
    session.write("content/panic", "");
    let event = session.wait_for(|event| matches!(event, Event::Broken { .. }));
    assert!(matches!(event, Event::Broken { plain, .. } if plain.contains("told to")));
    fs::remove_file(session.root.path().join("content/panic")).unwrap();
    session.wait_for(|event| matches!(event, Event::Rebuilt { .. }));
    assert_eq!(session.get("/").body, "good");
}

#[test]
fn an_endless_build_is_reported_and_the_next_save_builds_again() {
    let session = Session::start(&[("index.html", "first")]);
    session.write("content/endless", "");
    session.stalled.recv_timeout(PATIENCE).unwrap();
    assert_eq!(session.get("/").body, "first");
    session.limit.store(0, Ordering::Relaxed);
    fs::remove_file(session.root.path().join("content/endless")).unwrap();
    session.write("content/index.html", "second");
    let Event::Broken { plain, .. } = session.wait_for(|event| matches!(event, Event::Broken { .. })) else {
        unreachable!("it fits");
    };
    assert!(plain.contains("made no progress for 0 s while working on `content/endless`"), "{plain}");
    while session.get("/").body != "second" {
        session.wait_for(|event| matches!(event, Event::Rebuilt { .. }));
    }
}

#[test]
fn an_endless_first_build_is_reported_and_the_next_save_builds_again() {
    let session = Session::start_on(&[("endless", "")], 0);
    session.stalled.recv_timeout(PATIENCE).unwrap();
    session.limit.store(0, Ordering::Relaxed);
    fs::remove_file(session.root.path().join("content/endless")).unwrap();
    session.write("content/index.html", "home");
    session.wait_for(
        |event| matches!(event, Event::Broken { plain, .. } if plain.contains("`content/endless`")),
    );
    session.wait_for(|event| matches!(event, Event::Listening { .. }));
    while session.get("/").body != "home" {
        session.wait_for(|event| matches!(event, Event::Rebuilt { .. }));
    }
}

#[test]
fn same_origin_pages_may_connect() {
    let session = Session::start(&[("index.html", "home")]);
    for header in ["Origin: http://localhost", "Sec-Fetch-Site: same-origin"] {
        let mut stream = session.connect();
        write!(stream, "GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n").unwrap();
        assert!(News { lines: BufReader::new(stream) }.next().is_some(), "{header}");
    }
}

#[test]
fn a_taken_port_gives_the_next_free_one() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let requested = taken.local_addr().unwrap().port();
    let session = Session::start_on(&[("index.html", "home")], requested);
    let event = session.wait_for(|event| matches!(event, Event::PortInUse { .. }));
    let used = session.running.address.port();
    assert_eq!(event, Event::PortInUse { requested, used });
    assert_ne!(used, requested);
    let event = session.wait_for(|event| matches!(event, Event::Listening { .. }));
    assert_eq!(event, Event::Listening { url: format!("http://127.0.0.1:{used}/") });
    assert_eq!(session.get("/").body, "home");
}

#[test]
fn stopping_ends_the_streams_and_frees_the_port() {
    let session = Session::start(&[("index.html", "home")]);
    let mut news = session.listen();
    news.next().unwrap();
    let address = session.running.address;
    session.running.stop().unwrap();
    assert_eq!(news.next(), None);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_burst_of_changes_is_few_builds() {
    let session = Session::start(&[("index.html", "home")]);
    let mut left: BTreeSet<PathBuf> = (0..100).map(|page| format!("content/{page}.html").into()).collect();
    for path in &left {
        session.write(path.to_str().unwrap(), "x");
    }
    let mut builds = 0;
    while !left.is_empty() {
        left = &left - &session.next_changes();
        builds += 1;
    }
    assert!(builds <= 5, "{builds} builds for 100 files");
}

#[test]
fn temporary_files_do_not_trigger_builds() {
    let session = Session::start(&[("index.html", "home")]);
    for path in [
        "content/.index.html.swp",
        "content/index.html~",
        "content/4913",
        "content/public/index.html",
        "other.txt",
    ] {
        session.write(path, "x");
    }
    session.write("content/index.html", "changed");
    assert_eq!(session.next_changes(), BTreeSet::from(["content/index.html".into()]));
}

#[test]
fn files_saved_by_renaming_and_folders_made_again_are_noticed() {
    let session = Session::start(&[("index.html", "1"), ("errors/a.html", "a")]);
    let root = session.root.path();
    // Save like most editors, by renaming a new file.
    fs::write(root.join("content/.tmp"), "2").unwrap();
    fs::rename(root.join("content/.tmp"), root.join("content/index.html")).unwrap();
    assert_eq!(session.next_changes(), BTreeSet::from(["content/index.html".into()]));
    // A new file in the root.
    session.write("site.toml", "");
    assert_eq!(session.next_changes(), BTreeSet::from(["site.toml".into()]));
    // A new watched folder, then a file in it.
    fs::create_dir(root.join("static")).unwrap();
    session.write("static/a.css", "1");
    assert_eq!(session.next_changes(), BTreeSet::from(["static/a.css".into()]));
    session.write("static/deep/b.css", "1");
    assert_eq!(session.next_changes(), BTreeSet::from(["static/deep/b.css".into()]));
    // A watched folder that is removed and created again, as by switching branches.
    fs::remove_dir_all(root.join("content")).unwrap();
    let mut gone = session.next_changes();
    while gone.len() < 2 {
        gone.extend(session.next_changes());
    }
    assert_eq!(gone, BTreeSet::from(["content/errors/a.html".into(), "content/index.html".into()]));
    session.write("content/errors/a.html", "again");
    assert_eq!(session.next_changes(), BTreeSet::from(["content/errors/a.html".into()]));
    session.write("content/errors/a.html", "and again");
    assert_eq!(session.next_changes(), BTreeSet::from(["content/errors/a.html".into()]));
    // A subfolder that is replaced by another one.
    fs::rename(root.join("content/errors"), root.join("elsewhere")).unwrap();
    assert_eq!(session.next_changes(), BTreeSet::from(["content/errors/a.html".into()]));
    session.write("content/errors/b.html", "b");
    let mut found = session.next_changes();
    // A slow system reports the removal once more.
    while !found.contains(Path::new("content/errors/b.html")) {
        found.extend(session.next_changes());
    }
    found.remove(Path::new("content/errors/a.html"));
    assert_eq!(found, BTreeSet::from(["content/errors/b.html".into()]));
}
