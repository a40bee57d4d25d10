//! Edits while a server is running: the edited page is served at once, and the rest of the site equals a full build.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jiff::civil::date;
use kbgen::diag::Diagnostic;
use kbgen::engine::Engine;
use kbgen::files::{BuildFiles, Outputs, SourceId, Sources};
use kbgen::load::{self, Drafts};
use kbgen::pipeline::{self, Preview, SiteOptions};
use kbgen::progress::{BuildProgress, NoProgress, Stage};
use kbgen::render::Audience;
use kbgen::serve::{self, Changes, Event, Limits, OpenBrowser, Rebuild, ServeOptions, StallLimit, Tracker};
use tempfile::TempDir;

use crate::expect::repository;

/// Timeout.
const PATIENCE: Duration = Duration::from_secs(60);

const ERROR: &str = "content/errors/memory/card-full.md";

fn options() -> SiteOptions {
    SiteOptions {
        today: date(2026, 6, 30),
        drafts: Drafts::Exclude,
        base_url: None,
        audience: Audience::Author,
        engine: Arc::new(Engine::default().with_values()),
    }
}

/// Copy of the small site.
fn site() -> TempDir {
    let folder = TempDir::new().unwrap();
    let from = repository("tests/golden/site");
    for entry in
        walkdir::WalkDir::new(&from).into_iter().flatten().filter(|entry| entry.file_type().is_file())
    {
        let to = folder.path().join(entry.path().strip_prefix(&from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(entry.path(), to).unwrap();
    }
    folder
}

/// Site built repeatedly in one process.
struct Session {
    root: TempDir,
    options: SiteOptions,
    sources: Sources,
    faults: Vec<Diagnostic>,
    built: BuildFiles,
    viewed: BTreeSet<String>,
}

impl Session {
    fn begin() -> Self {
        let (root, options) = (site(), options());
        let (sources, faults) = load::read(root.path()).unwrap();
        let mut session =
            Self { root, options, sources, faults, built: BuildFiles::default(), viewed: BTreeSet::new() };
        session.update(&BTreeSet::new()).unwrap();
        session
    }

    /// Builds, and returns the files published first.
    fn update(&mut self, changed: &BTreeSet<SourceId>) -> Result<Vec<String>, String> {
        let first = RefCell::new(None);
        let show = |built: &BuildFiles| {
            first.borrow_mut().get_or_insert_with(|| {
                built.outputs.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>()
            });
        };
        let (sources, faults) = (&self.sources, self.faults.clone());
        let made = pipeline::update(
            sources,
            faults,
            &self.options,
            &NoProgress,
            &self.built,
            &Preview { changed, viewed: &self.viewed, show: &show },
        );
        self.built = made.unwrap()?.files;
        Ok(first.take().unwrap_or_default())
    }

    /// Saves existing pages.
    fn save(&mut self, texts: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let mut changed = BTreeSet::new();
        for (path, text) in texts {
            fs::write(self.root.path().join(path), text).unwrap();
            let file = self.sources.find(path).unwrap();
            self.sources.replace(file, text.to_string());
            changed.insert(file);
        }
        self.update(&changed)
    }

    /// Reads all files again.
    fn read_again(&mut self) -> Result<Vec<String>, String> {
        (self.sources, self.faults) = load::read_again(self.root.path(), &self.sources).unwrap();
        self.update(&BTreeSet::new())
    }

    fn assert_whole(&self, when: &str) {
        let whole = whole(self.root.path()).unwrap();
        let names =
            |outputs: &Outputs| -> Vec<String> { outputs.iter().map(|(path, _)| path.to_string()).collect() };
        assert_eq!(names(&self.built.outputs), names(&whole), "{when}");
        let shown = |bytes: Option<&Arc<Vec<u8>>>| String::from_utf8_lossy(bytes.unwrap()).into_owned();
        for (path, bytes) in whole.iter() {
            let own = self.built.outputs.get(path);
            assert!(own == Some(bytes), "{when}: {path}: {} instead of {}", shown(own), shown(Some(bytes)));
        }
    }
}

fn whole(root: &Path) -> Result<Outputs, String> {
    let (sources, faults) = load::read(root).unwrap();
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    built.outputs.ok_or_else(|| format!("{:?}", built.analysis.findings))
}

/// Returns the text of a file with a part replaced.
fn edited(root: &Path, path: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(root.join(path)).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{path}: {from}");
    text.replace(from, to)
}

#[test]
fn an_edited_page_comes_first_and_the_site_equals_a_full_build() {
    let mut session = Session::begin();
    for (path, from, to, shown) in [
        (ERROR, "The card could not hold", "Nothing could hold", "errors/card-full/index.html"),
        (
            ERROR,
            "Lower the number",
            "```python\nprint(1)\n```\n\nLower [it](../../guides/free-memory.md)",
            "",
        ),
        (ERROR, "ctx=8192).kv", "ctx=4096).kv", ""),
        (ERROR, "\"Loader: the card is full\"", "\"Zzz: the card is full\"", ""),
        (ERROR, "It works after", "See [there](/guides/free-memory/#close), after", ""),
        (ERROR, "cost: speed", "cost: quality", ""),
        (ERROR, "verified: 2026-06-12", "verified: 2026-06-13", ""),
        (ERROR, "related: [slow-start]", "related: []", ""),
        (ERROR, "[^port]: As a rule", "[^port]: Often", ""),
        ("content/errors/memory/slow-start.md", "Until it has started", "Or do not", "errors/slow-start.md"),
        (
            "content/errors/memory/_index.md",
            "Something is full",
            "All is full",
            "categories/memory/index.html",
        ),
        (
            "content/guides/free-memory.md",
            "title: Free memory",
            "title: Free it",
            "guides/free-memory/index.html",
        ),
        ("content/guides/free-memory.md", "Programs with", "All programs with", ""),
        ("content/glossary/kv-cache.md", "Keys and values", "The keys and values", ""),
        ("content/tools/loader.md", "Loads models", "It loads models", "tools/loader/index.html"),
        ("content/pages/about.md", "Who we are", "Who we all are", "about/index.html"),
        ("content/models/small.md", "small\"]\n---\n", "small\"]\n---\nA model.\n", "models/small.json"),
        ("content/hardware/card.md", "card\"]\n---\n", "card\"]\n---\nA card.\n", "hardware/card/index.html"),
    ] {
        let before = fs::read_to_string(session.root.path().join(path)).unwrap();
        let text = edited(session.root.path(), path, from, to);
        let first = session.save(&[(path, &text)]).unwrap();
        assert!(shown.is_empty() || first.iter().any(|path| path == shown), "{path}: {first:?}");
        assert!(first.len() <= 3, "{path}: {first:?}");
        session.assert_whole(path);
        // Undo the edit, so that edits are independent.
        session.save(&[(path, &before)]).unwrap();
        session.assert_whole(path);
    }
}

#[test]
fn a_copy_of_a_viewed_page_is_reported() {
    let mut session = Session::begin();
    session.viewed = BTreeSet::from(["errors/card-full/".to_owned()]);
    let copy = session.root.path().join("content/errors/others/card-full.md");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::copy(session.root.path().join(ERROR), &copy).unwrap();
    let report = session.read_again().unwrap_err();
    assert!(report.contains("[duplicate-slug]"), "{report}");
    fs::remove_file(copy).unwrap();
    session.read_again().unwrap();
    session.assert_whole("without the copy");
}

#[test]
fn viewed_pages_come_first_when_a_template_or_a_title_changes() {
    let mut session = Session::begin();
    session.viewed = ["", "categories/memory/"].map(String::from).into();
    let text = edited(
        session.root.path(),
        ERROR,
        "title: \"Loader: the card is full\"",
        "title: \"Loader: it is full\"",
    );
    let first = session.save(&[(ERROR, &text)]).unwrap();
    assert!(first.iter().any(|path| path == "categories/memory/index.html"), "{first:?}");
    assert!(first.len() <= 6, "{first:?}");
    session.assert_whole("a title");
    let folder = session.root.path().join("templates");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("category.html"), "<p>new</p>").unwrap();
    assert_eq!(session.read_again().unwrap(), ["categories/memory/index.html", "index.html"]);
    session.assert_whole("a template");
}

#[test]
fn two_pages_that_are_saved_together_may_name_what_is_new_in_each_other() {
    let mut session = Session::begin();
    let guide = "content/guides/free-memory.md";
    let error = edited(session.root.path(), ERROR, "free-memory.md#close", "free-memory.md#shut");
    let text = edited(session.root.path(), guide, "{#close}", "{#shut}");
    let wrong = session.save(&[(ERROR, &error)]).unwrap_err();
    assert!(wrong.contains("shut"), "{wrong}");
    let first = session.save(&[(ERROR, &error), (guide, &text)]).unwrap();
    assert_eq!(first.len(), 4, "{first:?}");
    session.assert_whole("together");
}

#[test]
fn what_is_wrong_with_an_edit_is_reported_and_leaves_no_trace() {
    let mut session = Session::begin();
    let text = fs::read_to_string(session.root.path().join(ERROR)).unwrap();
    for (from, to, wanted) in [
        ("severity: fatal", "severty: fatal", "severty"),
        ("severity: fatal", "severity: bad", "bad"),
        ("related: [slow-start]", "related: [slow-stat]", "slow-start"),
        ("(/models/small/)", "(/models/smal/)", "small"),
        ("free-memory.md#close", "free-memory.md#clos", "close"),
        ("(types.png)", "(typs.png)", "typs.png"),
        ("{requested:bytes}", "{requested:byte}", "byte"),
        ("requested > free", "requested > fre", "fre"),
        ("\"Q4_K_M\", ctx=8192", "\"Q4_K\", ctx=8192", "Q4_K"),
        (
            "## Take a smaller quantization {#smaller-quant}",
            "## Take a smaller quantization",
            "smaller-quant",
        ),
        ("The card could", "<b>The card could", "HTML"),
        // Empty file that an editor is about to write.
        (&text, " ", ERROR),
    ] {
        assert!(text.contains(from), "{from}");
        let plain = session.save(&[(ERROR, &text.replacen(from, to, 1))]).unwrap_err();
        assert!(plain.contains(wanted) && plain.contains(ERROR), "{to}: {plain}");
        assert_eq!(session.save(&[(ERROR, &text)]).unwrap().len(), 3, "{to}");
        session.assert_whole(to);
    }
}

#[test]
fn an_edit_of_other_files_equals_a_full_build() {
    let mut session = Session::begin();
    let root = session.root.path().to_path_buf();
    let model = "content/models/small.md";
    for (path, text) in [
        ("content/errors/memory/slow-start.md", None),
        (ERROR, Some(edited(&root, ERROR, "related: [slow-start]", "related: []"))),
        (model, Some(edited(&root, model, "heads: 32", "heads: 16"))),
        (
            "content/errors/memory/new.md",
            Some(
                fs::read_to_string(root.join("content/errors/memory/slow-start.md"))
                    .unwrap()
                    .replace("The loader takes", "New takes"),
            ),
        ),
        ("templates/page.html", Some("{{ page.title }}".to_string())),
        ("content/errors/memory/new.md", None),
        ("templates/page.html", None),
        ("i18n/en.toml", None),
    ] {
        match text {
            Some(text) => {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), text).unwrap();
            }
            None => drop(fs::remove_file(root.join(path))),
        }
        match (session.read_again(), whole(&root)) {
            (Ok(_), Ok(_)) => session.assert_whole(path),
            (made, whole) => assert_eq!(made.is_ok(), whole.is_ok(), "{path}: {made:?}"),
        }
    }
}

