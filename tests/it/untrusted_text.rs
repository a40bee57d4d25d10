//! Text of content and logs cannot control a terminal, send workflow commands, or become markup.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use kbgen::diag;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;
use tempfile::TempDir;

use crate::expect::{options, repository};

/// Window title, cleared screen, C1 controls, overrides, tags and a line break, as YAML.
const ESCAPED: &str =
    r"\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e\u2066\U000E0041\uFEFF\n::stop-commands::x ##[add-mask]y";

/// The same characters unescaped.
const RAW: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{e0041}\u{feff} ##[add-mask]y";

/// Small site with hostile texts.
fn site() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("site.toml", "title = \"Errors\"\nbase_url = \"https://kb.example/\"\npacks = [\"llm\"]\n");
    let device = fs::read_to_string(repository("tests/golden/site/content/hardware/card.md")).unwrap();
    let model = fs::read_to_string(repository("tests/golden/site/content/models/small.md")).unwrap();
    write("content/models/small.md", &model.replacen("title: ", &format!("title: \"{ESCAPED}\" # "), 1));
    write("content/hardware/card.md", &device.replacen("title: ", &format!("title: \"{ESCAPED}\" # "), 1));
    write(
        "content/tools/loader.md",
        "---\ntitle: Loader\nhomepage: https://example.org/\nverified: 2026-06-01\nsources: [\"https://example.org/\"]\n---\nIt loads.\n",
    );
    write(
        "content/errors/memory/card-full.md",
        &format!(
            "---\ntitle: \"CUDA {ESCAPED}\"\nsignatures:\n  - pattern: \"cannot put {{requested:bytes}} on the card\"\n    \
             source: https://example.org/1\n    samples: [\"loader: cannot put 2.00 GiB on the card {ESCAPED}\"]\nseverity: fatal\n\
             tools: [loader]\ncauses:\n  - id: too-large\n    title: \"Too large {ESCAPED}\"\n    tell: \"It fails {ESCAPED}\"\n    \
             when: \"requested > 0\"\n    solutions: [fewer]\nsolutions:\n  - {{id: fewer, cost: speed}}\n\
             verified: 2026-06-12\nsources: [\"https://example.org/1\"]\n---\nIt is full {RAW}.\n::stop-commands::x\n\n\
             ## Fewer {{#fewer}}\n\nLess {RAW}.\n"
        ),
    );
    write("content/guides/a\n::stop-commands::x/b\u{1b}[2J.md", "---\ntitle: B\n---\n");
    write("run.log", &format!("start\nloader: cannot put 2.00 GiB on the card {RAW}\n{RAW}\n::error::z\n"));
    write("other.log", &format!("loader: failed to do something strange {RAW}\n"));
    folder
}

fn kbgen(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kbgen"));
    command.arg("--root").arg(root).args(arguments).current_dir(root);
    command.output().expect("the program runs")
}

/// Returns the first control sequence or workflow command in a text.
fn harm(text: &str) -> Option<String> {
    let acts = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
    };
    let command = |line: &&str| line.trim_start().starts_with("::") || line.contains("##[");
    let character = text.chars().find(|c| acts(*c)).map(|c| format!("{c:?}"));
    character.or_else(|| text.lines().find(command).map(str::to_string))
}

