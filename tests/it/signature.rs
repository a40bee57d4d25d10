//! Signatures: test vectors shared with the script of the page, and hostile logs.

use kbgen_signature::{
    Cause, Diagnosis, Expression, Index, Kind, MAX_STEPS_PER_WINDOW, Page, Pattern, STEPS_PER_WINDOW,
    Signature, Table,
};
use serde_json::{Value, json};
use std::fs;

use crate::hostile_patterns::{Family, families};
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
        not_on_line: patterns(&value["not_on_line"]),
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

/// Formats JSON with one page and one case per line, for readable diffs.
fn one_a_line(vectors: &Value) -> String {
    let lines = |name: &str| {
        let list = vectors[name].as_array().expect("the vectors are well formed");
        list.iter().map(spelled).collect::<Vec<_>>().join(",\n")
    };
    let (pages, table, cases) = (lines("pages"), spelled(&vectors["table"]), lines("cases"));
    format!("{{\n\"pages\": [\n{pages}\n],\n\"table\":\n{table},\n\"cases\": [\n{cases}\n]\n}}\n")
}

/// The script's test, `tests/browser/match.test.mjs`, runs `static/js/match.js` on the same file. `KBGEN_BLESS=1`
/// rewrites the table and the expected results.
#[test]
fn the_shared_vectors_hold() {
    let mut vectors: Value =
        serde_json::from_str(&fs::read_to_string(VECTORS).expect("the vectors are well formed"))
            .expect("the vectors are well formed");
    let pages: Vec<Page> =
        vectors["pages"].as_array().expect("the vectors are well formed").iter().map(page).collect();
    let index = Index::build(&pages, &Knowledge::read().extractors());
    let table = serde_json::to_value(index.table()).expect("the vectors are well formed");
    let parsed: Table = serde_json::from_value(table.clone()).expect("the vectors are well formed");
    assert_eq!(json!(parsed), table, "the table survives its own JSON");
    let stored = postcard::to_stdvec(&index).expect("the index can be stored");
    let read_back: Index = postcard::from_bytes(&stored).expect("the index can be read back");
    let bless = std::env::var_os("KBGEN_BLESS").is_some();
    for case in vectors["cases"].as_array_mut().expect("the vectors are well formed") {
        let text = case["text"].as_str().expect("the vectors are well formed");
        let read = index.diagnose(text);
        assert_eq!(read, read_back.diagnose(text), "{}", case["name"]);
        assert_eq!(read.skipped, None, "{}", case["name"]);
        for (name, found) in [
            ("expected", json!(read.matches)),
            ("steps", json!(read.steps)),
            ("begun", json!(index.truncated_matches(text))),
        ] {
            if bless {
                case[name] = found;
            } else {
                assert_eq!(spelled(&found), spelled(&case[name]), "{name} of {}", case["name"]);
            }
        }
    }
    if bless {
        vectors["table"] = table;
        fs::write(VECTORS, one_a_line(&vectors)).expect("the vectors can be written");
    } else {
        assert_eq!(spelled(&table), spelled(&vectors["table"]));
    }
}

/// Writes the results for the script's test, `tests/browser/parts/samples.mjs`.
#[test]
fn every_sample_leads_to_its_own_page() {
    let knowledge = Knowledge::read();
    let mut answers = Vec::new();
    for (slug, text) in knowledge.samples() {
        let matches = knowledge.db.index.diagnose(text).matches;
        assert_eq!(matches.first().map(|found| found.slug.as_str()), Some(slug), "{text}");
        let answered = knowledge.answers(text);
        let conclusions: Vec<_> = answered.into_iter().map(|answer| answer.conclusion).collect();
        answers.push(json!({"text": text, "matches": matches, "conclusions": conclusions}));
    }
    assert!(answers.len() > 500, "{} samples", answers.len());
    let written = serde_json::to_string(&answers).expect("answers are plain data");
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/answers.json"), written)
        .expect("the answers can be written");
}

