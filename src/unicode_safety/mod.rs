//! Detects invisible and misleading characters, words and hosts.

mod hosts;
mod lookalikes;

pub use hosts::{HostSpoofing, Punycode, host, host_spoofing, punycode_hosts};
pub use lookalikes::{Lookalike, lookalikes};

/// The kind of an invisible character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvisibleChar {
    /// Changes the text direction, so that code looks different from how it runs (Trojan Source, CVE-2021-42574; the same set as
    /// `text_direction_codepoint_in_literal` of rustc).
    Bidi,
    /// Has no width, so that different texts look the same.
    Hidden,
    /// Controls a terminal; not allowed in XML.
    Control,
}

/// Iterates over the invisible characters of a text with their byte offsets.
///
/// Omits joiners and variation selectors after a character outside ASCII, where emoji and several scripts need them, and
/// the selector of a keycap.
pub fn invisible_chars(text: &str) -> impl Iterator<Item = (usize, char, InvisibleChar)> + '_ {
    // Printable ASCII and the later bytes of other characters are skipped without decoding them.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | 0x80..=0xBF);
    text.bytes().enumerate().filter(move |(_, byte)| !is_plain(*byte)).filter_map(move |(at, _)| {
        let (before, rest) = text.split_at(at);
        let mut following = rest.chars();
        let (character, next) = (following.next()?, following.next());
        let is_after_ascii = || before.chars().next_back().is_none_or(|previous| previous.is_ascii());
        let kind = match character {
            '\r' if next == Some('\n') => return None,
            '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}' if !is_after_ascii() => return None,
            '\u{FE0F}' if next == Some('\u{20E3}') => return None,
            other => kind(other)?,
        };
        Some((at, character, kind))
    })
}

/// Returns whether a character changes the text direction.
pub fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn kind(character: char) -> Option<InvisibleChar> {
    if is_bidi_control(character) {
        return Some(InvisibleChar::Bidi);
    }
    match character {
        '\n' | '\t' => None,
        // The last two code points of the first plane are noncharacters, which XML does not allow.
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => Some(InvisibleChar::Control),
        // Default ignorable code points, line and paragraph separators, and annotations.
        '\u{AD}'
        | '\u{34F}'
        | '\u{61C}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{17B4}'
        | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}' => Some(InvisibleChar::Hidden),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, InvisibleChar)> {
        invisible_chars(text).map(|(at, _, kind)| (at, kind)).collect()
    }

    #[test]
    fn finds_invisible_characters_with_offsets() {
        assert_eq!(found("é\u{202E}x"), [(2, InvisibleChar::Bidi)]);
        assert_eq!(
            found("rm\u{200B} -rf\u{E0041}"),
            [(2, InvisibleChar::Hidden), (9, InvisibleChar::Hidden)]
        );
        assert_eq!(
            found("a\0b\u{1B}[31m\rc"),
            [(1, InvisibleChar::Control), (3, InvisibleChar::Control), (8, InvisibleChar::Control)]
        );
    }

    #[test]
    fn accepts_joiners_and_selectors_of_emoji_and_scripts() {
        assert_eq!(found("a\tb\r\nc\n"), []);
        assert_eq!(
            found(
                "\u{1F468}\u{200D}\u{1F469} \u{26A0}\u{FE0F} 1\u{FE0F}\u{20E3} \u{645}\u{6CC}\u{200C}\u{62E}"
            ),
            []
        );
    }

    #[test]
    fn finds_joiners_after_ascii() {
        assert_eq!(found("ls\u{200D}"), [(2, InvisibleChar::Hidden)]);
        assert_eq!(found("ls\u{FE0F}"), [(2, InvisibleChar::Hidden)]);
    }
}
