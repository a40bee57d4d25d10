//! A warm build gives the same bytes and findings as a clean one, whatever was edited and whatever befell the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::civil::date;
use kbgen::cache::Cache;
use kbgen::diag;
use kbgen::emit::{Permission, Publication, Record, Target};
use kbgen::engine::{Engine, Kind};
use kbgen::files::Outputs;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::{Order, Whole};
use kbgen::render::Audience;
use kbgen::watch::Unwatched;
use tempfile::TempDir;

use crate::expect::{files, repository};

/// What a build keeps.
const BUILD: [Kind; 10] = [
    Kind::Reads,
    Kind::Pages,
    Kind::Right,
    Kind::Solutions,
    Kind::Gathered,
    Kind::Words,
    Kind::Code,
    Kind::Prose,
    Kind::Hits,
    Kind::Figures,
];

/// A copy of the small site that may be edited.
struct Edited {
    folder: TempDir,
    caches: TempDir,
}

/// What came of a build: the findings, and the files unless one of them is an error.
type Came = (String, Option<Outputs>);

impl Edited {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = repository("tests/golden/site");
        for file in files("tests/golden/site", "") {
            let to = folder.path().join(file.strip_prefix(&from).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(&file, to).unwrap();
        }
        Self { folder, caches: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.root().join(inner)
    }

    /// Where the caches of all sites are; it is made when it is needed.
    fn caches(&self) -> PathBuf {
        self.caches.path().join("kbgen")
    }

    fn cache(&self) -> Cache {
        Cache::open(&self.caches(), self.root()).unwrap()
    }

    fn pack(&self, kind: Kind) -> PathBuf {
        self.cache().path(&format!("{}.pack", kind.name()))
    }

    fn write(&self, inner: &str, text: &str) {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn replace(&self, inner: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(inner)).unwrap();
        assert!(text.contains(from), "{inner} holds `{from}`");
        self.write(inner, &text.replacen(from, to, 1));
    }

    fn build(&self, engine: Engine, drafts: Drafts) -> (Came, Arc<Engine>) {
        let (sources, faults) = load::read(self.root()).unwrap();
        let engine = Arc::new(engine);
        let order = order(Arc::clone(&engine), drafts);
        let built = pipeline::build(&sources, faults, &order).unwrap();
        ((diag::json(&built.draft.found, &sources), built.outputs), engine)
    }

    fn clean(&self) -> Came {
        self.build(Engine::forgetful(), Drafts::Exclude).0
    }

    fn warm(&self) -> Came {
        let (came, engine) = self.build(self.cache().engine(), Drafts::Exclude);
        self.cache().keep(&engine).unwrap();
        came
    }

    /// Publishes the site into `public/` as `kbgen build` does, whose record of the last time is used or not. Whether
    /// there was no error.
    fn publish(&self, to: &str, record: Option<Record>, engine: Engine) -> Option<Record> {
        let (sources, faults) = load::read(self.root()).unwrap();
        let order = order(Arc::new(engine), Drafts::Exclude);
        let mut draft = pipeline::understand(&sources, faults, &order, &Unwatched).unwrap();
        if draft.has_errors() {
            return None;
        }
        let folder = self.path(to);
        let target = Target { folder: &folder, sources: &[], permission: Permission::OnlyOurs };
        let publication = Publication::begin(&target).unwrap().knowing(record.clone().unwrap_or_default());
        assert_eq!(pipeline::render(&sources, &mut draft, &order, &Unwatched, &publication), Whole::Yes);
        pipeline::pictures(&sources, &draft, &order, &Unwatched, &publication);
        self.cache().keep(&order.engine).unwrap();
        let known = record.unwrap_or_default();
        Some(publication.finish().unwrap().record.unwrap_or(known))
    }

    fn assert_same(&self, when: &str) {
        let ((clean_found, clean), (warm_found, warm)) = (self.clean(), self.warm());
        assert_eq!(warm_found, clean_found, "{when}: findings");
        let names = |outputs: &Option<Outputs>| -> Vec<String> {
            outputs.iter().flat_map(Outputs::iter).map(|(path, _)| path.to_string()).collect()
        };
        assert_eq!(names(&warm), names(&clean), "{when}: names of files");
        for (path, bytes) in clean.iter().flat_map(Outputs::iter) {
            assert_eq!(warm.as_ref().unwrap().get(path), Some(bytes), "{when}: {path}");
        }
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = crate::expect::kbgen();
        command.arg("--root").arg(self.root()).args(arguments).env("KBGEN_CACHE_DIR", self.caches());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, to: &str) -> Child {
        let to = self.path(to).display().to_string();
        self.program(&["build", "--date", "2026-06-30", "-o", &to]).spawn().unwrap()
    }

    fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.program(arguments).output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
    }

