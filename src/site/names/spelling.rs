//! Spellings: names without case and separators, and the words that may be left out.

/// Rank of a spelling by the omitted words: 0 none, 1 words that all variants share, 2 the memory size of a device.
pub(super) type Rank = u8;

/// Normalizes a name: lower case, no separators; a hyphen remains between two numbers.
pub(super) fn spelling(name: &str) -> String {
    joined(words(name).iter())
}

pub(super) fn joined<'w>(words: impl Iterator<Item = &'w String>) -> String {
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
pub(super) fn words(name: &str) -> Vec<String> {
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

pub(super) fn begins_with_letter(words: &[String]) -> bool {
    words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Words of a model's name that may be left out. Several matching pages are then listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelWord {
    /// The training objective: `Instruct`.
    Training,
    /// A version, `v0.3`, or a date such as `2507`.
    Version,
    /// Parameters (`8B`, `8x7B`, `A3B`), experts (`16E`) or context (`4K`).
    Size,
}

impl ModelWord {
    pub fn of(word: &str) -> Option<Self> {
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
pub(super) fn device_words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words(name) {
        match all.last_mut() {
            Some(last)
                if ["gb", "gib"].contains(&word.as_str()) && last.chars().all(|c| c.is_ascii_digit()) =>
            {
                last.push_str("gb")
            }
            _ => all.push(word),
        }
    }
    all
}

/// Returns the rank of leaving out a word of a device's name; `None` if it distinguishes products.
pub(super) fn device_rank(word: &str) -> Option<Rank> {
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
pub(super) fn line_words(all: &[String]) -> usize {
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
