//! Finds pages whose messages are easily confused: their signatures share most of their words.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use crate::pattern::PatternPart;
use crate::table::{Kind, Table};
use crate::text_index::{idf, terms};

/// Minimum similarity of two signatures: the percentage of shared words among all words, weighted by inverse document
/// frequency.
const MIN_SIMILARITY: usize = 50;
/// Minimum weight of the shared words; more than a single word can have.
const MIN_SHARED_WEIGHT: usize = 64;

/// Returns for each page the pages with a similar signature, most similar first, then by slug.
///
/// Two similar signatures share at least one word of the rarer half of each; otherwise the shared weight would be less than
/// half of either. Looking up only these words avoids the cost of words that thousands of pages share.
pub fn similar_pages(table: &Table) -> BTreeMap<&str, Vec<&str>> {
    let wordings = wordings(table);
    let word_weights = word_weights(&wordings);
    let weighed: Vec<WeightedWording<'_>> =
        wordings.iter().map(|(_, words)| WeightedWording::new(words, &word_weights)).collect();
    let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, wording) in weighed.iter().enumerate() {
        for (word, _) in wording.rarer_half() {
            with_word.entry(word).or_default().push(at);
        }
    }
    let similar: Vec<(usize, usize, usize)> = weighed
        .par_iter()
        .enumerate()
        .flat_map_iter(|(at, wording)| {
            let others = wording.rarer_half().iter().flat_map(|(word, _)| &with_word[word]);
            let others: BTreeSet<usize> =
                others.copied().filter(|other| wordings[*other].0 != wordings[at].0).collect();
            let weighed = &weighed;
            others
                .into_iter()
                .filter_map(move |other| Some((at, other, wording.similarity(&weighed[other])?)))
        })
        .collect();
    let mut similarities: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (at, other, similarity) in similar {
        let highest = similarities.entry(wordings[at].0).or_default().entry(wordings[other].0).or_default();
        *highest = similarity.max(*highest);
    }
    similarities.into_iter().map(|(page, others)| (page, ranked(others))).collect()
}

/// The words of a signature with their weights.
struct WeightedWording<'w> {
    /// Words with their weights, rarest first, then by name.
    words: Vec<(&'w str, usize)>,
    total: usize,
}

impl<'w> WeightedWording<'w> {
    fn new(words: &'w BTreeSet<String>, word_weights: &HashMap<&str, usize>) -> Self {
        let mut words: Vec<_> =
            words.iter().map(|word| (word.as_str(), word_weights[word.as_str()])).collect();
        words.sort_unstable_by_key(|(word, weight)| (Reverse(*weight), *word));
        Self { total: words.iter().map(|(_, weight)| weight).sum(), words }
    }

    /// Returns the fewest of the rarest words such that the weight of the others is less than [`MIN_SIMILARITY`] percent.
    fn rarer_half(&self) -> &[(&'w str, usize)] {
        let mut rest = 0;
        let common = self.words.iter().rev().take_while(|(_, weight)| {
            rest += weight;
            rest * 100 < self.total * MIN_SIMILARITY
        });
        &self.words[..self.words.len() - common.count()]
    }

    /// Returns the similarity in percent, if the signatures are similar.
    fn similarity(&self, other: &Self) -> Option<usize> {
        let key = |(word, weight): (&'w str, usize)| (Reverse(weight), word);
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
        let similarity = shared * 100 / (self.total + other.total - shared).max(1);
        (shared >= MIN_SHARED_WEIGHT && similarity >= MIN_SIMILARITY).then_some(similarity)
    }
}

fn ranked(similarities: BTreeMap<&str, usize>) -> Vec<&str> {
    let mut names: Vec<_> = similarities.into_iter().collect();
    names.sort_by_key(|(name, similarity)| (Reverse(*similarity), *name));
    names.into_iter().map(|(name, _)| name).collect()
}

/// Returns the words of each signature with the slug of its page.
fn wordings(table: &Table) -> Vec<(&str, BTreeSet<String>)> {
    let words = |part: &PatternPart| part.literal().map(terms).unwrap_or_default();
    let mut wordings = BTreeSet::new();
    for page in table.pages.iter().filter(|page| page.kind != Kind::Reading) {
        for signature in &page.signatures {
            let parts = signature.all.iter().flat_map(|pattern| &table.patterns[*pattern].parts);
            wordings.insert((page.slug.as_str(), parts.flat_map(words).collect()));
        }
    }
    wordings.into_iter().collect()
}

/// Returns the inverse document frequency of each word among the pages.
fn word_weights<'w>(wordings: &'w [(&str, BTreeSet<String>)]) -> HashMap<&'w str, usize> {
    let mut pages: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (page, words) in wordings {
        for word in words {
            pages.entry(word).or_default().insert(page);
        }
    }
    let total = wordings.iter().map(|(page, _)| page).collect::<BTreeSet<_>>().len();
    pages.into_iter().map(|(word, with)| (word, idf(with.len(), total))).collect()
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
    fn similarity_is_symmetric() {
        let mut pages = vec![
            page("cuda", &["unsupported opcode {int}", "CUDA out of memory. Tried to allocate {size:bytes}"]),
            page("hip", &["HIP out of memory. Tried to allocate {size:bytes}"]),
            page("same", &["cuda OUT of memory. Tried to allocate {bytes} more"]),
            page("port", &["bind: address already in use"]),
        ];
        // A word is rare only among many pages.
        pages.extend(
            (0..30).map(|at| page(&format!("other-{at:02}"), &[&format!("quite another thing{at}")])),
        );
        let index = Index::build(&pages, &[]);
        let found = similar_pages(index.table());
        assert_eq!(found["cuda"], ["same", "hip"]);
        assert!(found["hip"].contains(&"cuda"));
        assert!(!found.contains_key("port"));
    }
}
