//! A folder with one mistake of each kind: all are reported in one run with their lines.

use std::fs;
use std::path::Path;
use std::process::Output;

use kbgen::pipeline;
use serde_json::Value;
use tempfile::TempDir;

use crate::expect::{all_well, repository, same};

/// Runs the program on the folder.
fn kbgen(arguments: &[&str]) -> Output {
    crate::expect::kbgen()
        .arg("--root")
        .arg(repository("tests/data/mistakes"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("results are UTF-8")
}

/// Expected findings: file below `content/`, line, column, rule.
const MISTAKES: &[(&str, u64, u64, &str)] = &[
    ("errors/mistakes/broken-links.md", 13, 10, "broken-link"),
    ("errors/mistakes/broken-links.md", 14, 14, "broken-link"),
    ("errors/mistakes/broken-links.md", 15, 10, "broken-link"),
    ("errors/mistakes/broken-links.md", 16, 13, "broken-anchor"),
    ("errors/mistakes/broken-links.md", 16, 46, "broken-anchor"),
    ("errors/mistakes/broken-links.md", 17, 25, "missing-file"),
    ("errors/mistakes/broken-links.md", 18, 12, "link-scheme"),
    ("errors/mistakes/broken-links.md", 19, 7, "raw-html"),
    ("errors/mistakes/duplicate-key.md", 12, 1, "duplicate-key"),
    ("errors/mistakes/enum-typo.md", 4, 11, "unknown-value"),
    ("errors/mistakes/future-date.md", 10, 11, "future-date"),
    ("errors/mistakes/impossible-date.md", 10, 11, "bad-date"),
    ("errors/mistakes/misspelt-key.md", 4, 1, "unknown-key"),
    ("errors/mistakes/never-closed.md", 1, 1, "front-matter-not-closed"),
    ("errors/mistakes/no-such-day.md", 10, 11, "bad-date"),
    ("errors/mistakes/no-title.md", 2, 1, "missing-key"),
    ("errors/mistakes/sample.md", 6, 15, "wrong-match"),
    ("errors/mistakes/signatures.md", 4, 37, "bad-pattern"),
    ("errors/mistakes/signatures.md", 13, 32, "bad-condition"),
    ("errors/mistakes/signatures.md", 20, 18, "bad-call"),
    ("errors/mistakes/signatures.md", 20, 26, "bad-call"),
    ("errors/mistakes/tab.md", 6, 1, "tab-indentation"),
    ("errors/mistakes/unknown-names.md", 5, 9, "unknown-reference"),
    ("errors/mistakes/unknown-names.md", 7, 54, "cause-solution"),
    ("errors/mistakes/unknown-names.md", 9, 10, "cause-solution"),
    ("errors/mistakes/unknown-names.md", 10, 11, "unknown-reference"),
    ("errors/mistakes/unquoted-colon.md", 2, 12, "unquoted-colon"),
    ("errors/mistakes/wrong-type.md", 5, 8, "wrong-type"),
    ("errors/others/no-title.md", 1, 1, "duplicate-slug"),
    ("pages/empty.md", 3, 1, "empty-body"),
    ("pages/models.md", 1, 1, "reserved-name"),
];

#[test]
fn every_mistake_is_reported_in_one_run() {
    let output = kbgen(&["check", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty(), "results go to stdout: {}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_str(&stdout(&output)).expect("an array");
    let errors: Vec<(String, u64, u64, String)> = rows
        .iter()
        .filter(|row| row["severity"] == "error")
        .map(|row| {
            let file = row["file"].as_str().unwrap().trim_start_matches("content/").to_string();
            let code = row["code"].as_str().unwrap().to_string();
            (file, row["line"].as_u64().unwrap(), row["column"].as_u64().unwrap(), code)
        })
        .collect();
    let wanted: Vec<_> = MISTAKES
        .iter()
        .map(|(file, line, column, code)| ((*file).to_string(), *line, *column, (*code).to_string()))
        .collect();
    for mistake in &wanted {
        assert!(errors.contains(mistake), "not reported: {mistake:?}; reported: {errors:#?}");
    }
    for error in &errors {
        assert!(wanted.contains(error), "unexpected finding: {error:?}");
    }
    for row in &rows {
        let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let wanted =
            ["code", "severity", "file", "line", "column", "end_line", "end_column", "message", "help"];
        assert_eq!(keys, wanted);
        let place = |line: &str, column: &str| (row[line].as_u64().unwrap(), row[column].as_u64().unwrap());
        assert!(place("line", "column") <= place("end_line", "end_column"), "{row}");
        assert!(repository("tests/data/mistakes").join(row["file"].as_str().unwrap()).is_file(), "{row}");
    }
}

#[test]
fn a_site_with_mistakes_leaves_the_published_one_as_it_was() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("public");
    let good = repository("tests/golden/site");
    let build = |root: &Path| {
        crate::expect::kbgen()
            .args(["build", "--date", "2026-06-30", "--root"])
            .arg(root)
            .arg("--output-dir")
            .arg(&out)
            .output()
            .expect("the program runs")
    };
    assert_eq!(build(&good).status.code(), Some(0));
    let before = everything(folder.path());
    let output = build(&repository("tests/data/mistakes"));
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("error[unquoted-colon]"), "{messages}");
    assert!(messages.ends_with("nothing was written\n"), "{messages}");
    assert_eq!(everything(folder.path()), before);
}

/// Returns every path below a folder with its bytes and modification time.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            let bytes =
                if entry.file_type().is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            let changed = entry.metadata().unwrap().modified().unwrap();
            (entry.path().display().to_string(), bytes, changed)
        })
        .collect()
}