/// Deterministic pseudorandom numbers (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Runs `kbgen serve` on a folder.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(root: &Path) -> Self {
        let mut process = crate::expect::kbgen()
            .args(["serve", "--port", "0", "--date", "2026-06-30", "--root"])
            .arg(root)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
        Self { process, address }
    }

    fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        if answer.starts_with(b"HTTP/1.1 200 ") { answer.split_off(head + 4) } else { Vec::new() }
    }

    /// Returns the first file that is served incorrectly.
    fn stale(&self, wanted: &Outputs, gone: &BTreeSet<String>) -> Option<String> {
        let is_served = |path: &str| !path.starts_with('.') && !path.contains("/.");
        let wrong = |(path, bytes): &(&str, &Arc<Vec<u8>>)| self.get(path) != bytes.as_slice();
        let stale = wanted.iter().filter(|(path, _)| is_served(path)).find(wrong);
        stale.map(|(path, _)| path.to_string()).or_else(|| {
            gone.iter().find(|path| wanted.get(path).is_none() && !self.get(path).is_empty()).cloned()
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Applies an edit that keeps the links of other pages valid.
fn act(root: &Path, dice: &mut Dice, step: u64) {
    let error = root.join(ERROR);
    let guide = root.join("content/guides/free-memory.md");
    let extra = |name: u64| root.join(format!("content/errors/memory/extra-{name}.md"));
    let append = |path: &Path, text: &str| {
        let old = fs::read_to_string(path).unwrap();
        fs::write(path, format!("{old}\n{text}\n")).unwrap();
    };
    let retitle = |path: &Path, title: &str| {
        let old = fs::read_to_string(path).unwrap();
        let lines = old.lines().map(|line| if line.starts_with("title:") { title } else { line });
        fs::write(path, format!("{}\n", lines.collect::<Vec<_>>().join("\n"))).unwrap();
    };
    match dice.roll(13) {
        0 | 1 => append(&error, &format!("Sentence {step} with [a link](/guides/free-memory/).")),
        2 => append(&guide, &format!("Sentence {step}, see [it](../errors/memory/card-full.md#check).")),
        3 => retitle(&error, &format!("title: \"Title {step}\"")),
        4 => {
            retitle(&root.join("content/errors/memory/slow-start.md"), &format!("title: A slow start {step}"))
        }
        5 => {
            // Save like editors do, by replacing the file.
            let text = fs::read_to_string(&guide).unwrap();
            let beside = root.join(format!("content/guides/save{step}"));
            fs::write(&beside, format!("{text}\nSaved {step}.\n")).unwrap();
            fs::rename(beside, &guide).unwrap();
        }
        6 => {
            let text = fs::read_to_string(root.join("content/errors/memory/slow-start.md")).unwrap();
            fs::write(extra(dice.roll(3)), text.replace("The loader takes", &format!("Extra {step} takes")))
                .unwrap();
        }
        7 => drop(fs::remove_file(extra(dice.roll(3)))),
        8 => drop(fs::rename(extra(dice.roll(3)), extra(dice.roll(3)))),
        9 => {
            fs::create_dir_all(root.join("templates")).unwrap();
            let text = format!("<!doctype html><title>{step}</title>{{{{ page.title }}}}\n");
            fs::write(root.join("templates/redirect.html"), text).unwrap();
        }
        10 => drop(fs::remove_dir_all(root.join("templates"))),
        11 => {
            let settings = fs::read_to_string(root.join("site.toml")).unwrap();
            let lines = settings.lines().map(|line| match line.starts_with("tagline") {
                true => format!("tagline = \"Step {step}.\""),
                false => line.to_string(),
            });
            fs::write(root.join("site.toml"), lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
        }
        _ => {
            // A mistake that is fixed at once.
            let text = fs::read_to_string(&error).unwrap();
            fs::write(&error, text.replace("severity:", "severty:")).unwrap();
            fs::write(&error, format!("{text}\nMended {step}.\n")).unwrap();
        }
    }
}

#[test]
fn when_idle_the_site_equals_a_full_build() {
    let root = site();
    let server = Server::start(root.path());
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut gone = BTreeSet::new();
    for step in 0..32 {
        act(root.path(), &mut dice, step);
        if dice.roll(3) > 0 {
            continue;
        }
        let wanted = whole(root.path()).unwrap_or_else(|found| panic!("step {step}: {found}"));
        let began = Instant::now();
        while let Some(path) = server.stale(&wanted, &gone) {
            assert!(
                began.elapsed() < PATIENCE,
                "after step {step} `{path}` is not what a whole build makes of it"
            );
        }
        gone.extend(wanted.iter().map(|(path, _)| path.to_string()));
    }
}

/// Site of one file, `content/page.html`, whose builds the test starts and ends.
struct Slow {
    root: TempDir,
    running: serve::Running,
    events: mpsc::Receiver<Event>,
    begun: mpsc::Receiver<()>,
    gate: mpsc::Sender<()>,
    /// Stall limit in seconds.
    limit: Arc<AtomicU64>,
}

impl Slow {
    /// Starts a server after its first build.
    fn start() -> Self {
        let root = TempDir::new().unwrap();
        let page = root.path().join("content/page.html");
        fs::create_dir(root.path().join("content")).unwrap();
        fs::write(&page, "first").unwrap();
        let limit = Arc::new(AtomicU64::new(3600));
        let seconds = Arc::clone(&limit);
        let options = ServeOptions {
            interface: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            names: Vec::new(),
            limits: Limits::default(),
            stall_limit: StallLimit::new(move || Duration::from_secs(seconds.load(Ordering::Relaxed))),
            root: root.path().to_path_buf(),
            watch: vec![PathBuf::from("content")],
            ignore: Vec::new(),
            open: OpenBrowser::No,
        };
        let (begin, begun) = mpsc::channel();
        let (gate, opened) = mpsc::channel();
        let (tell, events) = mpsc::channel();
        let opened = Mutex::new(opened);
        let rebuild = move |changes: &Changes, tracker: &Tracker| {
            let text = fs::read_to_string(&page).unwrap();
            begin.send(()).unwrap();
            if text.contains("endless") {
                loop {
                    thread::park();
                }
            }
            if text.contains("wrong") {
                return Rebuild::Broken { plain: format!("`{text}`") };
            }
            let mut outputs = Outputs::default();
            outputs.add("page.html", text);
            outputs.add("viewed/index.html", format!("{:?}", changes.viewed));
            tracker.show(outputs.clone());
            // A cancelled build ends at its next report.
            while opened.lock().unwrap().recv_timeout(Duration::from_millis(1)).is_err() {
                tracker.start_stage(Stage::Pages, 0);
            }
            outputs.add("list.html", "whole");
            Rebuild::Site(outputs)
        };
        gate.send(()).unwrap();
        let long_again = Arc::clone(&limit);
        let announce = move |event| {
            // The build after an abandoned one has the full time.
            if matches!(event, Event::Broken { .. }) {
                long_again.store(3600, Ordering::Relaxed);
            }
            drop(tell.send(event));
        };
        let running = serve::start(options, rebuild, announce).unwrap();
        let slow = Self { root, running, events, begun, gate, limit };
        slow.begun.recv_timeout(PATIENCE).unwrap();
        slow.wait_for(|event| matches!(event, Event::Listening { .. }));
        slow
    }

    fn write(&self, text: &str) {
        fs::write(self.root.path().join("content/page.html"), text).unwrap();
    }

    fn wait_for(&self, fits: impl Fn(&Event) -> bool) {
        while !fits(&self.events.recv_timeout(PATIENCE).expect("the event comes")) {}
    }

    fn served(&self) -> String {
        self.get("/page.html")
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.running.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_string()
    }

    /// Returns the errors sent to open pages.
    fn broken(&self) -> Option<String> {
        let mut stream = TcpStream::connect(self.running.address).unwrap();
        write!(stream, "GET /_kbgen/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines().map(|line| line.unwrap());
        let news = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_string)).unwrap();
        let news: serde_json::Value = serde_json::from_str(&news).unwrap();
        news["broken"].as_str().map(str::to_string)
    }
}

#[test]
fn an_edit_is_served_before_the_site_is_built_and_ends_the_build_before() {
    let slow = Slow::start();
    slow.write("second");
    slow.wait_for(|event| matches!(event, Event::PartiallyRebuilt { .. }));
    assert_eq!(slow.served(), "second");
    slow.write("third");
    slow.wait_for(|event| matches!(event, Event::PartiallyRebuilt { .. }));
    assert_eq!(slow.served(), "third", "nobody waits for the build under way");
    slow.gate.send(()).unwrap();
    slow.wait_for(|event| matches!(event, Event::Rebuilt { .. }));
    assert_eq!(slow.served(), "third");
}

#[test]
fn a_build_is_given_the_pages_that_browsers_view() {
    let slow = Slow::start();
    assert_eq!(slow.get("/viewed/"), "{}");
    assert!(!slow.get("/missing/").contains("viewed"));
    slow.write("second");
    slow.wait_for(|event| matches!(event, Event::PartiallyRebuilt { .. }));
    assert_eq!(slow.get("/viewed/"), r#"{"viewed/"}"#);
    slow.gate.send(()).unwrap();
}

#[test]
fn a_slip_is_reported_until_it_is_fixed() {
    let slow = Slow::start();
    slow.write("wrong");
    slow.wait_for(|event| matches!(event, Event::Broken { plain, .. } if plain == "`wrong`"));
    assert_eq!((slow.served().as_str(), slow.broken().as_deref()), ("first", Some("`wrong`")));
    slow.write("right");
    slow.wait_for(|event| matches!(event, Event::PartiallyRebuilt { .. }));
    assert_eq!((slow.served().as_str(), slow.broken()), ("right", None));
    slow.gate.send(()).unwrap();
    slow.wait_for(|event| matches!(event, Event::Rebuilt { .. }));
    assert_eq!(slow.broken(), None);
}

#[test]
fn an_edit_without_end_loses_neither_the_server_nor_later_edits() {
    let slow = Slow::start();
    slow.write("endless");
    slow.begun.recv_timeout(PATIENCE).unwrap();
    assert_eq!(slow.served(), "first");
    slow.limit.store(0, Ordering::Relaxed);
    slow.write("right");
    slow.wait_for(|event| matches!(event, Event::Broken { plain, .. } if plain.contains("no progress")));
    (0..8).for_each(|_| slow.gate.send(()).unwrap());
    while slow.served() != "right" {
        thread::yield_now();
    }
}
