//! Text index: test vectors shared with the script of the page, and search results.

use kbgen::diagnosis::documents;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen_signature::{Document, TextIndex};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/words.json");
const WHOLE: &str = "the vectors are well formed";

fn vectors() -> Value {
    serde_json::from_str(&fs::read_to_string(VECTORS).expect("the vectors can be read")).expect(WHOLE)
}

fn index(vectors: &Value) -> TextIndex {
    let document = |value: &Value| {
        let text = |name: &str| value[name].as_str().expect(WHOLE).to_owned();
        Document {
            address: text("address"),
            title: text("title"),
            signatures: text("signatures"),
            body: text("body"),
            ..Document::default()
        }
    };
    let documents: Vec<Document> =
        vectors["documents"].as_array().expect(WHOLE).iter().map(document).collect();
    TextIndex::build(&documents)
}

/// The script's test, `tests/browser/search.test.mjs`, runs `static/js/search.js` on the same file. `KBGEN_BLESS=1`
/// rewrites the index and the expected results.
#[test]
fn the_shared_vectors_hold() {
    let mut vectors = vectors();
    let index = index(&vectors);
    let stored = json!(index.whole());
    let bless = std::env::var_os("KBGEN_BLESS").is_some();
    for case in vectors["cases"].as_array_mut().expect(WHOLE) {
        let text = case["text"].as_str().expect(WHOLE);
        let (hits, titled) = (json!(index.search(text, 5)), json!(index.title_matches(text)));
        for (name, found) in [("expected", hits), ("titled", titled)] {
            if bless {
                case[name] = found;
            } else {
                assert_eq!(found, case[name], "{name} of {}", case["text"]);
            }
        }
    }
    if bless {
        vectors["index"] = stored;
        fs::write(VECTORS, serde_json::to_string_pretty(&vectors).expect(WHOLE) + "\n")
            .expect("the vectors can be written");
    } else {
        assert_eq!(stored, vectors["index"]);
    }
}

#[test]
fn a_search_finds_the_page_by_some_of_its_words_and_in_spite_of_typing_errors() {
    let index = index(&vectors());
    for (text, address) in [
        ("paging file too small", "errors/windows-paging-file-too-small/"),
        ("ilegal memmory acess", "errors/cuda-illegal-memory-access/"),
        ("my card: no kernel image availble for execution", "errors/cuda-no-kernel-image/"),
        ("sglang pool exhaust", "errors/sglang-kv-pool-oom/"),
    ] {
        assert_eq!(index.search(text, 3)[0].address, address, "{text}");
    }
    let log = "RuntimeError: an illegal memory access was encounterd\nloss.backward()";
    assert_eq!(index.search(log, 1)[0].address, "errors/cuda-illegal-memory-access/");
    let healthy = "INFO 03-26 05:25:01 loader.py:230] Loading weights took 1.13 seconds";
    assert!(
        index.search(healthy, 1).iter().all(|hit| !hit.is_suggested(healthy)),
        "{:?}",
        index.search(healthy, 1)
    );
    assert!(index.search("qqqq zzzz", 3).is_empty());
    assert_eq!(index.search("memory", 3).len(), 3);
}

#[test]
fn a_log_without_errors_is_similar_to_no_page() {
    let index = index(&vectors());
    let troubled = "OSError: [WinError 1455] that paging file was too small";
    assert!(index.search(troubled, 1)[0].share >= 100, "{:?}", index.search(troubled, 1));
    let healthy = "the paging file was made,\nit is too small for nothing";
    assert!(index.search(healthy, 5).iter().all(|hit| hit.share == 0), "{:?}", index.search(healthy, 5));
}

/// `cargo bench --bench retrieval` measures all samples: 95 % find their page first, 62 % where the index has titles and
/// text alone.
#[test]
fn samples_of_this_site_find_their_page_by_its_words() {
    let (sources, _) = load::read(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the repository can be read");
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let whole = documents(&site, &sources);
    let mut bare = whole.clone();
    bare.iter_mut().for_each(|document| document.signatures.clear());
    for (documents, least) in [(whole, 94), (bare, 61)] {
        let index = TextIndex::build(&documents);
        let (mut asked, mut first) = (0, 0);
        for page in &site.errors {
            let address = page.head.id.address();
            let samples = page.data.signatures.iter().flat_map(|signature| &signature.samples);
            for sample in samples.step_by(4) {
                asked += 1;
                first += usize::from(index.search(&sample.value, 1).iter().any(|hit| hit.address == address));
            }
        }
        assert!(first * 100 >= asked * least, "{first} of {asked} samples find their page first");
    }
}
