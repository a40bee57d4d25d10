//! Common words, whose frequency in healthy logs and in our prose determines the specificity of signatures.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

use crate::expect::{files, repository};

/// Words with a lower count are treated as unknown.
const SEEN: usize = 3;
/// Maximum bits of words in our prose and in healthy logs.
const KNOWN: u32 = 8;
const HEALTHY: u32 = 6;
/// Bits of an unlisted word.
const UNKNOWN: u32 = 10;
/// Tolerated change of the bits of a word before the list must be regenerated.
const DRIFT: u32 = 2;

/// Returns the words in lowercase.
fn words(text: &str) -> HashSet<String> {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the body of a page without code, which repeats the messages.
fn prose(page: &str) -> String {
    let body = page.splitn(3, "---\n").nth(2).unwrap_or_default();
    let outside = body.split("```").step_by(2).collect::<Vec<_>>().join("\n\n");
    outside.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Computes the bits of each word: the logarithm of the fraction of sentences with it.
fn measured() -> BTreeMap<String, u32> {
    let prose: Vec<String> = ["content/errors", "content/guides"]
        .iter()
        .flat_map(|folder| files(folder, ".md"))
        .map(|path| prose(&fs::read_to_string(path).expect("a page is text")))
        .collect();
    let sentences: Vec<&str> = prose
        .iter()
        .flat_map(|body| body.split("\n\n"))
        .flat_map(|paragraph| paragraph.split_inclusive(['.', ':', ';', '!', '?']))
        .filter(|sentence| sentence.contains(char::is_alphanumeric))
        .collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in sentences.iter().flat_map(|sentence| words(sentence)) {
        *counts.entry(word).or_default() += 1;
    }
    let rarity = |count: usize| (sentences.len() as f64 / count as f64).log2().round() as u32;
    let common = counts.into_iter().filter(|(_, count)| *count >= SEEN);
    let mut bits: BTreeMap<String, u32> =
        common.map(|(word, count)| (word, rarity(count).clamp(1, KNOWN))).collect();
    for path in files("tests/data/healthy", ".txt") {
        // URLs, times and hashes differ between logs.
        let log = words(&fs::read_to_string(path).expect("a log is text"));
        for word in log.into_iter().filter(|word| word.chars().all(char::is_alphabetic)) {
            bits.entry(word).and_modify(|bits| *bits = HEALTHY.min(*bits)).or_insert(HEALTHY);
        }
    }
    bits
}

/// Formats a line per number of bits with its words.
fn listed(bits: &BTreeMap<String, u32>) -> String {
    let mut lines: BTreeMap<u32, String> = BTreeMap::new();
    for (word, bits) in bits {
        let line = lines.entry(*bits).or_insert_with(|| bits.to_string());
        line.push(' ');
        line.push_str(word);
    }
    lines.into_values().map(|line| line + "\n").collect()
}

/// `KBGEN_BLESS=1` regenerates the list.
#[test]
fn the_list_of_common_words_is_up_to_date() {
    let path = repository("crates/kbgen-signature/src/common_words.txt");
    let now = measured();
    if std::env::var_os("KBGEN_BLESS").is_some() {
        fs::write(&path, listed(&now)).expect("the list can be written");
    }
    let text = fs::read_to_string(&path).expect("the list is text");
    let mut then: BTreeMap<String, u32> = BTreeMap::new();
    for line in text.lines() {
        let (bits, words) = line.split_once(' ').expect("a line is bits and words");
        let bits: u32 = bits.parse().expect("bits are a number");
        then.extend(words.split(' ').map(|word| (word.to_owned(), bits)));
    }
    let of = |bits: &BTreeMap<String, u32>, word: &str| bits.get(word).copied().unwrap_or(UNKNOWN);
    let drifted: Vec<&String> = now
        .keys()
        .chain(then.keys())
        .filter(|word| of(&now, word).abs_diff(of(&then, word)) > DRIFT)
        .collect();
    assert!(drifted.is_empty() && then.len() > 1000, "write the list anew with KBGEN_BLESS=1: {drifted:?}");
}
