//! Development servers: time until a change is shown, and the CPU time that it costs.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::programs::Program;

/// A change is given up after this time.
const LIMIT: Duration = Duration::from_secs(600);
/// A server that uses no CPU time for this long has finished its work.
const QUIET: Duration = Duration::from_secs(3);

/// Server process, killed when dropped.
pub struct Server {
    process: Child,
    port: u16,
}

/// Time until a change is shown, and CPU time until the server is idle.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    pub shown_ms: f64,
    pub cpu_seconds: f64,
}

impl Server {
    /// Starts a server and waits until it serves `path` and is idle.
    pub fn start(program: &Program, root: &Path, cache: &Path, path: &str) -> Self {
        let port =
            TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr()).expect("a port").port();
        let words = program.serve(port, cache);
        let process = Command::new(&words[0])
            .args(&words[1..])
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let server = Self { process, port };
        server.wait_for(path, "");
        server.settle();
        server
    }

    /// Makes a change, waits until `path` contains `mark`, and until the server is idle.
    pub fn change(&self, path: &str, mark: &str, edit: impl FnOnce()) -> Change {
        let before = self.cpu_seconds();
        let start = Instant::now();
        edit();
        self.wait_for(path, mark);
        let shown_ms = start.elapsed().as_secs_f64() * 1e3;
        self.settle();
        Change { shown_ms, cpu_seconds: self.cpu_seconds() - before }
    }

    /// Peak memory in MiB.
    pub fn memory_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
            .map_or(f64::NAN, |kib| kib / 1024.0)
    }

    fn wait_for(&self, path: &str, mark: &str) {
        let start = Instant::now();
        while !self.get(path).is_some_and(|page| page.contains(mark)) {
            assert!(start.elapsed() < LIMIT, "{path} does not show {mark:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns a page that is served with status 200.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.lines().next()?.contains(" 200 ").then_some(answer)
    }

    /// Waits until the server is idle.
    fn settle(&self) {
        let (mut used, mut since) = (self.cpu_seconds(), Instant::now());
        while since.elapsed() < QUIET {
            thread::sleep(Duration::from_millis(100));
            let now = self.cpu_seconds();
            if now - used > 0.05 {
                (used, since) = (now, Instant::now());
            }
        }
    }

    /// CPU time of all threads, in clock ticks of 10 ms.
    fn cpu_seconds(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks =
            after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok());
        ticks.sum::<f64>() / 100.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
