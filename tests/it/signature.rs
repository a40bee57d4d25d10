//! Signatures: the vectors that the page's script shares, and hostile logs.

use kbgen::parts::signature::{Cause, Expression, Index, Kind, Page, Pattern, Signature, Table};
use serde_json::{Value, json};
use std::fs;

use crate::knowledge::Knowledge;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/matches.json");

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn condition(text: &str) -> Expression {
    Expression::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn patterns(value: &Value) -> Vec<Pattern> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .map(|text| pattern(text.as_str().expect("the vectors are well formed")))
        .collect()
}

fn signature(value: &Value) -> Signature {
    Signature {
        all: value["pattern"].as_str().map_or_else(|| patterns(&value["all"]), |text| vec![pattern(text)]),
        not: patterns(&value["not"]),
        extract: value["extract"].as_str().map(str::to_owned),
        when: value["when"].as_str().map(condition),
    }
}

fn cause(id: &str, when: &str) -> Cause {
    Cause { id: id.into(), when: condition(when) }
}

fn page(value: &Value) -> Page {
    let kind: Kind = serde_json::from_value(value["kind"].clone()).expect("the vectors are well formed");
    let causes = value["causes"].as_array().expect("the vectors are well formed");
    Page {
        slug: value["slug"].as_str().expect("the vectors are well formed").into(),
        kind,
        signatures: value["signatures"]
            .as_array()
            .expect("the vectors are well formed")
            .iter()
            .map(signature)
            .collect(),
        causes: causes
            .iter()
            .map(|it| {
                cause(
                    it["id"].as_str().expect("the vectors are well formed"),
                    it["when"].as_str().expect("the vectors are well formed"),
                )
            })
            .collect(),
    }
}

/// Compared as text, because numbers may differ in type but not in spelling.
fn spelled(value: &Value) -> String {
    serde_json::to_string(value).expect("the vectors are well formed")
}

/// JSON with one page and one case a line, so that a difference can be read.
fn one_a_line(vectors: &Value) -> String {
    let lines = |name: &str| {
        let list = vectors[name].as_array().expect("the vectors are well formed");
        list.iter().map(spelled).collect::<Vec<_>>().join(",\n")
    };
    let (pages, table, cases) = (lines("pages"), spelled(&vectors["table"]), lines("cases"));
    format!("{{\n\"pages\": [\n{pages}\n],\n\"table\":\n{table},\n\"cases\": [\n{cases}\n]\n}}\n")
}

/// The script's test, `tests/browser/match.test.mjs`, holds `static/js/match.js` to the same file.
/// `KBGEN_BLESS=1` writes the table and the expectations anew.
#[test]
fn the_shared_vectors_hold() {
    let mut vectors: Value =
        serde_json::from_str(&fs::read_to_string(VECTORS).expect("the vectors are well formed"))
            .expect("the vectors are well formed");
    let pages: Vec<Page> =
        vectors["pages"].as_array().expect("the vectors are well formed").iter().map(page).collect();
    let extractors = &Knowledge::read().compiled.extractors;
    let index = Index::build(&pages, extractors);
    let table = serde_json::to_value(index.table()).expect("the vectors are well formed");
    let stored: Table = serde_json::from_value(table.clone()).expect("the vectors are well formed");
    assert_eq!(&stored, index.table(), "the table survives its own JSON");
    let read_back = Index::from_table(stored);
    let bless = std::env::var_os("KBGEN_BLESS").is_some();
    for case in vectors["cases"].as_array_mut().expect("the vectors are well formed") {
        let text = case["text"].as_str().expect("the vectors are well formed");
        let found = index.diagnose(text);
        assert_eq!(found, read_back.diagnose(text), "{}", case["name"]);
        let found = json!(found);
        if bless {
            case["expected"] = found;
        } else {
            assert_eq!(spelled(&found), spelled(&case["expected"]), "{}", case["name"]);
        }
    }
    if bless {
        vectors["table"] = table;
        fs::write(VECTORS, one_a_line(&vectors)).expect("the vectors can be written");
    } else {
        assert_eq!(spelled(&table), spelled(&vectors["table"]));
    }
}

/// The answers are left for the script's test, `tests/browser/parts/samples.mjs`, which holds the page to them.
#[test]
fn every_sample_leads_to_its_own_page() {
    let knowledge = Knowledge::read();
    let mut answers = Vec::new();
    for (slug, text) in knowledge.samples() {
        let matches = knowledge.compiled.index.diagnose(text);
        assert_eq!(matches.first().map(|found| found.slug.as_str()), Some(slug), "{text}");
        let answered = knowledge.diagnose(text);
        let conclusions: Vec<_> = answered.into_iter().map(|answer| answer.conclusion).collect();
        answers.push(json!({"text": text, "matches": matches, "conclusions": conclusions}));
    }
    assert!(answers.len() > 500, "{} samples", answers.len());
    let written = serde_json::to_string(&answers).expect("answers are plain data");
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/answers.json"), written)
        .expect("the answers can be written");
}

/// Repeats must not make the work grow faster than the log.
#[test]
fn hostile_logs_take_linear_time() {
    let index = &Knowledge::read().compiled.index;
    for piece in [
        "a",
        " ",
        "[",
        "\\",
        "\u{1b}",
        "\u{1b}]",
        "&amp;",
        "CUDA out of memory. Tried to allocate ",
        "RuntimeError: ",
        "10:20:30 ",
        "jan ",
        "\n",
    ] {
        let log = piece.repeat((1 << 20) / piece.len());
        assert!(index.diagnose(&log).len() <= 2, "{piece:?}");
    }
}
