//! Resolves user-typed names of models and devices through a table of spellings.
//!
//! Pages are found by slug, title, Hugging Face name and `also_known_as`, ignoring case and separators: `llama3.1:8b`
//! matches `Llama 3.1 8B`. Only words that do not distinguish products may be left out: the maker, and those of
//! [`ModelWord`] and [`device_rank`].

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{closest, nearest};
use crate::site::{Kind, Site};

/// Result of resolving a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// Slug of the only match.
    Page(String),
    /// Slugs of several matches.
    Ambiguous(Vec<String>),
    /// No match; the slug of the closest page, if any.
    Unknown(Option<String>),
}

/// Spellings of the pages of a kind.
#[derive(Debug, Clone)]
pub struct Names {
    slugs: Vec<String>,
    /// Slugs by spelling, each with its rank; exact spellings come first.
    spellings: BTreeMap<String, BTreeSet<(Rank, String)>>,
}

/// Rank of a spelling by the omitted words: 0 none, 1 words that all variants share, 2 the memory size of a device.
type Rank = u8;

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Maximum number of pages that a message lists.
const MAX_LISTED: usize = 8;

impl Names {
    /// Builds the table of a site's models or devices; pages of other kinds are found by slug only.
    pub fn new(site: &Site, kind: Kind) -> Self {
        let mut names = Self { slugs: Vec::new(), spellings: BTreeMap::new() };
        names.slugs.extend(site.slugs(kind).map(str::to_string));
        for slug in names.slugs.clone() {
            names.insert(&spelling(&slug), 0, &slug);
        }
        if kind == Kind::Model {
            for page in &site.models {
                let (hub, also) = (page.data.hf_id.as_deref().unwrap_or_default(), &page.data.also_known_as);
                names.add_model(&page.head.id.slug, &page.head.title.value, hub, also);
            }
        }
        if kind == Kind::Hardware {
            for page in &site.devices {
                let (maker, also) = (page.data.vendor.name(), &page.data.also_known_as);
                names.add_device(&page.head.id.slug, &page.head.title.value, maker, also);
            }
        }
        names
    }

    /// Returns the pages that a name resolves to. Of a name with an owner, such as `unsloth/Qwen3-8B-GGUF`, the part
    /// after the owner must be complete.
    pub fn resolve(&self, name: &str) -> Resolved {
        if name.len() <= MAX_NAME_BYTES {
            if self.slugs.iter().any(|slug| slug == name) {
                return Resolved::Page(name.to_string());
            }
            if let Some(found) = self.look_up(&spelling(name), Rank::MAX) {
                return found;
            }
            let file = name.rsplit_once('/').map(|(_, file)| file.to_lowercase());
            if let Some(file) = file
                && let Some(found) = self.look_up(&spelling(file.trim_end_matches("-gguf")), 0)
            {
                return found;
            }
        }
        Resolved::Unknown(self.closest(name))
    }

    fn look_up(&self, spelled: &str, most: Rank) -> Option<Resolved> {
        let found = self.spellings.get(spelled)?;
        let least = found.first().map(|(rank, _)| *rank).filter(|rank| *rank <= most)?;
        let mut slugs: Vec<String> =
            found.iter().filter(|(rank, _)| *rank == least).map(|(_, slug)| slug.clone()).collect();
        Some(match slugs.len() {
            1 => Resolved::Page(slugs.remove(0)),
            _ => Resolved::Ambiguous(slugs),
        })
    }

    /// Returns the most likely page: one whose spelling starts with or contains this one, else that with the most
    /// similar slug.
    fn closest(&self, name: &str) -> Option<String> {
        let (spelled, slugs) = (spelling(name), || self.slugs.iter().map(String::as_str));
        let containing =
            slugs().filter(|slug| spelling(slug).contains(&spelled)).min_by_key(|slug| slug.len());
        let found = if spelled.is_empty() { None } else { containing };
        found.or_else(|| nearest(name, slugs())).map(str::to_string)
    }

    fn insert(&mut self, spelled: &str, rank: Rank, slug: &str) {
        if !spelled.is_empty() {
            self.spellings.entry(spelled.to_string()).or_default().insert((rank, slug.to_string()));
        }
    }