#[test]
fn no_command_prints_what_acts_on_a_terminal_or_a_runner() {
    let site = site();
    let mut faults = Vec::new();
    for arguments in [
        &["explain", "card-full"][..],
        &["explain", "card-full", "--format", "json"],
        &["explain", "\u{1b}[2J\n::stop-commands::x"],
        &["diagnose", "run.log"],
        &["diagnose", "other.log"],
        &["diagnose", "run.log", "--format", "json"],
        &["diagnose", "\u{1b}[2J\n::stop-commands::x"],
        &["fit", "small"],
        &["fit", "small", "--gpu", "card"],
        &["fit", "small", "--memory", "1"],
        &["fit", "small", "--memory", "8", "--format", "json"],
        &["stale", "--within", "99999"],
        &["stale", "--within", "99999", "--format", "json"],
        &["new", "error", "memory/new", "--from-log", "other.log"],
        &["new", "error", "memory/known", "--from-log", "run.log"],
        &["check", "--no-cache"],
        &["check", "--no-cache", "--format", "json"],
        &["check", "--no-cache", "--format", "sarif"],
        &["build", "--no-cache"],
    ] {
        let output = kbgen(site.path(), arguments);
        for bytes in [output.stdout, output.stderr] {
            let text = String::from_utf8(bytes).expect("output is text");
            faults.extend(harm(&text).map(|harm| format!("{arguments:?} prints {harm:?} in:\n{text:?}")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn escapes_are_shown_and_json_keeps_the_text() {
    let site = site();
    let text = |arguments: &[&str]| String::from_utf8(kbgen(site.path(), arguments).stdout).unwrap();
    let page = text(&["explain", "card-full"]);
    let title = r"CUDA \u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{e0041}\u{feff}";
    assert!(page.starts_with(title), "{page}");
    let answer: Value = serde_json::from_str(&text(&["diagnose", "run.log", "--format", "json"])).unwrap();
    let title = answer["matches"][0]["title"].as_str().unwrap();
    assert!(
        title.starts_with("CUDA \u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{2066}\u{e0041}"),
        "{title:?}"
    );
    assert!(title.ends_with("::stop-commands::x ##[add-mask]y"), "{title:?}");
}

#[test]
fn a_file_name_is_no_command_for_a_runner() {
    let site = site();
    let output = kbgen(site.path(), &["check", "--no-cache", "--format", "github"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() > 3, "{text}");
    for line in text.lines() {
        assert!(line.starts_with("::error file=") || line.starts_with("::warning file="), "{line}");
        assert_eq!(harm(&line[2..]), None, "{line}");
    }
}

/// Returns the markup in a Markdown text: links, HTML, and headings with their words.
fn marks(markdown: &str) -> Vec<String> {
    let mut marks = Vec::new();
    for event in Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH,
    ) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                marks.push(dest_url.to_string())
            }
            Event::Html(html) | Event::InlineHtml(html) => marks.push(html.to_string()),
            Event::Start(Tag::Heading { level, .. }) => marks.push(level.to_string()),
            _ => {}
        }
    }
    marks
}

#[test]
fn titles_are_text_in_every_markdown_file() {
    let golden = repository("tests/golden/site");
    let files = |title: Option<&str>| {
        let (mut sources, faults) = load::read(&golden).unwrap();
        let path = "content/errors/memory/card-full.md";
        let id = sources.find(path).unwrap();
        let page = sources.get(id).text.clone();
        let line = page.lines().find(|line| line.starts_with("title: ")).unwrap().to_string();
        if let Some(title) = title {
            sources
                .add(path, page.replace(&line, &format!("title: {}", serde_json::to_string(title).unwrap())));
        }
        let options = SiteOptions { drafts: Drafts::Exclude, ..options() };
        let built = pipeline::build(&sources, faults, &options).unwrap();
        let report = diag::json(&built.analysis.findings, &sources);
        let outputs = built.outputs.unwrap_or_else(|| panic!("{report}"));
        ["llms.txt", "llms-full.txt", "errors/card-full.md"]
            .map(|path| String::from_utf8(outputs.get(path).unwrap().to_vec()).unwrap())
    };
    let plain = files(None).map(|text| marks(&text));
    for title in [
        "Fix it](https://evil.example/x) and [more",
        "![x](https://evil.example/x)",
        "<https://evil.example/x> <b>&lt;",
        "# h `code` **b** ~~s~~",
        "1. one",
        "> - x | y {#id}",
        "[x]: https://evil.example/x",
    ] {
        for (text, plain) in files(Some(title)).iter().zip(&plain) {
            assert_eq!(&marks(text), plain, "{title}: {text}");
        }
    }
}
