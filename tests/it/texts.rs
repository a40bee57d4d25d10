//! Texts of the interface: one file lists them all, and pages contain no other words.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use kbgen::files::Outputs;
use kbgen::i18n::{TextPart, calls, parts};
use kbgen::load;
use kbgen::pipeline;

use crate::expect::{all_well, files, options, repository, same};
use crate::html::{tags, texts};

const GERMAN: &str = "i18n/de.toml";

/// Folders with texts, and the calls that mark them.
const SAID: [(&str, &str, Option<&[&str]>); 5] = [
    ("templates", ".html", None),
    ("static/js", ".js", None),
    ("src/markdown", ".rs", Some(IN_RUST)),
    ("src/render", ".rs", Some(IN_RUST)),
    ("src/site", ".rs", Some(IN_RUST)),
];

const IN_RUST: &[&str] = &[".tr(", ".fill(", "text("];

/// Returns every text with the first file that uses it, in the order of the files.
fn said() -> Vec<(String, Vec<String>)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (folder, end, starts) in SAID {
        for path in files(folder, end) {
            let source = fs::read_to_string(&path).unwrap();
            let texts = match starts {
                None => calls(&source).into_iter().flat_map(|call| call.texts).map(unquoted).collect(),
                Some(starts) => in_rust(&source, starts),
            };
            let texts: Vec<String> = texts.into_iter().filter(|text| seen.insert(text.clone())).collect();
            if !texts.is_empty() {
                let path = path.strip_prefix(repository("")).unwrap().to_string_lossy().replace('\\', "/");
                found.push((path, texts));
            }
        }
    }
    found
}

/// Parses a string literal.
fn unquoted(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_else(|_| panic!("`{text}` is quoted strangely"))
}

/// Returns the texts used or marked in a source file.
fn in_rust(source: &str, starts: &[&str]) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let marks = code.contains("crate::i18n::") && code.contains("text");
    let mut texts = BTreeMap::new();
    for start in starts.iter().filter(|start| marks || start.starts_with('.')) {
        for (at, _) in code.match_indices(start) {
            let is_other = code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
            let rest = code[at + start.len()..].trim_start();
            if let Some(rest) = rest.strip_prefix('"').filter(|_| start.starts_with('.') || !is_other) {
                let mut ends = rest.match_indices('"').map(|(at, _)| at);
                let end = ends.find(|at| !rest[..*at].ends_with('\\')).expect("a text is closed");
                let literal = &rest[..end];
                // Join continued lines.
                let pieces: Vec<&str> = literal
                    .split("\\\n")
                    .enumerate()
                    .map(|(n, piece)| if n == 0 { piece } else { piece.trim_start() })
                    .collect();
                texts.insert(at, unquoted(&pieces.concat()));
            }
        }
    }
    texts.into_values().collect()
}

/// Returns the translations in a file by English text.
fn translations(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with('"'));
    let pair = |line: &str| {
        let (english, other) =
            line.split_once("\" = \"").unwrap_or_else(|| panic!("`{line}` is no translation"));
        (unquoted(&english[1..]), unquoted(&other[..other.len() - 1]))
    };
    lines.map(pair).collect()
}

/// The file lists every text once, grouped by the file that uses it, so that changes are visible as differences.
#[test]
fn one_file_lists_every_text() {
    let path = repository(GERMAN);
    let known = translations(&path);
    let before = fs::read_to_string(&path).unwrap();
    let mut list = before.split("\n\n# ").next().unwrap().trim_end().to_string();
    let mut faults = Vec::new();
    for (file, texts) in said() {
        list.push_str(&format!("\n\n# {file}"));
        for text in texts {
            let other = known.get(&text).cloned().unwrap_or_default();
            if other.is_empty() {
                faults.push(format!("{GERMAN}: no translation of `{text}` ({file})"));
            }
            list.push_str(&format!("\n{} = {}", serde_json::json!(text), serde_json::json!(other)));
        }
    }
    faults.extend(same(&path, &format!("{list}\n")));
    all_well(faults);
}

#[test]
fn a_translation_has_the_holes_of_its_text() {
    let marks = |text: &str| -> BTreeSet<String> {
        let marks = parts(text).into_iter().filter(|part| !matches!(part, TextPart::Words(_)));
        marks.map(|part| part.source()).collect()
    };
    for (english, german) in translations(&repository(GERMAN)) {
        assert_eq!(marks(&german), marks(&english), "`{german}` stands for `{english}`");
    }
}

// ---- what pages say ---------------------------------------------------------------------------

/// Builds a small site with every page kind, in a language in which every text of the interface is in brackets.
fn bracketed() -> (Outputs, String) {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).unwrap();
    let settings = fs::read_to_string(repository("tests/golden/site/site.toml")).unwrap();
    sources.add("site.toml", format!("language = \"qps\"\n{settings}"));
    let lines = translations(&repository(GERMAN)).into_keys();
    let lines = lines
        .map(|text| format!("{} = {}\n", serde_json::json!(text), serde_json::json!(format!("⟦{text}⟧"))));
    sources.add("i18n/qps.toml", lines.collect::<String>());
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    assert_eq!(built.analysis.findings, []);
    let pages =
        files("tests/golden/site/content", ".md").into_iter().map(|path| fs::read_to_string(path).unwrap());
    (built.outputs.unwrap(), pages.chain([settings]).collect::<Vec<_>>().join("\n"))
}

