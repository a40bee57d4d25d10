//! Finds words with letters of other scripts that look like Latin ones.

use std::ops::Range;

/// Scripts and blocks with letters that look Latin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    /// Phonetic letters: Latin, but some look like ASCII letters, and commands do not contain them.
    Phonetic,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
    Coptic,
    Lisu,
    FullWidth,
    Mathematical,
    Other,
}

impl Script {
    fn of(letter: char) -> Self {
        match letter {
            'A'..='Z' | 'a'..='z' | 'ª' | 'º' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => {
                Self::Latin
            }
            '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}' | '\u{FB00}'..='\u{FB06}' => Self::Latin,
            '\u{250}'..='\u{2AF}' | '\u{1D00}'..='\u{1DBF}' => Self::Phonetic,
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Self::Greek,
            '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69F}' => Self::Cyrillic,
            '\u{531}'..='\u{58F}' => Self::Armenian,
            '\u{13A0}'..='\u{13FF}' | '\u{AB70}'..='\u{ABBF}' => Self::Cherokee,
            '\u{2C80}'..='\u{2CFF}' => Self::Coptic,
            '\u{A4D0}'..='\u{A4FF}' => Self::Lisu,
            '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => Self::FullWidth,
            '\u{1D400}'..='\u{1D7FF}' => Self::Mathematical,
            _ => Self::Other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Latin => "Latin",
            Self::Phonetic => "phonetic",
            Self::Greek => "Greek",
            Self::Cyrillic => "Cyrillic",
            Self::Armenian => "Armenian",
            Self::Cherokee => "Cherokee",
            Self::Coptic => "Coptic",
            Self::Lisu => "Lisu",
            Self::FullWidth => "full-width",
            Self::Mathematical => "mathematical",
            Self::Other => "other",
        }
    }
}

/// Cyrillic and Greek letters with the Latin letters they look like, from Unicode's `confusables.txt`
/// (<https://www.unicode.org/Public/security/latest/confusables.txt>).
const CONFUSABLES: [(&str, &str); 2] = [
    ("асеорхуѕіјԁһӏԛԝѵѐёїАВЕЅІЈКМНОРСТХУҮԀԚԜӀЀЁЇ", "aceopxysijdhlqwveeiABESIJKMHOPCTXYYDQWIEEI"),
    ("αιονρυκγχϲϳάίόύΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aiovpukyxcjaiouABEZHIKMNOPTYX"),
];

/// Returns the Latin letter that a letter of another script looks like.
fn confusable(letter: char) -> Option<char> {
    let at =
        |(others, latin): &(&str, &str)| latin.chars().nth(others.chars().position(|other| other == letter)?);
    CONFUSABLES.iter().find_map(at)
}

pub(super) fn is_latin(letter: char) -> bool {
    matches!(Script::of(letter), Script::Latin | Script::Phonetic)
}

/// Returns whether a letter of another script looks like a Latin one.
pub(super) fn is_latin_lookalike(letter: char) -> bool {
    confusable(letter).is_some()
}

/// A word that looks Latin and has a letter of another script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookalike {
    /// Byte range of the word.
    pub range: Range<usize>,
    /// The first letter that is not Latin.
    pub letter: char,
    /// Name of the script of that letter.
    pub script: &'static str,
    /// The Latin letter it looks like, if known.
    pub latin: Option<char>,
}

/// Returns words that mix Latin letters with letters that look Latin, and words of such letters alone.
///
/// Omits words of another script if the text, or in code the line, has letters of that script that do not look Latin: `рост` is
/// fine in a Russian sentence, `сору` in an English one is misleading. Omits Greek symbols such as `μs`, `Δt`, `α` and `αx`.
pub fn lookalikes(text: &str, is_code: impl Fn(usize) -> bool) -> Vec<Lookalike> {
    if text.is_ascii() {
        return Vec::new();
    }
    let known = distinctive_scripts(text);
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n').filter(|line| !line.is_empty()) {
        let known_in_line = if line.is_ascii() { Vec::new() } else { distinctive_scripts(line) };
        for range in words(line).into_iter().filter(|range| !line[range.clone()].is_ascii()) {
            let absolute = start + range.start..start + range.end;
            let code = is_code(absolute.start);
            let known = if code { &known_in_line } else { &known };
            if let Some((letter, script)) = misleading_letter(&line[range], known, code) {
                found.push(Lookalike {
                    range: absolute,
                    letter,
                    script: script.name(),
                    latin: confusable(letter),
                });
            }
        }
        start += line.len();
    }
    found
}

