//! What a text is made of.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextPart<'t> {
    /// Words.
    Words(&'t str),
    /// `{name}`: a value stands here.
    Hole(&'t str),
    /// `<name>`: marked words begin.
    Open(&'t str),
    /// `</name>`: they end.
    Close(&'t str),
}

impl TextPart<'_> {
    /// The part as it is written.
    pub fn source(&self) -> String {
        match self {
            Self::Words(words) => (*words).to_string(),
            Self::Hole(name) => format!("{{{name}}}"),
            Self::Open(name) => format!("<{name}>"),
            Self::Close(name) => format!("</{name}>"),
        }
    }
}

/// The parts of a text in their order; a brace or an angle that no name follows is a word like any other.
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

/// The hole or mark that begins at `start`, and where it ends.
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
    fn holes_and_marks_have_names() {
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