    fn add_model(&mut self, slug: &str, title: &str, hub: &str, also: &[String]) {
        let (owner, file) = hub.split_once('/').unwrap_or(("", hub));
        let makers = words(owner);
        for name in [slug, title, file].into_iter().chain(also.iter().map(String::as_str)) {
            let all = words(name);
            for count in 0..=makers.len() {
                self.insert(&joined(makers[..count].iter().chain(&all)), 0, slug);
            }
            let unmade = match all.split_first() {
                Some((first, rest)) if makers.contains(first) && begins_with_letter(rest) => rest.to_vec(),
                _ => all.clone(),
            };
            for whole in [all, unmade] {
                self.add_shortened(&whole, |word| ModelWord::of(word).is_some().then_some(1), slug);
            }
        }
    }

    fn add_device(&mut self, slug: &str, title: &str, maker: &str, also: &[String]) {
        for name in [slug, title].into_iter().chain(also.iter().map(String::as_str)) {
            let (before, bracketed) = name.split_once('(').unwrap_or((name, ""));
            for name in [before, name] {
                let all = device_words(name);
                let rank = u8::from(!bracketed.is_empty() && name == before);
                let made = words(maker).into_iter().chain(all.iter().cloned()).collect::<Vec<_>>();
                for start in 0..=line_words(&all) {
                    let rank = rank.max(u8::from(start > 0));
                    self.insert(&joined(all[start..].iter()), rank, slug);
                    self.add_shortened(&all[start..], device_rank, slug);
                }
                self.insert(&joined(made.iter()), rank, slug);
                self.add_shortened(&made, device_rank, slug);
            }
        }
    }

    /// Adds every spelling that leaves out some of the words with a rank; the first word always remains.
    fn add_shortened(&mut self, all: &[String], rank_of: impl Fn(&str) -> Option<Rank>, slug: &str) {
        const MAX_OMITTED: usize = 6;
        let may_go: Vec<(usize, Rank)> = all
            .iter()
            .enumerate()
            .skip(1)
            .filter_map(|(at, word)| Some((at, rank_of(word)?)))
            .take(MAX_OMITTED)
            .collect();
        for chosen in 1_u32..1 << may_go.len() {
            let gone: Vec<(usize, Rank)> =
                (0..may_go.len()).filter(|bit| chosen & (1 << bit) != 0).map(|bit| may_go[bit]).collect();
            let rank = gone.iter().map(|(_, rank)| *rank).max().unwrap_or(1);
            let left = all.iter().enumerate().filter(|(at, _)| gone.iter().all(|(place, _)| place != at));
            self.insert(&joined(left.map(|(_, word)| word)), rank, slug);
        }
    }
}

impl Resolved {
    /// Returns the page's slug, or an error message.
    ///
    /// # Errors
    /// If the name matches no page or several.
    pub fn slug(self, names: &Names, kind: Kind, name: &str) -> Result<String, String> {
        let what = if kind == Kind::Hardware { "device" } else { kind.name() };
        match self {
            Self::Page(slug) => Ok(slug),
            Self::Ambiguous(slugs) => {
                Err(format!("ambiguous name `{name}`; it could be {}", format_slugs(&slugs)))
            }
            Self::Unknown(Some(near)) => Err(format!("no {what} `{name}`; did you mean `{near}`?")),
            Self::Unknown(None) => Err(format!(
                "no {what} `{name}` under content/{}/{}",
                kind.folder(),
                closest(name, names.slugs.iter().map(String::as_str))
                    .map_or_else(String::new, |slug| format!("; the most similar name is `{slug}`"))
            )),
        }
    }
}

/// Formats slugs in backticks, the last after `or`.
fn format_slugs(slugs: &[String]) -> String {
    let quoted: Vec<String> = slugs.iter().take(MAX_LISTED).map(|slug| format!("`{slug}`")).collect();
    match (slugs.len().saturating_sub(MAX_LISTED), quoted.split_last()) {
        (0, Some((last, first))) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        (0, _) => quoted.join(", "),
        (more, _) => format!("{} or one of {more} more", quoted.join(", ")),
    }
}

/// Normalizes a name: lower case, no separators; a hyphen remains between two numbers.
fn spelling(name: &str) -> String {
    joined(words(name).iter())
}