    fn built(&self, to: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let root = self.path(to);
        if !root.exists() {
            return Vec::new();
        }
        let mut files: Vec<_> = walkdir::WalkDir::new(&root)
            .into_iter()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| {
                (entry.path().strip_prefix(&root).unwrap().to_path_buf(), fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    }
}

/// What a site is made of at some time.
struct Before(Vec<(PathBuf, Vec<u8>)>);

impl Before {
    fn of(site: &Edited) -> Self {
        Self(
            ["content", "templates"]
                .iter()
                .flat_map(|folder| {
                    site.built(folder)
                        .into_iter()
                        .map(move |(path, bytes)| (Path::new(folder).join(path), bytes))
                })
                .chain([("site.toml".into(), fs::read(site.path("site.toml")).unwrap())])
                .collect(),
        )
    }

    /// Takes everything back since then.
    fn restore(&self, site: &Edited) {
        fs::remove_dir_all(site.path("content")).unwrap();
        let _ = fs::remove_dir_all(site.path("templates"));
        for (path, bytes) in &self.0 {
            let to = site.root().join(path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, bytes).unwrap();
        }
    }
}

fn order(engine: Arc<Engine>, drafts: Drafts) -> Order {
    Order { today: date(2026, 6, 30), drafts, base_url: None, audience: Audience::World, engine }
}

/// Numbers that look like chance and are the same each time (Steele, Lea and Flood 2014, SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

const CARD_FULL: &str = "content/errors/memory/card-full.md";

fn page(title: &str, pattern: &str, number: u64) -> String {
    format!(
        "---\ntitle: {title}\nsignatures:\n  - pattern: \"{pattern} {{size:bytes}}\"\n    \
         source: https://example.org/threads/{number}\n    samples: [\"{pattern} {number}.00 GiB\"]\n\
         severity: fatal\ntools: [loader]\ncauses:\n  - {{id: one, title: One, tell: It tells, solutions: [mend]}}\n\
         solutions:\n  - {{id: mend}}\nverified: 2026-06-01\n\
         sources: [\"https://example.org/threads/{number}\"]\n---\nSee [the card](/errors/card-full/).\n\n\
         ## Mend it {{#mend}}\n\n```python tool=loader\nprint({number})\n```\n\n\
         ## Check that it worked {{#check}}\n\n```bash\nloader --free {number}\n```\n"
    )
}

/// What comes into the body of an error, and what of it others see.
const PARTS: [&str; 14] = [
    "",
    "Plain words.",
    "\nA paragraph of its own.\n",
    "\n## Another heading\n",
    "\n## A heading with an id {#other}\n",
    "\nA heading of the old kind\n---\n",
    "A link to [another page](/errors/card-full/#mend) and to [this][label].",
    "\n[label]: /guides/free-memory/\n",
    "Words with a note[^note].",
    "\n[^note]: What the note says.\n",
    "\n```bash\nfirst command\n```\n",
    "\n~~~text",
    "It takes {{ fits(\"small\", quant=\"q4-k-m\", ctx=4096) }}.",
    "A text that several pages have under a heading of a solution, long enough that it says more than a command \
     would: stop what else runs, look how much is free, start again with less, and see what is left then.",
];

/// One edit, and what it was.
fn edit(site: &Edited, chance: &mut Chance, step: u64) -> String {
    let own = |number: u64| format!("content/errors/memory/own-{number}.md");
    let number = chance.below(4);
    let there = site.path(&own(number)).exists();
    match chance.below(20) {
        14..20 => {
            let path = if there { own(number) } else { CARD_FULL.to_string() };
            let text = fs::read_to_string(site.path(&path)).unwrap();
            let mut lines: Vec<&str> = text.lines().collect();
            let front = lines.iter().rposition(|line| *line == "---").unwrap() + 1;
            let at = front + chance.below((lines.len() - front) as u64 + 1) as usize;
            let part = PARTS[chance.below(PARTS.len() as u64) as usize];
            if chance.below(4) == 0 && at < lines.len() {
                lines.remove(at);
            } else {
                lines.insert(at, part);
            }
            site.write(&path, &format!("{}\n", lines.join("\n")));
            format!("{part:?} in line {at} of {path}")
        }
        0 => {
            site.replace(CARD_FULL, "card could not", &format!("card could not, at step {step},"));
            "body".into()
        }
        1 => {
            let title = format!("title: \"The card is full {step}\"");
            let text = fs::read_to_string(site.path(CARD_FULL)).unwrap();
            let line = text.lines().find(|line| line.starts_with("title:")).unwrap().to_string();
            site.replace(CARD_FULL, &line, &title);
            "title of a page that others name".into()
        }
        2 => {
            // The sample is no longer found: an error, which the next step may mend.
            let (from, to) = match fs::read_to_string(site.path(CARD_FULL)).unwrap().contains("cannot put {")
            {
                true => ("cannot put {", "can not put {"),
                false => ("can not put {", "cannot put {"),
            };
            site.replace(CARD_FULL, from, to);
            "signature".into()
        }
        3..=5 => {
            site.write(&own(number), &page(&format!("Own {step}"), &format!("own {number} wants"), step));
            "page added or changed".into()
        }
        6 if there => {
            fs::remove_file(site.path(&own(number))).unwrap();
            "page deleted".into()
        }
        7 if there => {
            fs::rename(site.path(&own(number)), site.path(&own(9))).unwrap();
            "page renamed".into()
        }
        8 => {
            let text = fs::read_to_string(repository("templates/error.html")).unwrap();
            site.write("templates/error.html", &text.replacen("<h1", &format!("<!-- {step} --><h1"), 1));
            "template".into()
        }
        9 => {
            site.write(
                "content/tools/loader.md",
                &fs::read_to_string(repository("tests/golden/site/content/tools/loader.md"))
                    .unwrap()
                    .replacen("title: ", &format!("title: N{step} "), 1),
            );
            "name of a tool, which labels code".into()
        }
        13 => {
            let text = fs::read_to_string(site.path("site.toml")).unwrap();
            let (kept, language) = match text.strip_prefix("language = \"de\"\n") {
                Some(rest) => (rest, ""),
                None => (&text[..], "language = \"de\"\n"),
            };
            site.write("site.toml", &format!("{language}{kept}"));
            "language of the interface".into()
        }
        10 => {
            site.replace("site.toml", "title = \"", "title = \"A");
            "settings".into()
        }
        11 => {
            site.replace("content/models/small.md", "title: ", "title: A");
            "model".into()
        }
        12 => {
            let ctx = 4096 * (1 + chance.below(3));
            let text = fs::read_to_string(site.path(CARD_FULL)).unwrap();
            let at = text.find("ctx=").unwrap() + 4;
            let end = at + text[at..].find(')').unwrap();
            site.write(CARD_FULL, &format!("{}{ctx}{}", &text[..at], &text[end..]));
            "figure in prose".into()
        }
        _ => {
            site.write(&own(number), "---\ntitle: Broken: here\n---\n# Text\n");
            "page with faults".into()
        }
    }
}

#[test]
fn a_warm_build_gives_what_a_clean_one_gives_after_any_edit() {
    let site = Edited::new();
    let mut chance = Chance(20_261_120);
    site.assert_same("at first");
    let mut published = 0;
    for step in 0..80 {
        let before = Before::of(&site);
        let what = edit(&site, &mut chance, step);
        site.assert_same(&format!("step {step}, {what}"));
        let is_whole = site.clean().1.is_some();
        published += usize::from(is_whole);
        if !is_whole && chance.below(4) > 0 {
            before.restore(&site);
        }
    }
    assert!((20..80).contains(&published), "of the builds, {published} were without errors");
    let (drafts, _) = site.build(site.cache().engine(), Drafts::Include);
    assert!(drafts == site.build(Engine::forgetful(), Drafts::Include).0, "other options");
}

#[test]
fn pages_that_are_not_made_again_are_those_that_a_clean_build_makes() {
    let site = Edited::new();
    let mut chance = Chance(20_261_122);
    let kept = || site.cache().engine();
    let mut record = site.publish("public", None, kept());
    let mut published = 0;
    for step in 0..80 {
        let before = Before::of(&site);
        let what = edit(&site, &mut chance, step);
        let Some(next) = site.publish("public", record.clone(), kept()) else {
            before.restore(&site);
            continue;
        };
        // Through its text, as the next run has it.
        record = Some(Record::read(&next.text()));
        assert_eq!(record.as_ref(), Some(&next), "step {step}");
        let _ = fs::remove_dir_all(site.path("clean"));
        assert!(site.publish("clean", None, Engine::forgetful()).is_some());
        let (warm, clean) = (site.built("public"), site.built("clean"));
        for (one, two) in warm.iter().zip(&clean) {
            assert_eq!(one.0, two.0, "step {step}, {what}");
            assert!(one.1 == two.1, "step {step}, {what}: {}", one.0.display());
        }
        assert_eq!(warm.len(), clean.len(), "step {step}, {what}");
        published += 1;
    }
    assert!((20..80).contains(&published), "of the builds, {published} were without errors");
}

#[test]
fn what_is_wrong_is_told_at_each_build_until_it_is_mended() {
    let site = Edited::new();
    let own = |number: u64| format!("content/errors/memory/own-{number}.md");
    for number in 0..2 {
        site.write(&own(number), &page(&format!("Own {number}"), &format!("own {number} wants"), number));
    }
    let (same, words) = (PARTS[PARTS.len() - 1], "## Check that it worked");
    site.replace(&own(0), words, &format!("{same}\n\n{words}"));
    site.assert_same("at first");
    let mistakes = [
        ("same-solution", words.to_string(), format!("{same}\n\n{words}")),
        ("signature-collision", "own 1 wants".to_string(), "own 0 wants".to_string()),
        ("broken-link", "/errors/card-full/".to_string(), "/errors/card-empty/".to_string()),
        ("unknown-key", "severity:".to_string(), "colour: red\nseverity:".to_string()),
    ];
    for (rule, right, wrong) in mistakes {
        let text = fs::read_to_string(site.path(&own(1))).unwrap();
        let text = if rule == "same-solution" { text.replace("print(1)", "print(0)") } else { text };
        site.write(&own(1), &text.replace(&right, &wrong));
        assert!(site.clean().0.contains(rule), "{rule}: {}", site.clean().0);
        site.assert_same(&format!("{rule}, at first"));
        site.assert_same(&format!("{rule}, again"));
        site.write(&own(1), &text);
        assert!(!site.clean().0.contains(rule), "{rule} is mended");
        site.assert_same(&format!("{rule}, mended"));
    }
}

#[test]
fn what_others_show_of_a_body_is_made_again() {
    let site = Edited::new();
    let path = "content/errors/memory/own-0.md";
    site.write(path, &page("Own", "own wants", 1));
    let engine = || site.cache().engine();
    let mut record = site.publish("public", None, engine());
    let edits = [
        ("lead", "See [the card]", "Look at [the card]", "llms.txt"),
        ("heading", "## Check that it worked", "## Check that it worked at once", "data/search.js"),
        ("link", "## Check", "See [how](/guides/free-memory/).\n\n## Check", "guides/free-memory/index.html"),
        ("front matter", "severity: fatal", "severity: degraded", "errors/index.html"),
        ("command", "print(1)\n```", "print(1)\n```\n\n```bash\nloader --low\n```", "data/diagnose.js"),
        ("words", "loader --low", "loader --lower", "llms-full.txt"),
    ];
    for (what, from, to, shown_in) in edits {
        let before = fs::read(site.path("public").join(shown_in)).unwrap();
        site.replace(path, from, to);
        record = site.publish("public", record, engine());
        assert!(
            fs::read(site.path("public").join(shown_in)).unwrap() != before,
            "{what} is shown in {shown_in}"
        );
        let _ = fs::remove_dir_all(site.path("clean"));
        assert!(site.publish("clean", None, Engine::forgetful()).is_some());
        assert!(site.built("public") == site.built("clean"), "{what}");
    }
}

#[test]
fn a_page_is_made_again_when_its_file_was_touched_and_only_then() {
    let site = Edited::new();
    let build = || assert_eq!(site.said(&["build", "--date", "2026-06-30"]).0, Some(0));
    let page = site.path("public/errors/card-full/index.html");
    build();
    let (whole, modified) = (fs::read(&page).unwrap(), fs::metadata(&page).unwrap().modified().unwrap());
    // Of the same length and time, a file is what it was: this is how it shows that it was not made again.
    let marked = vec![b'x'; whole.len()];
    fs::write(&page, &marked).unwrap();
    File::options().append(true).open(&page).unwrap().set_modified(modified).unwrap();
    build();
    assert!(fs::read(&page).unwrap() == marked, "the page was made again");
    let touches: [(&str, &dyn Fn()); 4] = [
        ("written to", &|| fs::write(&page, &marked).unwrap()),
        ("longer", &|| fs::write(&page, [&whole[..], b"x"].concat()).unwrap()),
        ("removed", &|| fs::remove_file(&page).unwrap()),
        ("of another record", &|| {
            fs::write(&page, &marked).unwrap();
            fs::remove_dir_all(site.caches()).unwrap();
        }),
    ];
    for (what, touch) in touches {
        touch();
        build();
        assert!(fs::read(&page).unwrap() == whole, "{what}");
    }
    fs::write(&page, &marked).unwrap();
    assert_eq!(site.said(&["build", "--date", "2026-06-30", "--no-cache"]).0, Some(0));
    assert!(fs::read(&page).unwrap() == whole, "without a cache nothing is known");
}

#[test]
fn a_second_build_works_nothing_out_and_leaves_the_cache_as_it_is() {
    let site = Edited::new();
    site.warm();
    for kind in BUILD {
        assert!(site.pack(kind).is_file(), "{} is kept", kind.name());
    }
    let (_, engine) = site.build(site.cache().engine(), Drafts::Exclude);
    for kind in BUILD {
        assert_eq!(engine.pack(kind), None, "{}: all was there", kind.name());
    }
    // What is right need not be judged; if it is, what that takes is there.
    fs::remove_file(site.pack(Kind::Right)).unwrap();
    let (_, engine) = site.build(site.cache().engine(), Drafts::Exclude);
    for kind in BUILD.into_iter().filter(|kind| *kind != Kind::Right) {
        assert_eq!(engine.pack(kind), None, "{}: all was there to judge anew", kind.name());
    }
}

/// What becomes of a file's bytes.
type Break = fn(&[u8]) -> Vec<u8>;

#[test]
fn broken_and_foreign_files_are_ignored_and_written_anew() {
    let site = Edited::new();
    site.warm();
    let whole: Vec<Vec<u8>> = BUILD.iter().map(|kind| fs::read(site.pack(*kind)).unwrap()).collect();
    let breaks: [(&str, Break); 7] = [
        ("empty", |_| Vec::new()),
        ("first half", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("longer", |bytes| [bytes, b"\0"].concat()),
        ("of another version", |bytes| [b"kbgen results 0", &bytes[15..]].concat()),
        ("byte in the list", |bytes| changed(bytes, 100)),
        ("byte in the results", |bytes| changed(bytes, bytes.len() - 40)),
        ("byte in the hash", |bytes| changed(bytes, bytes.len() - 1)),
    ];
    for (what, damage) in breaks {
        for (kind, bytes) in BUILD.iter().zip(&whole) {
            fs::write(site.pack(*kind), damage(bytes)).unwrap();
        }
        site.assert_same(what);
        for (kind, bytes) in BUILD.iter().zip(&whole) {
            assert!(fs::read(site.pack(*kind)).unwrap() == *bytes, "{what}: {} is mended", kind.name());
        }
    }
    fs::remove_dir_all(site.caches()).unwrap();
    site.assert_same("deleted");
}

fn changed(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

#[test]
fn a_build_that_is_ended_while_it_writes_harms_no_later_one() {
    let site = Edited::new();
    let mut child = site.start("ended");
    let begun = || fs::read_dir(site.cache().path("")).is_ok_and(|mut files| files.next().is_some());
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    site.assert_same("ended");
    // What such builds left goes, once no build can be writing it any more.
    let (old, fresh) = (site.cache().path("code.1.new"), site.cache().path("code.2.new"));
    fs::write(&fresh, "half").unwrap();
    fs::write(&old, "half").unwrap();
    let day_ago = SystemTime::now() - Duration::from_secs(86_400);
    File::options().write(true).open(&old).unwrap().set_modified(day_ago).unwrap();
    site.replace(CARD_FULL, "The card could not", "Now the card could not");
    site.assert_same("with leftovers");
    assert!(!old.exists() && fresh.exists());
}

#[test]
fn builds_at_once_do_not_disturb_each_other() {
    let site = Edited::new();
    let names = ["one", "two", "three"];
    let children: Vec<Child> = names.iter().map(|name| site.start(name)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && !said.contains("warning: the"), "{said}");
    }
    assert_eq!(site.built("one"), site.built("two"));
    assert_eq!(site.built("one"), site.built("three"));
    site.assert_same("afterwards");
    let left = files_in(&site.cache().path(""));
    assert!(left.iter().all(|name| !name.ends_with(".new")), "{left:?}");
}

fn files_in(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_folder_that_cannot_be_written_costs_one_warning() {
    let site = Edited::new();
    fs::write(site.caches(), "a file").unwrap();
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    assert!(said.contains("cache") && said.contains(&site.caches().display().to_string()), "{said}");
    assert!(site.path("public/index.html").is_file());
    let (code, said) = site.said(&["build", "--date", "2026-06-30", "--no-cache"]);
    assert!(code == Some(0) && !said.contains("cache"), "{said}");
}

#[test]
fn without_a_cache_no_folder_is_made_and_nothing_is_ever_kept_in_the_site() {
    let site = Edited::new();
    let before = files_in(site.root());
    for command in ["build", "check"] {
        let (code, said) = site.said(&[command, "--date", "2026-06-30", "--no-cache"]);
        assert_eq!(code, Some(0), "{said}");
    }
    site.said(&["diagnose", CARD_FULL, "--no-cache"]);
    assert!(!site.caches().exists());
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(site.pack(Kind::Code).is_file());
    fs::remove_dir_all(site.path("public")).unwrap();
    assert_eq!(files_in(site.root()), before);
    // Where the system names no folder there is none, and a note says so.
    let mut command = site.program(&["build", "--date", "2026-06-30"]);
    for name in ["KBGEN_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.matches("note: no cache is used").count() == 1, "{said}");
}

#[test]
fn a_cache_in_the_site_is_neither_read_nor_written() {
    let site = Edited::new();
    // A whole cache lies where earlier versions kept it.
    site.warm();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(site.cache().path(""), site.path(".kbgen-cache")).unwrap();
    let before = files_in(&site.path(".kbgen-cache"));
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(files_in(&site.path(".kbgen-cache")), before);
    for inside in [".kbgen-cache", "content/cache", "."] {
        let folder = site.path(inside).display().to_string();
        let (code, said) = site.said(&["build", "--date", "2026-06-30", "--cache-dir", &folder]);
        assert!(code == Some(0) && said.contains("lies in the site"), "{inside}: {said}");
    }
    assert_eq!(files_in(&site.path(".kbgen-cache")), before);
    #[cfg(unix)]
    {
        // Through links into the site, and out of it.
        std::os::unix::fs::symlink(site.root(), elsewhere.path().join("in")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), site.path("out")).unwrap();
        for folder in [elsewhere.path().join("in/cache"), site.path("out"), site.path("out/cache")] {
            let folder = folder.display().to_string();
            let (code, said) = site.said(&["build", "--date", "2026-06-30", "--cache-dir", &folder]);
            assert!(code == Some(0) && said.contains("lies in the site"), "{folder}: {said}");
        }
        assert_eq!(files_in(elsewhere.path()), ["in"]);
    }
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    use std::os::unix::fs::symlink;

    let (site, elsewhere) = (Edited::new(), tempfile::tempdir().unwrap());
    let victim = elsewhere.path().join("victim");
    fs::write(&victim, "theirs").unwrap();
    // The folder of all caches, and that of this site.
    symlink(elsewhere.path(), site.caches()).unwrap();
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert!(code == Some(0) && said.contains("is a symbolic link: name the folder"), "{said}");
    fs::remove_file(site.caches()).unwrap();
    let folder = site.cache().path("");
    fs::create_dir(site.caches()).unwrap();
    symlink(elsewhere.path(), folder.parent().unwrap().join(folder.file_name().unwrap())).unwrap();
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert!(code == Some(0) && said.contains("is not a folder: delete it"), "{said}");
    assert_eq!(files_in(elsewhere.path()), ["victim"]);
    fs::remove_file(folder.parent().unwrap().join(folder.file_name().unwrap())).unwrap();
    // Its files: each is a link to a file of somebody, or to one that is not there yet.
    site.warm();
    let names: Vec<String> =
        files_in(&folder).into_iter().chain(["published".into(), "links.json".into()]).collect();
    for target in [victim.clone(), elsewhere.path().join("missing")] {
        for name in &names {
            let _ = fs::remove_file(folder.join(name));
            symlink(&target, folder.join(name)).unwrap();
        }
        for command in ["build", "check"] {
            let (code, said) = site.said(&[command, "--date", "2026-06-30"]);
            assert_eq!(code, Some(0), "{said}");
        }
        site.cache().write("links.json", b"{}").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs");
        assert_eq!(files_in(elsewhere.path()), ["victim"]);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_use_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let site = Edited::new();
    site.warm();
    let folder = site.cache().path("");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&site.caches()), mode(&folder)), (0o700, 0o700));
    for mode in [0o777, 0o750, 0o701] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
        assert!(code == Some(0) && said.contains("others can use the cache"), "{said}");
    }
}

#[test]
fn what_git_tracks_of_kbgens_own_files_is_an_error() {
    let site = Edited::new();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(site.root()).args(arguments).stdout(Stdio::null());
        assert!(git.status().unwrap().success());
    };
    site.write(".kbgen-cache/code.pack", "kbgen results");
    site.write("sub/.kbgen-cache/code.pack", "kbgen results");
    site.write(".public.kbgen-new/index.html", "half");
    let check = || site.said(&["check", "--date", "2026-06-30", "--format", "json"]);
    let (code, said) = check();
    assert_eq!(code, Some(0), "leftovers of this machine are warnings: {said}");
    assert!(
        said.contains("`.kbgen-cache` has a name that kbgen uses") && said.contains("delete it"),
        "{said}"
    );
    assert!(!said.contains(".public.kbgen-new"), "a build may be at work: {said}");
    git(&["init", "--quiet"]);
    git(&["add", "--force", "."]);
    let (code, said) = check();
    assert_eq!(code, Some(1), "{said}");
    for path in [".kbgen-cache", ".public.kbgen-new"] {
        assert!(said.contains(&format!("`git rm -r -f {path}`")), "{said}");
    }
    assert_eq!(said.matches("`.kbgen-cache` has a name").count(), 1, "{said}");
}

