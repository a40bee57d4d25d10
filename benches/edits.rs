//! Latency of edits: from writing a file until `kbgen serve` returns the new page.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

#[expect(dead_code, reason = "other benchmarks write the corpus for other programs, too")]
mod corpus;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use corpus::{Code, Corpus, Layout};

/// Number of measured edits.
const EDITS: usize = 20;
/// Number of files in a burst, such as a change of branch.
const BURST: usize = 1000;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    println!("| pages | edit | median | longest |\n| ---: | --- | ---: | ---: |");
    for pages in sizes {
        let base = std::env::var_os("KBGEN_BENCH_DIR");
        let root = base.map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from).join("edits-site");
        let _ = fs::remove_dir_all(&root);
        corpus::write(Corpus { pages, code: Code::Repeated }, Layout::Kbgen, &root).unwrap();
        let author = Author::begin(&root);
        let quiet = author.edits(When::Quiet);
        row(pages, "when all is quiet", quiet);
        let busy = author.edits(When::Building);
        row(pages, "while the site is built", busy);
        let whole = author.settled();
        println!("| {pages} | (the whole site, in the background) | {whole} ms | |");
        let (builds, wait) = author.burst();
        println!("| {pages} | {BURST} files at once: {builds} whole builds | {} ms | |", wait.as_millis());
    }
}

fn row(pages: usize, what: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (median, longest) = (milliseconds(times[times.len() / 2]), milliseconds(*times.last().unwrap()));
    println!("| {pages} | {what} | {median:.1} ms | {longest:.1} ms |");
}

#[derive(Clone, Copy, PartialEq)]
enum When {
    Quiet,
    Building,
}

/// Author who edits pages while a server is running.
struct Author {
    server: Child,
    address: String,
    messages: Receiver<String>,
    pages: Vec<PathBuf>,
}

impl Author {
    fn begin(root: &Path) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_kbgen"))
            .args(["serve", "--port", "0", "--root"])
            .arg(root)
            .env("KBGEN_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/edits-cache"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, messages) = mpsc::channel();
        let lines = BufReader::new(server.stderr.take().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut url = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
        let categories = fs::read_dir(root.join("content/errors")).unwrap().flatten();
        let files = categories.flat_map(|category| fs::read_dir(category.path()).unwrap().flatten());
        let pages = files.map(|file| file.path()).filter(|path| !path.ends_with("_index.md"));
        let mut pages: Vec<PathBuf> = pages.collect();
        pages.sort();
        Self { server, address, messages, pages }
    }

    /// Measures the times from the write to the response.
    fn edits(&self, when: When) -> Vec<Duration> {
        (0..EDITS)
            .map(|edit| {
                let page = &self.pages[edit * 7919 % self.pages.len()];
                if when == When::Building {
                    // Start a build with another edit.
                    let other = &self.pages[(edit * 7919 + 1) % self.pages.len()];
                    append(other, "Another edit.");
                    thread::sleep(Duration::from_millis(400));
                }
                let mark = format!(
                    "Edit {edit} of a series, {}.",
                    if when == When::Quiet { "alone" } else { "among others" }
                );
                let began = Instant::now();
                append(page, &mark);
                self.wait_for(page, &mark);
                let took = began.elapsed();
                self.settled();
                took
            })
            .collect()
    }

    /// Waits until the page contains a text.
    fn wait_for(&self, page: &Path, mark: &str) {
        let slug = page.file_stem().unwrap().to_str().unwrap();
        while !self.get(&format!("/errors/{slug}/")).contains(mark) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Waits for a full build without a subsequent one and returns its duration.
    fn settled(&self) -> u64 {
        let mut took = 0;
        let mut patience = Duration::from_secs(60);
        while let Ok(line) = self.messages.recv_timeout(patience) {
            if let Some(time) = whole_build(&line) {
                took = time;
                patience = Duration::from_millis(600);
            }
        }
        took
    }

    /// Writes many files at once. Returns the number of full builds and the time until the last file is served.
    fn burst(&self) -> (usize, Duration) {
        let few = &self.pages[..BURST.min(self.pages.len())];
        let began = Instant::now();
        few.iter().for_each(|page| append(page, "Of a burst."));
        let (mut builds, mut ended) = (0, began);
        let mut patience = Duration::from_secs(60);
        while let Ok(line) = self.messages.recv_timeout(patience) {
            if whole_build(&line).is_some() {
                builds += 1;
                ended = Instant::now();
                patience = Duration::from_secs(2);
            }
        }
        self.wait_for(few.last().unwrap(), "Of a burst.");
        (builds, ended - began)
    }
}

impl Drop for Author {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Parses the milliseconds of a full build from a message.
fn whole_build(line: &str) -> Option<u64> {
    line.strip_suffix(" ms")?.rsplit(' ').next()?.parse().ok()
}

fn append(page: &Path, sentence: &str) {
    let text = fs::read_to_string(page).unwrap();
    fs::write(page, format!("{text}\n{sentence}\n")).unwrap();
}
