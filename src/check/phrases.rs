//! Finds phrases of a fixed list in one pass over a text.

/// Phrases of at least two bytes, with a filter of their first two.
pub(super) struct Phrases<'p> {
    phrases: Vec<&'p str>,
    filter: Vec<bool>,
}

impl<'p> Phrases<'p> {
    /// Indexes phrases.
    pub fn new(phrases: Vec<&'p str>) -> Self {
        let mut filter = vec![false; 1 << 16];
        for key in phrases.iter().filter_map(|phrase| phrase.as_bytes().first_chunk()) {
            filter[usize::from(u16::from_le_bytes(*key))] = true;
        }
        Self { phrases, filter }
    }

    /// Returns each occurrence: the index of the phrase, and the position.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
        let keys = text.as_bytes().windows(2).enumerate();
        let starts = keys
            .filter(|(_, key)| self.filter[usize::from(u16::from_le_bytes([key[0], key[1]]))])
            .map(|(at, _)| at);
        starts.flat_map(move |at| {
            let rest = &text.as_bytes()[at..];
            let begins = move |phrase: &&str| rest.starts_with(phrase.as_bytes());
            self.phrases
                .iter()
                .enumerate()
                .filter(move |(_, phrase)| begins(phrase))
                .map(move |(n, _)| (n, at))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Phrases;

    #[test]
    fn finds_every_occurrence() {
        let phrases = Phrases::new(vec!["ab", "abc", "cab", "é"]);
        let found: Vec<_> = phrases.find("xabcabé").collect();
        assert_eq!(found, [(0, 1), (1, 1), (2, 3), (0, 4), (3, 6)]);
        assert_eq!(phrases.find("a").count(), 0);
    }
}
