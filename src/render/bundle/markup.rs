//! The tags of HTML that kbgen wrote itself: as much of a parser as well-formed pages need.

/// A part of a page, as it stands there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Text between tags.
    Text(&'t str),
    /// An opening tag.
    Open(Tag<'t>),
    /// The name of a closing tag.
    Close(&'t str),
}

/// An opening tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    /// Its name.
    pub name: &'t str,
    /// Names and values of its attributes, still escaped.
    pub attributes: Vec<(&'t str, Option<&'t str>)>,
}

impl<'t> Tag<'t> {
    /// The value of an attribute, still escaped.
    pub fn get(&self, name: &str) -> Option<&'t str> {
        self.attributes.iter().find(|(own, _)| *own == name).and_then(|(_, value)| *value)
    }
}

/// The parts of a text, in order.
pub(super) fn tokens(html: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((tag, behind)) = tag(rest) {
            rest = behind;
            return Some(tag);
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('<').map_or(rest.len(), |at| first + at);
        let (text, behind) = rest.split_at(end);
        rest = behind;
        Some(Token::Text(text))
    })
}

/// The tag that a text begins with, and what stands behind it.
fn tag(text: &str) -> Option<(Token<'_>, &str)> {
    let inner = text.strip_prefix('<')?;
    if let Some(name) = inner.strip_prefix('/') {
        let (name, behind) = name.split_once('>')?;
        return Some((Token::Close(name.trim()), behind));
    }
    if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let (name, mut rest) = word(inner);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if let Some(behind) = rest.strip_prefix('>') {
            return Some((Token::Open(Tag { name, attributes }), behind));
        }
        let (attribute, behind) = word(rest);
        if attribute.is_empty() {
            return None;
        }
        let Some(value) = behind.strip_prefix('=') else {
            attributes.push((attribute, None));
            rest = behind;
            continue;
        };
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_at(value.find(|c: char| c.is_ascii_whitespace() || c == '>')?),
        };
        attributes.push((attribute, Some(value)));
        rest = behind;
    }
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_ascii_whitespace() || "=/>\"'<".contains(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// Writes an opening tag.
pub(super) fn open<'t>(
    out: &mut String,
    name: &str,
    attributes: impl IntoIterator<Item = (&'t str, Option<&'t str>)>,
) {
    out.push('<');
    out.push_str(name);
    for (attribute, value) in attributes {
        out.push(' ');
        out.push_str(attribute);
        if let Some(value) = value {
            out.push_str("=\"");
            out.push_str(value);
            out.push('"');
        }
    }
    out.push('>');
}

/// A text as the value of an attribute.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_comes_apart_and_together_again() {
        let page = "a < b <p id=\"x\" hidden>1 &lt; 2<img alt=\"a > b\" width=\"3\"/></p>";
        let mut again = String::new();
        for token in tokens(page) {
            match token {
                Token::Text(text) => again.push_str(text),
                Token::Open(tag) => open(&mut again, tag.name, tag.attributes),
                Token::Close(name) => again.push_str(&format!("</{name}>")),
            }
        }
        assert_eq!(again, page.replace("/>", ">"));
    }
}
