//! How often the word index alone finds the page of an error.
//!
//! `cargo bench --bench retrieval` asks twice. First real messages of `rustc` against the pages of its error index,
//! which know no signatures; that needs the documentation of the toolchain (`rustup component add rust-docs`). The
//! title of a page is its first sentence. The first example that is marked to fail with the page's own code, and
//! does, gives the questions: the line of the message; that line with typing errors; the whole message with
//! places, labels and notes, but without the lines of code. No question holds the code of the error. The compiler's
//! messages are kept in `target/retrieval`.
//!
//! Then the samples of this site against its own pages, as they are indexed and without signatures.
//! Files named after `--` hold more questions for them, one JSON object a line: `{"text": …, "expected": [slug, …]}`;
//! an empty list means that the log should match nothing.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kbgen::diagnosis::documents;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen_signature::{Document, TextIndex};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

/// Timeout of the compiler.
const PATIENCE: Duration = Duration::from_secs(60);
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Text and the pages that it should find.
struct Question {
    text: String,
    expected: Vec<String>,
}

fn main() {
    let sysroot = tell(&["--print", "sysroot"]);
    let folder = Path::new(&sysroot).join("share/doc/rust/html/error_codes");
    if folder.is_dir() {
        error_index(&folder);
    } else {
        println!("no {}: `rustup component add rust-docs` installs it", folder.display());
    }
    own_pages();
}

fn error_index(folder: &Path) {
    let pages = pages(folder);
    let messages = messages(&pages);
    println!("error index of {}: {} pages", tell(&["--version"]), pages.len());
    for (name, with_code) in [("whole pages", true), ("pages without their blocks of code", false)] {
        let index = build(name, &pages.iter().map(|page| page.document(with_code)).collect::<Vec<_>>());
        let ask = |set: &str, text: &dyn Fn(&Message) -> String| {
            let question =
                |message: &Message| Question { text: text(message), expected: vec![message.code.clone()] };
            score(&index, set, &messages.iter().map(question).collect::<Vec<_>>());
        };
        ask("headline", &|message| message.headline());
        ask("pasted", &|message| message.pasted());
        ask("typos", &|message| misspell(&message.headline()));
    }
}

fn own_pages() {
    let (sources, _) = load::read(Path::new(ROOT)).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let pages = site.errors.iter().map(|page| (page.head.id.address(), &page.data.signatures));
    let samples: Vec<Question> = pages
        .flat_map(|(address, signatures)| {
            let samples = signatures.iter().flat_map(|signature| &signature.samples);
            samples
                .map(move |sample| Question { text: sample.value.clone(), expected: vec![address.clone()] })
        })
        .collect();
    let misspelt = |question: &Question| Question {
        text: misspell(&question.text),
        expected: question.expected.clone(),
    };
    let mut sets = vec![("typos".to_owned(), samples.iter().map(misspelt).collect())];
    sets.insert(0, ("samples".to_owned(), samples));
    let files = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    sets.extend(files.map(|file| (name(&file), logs(&file))));
    let whole = documents(&site, &sources);
    let bare = |document: &Document| Document { signatures: String::new(), ..document.clone() };
    let hidden = whole.iter().map(bare).collect();
    for (name, documents) in [("our pages", whole), ("our pages without signatures", hidden)] {
        let index = build(name, &documents);
        for (set, questions) in &sets {
            score(&index, set, questions);
        }
    }
}

/// Creates an index and prints its size and a table header.
fn build(name: &str, documents: &[Document]) -> TextIndex {
    let start = Instant::now();
    let index = TextIndex::build(documents);
    let taken = start.elapsed().as_secs_f64() * 1e3;
    let file = scratch().join("index.json");
    let stored = serde_json::to_string(&index).unwrap();
    fs::write(&file, &stored).unwrap();
    let packed = Command::new("brotli").args(["--quality=11", "--stdout"]).arg(&file).output();
    let packed = packed.map_or("brotli is not installed".to_owned(), |output| {
        format!("{:.1} KiB brotli", output.stdout.len() as f64 / 1024.0)
    });
    println!("\n{name}: {:.1} KiB, {packed}, made in {taken:.0} ms", stored.len() as f64 / 1024.0);
    println!("set                 questions  first %  in five %  nothing %  near %  ms a question");
    index
}

