//! A build with a cache gives the same bytes and findings as a clean build, after any edit and with any damage to the
//! cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use jiff::civil::date;
use kbgen::cache::Cache;
use kbgen::diag;
use kbgen::emit::{OutputTarget, Permission, Record, StagedOutput};
use kbgen::engine::{Engine, Kind};
use kbgen::files::{MemorySink, Outputs};
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::{RenderStatus, SiteOptions};
use kbgen::progress::{BuildProgress, NoProgress, Stage};
use kbgen::render::Audience;
use tempfile::TempDir;

use crate::expect::{files, repository};

/// Files of the cache.
const BUILD: [Kind; 9] = [
    Kind::Reads,
    Kind::Pages,
    Kind::Clean,
    Kind::Solutions,
    Kind::Gathered,
    Kind::Words,
    Kind::Prose,
    Kind::Hits,
    Kind::Figures,
];

/// Editable copy of the small site.
struct Edited {
    folder: TempDir,
    caches: TempDir,
}

/// Result of a build: the findings, and the files unless there is an error.
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

    /// Folder of the caches of all sites, created on demand.
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
        let options = options(Arc::clone(&engine), drafts);
        let built = pipeline::build(&sources, faults, &options).unwrap();
        ((diag::json(&built.analysis.findings, &sources), built.outputs), engine)
    }

    fn clean(&self) -> Came {
        self.build(Engine::without_cache(), Drafts::Exclude).0
    }

    fn warm(&self) -> Came {
        let (came, engine) = self.build(self.cache().engine(), Drafts::Exclude);
        self.cache().save(&engine).unwrap();
        came
    }

    /// Publishes the site to `public/` like `kbgen build`, with or without the record of the last build. Returns
    /// whether there was no error.
    fn publish(&self, to: &str, record: Option<Record>, engine: Engine) -> Option<Record> {
        let (sources, faults) = load::read(self.root()).unwrap();
        let options = options(Arc::new(engine), Drafts::Exclude);
        let mut analysis = pipeline::analyze(&sources, faults, &options, &NoProgress).unwrap();
        if analysis.has_errors() {
            return None;
        }
        let folder = self.path(to);
        let target = OutputTarget { folder: &folder, sources: &[], permission: Permission::OnlyOurs };
        let output = StagedOutput::begin(&target).unwrap().with_record(record.clone().unwrap_or_default());
        assert_eq!(
            pipeline::render(&sources, &mut analysis, &options, &NoProgress, &output),
            RenderStatus::Complete
        );
        pipeline::pictures(&sources, &analysis, &options, &NoProgress, &output);
        self.cache().save(&options.engine).unwrap();
        let known = record.unwrap_or_default();
        Some(output.finish().unwrap().record.unwrap_or(known))
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

/// Sources of a site at one time.
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

    /// Restores the sources.
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

fn options(engine: Arc<Engine>, drafts: Drafts) -> SiteOptions {
    SiteOptions { today: date(2026, 6, 30), drafts, base_url: None, audience: Audience::World, engine }
}

/// Deterministic pseudorandom numbers (Steele, Lea and Flood 2014, SplitMix64).
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

/// Body text of an error, and the parts of it shown on other pages.
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

/// Applies one edit and describes it.
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
            // The sample no longer matches. This is an error, which a later step may fix.
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
fn a_cached_build_equals_a_clean_build_after_any_edit() {
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
    assert!(drafts == site.build(Engine::without_cache(), Drafts::Include).0, "other options");
}

const GIZMO_READING: &str = "---
title: Gizmo limit
patterns: [\"gizmo: stage {stage:int} failed\"]
says:
  - {text: \"Stage {stage} failed.\", next: Repeat the stage.}
samples:
  - {text: \"gizmo: stage 4 failed\", says: Stage 4 failed.}
sources: [\"https://example.org/threads/9\"]
---
";

const GIZMO_EXTRACTOR: &str = "---
title: Gizmo
figures:
  - {name: stage, wordings: [\"gizmo: stage {x:int}\"]}
derived:
  - {name: next, value: stage + 1}
samples:
  - {text: \"gizmo: stage 4\", figures: {stage: \"4\"}}
sources: [\"https://example.org/threads/9\"]
---
";

#[test]
fn a_mistake_in_a_page_added_after_the_cache_was_filled_is_found() {
    let error = page("Gizmo", "gizmo wants", 7);
    let guide =
        "---\ntitle: Gizmo\nsummary: Text\nverified: 2026-06-01\n---\nSee [the card](/errors/card-full/).\n";
    let include = "---\ntitle: Gizmo\n---\nSee [the card](/errors/card-full/).\n";
    for (path, text, from, to) in [
        ("content/readings/gizmo.md", GIZMO_READING, "Stage {stage}", "Stage {stagee}"),
        ("content/readings/gizmo.md", GIZMO_READING, "says: Stage 4", "says: Stage 5"),
        ("content/extractors/gizmo.md", GIZMO_EXTRACTOR, "{x:int}", "{x:itn}"),
        ("content/extractors/gizmo.md", GIZMO_EXTRACTOR, "stage + 1", "stag + 1"),
        ("content/errors/memory/gizmo.md", &error, "{size:bytes}", "{size:byte}"),
        ("content/errors/memory/gizmo.md", &error, "tell: It tells", "when: size > fre, tell: It tells"),
        ("content/guides/gizmo.md", guide, "card-full", "card-ful"),
        ("content/includes/gizmo.md", include, "card-full", "card-ful"),
    ] {
        let site = Edited::new();
        site.assert_same("at first");
        site.write(path, text);
        site.assert_same(&format!("{path} added"));
        let before = site.clean().0;
        site.replace(path, from, to);
        site.assert_same(&format!("{path} with `{to}`"));
        assert!(site.clean().0 != before, "{path}: `{to}` is a mistake");
    }
}

#[test]
fn edits_of_declarations_and_included_texts_equal_a_clean_build() {
    let site = Edited::new();
    let settings = fs::read_to_string(site.path("site.toml")).unwrap();
    let declared = "[collections.boards]\ntitle = \"Boards\"\n[fields.errors.boards]\nkind = \"entry\"\n\
                    collection = \"boards\"\nlist = true\n[fields.errors.since]\nlabel = \"Since\"\n\
                    [vocabularies.systems]\nlinux = \"Linux\"\nwindows = \"Windows\"\n";
    site.write("site.toml", &format!("{settings}{declared}"));
    site.write("content/boards/one.md", "---\ntitle: Board one\n---\nA board.\n");
    site.write("content/includes/restart.md", "---\ntitle: Restart\n---\nRestart it.\n");
    site.replace(CARD_FULL, "severity: fatal\n", "severity: fatal\nboards: [one]\nsince: \"2.4\"\n");
    site.replace(CARD_FULL, "## Put fewer", "{{ include(\"restart\") }}\n\n## Put fewer");
    site.assert_same("declared");
    assert!(site.clean().1.is_some(), "the site has no error");
    for (path, from, to) in [
        ("content/includes/restart.md", "Restart it.", "Restart it twice."),
        ("content/boards/one.md", "Board one", "First board"),
        ("site.toml", "label = \"Since\"", "label = \"From\""),
        ("site.toml", "windows = \"Windows\"", "windows = \"Windows 11\""),
        ("site.toml", "label = \"From\"", "label = \"From\"\nkind = \"number\""),
        (CARD_FULL, "since: \"2.4\"", "since: 2.4"),
        ("content/tools/loader.md", "title:", "publish_on: 2026-07-01\ntitle:"),
        (CARD_FULL, "boards: [one]", "boards: [two]"),
        ("site.toml", "[collections.boards]", "[collections.cards]"),
    ] {
        site.replace(path, from, to);
        site.assert_same(to);
    }
}

#[test]
fn skipped_pages_equal_those_of_a_clean_build() {
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
        // As text, like the next run reads it.
        record = Some(Record::read(&next.text()));
        assert_eq!(record.as_ref(), Some(&next), "step {step}");
        let _ = fs::remove_dir_all(site.path("clean"));
        assert!(site.publish("clean", None, Engine::without_cache()).is_some());
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
fn what_is_wrong_is_reported_at_each_build_until_it_is_fixed() {
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
fn pages_that_show_parts_of_a_body_are_rendered_again() {
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
        (
            "command",
            "print(1)\n```",
            "print(1)\n```\n\n## First {#first-step}\n\n```bash\nloader --low\n```",
            "data/page-texts.js",
        ),
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
        assert!(site.publish("clean", None, Engine::without_cache()).is_some());
        assert!(site.built("public") == site.built("clean"), "{what}");
    }
}

#[test]
fn a_page_is_written_again_only_if_its_file_was_touched() {
    let site = Edited::new();
    let build = || assert_eq!(site.said(&["build", "--date", "2026-06-30"]).0, Some(0));
    let page = site.path("public/errors/card-full/index.html");
    build();
    let (whole, modified) = (fs::read(&page).unwrap(), fs::metadata(&page).unwrap().modified().unwrap());
    // Keep length and time: an unchanged stamp shows that the file was not written again.
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
fn a_new_title_renders_the_neighbors_of_a_page_and_no_other_guide() {
    let site = Edited::new();
    for number in 0..4 {
        let text = format!(
            "---\ntitle: Queue {number}\nverified: 2026-06-01\nsources: [\"https://kb.example/{number}\"]\n---\nText.\n"
        );
        site.write(&format!("content/guides/queue-{number}.md"), &text);
    }
    let build = || assert_eq!(site.said(&["build", "--date", "2026-06-30"]).0, Some(0));
    let page = |number: u8| site.path(&format!("public/guides/queue-{number}/index.html"));
    build();
    let (length, modified) =
        fs::metadata(page(3)).map(|data| (data.len(), data.modified().unwrap())).unwrap();
    // Keep length and time: the marks stay unless the page is rendered.
    let marked = vec![b'x'; usize::try_from(length).unwrap()];
    fs::write(page(3), &marked).unwrap();
    File::options().append(true).open(page(3)).unwrap().set_modified(modified).unwrap();
    site.replace("content/guides/queue-0.md", "Queue 0", "Queue 0 again");
    build();
    assert!(fs::read_to_string(page(1)).unwrap().contains("Queue 0 again"));
    assert!(fs::read(page(3)).unwrap() == marked, "the page was rendered again");
}

/// Records the paths of rendered files.
#[derive(Debug, Default)]
struct Timed(Mutex<Vec<String>>);

impl BuildProgress for Timed {
    fn start_stage(&self, _: Stage, _: usize) {}
    fn start_page(&self, path: &str) {
        self.0.lock().unwrap().push(path.to_string());
    }
    fn finish_page(&self, _: &str) {}
}

#[test]
fn pages_lists_and_data_files_are_timed() {
    let site = Edited::new();
    let (sources, faults) = load::read(site.root()).unwrap();
    let (options, timed) = (options(Arc::new(Engine::without_cache()), Drafts::Exclude), Timed::default());
    let mut analysis = pipeline::analyze(&sources, faults, &options, &NoProgress).unwrap();
    pipeline::render(&sources, &mut analysis, &options, &timed, &MemorySink::default());
    let paths = timed.0.into_inner().unwrap();
    for path in ["errors/card-full/index.html", "guides/index.html", "404.html", "search.js", "llms.txt"] {
        assert!(paths.iter().any(|timed| timed == path), "{path} in {paths:?}");
    }
}

#[test]
fn a_second_build_computes_nothing_and_keeps_the_cache() {
    let site = Edited::new();
    site.warm();
    for kind in BUILD {
        assert!(site.pack(kind).is_file(), "{} is kept", kind.name());
    }
    let (_, engine) = site.build(site.cache().engine(), Drafts::Exclude);
    for kind in BUILD {
        assert!(engine.pack(kind).is_none(), "{}: all was there", kind.name());
    }
    // Clean checks are skipped. If one runs anyway, its inputs are available.
    fs::remove_file(site.pack(Kind::Clean)).unwrap();
    let (_, engine) = site.build(site.cache().engine(), Drafts::Exclude);
    for kind in BUILD.into_iter().filter(|kind| *kind != Kind::Clean) {
        assert!(engine.pack(kind).is_none(), "{}: all was there to judge anew", kind.name());
    }
}

/// Kinds of damage to a file.
type Break = fn(&[u8]) -> Vec<u8>;

#[test]
fn broken_and_foreign_cache_files_are_ignored_and_rewritten() {
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
        // The bytes may differ: parallel queries record their reads in any order.
        let (_, engine) = site.build(site.cache().engine(), Drafts::Exclude);
        for kind in BUILD {
            assert!(engine.pack(kind).is_none(), "{what}: {} is mended", kind.name());
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
fn a_build_killed_while_writing_harms_no_later_build() {
    let site = Edited::new();
    let mut child = site.start("ended");
    let begun = || fs::read_dir(site.cache().path("")).is_ok_and(|mut files| files.next().is_some());
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    site.assert_same("ended");
    // Their leftovers are removed once no build can be writing them.
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
fn concurrent_builds_do_not_interfere() {
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
fn without_a_cache_no_files_are_stored() {
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
    assert!(site.pack(Kind::Words).is_file());
    fs::remove_dir_all(site.path("public")).unwrap();
    assert_eq!(files_in(site.root()), before);
    // Without a system folder there is no cache, and a note says so.
    let mut command = site.program(&["build", "--date", "2026-06-30"]);
    for name in ["KBGEN_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.matches("note: running without a cache").count() == 1, "{said}");
}

#[test]
fn a_cache_in_the_site_is_neither_read_nor_written() {
    let site = Edited::new();
    // Place a valid cache in the location of earlier versions.
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
        assert!(code == Some(0) && said.contains("is inside the site"), "{inside}: {said}");
    }
    assert_eq!(files_in(&site.path(".kbgen-cache")), before);
    #[cfg(unix)]
    {
        // Use links into the site and out of it.
        std::os::unix::fs::symlink(site.root(), elsewhere.path().join("in")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), site.path("out")).unwrap();
        for folder in [elsewhere.path().join("in/cache"), site.path("out"), site.path("out/cache")] {
            let folder = folder.display().to_string();
            let (code, said) = site.said(&["build", "--date", "2026-06-30", "--cache-dir", &folder]);
            assert!(code == Some(0) && said.contains("is inside the site"), "{folder}: {said}");
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
    // Replace the folder of all caches, then that of this site.
    symlink(elsewhere.path(), site.caches()).unwrap();
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert!(code == Some(0) && said.contains("is a symbolic link; pass the folder"), "{said}");
    fs::remove_file(site.caches()).unwrap();
    let folder = site.cache().path("");
    fs::create_dir(site.caches()).unwrap();
    symlink(elsewhere.path(), folder.parent().unwrap().join(folder.file_name().unwrap())).unwrap();
    let (code, said) = site.said(&["build", "--date", "2026-06-30"]);
    assert!(code == Some(0) && said.contains("is not a folder; delete it"), "{said}");
    assert_eq!(files_in(elsewhere.path()), ["victim"]);
    fs::remove_file(folder.parent().unwrap().join(folder.file_name().unwrap())).unwrap();
    // Replace its files with links to a file of another user or to a missing file.
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
        assert!(code == Some(0) && said.contains("is accessible to other users"), "{said}");
    }
}

#[test]
fn temporary_files_tracked_by_git_are_errors() {
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
    assert!(said.contains("`.kbgen-cache` has a name reserved") && said.contains("delete it"), "{said}");
    assert!(!said.contains(".public.kbgen-new"), "a build may be at work: {said}");
    git(&["init", "--quiet"]);
    git(&["add", "--force", "."]);
    let (code, said) = check();
    assert_eq!(code, Some(1), "{said}");
    for path in [".kbgen-cache", ".public.kbgen-new"] {
        assert!(said.contains(&format!("`git rm -r -f {path}`")), "{said}");
    }
    assert_eq!(said.matches("git tracks `.kbgen-cache`").count(), 1, "{said}");
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
    assert!(clean[0].1.contains("1.50 GiB missing"), "{}", clean[0].1);
    assert_eq!(answers(&[]), clean, "while it is filled");
    assert!(site.pack(Kind::Diagnosis).is_file());
    assert_eq!(answers(&[]), clean, "from the cache");
    // Same size and same modification time.
    let times = fs::metadata(site.path(CARD_FULL)).unwrap().modified().unwrap();
    site.replace(CARD_FULL, "the card is full", "the card is Full");
    File::options().write(true).open(site.path(CARD_FULL)).unwrap().set_modified(times).unwrap();
    let edited = answers(&[]);
    assert!(edited[0].1.contains("the card is Full"), "{}", edited[0].1);
    assert_eq!(edited, answers(&["--no-cache"]));
    fs::write(site.pack(Kind::Diagnosis), "broken").unwrap();
    assert_eq!(answers(&[]), edited, "broken");
}
