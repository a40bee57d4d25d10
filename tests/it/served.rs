//! The program's own server, `kbgen serve`, as a process of a small site; what is asked of it goes over real sockets.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use tempfile::TempDir;

/// No answer within this time is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A new knowledge base in a folder, as `kbgen init` makes it.
pub(crate) fn starter() -> TempDir {
    let root = TempDir::new().unwrap();
    let made = crate::expect::kbgen().arg("init").arg(root.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    root
}

/// A server at work; it ends with the test.
pub(crate) struct Served {
    pub(crate) root: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) process: Child,
    /// What it said until it was there.
    pub(crate) beginning: Vec<String>,
    messages: Receiver<String>,
}

impl Served {
    /// Serves the site of this folder, and waits until it is there.
    pub(crate) fn start(root: TempDir, options: &[&str]) -> Self {
        let mut process = crate::expect::kbgen()
            .arg("--root")
            .arg(root.path())
            .args(["serve", "--date", "2026-11-22"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let messages = lines(process.stderr.take().unwrap());
        let printed = lines(process.stdout.take().unwrap());
        let url = printed.recv_timeout(PATIENCE).expect("the address is printed");
        let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("an address");
        let mut beginning = Vec::new();
        while !beginning.last().is_some_and(|line: &String| line.contains("Ctrl-C stops it")) {
            beginning.push(messages.recv_timeout(PATIENCE).expect("it says that it is there"));
        }
        Self { root, address: address.parse().unwrap(), process, beginning, messages }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// The next message that has this text.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.messages.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => before.push(line),
                Err(error) => panic!("no message with `{text}` ({error}) after {before:#?}"),
            }
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// All that comes back for these bytes until the server closes.
    pub(crate) fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // A server that refuses early closes before all is read.
        let _ = stream.write_all(request);
        rest(&mut stream)
    }

    /// The body of a page, with its status.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let answer = self.exchange(request.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// All that comes until the server closes; a reset after the answer is the end of it.
pub(crate) fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 64 * 1024];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the server does not close: {error}"),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The lines of a stream, as they come; what nobody asks for is read all the same, so that the writer never waits.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Writes a file and the folders it lies in.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
