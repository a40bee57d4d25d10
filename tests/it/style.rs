//! Words and phrases of `tests/data/style.yml` are not used in comments, documentation, templates, texts and content.

use std::fs;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use crate::expect::repository;

/// Files whose purpose is to contain wrong or foreign text.
const EXCEPTIONS: [&str; 3] = ["tests/hostile", "tests/it/style.rs", "tests/data"];

/// Rule: phrases to find anywhere in a line, or words to find at the start of a doc comment.
struct StyleRule {
    phrases: Vec<String>,
    starts: Vec<String>,
    plain: String,
    only: Vec<String>,
}

/// Paths that are read in the same way.
struct StyleScope {
    name: String,
    enabled: bool,
    read: String,
    paths: Vec<String>,
}

/// Line of prose: its number, its text without code, and whether it is the first line of a doc comment.
struct ProseLine {
    number: usize,
    text: String,
    is_start: bool,
}

fn list(value: &Value) -> Vec<String> {
    let items = value.as_sequence().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_string).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_string()
}

fn style() -> (Vec<StyleScope>, Vec<StyleRule>) {
    let file = fs::read_to_string(repository("tests/data/style.yml")).expect("the rules are readable");
    let file: Value = serde_yaml::from_str(&file).expect("the rules are YAML");
    let scopes = file["scopes"].as_sequence().expect("a list of scopes").iter().map(|scope| StyleScope {
        name: text(&scope["name"]),
        enabled: scope["enabled"].as_bool().expect("true or false"),
        read: text(&scope["read"]),
        paths: list(&scope["in"]),
    });
    let rules = file["rules"].as_sequence().expect("a list of rules").iter().map(|rule| StyleRule {
        phrases: list(&rule["phrases"]).into_iter().map(|phrase| phrase.to_lowercase()).collect(),
        starts: list(&rule["start"]),
        plain: text(&rule["plain"]),
        only: list(&rule["only"]),
    });
    (scopes.collect(), rules.collect())
}

/// Returns the prose lines of a file, without code in backticks and code blocks.
fn prose(source: &str, read: &str) -> Vec<ProseLine> {
    let mut lines = Vec::new();
    let (mut in_code, mut was_doc) = (false, false);
    for (index, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        if read == "markdown" && trimmed.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let is_doc = trimmed.starts_with("///") || trimmed.starts_with("//!");
        let text = match read {
            "comments" => trimmed.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' '])),
            "texts" => {
                trimmed.strip_prefix('"').and_then(|rest| rest.split_once("\" =")).map(|(text, _)| text)
            }
            // A quoted list item is a sample of a message.
            _ => (!in_code && !trimmed.starts_with("- \"")).then_some(line),
        };
        let is_start = is_doc && !std::mem::replace(&mut was_doc, is_doc);
        was_doc = is_doc;
        if let Some(text) = text {
            lines.push(ProseLine { number: index + 1, text: without_code(text), is_start });
        }
    }
    lines
}

/// Removes code in backticks.
fn without_code(text: &str) -> String {
    text.split('`').enumerate().filter(|(index, _)| index % 2 == 0).map(|(_, part)| part).collect()
}

/// Returns whether a text contains a phrase as whole words. Both are lowercase.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(phrase)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + phrase.len()..].starts_with(is_word))
}

/// Returns the violations in a file as `path:line: "phrase": write …`.
fn violations(path: &str, source: &str, scope: &StyleScope, rules: &[StyleRule]) -> Vec<String> {
    let rules = rules.iter().filter(|rule| rule.only.is_empty() || rule.only.contains(&scope.name));
    let rules: Vec<&StyleRule> = rules.collect();
    let mut found = Vec::new();
    for line in prose(source, &scope.read) {
        let lower = line.text.to_lowercase();
        for rule in &rules {
            let phrases = rule.phrases.iter().filter(|phrase| has_phrase(&lower, phrase));
            let starts =
                rule.starts.iter().filter(|word| line.is_start && starts_with_word(&line.text, word));
            found.extend(
                phrases
                    .chain(starts)
                    .map(|phrase| format!("{path}:{}: \"{phrase}\": write {}", line.number, rule.plain)),
            );
        }
    }
    found
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ',', ':']))
}

fn files_of(scope: &StyleScope) -> Vec<PathBuf> {
    let endings: &[&str] = match scope.read.as_str() {
        "comments" => &["rs"],
        "markdown" => &["md"],
        "texts" => &["toml"],
        _ => &["html", "js", "xml"],
    };
    let has_ending = |path: &Path| {
        path.extension().and_then(|ending| ending.to_str()).is_some_and(|e| endings.contains(&e))
    };
    let paths =
        scope.paths.iter().flat_map(|path| walkdir::WalkDir::new(repository(path)).sort_by_file_name());
    paths.map(|entry| entry.expect("the paths exist").into_path()).filter(|path| has_ending(path)).collect()
}

#[test]
fn prose_uses_plain_terms() {
    let (scopes, rules) = style();
    let root = repository("");
    let mut found = Vec::new();
    for scope in scopes.iter().filter(|scope| scope.enabled) {
        for file in files_of(scope) {
            let path = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
            if EXCEPTIONS.iter().any(|exception| path.starts_with(exception)) {
                continue;
            }
            let source = fs::read_to_string(&file).expect("the file is text");
            found.extend(violations(&path, &source, scope, &rules));
        }
    }
    assert!(found.is_empty(), "{} phrases of tests/data/style.yml:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_violation_names_the_line_and_the_plain_form() {
    let (scopes, rules) = style();
    let found = |scope: &str, source: &str| {
        let scope = scopes.iter().find(|known| known.name == scope).expect("a known scope");
        violations("a", source, scope, &rules)
    };
    assert_eq!(found("comments", "fn mend() {}\n/// Mends it.\n"), ["a:2: \"mends\": write fix"]);
    assert_eq!(found("comments", "/// Returns\n/// What `mend` does, recommended.\n"), [""; 0]);
    assert_eq!(found("comments", "/// What it is.\n").len(), 1);
    assert_eq!(found("content", "```text\nmended\n```\nWhat colour?\n"), ["a:4: \"colour\": write color"]);
    assert_eq!(found("texts", "\"Mend it\" = \"Reparieren\"\n\"Fix\" = \"Mend\"\n").len(), 1);
}