fn score(index: &TextIndex, set: &str, questions: &[Question]) {
    let start = Instant::now();
    let (mut first, mut five, mut nothing, mut near) = (0, 0, 0, 0);
    for question in questions {
        let hits = index.search(&question.text, 5);
        let place = hits.iter().position(|hit| question.expected.contains(&hit.address));
        first += usize::from(place == Some(0));
        five += usize::from(place.is_some());
        nothing += usize::from(hits.is_empty());
        near += usize::from(hits.iter().any(|hit| hit.is_suggested(&question.text)));
    }
    let taken = start.elapsed().as_secs_f64() * 1e3;
    let [first, five, nothing, near] =
        [first, five, nothing, near].map(|count| 100.0 * count as f64 / questions.len() as f64);
    println!(
        "{set:18} {:10} {first:8.1} {five:10.1} {nothing:10.1} {near:7.1} {:14.2}",
        questions.len(),
        taken / questions.len() as f64
    );
}

fn logs(file: &str) -> Vec<Question> {
    let address = |category: &Value| category.as_str().map(|slug| format!("errors/{slug}/"));
    let question = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let expected = value["expected"].as_array().unwrap().iter().filter_map(address).collect();
        Question { text: value["text"].as_str().unwrap().to_owned(), expected }
    };
    fs::read_to_string(file).unwrap().lines().map(question).collect()
}

fn name(file: &str) -> String {
    Path::new(file).file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// Page of the error index.
struct ErrorIndexPage {
    code: String,
    title: String,
    blocks: Vec<Block>,
}

enum Block {
    Text(String),
    /// Example code. `edition` is set if the block is marked to fail with the code of its page.
    Code {
        shown: String,
        whole: String,
        edition: Option<String>,
    },
}

impl ErrorIndexPage {
    fn document(&self, with_code: bool) -> Document {
        let mut body = String::new();
        for block in &self.blocks {
            match block {
                Block::Text(text) => body += text,
                Block::Code { shown, .. } if with_code => body += shown,
                Block::Code { .. } => {}
            }
        }
        Document { address: self.code.clone(), title: self.title.clone(), body, ..Document::default() }
    }
}

/// Returns the pages of the index sorted by code.
fn pages(folder: &Path) -> Vec<ErrorIndexPage> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let page = |file: &PathBuf| {
        let code = name(&file.to_string_lossy());
        let digits = code.strip_prefix('E')?;
        let is_page = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_page.then(|| page(code, &fs::read_to_string(file).unwrap()))
    };
    files.iter().filter_map(page).collect()
}

fn page(code: String, html: &str) -> ErrorIndexPage {
    let main = between(html, "</h1>\n<", "</main>").unwrap_or_default();
    let first = plain(between(main, "p>", "</p>").unwrap_or_default());
    let first: Vec<&str> = first.split_whitespace().collect();
    let end =
        first.iter().position(|word| word.ends_with(['.', '!', '?', ':'])).map_or(first.len(), |at| at + 1);
    let mut blocks = Vec::new();
    let mut rest = main;
    while let Some((text, after)) = rest.split_once("<code class=\"") {
        blocks.push(Block::Text(plain(text)));
        let (classes, after) = after.split_once("\">").unwrap();
        let (block, after) = after.split_once("</code>").unwrap();
        let mut names = classes.split([' ', ',']);
        let edition = names.clone().find_map(|name| name.strip_prefix("edition")).unwrap_or("2015");
        let fails = names.clone().any(|name| name == "compile_fail") && names.any(|name| name == code);
        blocks.push(Block::Code {
            shown: plain(&without_hidden_lines(block)),
            whole: plain(block),
            edition: fails.then(|| edition.to_owned()),
        });
        rest = after;
    }
    blocks.push(Block::Text(plain(rest)));
    ErrorIndexPage { code, title: first[..end].join(" "), blocks }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

/// Removes hidden lines of an example.
fn without_hidden_lines(block: &str) -> String {
    let mut parts = block.split("<span class=\"boring\">");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter_map(|part| part.split_once("</span>")).fold(first, |text, (_, after)| text + after)
}

/// Removes HTML tags.
fn plain(html: &str) -> String {
    let mut parts = html.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.filter_map(|part| part.split_once('>')).fold(first, |text, (_, after)| text + after);
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, character)| text.replace(entity, character))
}