/// Returns the scripts of the letters that do not look Latin.
fn distinctive_scripts(text: &str) -> Vec<Script> {
    let mut scripts = Vec::new();
    for letter in text.chars().filter(|letter| !letter.is_ascii() && letter.is_alphabetic()) {
        let script = Script::of(letter);
        if !scripts.contains(&script) && confusable(letter).is_none() {
            scripts.push(script);
        }
    }
    scripts
}

/// Returns the runs of letters, digits and combining marks.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, character) in line.char_indices() {
        let end = at + character.len_utf8();
        let is_mark = ('\u{300}'..='\u{36F}').contains(&character);
        match words.last_mut() {
            Some(last) if last.end == at && (character.is_alphanumeric() || is_mark) => last.end = end,
            _ if character.is_alphanumeric() => words.push(at..end),
            _ => {}
        }
    }
    words
}

/// Returns the first letter that only looks Latin, if the word as a whole looks Latin.
fn misleading_letter(word: &str, known: &[Script], is_code: bool) -> Option<(char, Script)> {
    let letters = || word.chars().filter(|letter| letter.is_alphabetic());
    let latin = letters().filter(|letter| is_latin(*letter)).count();
    let is_misleading = |letter: char| match Script::of(letter) {
        Script::Latin | Script::Other => false,
        Script::Phonetic => is_code && latin > 1,
        Script::Greek => latin > 1 && confusable(letter).is_some(),
        Script::Mathematical | Script::FullWidth => latin > 0 || is_code,
        _ => latin > 0,
    };
    if let Some(letter) = letters().find(|letter| is_misleading(*letter)) {
        return Some((letter, Script::of(letter)));
    }
    let first = letters().next()?;
    let script = Script::of(first);
    let min_letters = if script == Script::Greek { 2 } else { 1 };
    let all_look_latin = letters().all(is_latin_lookalike) && letters().count() >= min_letters;
    (all_look_latin && !known.contains(&script)).then_some((first, script))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, code: bool) -> Vec<&str> {
        lookalikes(text, |_| code).into_iter().map(|word| &text[word.range]).collect()
    }

    #[test]
    fn confusables_are_paired() {
        for (others, latin) in CONFUSABLES {
            assert_eq!(others.chars().count(), latin.chars().count());
        }
        assert_eq!(
            (confusable('с'), confusable('Ї'), confusable('Χ'), confusable('ж')),
            (Some('c'), Some('I'), Some('X'), None)
        );
    }

    #[test]
    fn finds_mixed_words_in_text_and_code() {
        for (text, word) in [
            ("use сurl here", "сurl"),
            ("оllama.com", "оllama"),
            ("kv_сache", "сache"),
            ("ｇit", "ｇit"),
            ("gρt-oss", "gρt"),
            ("G\u{421}UDA", "G\u{421}UDA"),
        ] {
            assert_eq!(found(text, false), [word], "{text}");
            assert_eq!(found(text, true), [word], "{text}");
        }
        assert_eq!(found("ssh ѕср file\nПривет, мир", true), ["ѕср"]);
        assert_eq!(found("python -с 'x'", true), ["с"]);
        assert_eq!(found("ɡit clone", true), ["ɡit"]);
    }

    #[test]
    fn accepts_other_languages_and_symbols() {
        for text in [
            "Видеокарта RTX 4090 с памятью 24 ГБ: сор и роса.",
            "Η κάρτα έχει μνήμη, να CUDA και ο νους.",
            "GPU内存不足, IP-адрес, CUDA-устройство",
            "20 μs, 3 µm, Δt, kΩ, α = 0.5, ρ, αx, σ², β-VAE",
            "größe, naïve, Łódź, ñ, ﬁ",
            "ＧＰＵ メモリ",
            "/ˈɡɪt/",
        ] {
            assert_eq!(found(text, false), [""; 0], "{text}");
        }
        assert_eq!(found("echo \"Привет с работы\"", true), [""; 0]);
    }
}
