//! One pass over a text for many literal beginnings at once.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Longer beginnings are cut: what follows is compared anyway.
const LENGTH: usize = 24;

/// An automaton over the beginnings. Of a hundred thousand signatures it takes some megabytes.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    /// None where there is nothing to look for.
    automaton: Option<AhoCorasick>,
    /// The place in the list of each text that the automaton knows.
    ids: Vec<usize>,
}

impl Scan {
    /// Prepares the automaton; a text is known by its place in the list, and an empty one is never found.
    pub fn new(texts: &[&[u8]]) -> Self {
        let (ids, beginnings): (Vec<usize>, Vec<&[u8]>) = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.is_empty())
            .map(|(id, text)| (id, &text[..text.len().min(LENGTH)]))
            .unzip();
        let automaton = (!ids.is_empty()).then(|| {
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(beginnings)
                .expect("fewer states than a 32-bit number counts")
        });
        Self { automaton, ids }
    }

    /// Tells `hit` the text and the place where it begins, for every place, by the end of the place.
    pub fn run(&self, bytes: &[u8], mut hit: impl FnMut(usize, usize)) {
        let Some(automaton) = &self.automaton else { return };
        for found in automaton.find_overlapping_iter(bytes) {
            hit(self.ids[found.pattern().as_usize()], found.start());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_every_text_is_found() {
        let texts: [&[u8]; 6] = [b"he", b"she", b"his", b"hers", b"", b"s"];
        let mut hits = Vec::new();
        Scan::new(&texts).run(b"ushers-his\xffhe", |id, at| hits.push((id, at)));
        hits.sort_unstable();
        assert_eq!(hits, [(0, 2), (0, 11), (1, 1), (2, 7), (3, 2), (5, 1), (5, 5), (5, 9)]);
        Scan::new(&[]).run(b"ushers", |id, at| panic!("{id} at {at}"));
    }
}
