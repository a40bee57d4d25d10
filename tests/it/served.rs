//! `kbgen serve` as a process for a small site, accessed over real sockets.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use tempfile::TempDir;

/// Timeout of a response.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a knowledge base with `kbgen init`.
pub(crate) fn starter() -> TempDir {
    let root = TempDir::new().unwrap();
    let made = crate::expect::kbgen().arg("init").arg(root.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    root
}

/// Running server, stopped on drop.
pub(crate) struct Served {
    pub(crate) root: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) process: Child,
    /// Messages until the server was ready.
    pub(crate) beginning: Vec<String>,
    messages: Receiver<String>,
}

impl Served {
    /// Serves a folder and waits until the server is ready.
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
        while !beginning.last().is_some_and(|line: &String| line.contains("press Ctrl-C to stop")) {
            beginning.push(messages.recv_timeout(PATIENCE).expect("it says that it is there"));
        }
        Self { root, address: address.parse().unwrap(), process, beginning, messages }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// Waits for a message with this text.
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

    /// Sends bytes and reads until the server closes the connection.
    pub(crate) fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(request);
        rest(&mut stream)
    }

    /// Returns the status and body of a page.
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

/// Reads until the server closes the connection. A reset after the response ends it.
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

/// Returns the lines of a stream. A thread reads them, so that the writer never blocks.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Writes a file and its parent folders.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