fn joined<'w>(words: impl Iterator<Item = &'w String>) -> String {
    let mut text = String::new();
    for word in words {
        let ends_in_digit = text.ends_with(|c: char| c.is_ascii_digit());
        if ends_in_digit && word.starts_with(|c: char| c.is_ascii_digit()) {
            text.push('-');
        }
        text.push_str(word);
    }
    text
}

/// Splits a name into words in lower case; a dot between two digits does not separate words, and `+` is a word.
fn words(name: &str) -> Vec<String> {
    let lower: Vec<char> = name.to_lowercase().chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in lower.iter().enumerate() {
        let is_digit = |at: Option<usize>| at.and_then(|at| lower.get(at)).is_some_and(char::is_ascii_digit);
        let is_point = *letter == '.' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        match letter {
            '+' => words.extend(["plus".to_string(), String::new()]),
            letter if letter.is_alphanumeric() || is_point => {
                words.last_mut().expect("there is always a word").push(*letter);
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn begins_with_letter(words: &[String]) -> bool {
    words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Words of a model's name that may be left out. Several matching pages are then listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelWord {
    /// The training objective: `Instruct`.
    Training,
    /// A version, `v0.3`, or a date such as `2507`.
    Version,
    /// Parameters (`8B`, `8x7B`, `A3B`), experts (`16E`) or context (`4K`).
    Size,
}

impl ModelWord {
    fn of(word: &str) -> Option<Self> {
        let is_number =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || ".x".contains(c));
        if ["instruct", "it", "chat", "hf", "pt", "bf16"].contains(&word) {
            return Some(Self::Training);
        }
        if word.strip_prefix('v').is_some_and(is_number) || (word.len() == 4 && is_number(word)) {
            return Some(Self::Version);
        }
        let size = word.strip_prefix('a').unwrap_or(word);
        ['b', 'm', 'e', 'k']
            .into_iter()
            .find_map(|unit| size.strip_suffix(unit))
            .filter(|text| is_number(text))?;
        Some(Self::Size)
    }
}

/// Splits a device's name into words, with the memory size as one word: `16gb`.
fn device_words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words(name) {
        match all.last_mut() {
            Some(last) if word == "gb" && last.chars().all(|c| c.is_ascii_digit()) => last.push_str("gb"),
            _ => all.push(word),
        }
    }
    all
}

/// Returns the rank of leaving out a word of a device's name; `None` if it distinguishes products.
fn device_rank(word: &str) -> Option<Rank> {
    const SHARED: [&str; 9] =
        ["gpu", "pcie", "sxm", "sxm2", "sxm4", "sxm5", "ada", "generation", "blackwell"];
    match word {
        word if SHARED.contains(&word) => Some(1),
        word if word.strip_suffix("gb").is_some_and(|size| size.chars().all(|c| c.is_ascii_digit())) => {
            Some(2)
        }
        _ => None,
    }
}

/// Returns the number of leading words of the product line, such as `GeForce RTX`: those without a digit, if the next
/// word with a digit is not the memory size.
fn line_words(all: &[String]) -> usize {
    let has_digit = |word: &String| word.chars().any(|c| c.is_ascii_digit());
    match all.iter().position(has_digit) {
        Some(at) if device_rank(&all[at]).is_none() => at,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelWord, device_words, line_words, spelling};

    #[test]
    fn separators_and_case_do_not_matter_and_numbers_stay_apart() {
        assert_eq!(spelling("llama3.1:8b"), spelling("Llama 3.1 8B"));
        assert_eq!(spelling("RTX4060Ti-16GB"), spelling("rtx 4060 ti 16 gb"));
        assert_ne!(spelling("Gemma 2 2B"), spelling("gemma 22b"));
        assert_eq!(spelling("Command R+"), spelling("command-r-plus"));
        assert_eq!(spelling(" . "), "");
    }

    #[test]
    fn omits_only_words_that_do_not_distinguish_products() {
        let known = |word| ModelWord::of(word).is_some();
        assert!(["instruct", "v0.3", "2507", "8b", "8x7b", "a3b", "16e", "4k"].into_iter().all(known));
        assert!(!["llama", "3.1", "hermes", "r1", "coder", "small", "nano"].into_iter().any(known));
        assert_eq!(line_words(&device_words("GeForce RTX 4090")), 2);
        assert_eq!(line_words(&device_words("TITAN RTX")), 0);
        assert_eq!(line_words(&device_words("Jetson AGX Orin 32 GB")), 0);
    }
}
