//! Splits a text into words, placeholders and tags.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextPart<'t> {
    /// Plain text.
    Words(&'t str),
    /// A placeholder: `{name}`.
    Hole(&'t str),
    /// An opening tag: `<name>`.
    Open(&'t str),
    /// A closing tag: `</name>`.
    Close(&'t str),
}

impl TextPart<'_> {
    /// Returns the source of the part.
    pub fn source(&self) -> String {
        match self {
            Self::Words(words) => (*words).to_string(),
            Self::Hole(name) => format!("{{{name}}}"),
            Self::Open(name) => format!("<{name}>"),
            Self::Close(name) => format!("</{name}>"),
        }
    }
}

/// Splits a text into its parts; a brace or angle bracket without a name is plain text.
pub fn parts(text: &str) -> Vec<TextPart<'_>> {
    let mut parts = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['{', '<']) {
        let start = at + found;
        let Some((part, end)) = marked(text, start) else {
            at = start + 1;
            continue;
        };
        if plain < start {
            parts.push(TextPart::Words(&text[plain..start]));
        }
        parts.push(part);
        (plain, at) = (end, end);
    }
    if plain < text.len() {
        parts.push(TextPart::Words(&text[plain..]));
    }
    parts
}

/// Returns the placeholder or tag at `start`, and the offset after it.
fn marked(text: &str, start: usize) -> Option<(TextPart<'_>, usize)> {
    let rest = &text[start..];
    let inner = |open: &str, close: char| {
        let name = rest.strip_prefix(open)?.split_once(close)?.0;
        let is_name = !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_'));
        is_name.then_some((name, start + open.len() + name.len() + 1))
    };
    if let Some((name, end)) = inner("{", '}') {
        return Some((TextPart::Hole(name), end));
    }
    if let Some((name, end)) = inner("</", '>') {
        return Some((TextPart::Close(name), end));
    }
    inner("<", '>').map(|(name, end)| (TextPart::Open(name), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_tags_have_names() {
        assert_eq!(
            parts("{n} of <a>all</a>, 3 < 4 {} {N}"),
            [
                TextPart::Hole("n"),
                TextPart::Words(" of "),
                TextPart::Open("a"),
                TextPart::Words("all"),
                TextPart::Close("a"),
                TextPart::Words(", 3 < 4 {} {N}"),
            ]
        );
        assert_eq!(parts(""), []);
    }
}
