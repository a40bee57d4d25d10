//! JSON for standard output, without characters that affect a terminal or a CI log.

use serde::Serialize;

use crate::escape::replace_invisible;

/// Serializes a value as indented JSON with a final line feed.
///
/// serde_json escapes C0 controls only, so other controls, bidirectional and invisible characters become `\uXXXX` here.
/// So does the `#` of `##[`, which starts a workflow command anywhere in a CI log; it can only be part of a string.
pub fn json(value: &impl Serialize) -> String {
    let plain = serde_json::to_string_pretty(value).expect("plain data is always JSON");
    let units = |character: char| {
        character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let text = replace_invisible(&plain, units);
    text.replace("##[", "#\\u0023[") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{ColorChoice, TerminalText};

    #[test]
    fn escaped_json_has_the_same_data_and_is_safe_in_a_terminal() {
        let value = "\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{e0041}\u{feff} é ##[add-mask]x\n::stop-commands::y";
        let text = json(&[value]);
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).expect("JSON"), [value]);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()) && !text.contains("##["), "{text:?}");
        assert_eq!(TerminalText::from(&text).render(ColorChoice::Off), text);
    }
}
