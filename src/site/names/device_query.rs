//! Names of devices as drivers and people write them.

use crate::site::names::spelling::{device_words, joined};

/// Words that drivers, shops and people add.
const NOISE: [&str; 36] = [
    "nvidia",
    "amd",
    "intel",
    "apple",
    "corporation",
    "inc",
    "r",
    "tm",
    "graphics",
    "graphic",
    "gpu",
    "series",
    "card",
    "video",
    "edition",
    "workstation",
    "desktop",
    "founders",
    "oc",
    "vram",
    "ram",
    "memory",
    "unified",
    "hbm2",
    "hbm2e",
    "hbm3",
    "hbm3e",
    "gddr6",
    "gddr6x",
    "gddr7",
    "oam",
    "vf",
    "accelerator",
    "advanced",
    "developer",
    "kit",
];

/// Words of computers with an Apple chip.
const APPLE: [&str; 15] = [
    "macbook", "pro", "air", "mac", "mini", "studio", "imac", "inch", "chip", "core", "cpu", "gpu", "apple",
    "ram", "memory",
];

/// A name, taken apart.
pub(super) struct DeviceQuery {
    /// Spellings to look up, the most specific first.
    pub spellings: Vec<String>,
    /// Memory size in GiB.
    pub size: Option<f64>,
    /// Parts of slugs that select a variant of a chip, such as `16-core`.
    pub variants: Vec<String>,
    /// Spellings of several devices with the same identity, such as `RX 7900 XT/7900 XTX`.
    pub alternatives: Vec<String>,
}

impl DeviceQuery {
    /// Takes a name apart.
    pub fn new(name: &str) -> Self {
        // `lspci` prints the product in brackets
        let name = name.rsplit_once('[').map_or(name, |(_, rest)| rest.split(']').next().unwrap_or(rest));
        let (outside, inside) = parentheses(name);
        let outside = outside.to_lowercase();
        let outside = outside.split(" w/ ").next().unwrap_or(&outside);
        let all: Vec<String> = device_words(outside).into_iter().flat_map(modern).collect();
        let whole: Vec<String> =
            device_words(&name.replace(['(', ')'], " ")).into_iter().flat_map(modern).collect();
        let size = all.iter().chain(&whole).find_map(|word| memory_size(word));
        let unsized_words: Vec<&String> = all.iter().filter(|word| memory_size(word).is_none()).collect();
        let is_noise = |word: &&String| NOISE.contains(&word.as_str());
        let mut spellings = vec![joined(all.iter().filter(|word| !is_noise(word)))];
        spellings.push(joined(unsized_words.iter().copied().filter(|word| !is_noise(word))));
        let of_chip: Vec<&String> = whole.iter().filter(|word| memory_size(word).is_none()).collect();
        let (chip, variants) = apple_chip(&of_chip);
        spellings.extend(chip);
        for text in inside {
            let words = device_words(&text);
            spellings.push(joined(words.iter()));
            spellings.extend(words.into_iter().filter(|word| word.len() > 4));
        }
        spellings.retain(|spelled| !spelled.is_empty());
        let parts: Vec<&str> = outside.split('/').collect();
        let alternatives = match parts.len() {
            1 => Vec::new(),
            _ => parts
                .iter()
                .map(|part| joined(device_words(part).iter().filter(|word| !is_noise(word))))
                .collect(),
        };
        Self { spellings, size, variants, alternatives }
    }
}

/// Splits a name into the text outside of parentheses and the texts inside.
fn parentheses(name: &str) -> (String, Vec<String>) {
    let (mut outside, mut inside) = (String::new(), Vec::new());
    for (at, part) in name.split('(').enumerate() {
        match part.split_once(')') {
            Some((text, rest)) if at > 0 => {
                inside.push(text.to_string());
                outside.push(' ');
                outside.push_str(rest);
            }
            _ => outside.push_str(part),
        }
    }
    (outside, inside)
}

/// Returns the words of the catalog for a word.
fn modern(word: String) -> Vec<String> {
    // GeForce: `8060S` is a Radeon
    let is_number =
        |text: &str| text.len() == 4 && text < "6000" && text.bytes().all(|digit| digit.is_ascii_digit());
    let size = word.strip_suffix("gib").or_else(|| word.strip_suffix('g'));
    let (short, kind) = match word.strip_suffix("tis") {
        Some(number) => (number, "tisuper"),
        None => (word.strip_suffix('s').unwrap_or_default(), "super"),
    };
    match word.as_str() {
        "laptop" | "notebook" => vec!["mobile".to_string()],
        "tis" => vec!["tisuper".to_string()],
        _ if is_number(short) => vec![short.to_string(), kind.to_string()],
        _ => match size.filter(|digits| digits.parse::<u32>().is_ok()) {
            Some(digits) => vec![format!("{digits}gb")],
            None => vec![word],
        },
    }
}

/// Parses the size in a word such as `24gb`.
fn memory_size(word: &str) -> Option<f64> {
    word.strip_suffix("gb")?.parse().ok()
}

/// Returns the spelling of an Apple chip in the name of a computer, and the variants that numbers of cores select.
fn apple_chip(words: &[&String]) -> (Option<String>, Vec<String>) {
    let is_chip = |word: &str| matches!(word.as_bytes(), [b'm', digit] if digit.is_ascii_digit());
    let Some(at) = words.iter().position(|word| is_chip(word)) else { return (None, Vec::new()) };
    let class = words.get(at + 1).filter(|word| ["pro", "max", "ultra"].contains(&word.as_str()));
    let after = at + 1 + usize::from(class.is_some());
    let rest = || words[..at].iter().chain(&words[after..]);
    let is_known = |word: &&&String| APPLE.contains(&word.as_str()) || word.parse::<u32>().is_ok();
    if !rest().all(|word| is_known(&word)) {
        return (None, Vec::new());
    }
    let tail: Vec<&str> = words[after..].iter().map(|word| word.as_str()).collect();
    let variants =
        tail.windows(2).filter(|pair| pair[1] == "core").map(|pair| format!("{}-core", pair[0])).collect();
    let chip = words[at].clone() + class.map_or("", |class| class.as_str());
    (Some(format!("apple{chip}")), variants)
}