#[test]
fn a_diagnosis_is_the_same_with_a_cache_and_sees_every_edit() {
    let site = Edited::new();
    let logs = [
        ("known", "loader: cannot put 2.00 GiB on the card, 0.50 GiB free\n"),
        ("near", "fatal error: the loader could not put the model on the full card\n"),
        ("unknown", "all is well\n"),
    ];
    for (name, text) in logs {
        site.write(name, text);
    }
    let answers = |more: &[&str]| {
        let answer = |(name, _): &(&str, &str)| {
            let log = site.path(name).display().to_string();
            let asked = [&["diagnose", "--format", "json", &log][..], more].concat();
            site.said(&asked)
        };
        logs.iter().map(answer).collect::<Vec<_>>()
    };
    let clean = answers(&["--no-cache"]);
    assert!(clean[0].1.contains("1.50 GiB too much"), "{}", clean[0].1);
    assert_eq!(answers(&[]), clean, "while it is filled");
    assert!(site.pack(Kind::Diagnosis).is_file());
    assert_eq!(answers(&[]), clean, "from the cache");
    // As many bytes as before, and at the same moment as far as the disk can tell.
    let times = fs::metadata(site.path(CARD_FULL)).unwrap().modified().unwrap();
    site.replace(CARD_FULL, "the card is full", "the card is Full");
    File::options().write(true).open(site.path(CARD_FULL)).unwrap().set_modified(times).unwrap();
    let edited = answers(&[]);
    assert!(edited[0].1.contains("the card is Full"), "{}", edited[0].1);
    assert_eq!(edited, answers(&["--no-cache"]));
    fs::write(site.pack(Kind::Diagnosis), "broken").unwrap();
    assert_eq!(answers(&[]), edited, "broken");
}
