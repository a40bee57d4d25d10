//! Signatures: the vectors that the page's script shares, and the conclusions from PyTorch's figures.

use kbgen::parts::signature::{
    Cause, Expression, Index, Kind, Match, Page, Pattern, Signature, Table, torch_oom,
};
use serde_json::{Value, json};
use std::fs;

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
    let index = Index::build(&pages, &[torch_oom()]);
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

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Pages name the extractor's verdicts as their causes.
fn allocator_causes() -> Vec<Cause> {
    torch_oom()
        .verdicts
        .iter()
        .map(|verdict| cause(&verdict.name, &format!("verdict == '{}'", verdict.name)))
        .collect()
}

fn allocator_index() -> Index {
    let mut signature = Signature::of(pattern("out of memory. Tried to allocate {requested:bytes}"));
    signature.extract = Some("torch-oom".into());
    let page = Page {
        slug: "cuda-oom".into(),
        kind: Kind::Cause,
        signatures: vec![signature],
        causes: allocator_causes(),
    };
    Index::build(&[page], &[torch_oom()])
}

fn only(found: Vec<Match>) -> Match {
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().expect("the vectors are well formed")
}

/// Every threshold with a figure on either side of it; the layout is that of PyTorch 2.3 and later.
#[test]
fn allocator_figures_lead_to_the_conclusion_an_expert_draws() {
    let index = allocator_index();
    let total = 20 * GIB;
    // requested, free, what this process has (else unknown), allocated, unallocated
    let cases = [
        (GIB, 0, Some(total), total * 102 / 100 + MIB, 0, "sysmem-fallback"),
        (GIB, 0, Some(total), total * 102 / 100 - MIB, 0, "near-miss"),
        (total + MIB, 0, Some(total), 19 * GIB, 0, "impossible-request"),
        (total - MIB, 0, Some(total), 19 * GIB, 0, "one-huge-request"),
        (GIB, GIB, Some(19 * GIB), 18 * GIB, 0, "limit-not-capacity"),
        (GIB + MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (GIB / 2, GIB - MIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (2 * GIB, GIB, Some(17 * GIB), 16 * GIB, GIB / 2, "other-process"),
        (2 * GIB, GIB, Some(17 * GIB + MIB), 16 * GIB, GIB / 2, "near-miss"),
        (2 * GIB, GIB, Some(14 * GIB), 8 * GIB, 6 * GIB, "fragmentation"),
        (2 * GIB, GIB, Some(14 * GIB), 9 * GIB, 5 * GIB - MIB, "other-process"),
        (GIB, 0, Some(total), 18 * GIB, GIB, "fragmentation"),
        (GIB, 0, Some(total), 18 * GIB, GIB - MIB, "near-miss"),
        (4 * GIB, 2 * GIB, Some(18 * GIB), 16 * GIB, 2 * GIB, "fragmentation"),
        (4 * GIB, 2 * GIB - MIB, Some(18 * GIB), 16 * GIB, 2 * GIB, "too-big"),
        (4 * GIB, 3 * GIB, Some(17 * GIB), 15 * GIB, 2 * GIB - MIB, "near-miss"),
        (5 * GIB, GIB, Some(19 * GIB), 18 * GIB, 0, "one-huge-request"),
        (5 * GIB - MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "too-big"),
        (2 * GIB + MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "too-big"),
        (2 * GIB, GIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        // Without "this process has": allocated, unallocated and half a GiB for the driver's context.
        (2 * GIB, GIB, None, 15 * GIB, 3 * GIB / 2, "other-process"),
        (2 * GIB, GIB, None, 15 * GIB, 3 * GIB / 2 + MIB, "fragmentation"),
    ];
    for (requested, free, this_process, allocated, unallocated, expected) in cases {
        let own = this_process.map_or(String::new(), |size| {
            format!("Including non-PyTorch memory, this process has {size} bytes memory in use. ")
        });
        let log = format!(
            "CUDA out of memory. Tried to allocate {requested} bytes. GPU 0 has a total capacity of {total} bytes \
             of which {free} bytes is free. {own}Of the allocated memory {allocated} bytes is allocated by PyTorch, \
             and {unallocated} bytes is reserved by PyTorch but unallocated."
        );
        let found = only(index.diagnose(&log));
        assert_eq!(found.cause.as_deref(), Some(expected), "{log}\n{:?}", found.figures);
    }
}

/// The layouts that are or were printed: <https://github.com/pytorch/pytorch/blob/main/c10/cuda/CUDACachingAllocator.cpp>
/// and its earlier versions. Sizes as strings, so that a figure that is not read stands out.
#[test]
fn every_layout_of_the_allocator_is_read() {
    let index = allocator_index();
    for (rest, expected) in [
        (
            "(GPU 0; 8.00 GiB total capacity; 7.00 GiB already allocated; 0 bytes free; 20.00 MiB cached)",
            json!({"total": 8 * GIB, "allocated": 7 * GIB, "free": 0, "reserved": 20 * MIB}),
        ),
        (
            "(GPU 0; 8.00 GiB total capacity; 7.00 GiB already allocated; 0 bytes free; 7.50 GiB reserved in total by PyTorch)",
            json!({"reserved": 15 * GIB / 2, "unallocated": GIB / 2, "own": 8 * GIB, "foreign": 0}),
        ),
        (
            ". GPU 0 has a total capacty of 8.00 GiB of which 1.00 GiB is free. Process 20398 has 7.00 GiB memory in use. \
             Of the allocated memory 5.00 GiB is allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.",
            json!({"total": 8 * GIB, "free": GIB, "other_process": 7 * GIB, "own": 7 * GIB, "foreign": 0}),
        ),
        (
            ". GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free. 1.05 GiB allowed; Process 1 has 2.00 GiB \
             memory in use. Process 2 has 3.00 GiB memory in use. Including non-PyTorch memory, this process has 1.00 GiB \
             memory in use. Of the allocated memory 512.00 MiB is allocated by PyTorch, with 28.00 MiB allocated in private \
             pools (e.g., CUDA Graphs), and 4.00 MiB is reserved by PyTorch but unallocated.",
            json!({"limit": 1_127_428_915, "other_process": 5 * GIB, "other_process_1": 2 * GIB, "other_process_2": 3 * GIB,
                   "this_process": GIB, "allocated": 512 * MIB, "private_pools": 28 * MIB, "unallocated": 4 * MIB,
                   "own": GIB, "foreign": 6 * GIB}),
        ),
    ] {
        let found = only(index.diagnose(&format!("CUDA out of memory. Tried to allocate 1.00 GiB {rest}")));
        let figures = json!(found.figures);
        for (name, value) in expected.as_object().expect("the vectors are well formed") {
            assert_eq!(figures[name], *value, "{name} in {rest}");
        }
    }
}

#[test]
fn a_bare_message_has_no_figures_to_conclude_from() {
    let found =
        only(allocator_index().diagnose("RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB"));
    assert_eq!(json!(found.figures), json!({"requested": GIB, "verdict": "no-figures", "place": "unknown"}));
    assert_eq!(found.cause.as_deref(), Some("no-figures"));
}

/// Repeats must not make the work grow faster than the log.
#[test]
fn hostile_logs_take_linear_time() {
    let index = allocator_index();
    for piece in [
        "a",
        " ",
        "[",
        "\\",
        "\u{1b}]",
        "&amp;",
        "CUDA out of memory. Tried to allocate ",
        "10:20:30 ",
        "jan ",
        "\n",
    ] {
        let log = piece.repeat((1 << 20) / piece.len());
        assert!(index.diagnose(&log).len() <= 1, "{piece:?}");
    }
}
