//! Escapes text for HTML and replaces unsafe characters.

use crate::unicode_safety::is_bidi_control;

/// Appends `text`, escaped for an element or a quoted attribute; replaces NUL and bidirectional controls with U+FFFD.
pub(crate) fn escape_into(out: &mut String, text: &str) {
    out.reserve(text.len());
    let mut plain = 0;
    for (at, character) in text.char_indices() {
        let replacement = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            '\0' => "\u{FFFD}",
            other if is_bidi_control(other) => "\u{FFFD}",
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        out.push_str(replacement);
        plain = at + character.len_utf8();
    }
    out.push_str(&text[plain..]);
}

/// Escapes `text` for an element or a quoted attribute; see [`escape_into`].
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    escape_into(&mut out, text);
    out
}

/// Appends ` name="value"`.
pub(crate) fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    escape_into(out, value);
    out.push('"');
}

/// Returns the self-link of a heading.
pub(crate) fn anchor(id: &str, label: &str) -> String {
    format!(" <a class=\"anchor\" href=\"#{}\" aria-label=\"{}\">#</a>", escape(id), escape(label))
}
