//! Deterministic pseudorandom numbers, and prose generated from them.

/// Pseudorandom number generator (splitmix64).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Starts with a seed.
    pub fn new(seed: usize) -> Self {
        Self((seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// Returns one of the items.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const SUBJECTS: &[&str] = &[
    "the allocator",
    "the driver",
    "the runner",
    "a second process",
    "the scheduler",
    "the loader",
    "the browser",
    "the desktop",
    "the container",
    "the tokenizer",
    "the cache",
    "a background service",
    "the kernel module",
    "the download",
    "the graph",
    "the first request",
    "the last layer",
    "the compute buffer",
    "the server",
    "the environment",
];
const VERBS: &[&str] = &[
    "keeps",
    "reserves",
    "reads",
    "releases",
    "maps",
    "copies",
    "splits",
    "refuses",
    "reports",
    "replaces",
    "needs",
    "loses",
    "checks",
    "overwrites",
    "counts",
    "hides",
    "asks for",
    "waits for",
];
const OBJECTS: &[&str] = &[
    "its own context",
    "more memory than the log says",
    "the weights of every layer",
    "an older library",
    "the first free block",
    "a file that is no longer there",
    "the whole model",
    "pages that were swapped out",
    "a smaller batch",
    "the wrong device",
    "what another program left",
    "the cache of an earlier run",
    "half of the card",
    "a build without this kernel",
    "the default port",
    "tensors of an unknown type",
    "a signature that has changed",
    "the largest buffer",
    "several hundred megabytes",
    "the environment of its parent",
];
const TAILS: &[&str] = &[
    "when it starts",
    "as soon as the context grows",
    "on cards with little memory",
    "until it is stopped",
    "before the model is loaded",
    "even if nothing runs",
    "after a reboot",
    "under Windows only",
    "with the default settings",
    "in every version since then",
    "while the page is open",
    "without a message",
    "although the card is idle",
    "because the limit is set elsewhere",
];

/// Generates prose of at least `words` words.
pub fn paragraph(dice: &mut Dice, words: usize) -> String {
    let mut text = String::new();
    let mut count = 0;
    while count < words {
        let sentence = format!(
            "{} {} {} {}{} ",
            dice.pick(SUBJECTS),
            dice.pick(VERBS),
            dice.pick(OBJECTS),
            dice.pick(TAILS),
            [
                ".",
                ".",
                ", which is *not* a fault.",
                ": look at `nvidia-smi` first.",
                ", and then it **stops**."
            ][dice.below(5)]
        );
        count += sentence.split_whitespace().count();
        text.push_str(&sentence[..1].to_uppercase());
        text.push_str(&sentence[1..]);
    }
    text.trim_end().to_string()
}

/// Generates a unique word from syllables.
pub fn name(number: usize) -> String {
    const FIRST: &[u8] = b"bdfgklmnprstvz";
    const SECOND: &[u8] = b"aeiou";
    // A step coprime to the number of words, so that neighbors differ.
    let mut rest = number.wrapping_mul(1_234_577) % 70usize.pow(4);
    let mut name = String::new();
    for _ in 0..4 {
        name.push(FIRST[rest % 14].into());
        name.push(SECOND[rest / 14 % 5].into());
        rest /= 70;
    }
    name
}
