//! One pass over a text for many literal beginnings at once (Aho and Corasick 1975, <https://doi.org/10.1145/360825.360855>).

/// Longer beginnings are cut: what follows is compared anyway.
const LENGTH: usize = 24;

/// An automaton over the bytes that occur in the beginnings; every other byte leads back to the start.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    classes: [u8; 256],
    width: usize,
    next: Vec<u32>,
    /// For each state, the texts that end there.
    found: Vec<Vec<u32>>,
    lengths: Vec<usize>,
}

impl Scan {
    /// Prepares the automaton; a text is known by its place in the list, and an empty one is never found.
    pub fn new(texts: &[&[u8]]) -> Self {
        let mut classes = [0u8; 256];
        let mut width = 1;
        let beginnings: Vec<&[u8]> = texts.iter().map(|text| &text[..text.len().min(LENGTH)]).collect();
        for byte in beginnings.iter().flat_map(|text| text.iter()) {
            if classes[usize::from(*byte)] == 0 {
                // At most 255 classes: NUL is never part of a normal text.
                classes[usize::from(*byte)] = width as u8;
                width += 1;
            }
        }
        let mut scan = Self {
            classes,
            width,
            next: vec![0; width],
            found: vec![Vec::new()],
            lengths: beginnings.iter().map(|text| text.len()).collect(),
        };
        for (id, text) in beginnings.iter().enumerate() {
            if !text.is_empty() {
                scan.insert(text, id as u32);
            }
        }
        scan.link();
        scan
    }

    fn insert(&mut self, text: &[u8], id: u32) {
        let mut state = 0;
        for byte in text {
            let slot = state * self.width + usize::from(self.classes[usize::from(*byte)]);
            if self.next[slot] == 0 {
                self.next[slot] = self.found.len() as u32;
                self.found.push(Vec::new());
                self.next.resize(self.next.len() + self.width, 0);
            }
            state = self.next[slot] as usize;
        }
        self.found[state].push(id);
    }

    /// Fills the missing steps from the longest suffix that is also a beginning.
    fn link(&mut self) {
        let mut fallback = vec![0usize; self.found.len()];
        let mut queue: Vec<usize> = Vec::with_capacity(self.found.len());
        for class in 0..self.width {
            if self.next[class] != 0 {
                queue.push(self.next[class] as usize);
            }
        }
        let mut done = 0;
        while done < queue.len() {
            let state = queue[done];
            done += 1;
            let shorter = fallback[state];
            let inherited = self.found[shorter].clone();
            self.found[state].extend(inherited);
            for class in 0..self.width {
                let slot = state * self.width + class;
                let other = self.next[shorter * self.width + class];
                if self.next[slot] == 0 {
                    self.next[slot] = other;
                } else {
                    fallback[self.next[slot] as usize] = other as usize;
                    queue.push(self.next[slot] as usize);
                }
            }
        }
    }

    /// Tells `hit` the text and the place where it begins, for every place, by the end of the place.
    pub fn run(&self, bytes: &[u8], mut hit: impl FnMut(usize, usize)) {
        let mut state = 0usize;
        for (at, byte) in bytes.iter().enumerate() {
            state = self.next[state * self.width + usize::from(self.classes[usize::from(*byte)])] as usize;
            for &id in &self.found[state] {
                hit(id as usize, at + 1 - self.lengths[id as usize]);
            }
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
    }
}