/// Text copied from a formatted page has lost its backticks.
#[test]
fn messages_without_backticks_find_their_page() {
    let knowledge = Knowledge::read();
    let index = &knowledge.db.index;
    let samples: Vec<_> = knowledge.samples().filter(|(_, text)| text.contains('`')).collect();
    let is_found = |(slug, text): &&(&str, &str)| {
        let matches = index.diagnose(&text.replace('`', "")).matches;
        matches.first().is_some_and(|found| found.slug == *slug)
    };
    let found = samples.iter().filter(is_found).count();
    assert!(samples.len() > 100 && found * 100 >= samples.len() * 95, "{found} of {}", samples.len());
}

/// Returns the matches of `count` hostile patterns in a log made for them, and the log's length without white space.
fn read_hostile(family: &Family) -> (Index, Diagnosis, u64) {
    let page = |(at, text): (usize, &String)| Page {
        slug: format!("page-{at}"),
        kind: Kind::Cause,
        signatures: vec![Signature::of(pattern(text))],
        causes: Vec::new(),
    };
    let pages: Vec<Page> = family.patterns.iter().enumerate().map(page).collect();
    let index = Index::build(&pages, &[]);
    let read = index.diagnose(&family.log);
    (index, read, family.log.chars().filter(|c| !c.is_whitespace()).count() as u64)
}

/// Returns the maximum number of steps for a log of this length without white space.
fn max_steps(letters: u64) -> u64 {
    MAX_STEPS_PER_WINDOW as u64 + letters.div_ceil(1024) * STEPS_PER_WINDOW as u64
}

/// Writes steps and matches for the script's test, `tests/browser/match.test.mjs`.
#[test]
fn steps_are_bounded_however_many_patterns_are_hostile() {
    let mut vectors = Vec::new();
    for count in [100, 1_000, 10_000] {
        for family in families(count) {
            let (index, Diagnosis { matches, steps, skipped, .. }, letters) = read_hostile(&family);
            assert!(steps <= max_steps(letters), "{}: {steps} steps, {count} patterns", family.name);
            if count == 1_000 {
                let (table, skipped) = (index.table(), skipped.unwrap_or(0));
                vectors.push(json!({
                    "name": family.name, "text": family.log, "table": table,
                    "expected": matches, "steps": steps, "skipped": skipped,
                }));
            }
        }
    }
    let written = serde_json::to_string(&vectors).expect("vectors are plain data");
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/hostile.json"), written).expect("they can be written");
}

/// Patterns with a common prefix are distinguished by the rest, so that a line tries only patterns that it may
/// contain.
#[test]
fn patterns_with_a_common_prefix_do_not_add_cost() {
    let steps = |count: usize| {
        let (_, read, _) = read_hostile(&families(count)[0]);
        assert_eq!(read.skipped, None);
        assert_eq!(read.matches.len(), 200, "each line finds its own page");
        read.steps
    };
    assert_eq!(steps(10_000), steps(1_000));
    assert!(steps(10_000) < 200 * 400, "{} steps for 200 lines", steps(10_000));
}

#[test]
fn matching_reports_where_it_stopped() {
    let mut family = families(10_000).remove(1);
    family.log = format!("all is well\n{}", family.log);
    assert_eq!(read_hostile(&family).1.skipped, Some(2));
}

/// The lines after the limit cost nothing, and the reader learns where it was.
#[test]
fn a_log_of_very_many_messages_is_read_up_to_a_limit() {
    let patterns: Vec<String> = (0..1_000).map(|at| format!("failed with 0x{at:04x} now")).collect();
    let log = patterns.join("\n");
    let (_, read, _) = read_hostile(&Family { name: "different messages", patterns, log });
    assert_eq!((read.matches.len(), read.skipped), (256, Some(256)));
}

/// Repetition must not make matching superlinear.
#[test]
fn hostile_logs_take_linear_time() {
    let index = &Knowledge::read().db.index;
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
        let read = index.diagnose(&log);
        assert!(read.matches.len() <= 2 && read.steps <= max_steps(log.len() as u64), "{piece:?}");
    }
}