/// Compiler output for an example.
struct Message {
    code: String,
    /// First line.
    line: String,
    /// Full output.
    rendered: String,
}

impl Message {
    fn headline(&self) -> String {
        format!("error: {}", self.line).replace(&self.code, "")
    }

    /// Output without lines of code, which start with a number, and the dots between them.
    fn pasted(&self) -> String {
        let is_code = |line: &&str| {
            let line = line.trim_start();
            let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
            line.starts_with("...")
                || (rest.len() < line.len() && rest.trim_start().starts_with(['|', '+', '-', '~']))
        };
        let lines: Vec<&str> = self.rendered.lines().filter(|line| !is_code(line)).collect();
        lines.join("\n").replace(&format!("[{}]", self.code), "").replace(&self.code, "")
    }
}

/// Removes the middle letter of every other word of six or more letters.
fn misspell(text: &str) -> String {
    let mut long = 0;
    let mut spell = |run: &str| {
        if run.len() < 6 {
            return run.to_owned();
        }
        long += 1;
        let middle = run.len() / 2;
        if long % 2 == 1 { [&run[..middle], &run[middle + 1..]].concat() } else { run.to_owned() }
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_alphabetic()) {
        let end = rest[start..].find(|character: char| !character.is_ascii_alphabetic());
        let end = end.map_or(rest.len(), |end| start + end);
        out += &rest[..start];
        out += &spell(&rest[start..end]);
        rest = &rest[end..];
    }
    out + rest
}

/// Returns one message per page, for pages with an example that fails as expected.
fn messages(pages: &[ErrorIndexPage]) -> Vec<Message> {
    let release = tell(&["--version"]).replace(|character: char| !character.is_ascii_alphanumeric(), "-");
    let kept = scratch().join(format!("{release}.json"));
    let said: Vec<[String; 3]> = if let Ok(text) = fs::read_to_string(&kept) {
        serde_json::from_str(&text).unwrap()
    } else {
        let said: Vec<[String; 3]> = pages.par_iter().filter_map(compile).collect();
        fs::write(&kept, serde_json::to_string(&said).unwrap()).unwrap();
        said
    };
    said.into_iter().map(|[code, line, rendered]| Message { code, line, rendered }).collect()
}

/// Returns code, line and full message of the first example that fails with the code of its page.
fn compile(page: &ErrorIndexPage) -> Option<[String; 3]> {
    page.blocks.iter().find_map(|block| match block {
        Block::Code { whole, edition: Some(edition), .. } => fault(&page.code, whole, edition),
        _ => None,
    })
}

fn fault(code: &str, source: &str, edition: &str) -> Option<[String; 3]> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.rs"), source).unwrap();
    let report = folder.path().join("report");
    let mut compiler = Command::new("rustc")
        .args(["main.rs", "--emit=metadata", "--error-format=json", "--edition", edition])
        .current_dir(folder.path())
        // Skip examples of unstable features.
        .env("RUSTC_BOOTSTRAP", "1")
        .stdout(Stdio::null())
        .stderr(File::create(&report).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while compiler.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            compiler.kill().unwrap();
        }
        sleep(Duration::from_millis(5));
    }
    let report = fs::read_to_string(report).unwrap();
    let said = report.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let fault = said.into_iter().find(|said| said["level"] == "error" && said["code"]["code"] == code)?;
    let text = |name: &str| Some(fault[name].as_str()?.to_owned());
    Some([code.to_owned(), text("message")?, text("rendered")?])
}

fn tell(arguments: &[&str]) -> String {
    let output = Command::new("rustc").args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Folder of stored messages.
fn scratch() -> PathBuf {
    let folder = Path::new(ROOT).join("target/retrieval");
    fs::create_dir_all(&folder).unwrap();
    folder
}
