//! Runs every seed of `fuzz/seeds` through the body of its fuzz target.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::expect::repository;

#[path = "../fuzzed/estimate_csv.rs"]
mod estimate_csv;
#[path = "../fuzzed/expressions.rs"]
mod expressions;
#[path = "../fuzzed/front_matter.rs"]
mod front_matter;
#[path = "../fuzzed/gguf.rs"]
mod gguf;
#[path = "../fuzzed/http.rs"]
mod http;
#[path = "../fuzzed/markdown.rs"]
pub mod markdown;
#[path = "../fuzzed/matcher.rs"]
mod matcher;
#[path = "../fuzzed/place.rs"]
mod place;
#[path = "../fuzzed/site.rs"]
mod site;

/// Returns the files of a folder with their contents, sorted by name.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Runs a target over its seeds and lists those that fail.
fn replay(target: &str, hold: impl Fn(&[u8])) {
    let seeds = files(&repository("fuzz/seeds").join(target));
    assert!(seeds.len() >= 20, "{} seeds", seeds.len());
    let fails = |data: &[u8]| catch_unwind(AssertUnwindSafe(|| hold(data))).is_err();
    let failed: Vec<PathBuf> =
        seeds.into_iter().filter(|(_, data)| fails(data)).map(|(path, _)| path).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn pages() {
    replay("front_matter", front_matter::hold);
}

#[test]
fn bodies() {
    replay("markdown", markdown::hold);
}

#[test]
fn expressions_and_calls() {
    replay("expressions", expressions::hold);
}

#[test]
fn batches_of_questions() {
    replay("estimate_csv", estimate_csv::hold);
}

#[test]
fn model_files() {
    replay("gguf", gguf::hold);
}

#[test]
fn requests() {
    replay("http", http::hold);
}

/// Writes the vectors for the script's test, `tests/browser/match.test.mjs`; `KBGEN_CORPUS` selects a folder with
/// more.
#[test]
fn patterns_and_logs() {
    replay("matcher", matcher::hold);
    let mut cases = files(&repository("fuzz/seeds/matcher"));
    if let Some(folder) = std::env::var_os("KBGEN_CORPUS") {
        cases.extend(files(Path::new(&folder)));
    }
    let vectors: Vec<Value> = cases.iter().map(|(_, data)| matcher::Case::of(data).vector()).collect();
    let written = serde_json::to_string(&vectors).unwrap();
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/vectors.json"), written).unwrap();
}
