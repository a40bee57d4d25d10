//! Pages whose messages are taken for each other: their wordings share most of their words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::signature::pattern::Part;
use crate::signature::table::Table;
use crate::signature::words::{rarity, split};

/// Two wordings look alike when common words are half of all their words, in hundredths and weighed by rarity.
const ALIKE: usize = 50;
/// What the common words must be worth: more than one word can be, however rare it is.
const WORTH: usize = 64;

/// For each page those that have a wording like one of its own, the likest first, equals by name.
pub fn look_alikes(table: &Table) -> BTreeMap<&str, Vec<&str>> {
    let wordings = wordings(table);
    let worth = worth(&wordings);
    let mut with_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (_, words)) in wordings.iter().enumerate() {
        for word in words {
            with_word.entry(word).or_default().push(at);
        }
    }
    let whole: Vec<usize> =
        wordings.iter().map(|(_, words)| words.iter().map(|word| worth[word.as_str()]).sum()).collect();
    let mut strengths: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (at, (page, words)) in wordings.iter().enumerate() {
        let mut common: BTreeMap<usize, usize> = BTreeMap::new();
        for word in words {
            for other in &with_word[word.as_str()] {
                *common.entry(*other).or_default() += worth[word.as_str()];
            }
        }
        for (other, shared) in common {
            let strength = shared * 100 / (whole[at] + whole[other] - shared);
            let name = wordings[other].0;
            if name != *page && shared >= WORTH && strength >= ALIKE {
                let known = strengths.entry(page).or_default().entry(name).or_default();
                *known = strength.max(*known);
            }
        }
    }
    strengths.into_iter().map(|(page, others)| (page, ranked(others))).collect()
}

fn ranked(strengths: BTreeMap<&str, usize>) -> Vec<&str> {
    let mut names: Vec<_> = strengths.into_iter().collect();
    names.sort_by_key(|(name, strength)| (Reverse(*strength), *name));
    names.into_iter().map(|(name, _)| name).collect()
}

/// The words of every signature with the page that it belongs to.
fn wordings(table: &Table) -> Vec<(&str, BTreeSet<String>)> {
    let words = |part: &Part| match part {
        Part::Text(literal) => split(literal),
        Part::Hole(..) => Vec::new(),
    };
    let mut wordings = BTreeSet::new();
    for page in &table.pages {
        for signature in &page.signatures {
            let parts = signature.all.iter().flat_map(|pattern| &table.patterns[*pattern].parts);
            wordings.insert((page.slug.as_str(), parts.flat_map(words).collect()));
        }
    }
    wordings.into_iter().collect()
}

/// What each word is worth: the more, the fewer pages have it.
fn worth<'w>(wordings: &'w [(&str, BTreeSet<String>)]) -> BTreeMap<&'w str, usize> {
    let mut pages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (page, words) in wordings {
        for word in words {
            pages.entry(word).or_default().insert(page);
        }
    }
    let total = wordings.iter().map(|(page, _)| page).collect::<BTreeSet<_>>().len();
    pages.into_iter().map(|(word, with)| (word, rarity(with.len(), total))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::{Index, Kind, Page, Pattern, Signature};

    fn page(slug: &str, patterns: &[&str]) -> Page {
        let signature = |text: &&str| Signature::of(Pattern::parse(text).expect("a pattern"));
        Page {
            slug: slug.to_string(),
            kind: Kind::Cause,
            signatures: patterns.iter().map(signature).collect(),
            causes: Vec::new(),
        }
    }

    #[test]
    fn pages_with_nearly_the_same_words_look_alike_both_ways() {
        let mut pages = vec![
            page("cuda", &["unsupported opcode {int}", "CUDA out of memory. Tried to allocate {size:bytes}"]),
            page("hip", &["HIP out of memory. Tried to allocate {size:bytes}"]),
            page("same", &["cuda OUT of memory. Tried to allocate {bytes} more"]),
            page("port", &["bind: address already in use"]),
        ];
        // A word is rare only where there are many pages.
        pages.extend(
            (0..30).map(|at| page(&format!("other-{at:02}"), &[&format!("quite another thing{at}")])),
        );
        let index = Index::build(&pages, &[]);
        let found = look_alikes(index.table());
        assert_eq!(found["cuda"], ["same", "hip"]);
        assert!(found["hip"].contains(&"cuda"));
        assert!(!found.contains_key("port"));
    }
}
