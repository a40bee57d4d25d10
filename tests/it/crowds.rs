//! Many clients at once, and clients that keep still: none of them keeps a reader from a page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use kbgen::files::Outputs;
use kbgen::serve;
use kbgen::serve::{Event, Limits, OpenBrowser, Rebuild, Running, ServeOptions, StallLimit};

use crate::served::{PATIENCE, Served, rest, starter};

const CROWD: usize = 1000;

/// Returns whether this process may open enough files. If not, runs the test in a process that may.
fn may_open_many_sockets(test: &str) -> bool {
    const MARK: &str = "KBGEN_MAY_HOLD_A_CROWD";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 4096; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(MARK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

/// Starts a server with custom limits and one small and one large page.
fn server(limits: Limits) -> Running {
    let root = tempfile::TempDir::new().unwrap();
    let options = ServeOptions {
        interface: [127, 0, 0, 1].into(),
        port: 0,
        names: Vec::new(),
        limits,
        stall_limit: StallLimit::default(),
        root: root.path().to_path_buf(),
        watch: Vec::new(),
        ignore: Vec::new(),
        open: OpenBrowser::No,
    };
    let (sender, events) = std::sync::mpsc::channel();
    let build = |_: &serve::Changes, _: &serve::Tracker| {
        let mut outputs = Outputs::default();
        outputs.add("index.html", "home");
        outputs.add("large.html", "x".repeat(32 << 20));
        Rebuild::Site(outputs)
    };
    let running = serve::start(options, build, move |event| drop(sender.send(event))).unwrap();
    while !matches!(events.recv_timeout(PATIENCE).unwrap(), Event::Listening { .. }) {}
    running
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[test]
fn a_thousand_idle_clients_do_not_block_a_reader() {
    if !may_open_many_sockets("crowds::a_thousand_idle_clients_do_not_block_a_reader") {
        return;
    }
    let served = Served::start(starter(), &["--port", "0"]);
    for (what, said) in [
        ("say nothing", ""),
        ("say half a request", "GET / HTTP/1.1\r\nHost: loc"),
        ("say half a line", "GE"),
        ("ask and do not read", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ("send a form and never end", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"),
    ] {
        let crowd: Vec<TcpStream> = (0..CROWD)
            .map(|_| {
                let mut stream = served.connect();
                // The server may have closed it for the next connection.
                let _ = stream.write_all(said.as_bytes());
                stream
            })
            .collect();
        assert_eq!(served.get("/").0, 200, "while {} clients {what}", crowd.len());
        let files = std::fs::read_dir(format!("/proc/{}/fd", served.process.id()));
        if let Ok(files) = files {
            let open = files.count();
            assert!(open < 300, "{open} files are open while {} clients {what}", crowd.len());
        }
    }
}

#[test]
fn a_new_connection_closes_the_longest_idle_one_but_no_stream() {
    let server = server(Limits { connections: 3, streams: 1, ..Limits::default() });
    let mut stream = connect(&server);
    stream.write_all(b"GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut news = BufReader::new(stream);
    while {
        let mut line = String::new();
        news.read_line(&mut line).unwrap();
        !line.starts_with("data: ")
    } {}
    let (mut first, mut second) = (connect(&server), connect(&server));
    for stream in [&mut first, &mut second] {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
    let mut third = connect(&server);
    third.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert!(rest(&mut third).ends_with("home"), "the third gets a page");
    assert!(rest(&mut first).ends_with("home"), "the first, which waited longest, is closed");
    let mut another = connect(&server);
    another
        .write_all(b"GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    assert!(rest(&mut another).starts_with("HTTP/1.1 503"), "there is one stream, and it stays");
    server.stop().unwrap();
    let mut left = String::new();
    news.read_to_string(&mut left).unwrap();
    assert!(left.ends_with("0\r\n\r\n"), "the stream ends as it should: {left:?}");
}

#[test]
fn idle_clients_are_closed() {
    let soon = Duration::from_millis(300);
    let server = server(Limits { head_timeout: soon, idle_timeout: soon, ..Limits::default() });
    for said in ["", "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"]
    {
        let mut stream = connect(&server);
        stream.write_all(said.as_bytes()).unwrap();
        let answer = rest(&mut stream);
        assert_eq!(
            answer.is_empty(),
            !said.ends_with("\r\n\r\n"),
            "{said:?} is answered {answer:?}, and closed"
        );
    }
    // One requests more than the socket buffers hold, and reads nothing.
    let mut slow = connect(&server);
    slow.write_all(b"GET /large.html HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    // Wait until the server has closed it.
    let closed = || {
        let mut other = connect(&server);
        other.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        rest(&mut other)
    };
    for _ in 0..6 {
        assert!(closed().ends_with("home"));
    }
    assert!(rest(&mut slow).len() < 32 << 20, "the large page is cut off");
}

#[test]
fn a_signal_stops_the_server_and_its_streams() {
    for signal in ["INT", "TERM"] {
        let mut served = Served::start(starter(), &["--port", "0"]);
        let mut stream = served.connect();
        stream.write_all(b"GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut news = BufReader::new(stream);
        let mut line = String::new();
        while !line.starts_with("data: ") {
            line.clear();
            news.read_line(&mut line).unwrap();
        }
        let idle = served.connect();
        let sent =
            Command::new("kill").args(["-s", signal, &served.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut left = String::new();
        news.read_to_string(&mut left).unwrap();
        assert!(left.ends_with("0\r\n\r\n"), "SIG{signal}: the stream ends as it should: {left:?}");
        assert_eq!(served.process.wait().unwrap().code(), Some(0), "SIG{signal}");
        assert!(TcpStream::connect(served.address).is_err(), "SIG{signal}: the port is free");
        drop(idle);
    }
}