#[test]
fn annotations_of_a_pull_request_are_as_github_reads_them() {
    let output = kbgen(&["check", "--format", "github"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.lines().count() >= MISTAKES.len());
    for line in text.lines() {
        let command = line.strip_prefix("::").expect("a command");
        let (head, message) = command.split_once("::").expect("a command and its message");
        let (level, properties) = head.split_once(' ').expect("a level and properties");
        assert!(["error", "warning"].contains(&level), "{line}");
        let names: Vec<&str> =
            properties.split(',').map(|property| property.split_once('=').expect("a pair").0).collect();
        assert!(names.starts_with(&["file", "line", "endLine"]) && names.ends_with(&["title"]), "{line}");
        assert!(
            names.iter().all(|name| ["file", "line", "endLine", "col", "endColumn", "title"].contains(name))
        );
        assert!(!message.is_empty());
    }
    let colon = text.lines().find(|line| line.contains("title=unquoted-colon")).expect("it is told");
    all_well(
        same(&repository("tests/data/mistakes-github.txt"), &format!("{colon}\n")).into_iter().collect(),
    );
}

/// Checks the parts of the SARIF schema that are used,
/// <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json>.
#[test]
fn sarif_is_as_its_schema_demands() {
    let output = kbgen(&["check", "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(1));
    let log: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    only(&log, &["$schema", "version", "runs"]);
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    only(run, &["tool", "columnKind", "results"]);
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
    let driver = &run["tool"]["driver"];
    only(driver, &["name", "version", "rules"]);
    assert_eq!(driver["name"], "kbgen");
    let rules: Vec<&str> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            only(rule, &["id", "shortDescription", "fullDescription"]);
            for text in [&rule["shortDescription"], &rule["fullDescription"]] {
                assert!(text["text"].as_str().is_some_and(|text| !text.is_empty()));
            }
            rule["id"].as_str().unwrap()
        })
        .collect();
    assert_eq!(rules, pipeline::rules().iter().map(|rule| rule.code).collect::<Vec<_>>());
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= MISTAKES.len());
    for result in results {
        only(result, &["ruleId", "level", "message", "locations", "relatedLocations"]);
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{result}");
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let related = result["relatedLocations"].as_array().into_iter().flatten();
        for location in related.clone() {
            only(location, &["physicalLocation", "message"]);
            assert!(location["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        }
        for location in related.chain([&result["locations"][0]]) {
            let place = &location["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!uri.starts_with('/') && !uri.contains([' ', '\\']), "{uri} is no relative URI");
            for name in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(place["region"][name].as_u64().is_some_and(|number| number >= 1), "{result}");
            }
        }
    }
}

fn only(object: &Value, known: &[&str]) {
    for key in object.as_object().expect("an object").keys() {
        assert!(known.contains(&key.as_str()), "`{key}` is not expected in {object}");
    }
}
