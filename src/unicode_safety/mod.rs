//! Characters that a reader does not see, or that make a text look like another one.

mod hosts;
mod lookalikes;

pub use hosts::{HostDisguise, Punycode, host, host_disguise, punycode_hosts};
pub use lookalikes::{Lookalike, lookalikes};

/// A kind of character that no reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvisibleChar {
    /// It turns the direction of the text after it, so that code reads otherwise than it runs
    /// (Trojan Source, CVE-2021-42574; the set of rustc's `text_direction_codepoint_in_literal`).
    Bidi,
    /// It takes no room, so that two texts look the same and are not.
    Hidden,
    /// It is an order to a terminal, and XML does not allow it.
    Control,
}

/// Returns every invisible character of a text with its byte offset.
///
/// Joiners and variation selectors are part of emoji and of several scripts: behind a character that is not ASCII they
/// are what they seem, and so is a selector in a keycap.
pub fn invisible_chars(text: &str) -> impl Iterator<Item = (usize, char, InvisibleChar)> + '_ {
    let mut before = '\n';
    text.char_indices().filter_map(move |(at, character)| {
        let previous = std::mem::replace(&mut before, character);
        let next = || text[at + character.len_utf8()..].chars().next();
        let kind = match character {
            '\r' if next() == Some('\n') => return None,
            '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}' if !previous.is_ascii() => return None,
            '\u{FE0F}' if next() == Some('\u{20E3}') => return None,
            other => kind(other)?,
        };
        Some((at, character, kind))
    })
}

/// Whether a character turns the direction of the text.
pub fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn kind(character: char) -> Option<InvisibleChar> {
    if is_bidi_control(character) {
        return Some(InvisibleChar::Bidi);
    }
    match character {
        '\n' | '\t' => None,
        // The last two of the first plane are no characters, and XML does not allow them either.
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => Some(InvisibleChar::Control),
        // What Unicode calls default ignorable, line and paragraph separators, and annotations.
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
    fn each_is_found_where_it_stands() {
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
    fn what_text_needs_is_left_alone() {
        assert_eq!(found("a\tb\r\nc\n"), []);
        assert_eq!(
            found(
                "\u{1F468}\u{200D}\u{1F469} \u{26A0}\u{FE0F} 1\u{FE0F}\u{20E3} \u{645}\u{6CC}\u{200C}\u{62E}"
            ),
            []
        );
    }

    #[test]
    fn joiners_in_commands_are_none_of_that() {
        assert_eq!(found("ls\u{200D}"), [(2, InvisibleChar::Hidden)]);
        assert_eq!(found("ls\u{FE0F}"), [(2, InvisibleChar::Hidden)]);
    }
}
