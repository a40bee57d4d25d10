//! Escapes text for HTML and replaces unsafe characters.

use std::fmt;

use crate::unicode_safety::is_bidi_control;

/// Appends `text`, escaped for an element or a quoted attribute; see [`write_escaped`].
pub(crate) fn escape_into(out: &mut String, text: &str) {
    out.reserve(text.len());
    write_escaped(out, text).expect("writing to memory never fails");
}

/// Writes `text`, escaped for an element or a quoted attribute; replaces NUL and bidirectional controls with U+FFFD.
///
/// # Errors
/// If `out` cannot be written to.
pub(crate) fn write_escaped(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let (replacement, length) = match byte {
            b'&' => ("&amp;", 1),
            b'<' => ("&lt;", 1),
            b'>' => ("&gt;", 1),
            b'"' => ("&quot;", 1),
            b'\'' => ("&#39;", 1),
            b'\0' => ("\u{FFFD}", 1),
            // First byte of the bidirectional controls.
            0xE2 if text[at..].starts_with(is_bidi_control) => ("\u{FFFD}", 3),
            _ => continue,
        };
        out.write_str(&text[plain..at])?;
        out.write_str(replacement)?;
        plain = at + length;
    }
    out.write_str(&text[plain..])
}

/// Escapes `text` for an element or a quoted attribute; see [`write_escaped`].
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