/// Attributes whose text is visible or read aloud.
const SPOKEN: [&str; 7] =
    ["alt", "aria-description", "aria-label", "data-label", "data-whole", "placeholder", "title"];

/// Names that are the same in every language, and messages of programs.
const NAMES: &[&str] = &[
    "Apple silicon",
    "CUDA out of memory. Tried to allocate",
    "CPU",
    "Docker",
    "GB",
    "GPU",
    "GiB",
    "JSON",
    "Linux",
    "MiB",
    "Ollama",
    "RAM",
    "WSL",
    "Windows",
    "diagnose ollama.log",
    "f16",
    "kbgen",
    "llama-server",
    "llama.cpp",
    "macOS",
    "ollama",
    "ollama.log",
    "q8_0",
    "serve",
    "tee",
    "tokens",
    "torch.OutOfMemoryError",
    "vLLM",
];

/// Returns the parts of a text outside of brackets. `depth` is the bracket depth at the start and is updated.
fn outside(text: &str, depth: &mut usize) -> Vec<String> {
    let mut found = vec![String::new()];
    for character in text.chars() {
        match character {
            '⟦' => *depth += 1,
            '⟧' => *depth -= 1,
            _ if *depth > 0 => continue,
            _ => {
                found.last_mut().unwrap().push(character);
                continue;
            }
        }
        found.push(String::new());
    }
    found
}

/// Returns whether a text consists only of words of the content, names, URLs and figures.
fn is_content(text: &str, content: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_word = |phrase: &String| phrase.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let is_known = |phrase: String| {
        let phrase = phrase.trim_end_matches([':', '.']);
        content.contains(phrase) || NAMES.contains(&phrase) || phrase.starts_with("https://kb.example/")
    };
    content.contains(&text)
        || text
            .split([',', '·', ';', '(', ')', '–', '|', '…'])
            .flat_map(|part| part.split(": "))
            .flat_map(between_figures)
            .filter(is_word)
            .all(is_known)
}

/// Returns the words around figures.
fn between_figures(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.split(|word| is_figure(word)).map(|phrase| phrase.join(" ")).collect()
}

/// Removes link targets from a text.
fn without_targets(markdown: &str) -> String {
    let mut parts = markdown.split("](");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest)).replace('[', "")
}

/// Returns whether a text is a figure such as `4.00 GiB`, `128 GB/s` or `4k`.
fn is_figure(text: &str) -> bool {
    let mut words = text.split(' ');
    words.all(|word| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || ["GiB", "MiB", "GB", "GB/s", "W", "KiB"].contains(&word)
    })
}

#[test]
fn a_page_has_no_words_but_its_content_and_the_texts_of_the_interface() {
    let (outputs, content) = bracketed();
    let plain = without_targets(&content).replace(['*', '`', '_'], "");
    let content = plain.split_whitespace().collect::<Vec<_>>().join(" ") + " " + &content;
    let mut forgotten = BTreeSet::new();
    for (path, bytes) in outputs.iter().filter(|(path, _)| path.ends_with(".html")) {
        let html = std::str::from_utf8(bytes).unwrap();
        let mut depth = 0;
        let mut seen: Vec<String> = texts(html).iter().flat_map(|text| outside(text, &mut depth)).collect();
        for tag in tags(html) {
            let is_told = tag.is("name", "description") || tag.is("property", "og:title");
            let spoken = tag
                .attributes
                .iter()
                .filter(|(name, _)| SPOKEN.contains(&name.as_str()) || is_told && name == "content");
            seen.extend(spoken.flat_map(|(_, value)| outside(value, &mut 0)));
        }
        let wrong = seen.into_iter().filter(|text| !is_content(text, &content));
        forgotten.extend(wrong.map(|text| format!("{path}: {}", text.trim())));
        assert_eq!(depth, 0, "{path}: a bracket is not closed");
    }
    assert!(forgotten.is_empty(), "{}", forgotten.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_german_site_is_german() {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).unwrap();
    let settings = fs::read_to_string(repository("tests/golden/site/site.toml")).unwrap();
    sources.add("site.toml", format!("language = \"de-AT\"\n{settings}"));
    sources.add("i18n/de.toml", "\"Glossary\" = \"Fachwörter\"\n");
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    assert_eq!(built.analysis.findings, []);
    let outputs = built.outputs.unwrap();
    let text = |path: &str| String::from_utf8(outputs.get(path).unwrap().to_vec()).unwrap();
    let page = text("errors/card-full/index.html");
    for part in [
        "<html lang=\"de-AT\"",
        "Meldungen und Versionen",
        "Über diese Website",
        "aria-label=\"Link zu diesem Abschnitt\"",
    ] {
        assert!(page.contains(part), "no `{part}` in the page");
    }
    assert!(
        text("glossary/index.html").contains("<h1>Fachwörter</h1>"),
        "a site's own translation goes first"
    );
    let scripts = outputs.iter().filter(|(path, _)| path.starts_with("static/js/"));
    let scripts: Vec<String> = scripts.map(|(_, bytes)| String::from_utf8(bytes.to_vec()).unwrap()).collect();
    assert!(scripts.iter().any(|script| script.contains("t(\"Kopiert\")")));
}
