//! Pages whose messages are taken for each other: their wordings share most of their words.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use crate::pattern::Part;
use crate::table::Table;
use crate::words::{rarity, split};

/// Two wordings look alike when common words are half of all their words, in hundredths and weighed by rarity.
const ALIKE: usize = 50;
/// What the common words must be worth: more than one word can be, however rare it is.
const WORTH: usize = 64;

/// For each page those that have a wording like one of its own, the likest first, equals by name.
///
/// Wordings that are half alike share one of the words that make up the rarer half of each, or else what they share
/// would be less than half of either. Only these words are looked up, so that a word which thousands of pages have
/// costs nothing.
pub fn look_alikes(table: &Table) -> BTreeMap<&str, Vec<&str>> {
    let wordings = wordings(table);
    let worth = worth(&wordings);
    let weighed: Vec<Weighed<'_>> = wordings.iter().map(|(_, words)| Weighed::new(words, &worth)).collect();
    let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, wording) in weighed.iter().enumerate() {
        for (word, _) in wording.rarer_half() {
            with_word.entry(word).or_default().push(at);
        }
    }
    let alike: Vec<(usize, usize, usize)> = weighed
        .par_iter()
        .enumerate()
        .flat_map_iter(|(at, wording)| {
            let near = wording.rarer_half().iter().flat_map(|(word, _)| &with_word[word]);
            let near: BTreeSet<usize> =
                near.copied().filter(|other| wordings[*other].0 != wordings[at].0).collect();
            let weighed = &weighed;
            near.into_iter().filter_map(move |other| Some((at, other, wording.strength(&weighed[other])?)))
        })
        .collect();
    let mut strengths: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (at, other, strength) in alike {
        let known = strengths.entry(wordings[at].0).or_default().entry(wordings[other].0).or_default();
        *known = strength.max(*known);
    }
    strengths.into_iter().map(|(page, others)| (page, ranked(others))).collect()
}

/// A wording with the worth of its words.
struct Weighed<'w> {
    /// Words and what they are worth, the rarest first; the order is the same in every wording.
    words: Vec<(&'w str, usize)>,
    /// What they are worth together.
    whole: usize,
}

impl<'w> Weighed<'w> {
    fn new(words: &'w BTreeSet<String>, worth: &HashMap<&str, usize>) -> Self {
        let mut words: Vec<_> = words.iter().map(|word| (word.as_str(), worth[word.as_str()])).collect();
        words.sort_unstable_by_key(|(word, worth)| (Reverse(*worth), *word));
        Self { whole: words.iter().map(|(_, worth)| worth).sum(), words }
    }

    /// The fewest of the rarest words such that the others are worth less than [`ALIKE`] of the whole.
    fn rarer_half(&self) -> &[(&'w str, usize)] {
        let mut rest = 0;
        let common = self.words.iter().rev().take_while(|(_, worth)| {
            rest += worth;
            rest * 100 < self.whole * ALIKE
        });
        &self.words[..self.words.len() - common.count()]
    }

    /// In hundredths, how much of the words of both is common to both, if that makes them look alike.
    fn strength(&self, other: &Self) -> Option<usize> {
        let key = |(word, worth): (&'w str, usize)| (Reverse(worth), word);
        let (mut here, mut there, mut shared) = (0, 0, 0);
        while let (Some(one), Some(two)) = (self.words.get(here), other.words.get(there)) {
            match key(*one).cmp(&key(*two)) {
                Ordering::Less => here += 1,
                Ordering::Greater => there += 1,
                Ordering::Equal => {
                    shared += one.1;
                    here += 1;
                    there += 1;
                }
            }
        }
        let strength = shared * 100 / (self.whole + other.whole - shared).max(1);
        (shared >= WORTH && strength >= ALIKE).then_some(strength)
    }
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
fn worth<'w>(wordings: &'w [(&str, BTreeSet<String>)]) -> HashMap<&'w str, usize> {
    let mut pages: HashMap<&str, BTreeSet<&str>> = HashMap::new();
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
    use crate::{Index, Kind, Page, Pattern, Signature};

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
