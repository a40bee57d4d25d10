//! Link destinations: their positions in the source, and allowed schemes.

use std::borrow::Cow;
use std::ops::Range;

/// Allowed schemes; a link without a scheme is relative.
pub(crate) const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Maximum bytes of an address and its title, because every link of the text may use the same definition.
pub(crate) const MAX_ADDRESS: usize = 2_048;
/// Characters of a destination that are searched for a scheme.
const MAX_SCHEME_CHARS: usize = 256;

/// Returns the scheme of a destination that is not allowed; `//` for `//host`, which leaves the site without a scheme.
///
/// Removes control characters and decodes entities and percent-encoding first, because browsers do so, too.
pub fn refused_scheme(destination: &str) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'%' | b'&');
    let start = &destination.as_bytes()[..destination.len().min(MAX_SCHEME_CHARS)];
    let normalized = match str::from_utf8(start) {
        // Avoids the allocation for most destinations.
        Ok(plain) if start.iter().all(is_plain) => Cow::Borrowed(plain),
        _ => Cow::Owned(decode(destination)),
    };
    let mut start = normalized.bytes();
    if matches!((start.next(), start.next()), (Some(b'/' | b'\\'), Some(b'/' | b'\\'))) {
        return Some("//".to_string());
    }
    let end = normalized.find([':', '/', '\\', '?', '#'])?;
    if !normalized[end..].starts_with(':') {
        return None;
    }
    let scheme = normalized[..end].to_ascii_lowercase();
    (!SCHEMES.contains(&scheme.as_str())).then_some(scheme)
}

/// Returns whether a destination is an absolute web address.
pub(crate) fn is_external(destination: &str) -> bool {
    let head = destination.get(..8.min(destination.len())).unwrap_or_default().to_ascii_lowercase();
    head.starts_with("http://") || head.starts_with("https://")
}

/// Decodes percent-encoding and entities, and removes white space and control characters, in the first [`MAX_SCHEME_CHARS`]
/// characters.
fn decode(destination: &str) -> String {
    let mut text: String = destination.chars().take(MAX_SCHEME_CHARS).collect();
    // Twice, to find doubly encoded schemes.
    for _ in 0..2 {
        text = percent_encoding::percent_decode_str(&decode_entities(&text)).decode_utf8_lossy().into_owned();
        text.retain(|character| !character.is_control() && !character.is_whitespace());
    }
    text
}

/// Decodes numeric character references and the named ones that can hide a scheme.
fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match decode_reference(rest) {
            Some((character, length)) => {
                out.push(character);
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

fn decode_reference(text: &str) -> Option<(char, usize)> {
    for (name, character) in
        [("colon;", ':'), ("Tab;", '\t'), ("NewLine;", '\n'), ("sol;", '/'), ("bsol;", '\\')]
    {
        if text.starts_with(name) {
            return Some((character, name.len()));
        }
    }
    let digits = text.strip_prefix('#')?;
    let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (digits, 10),
    };
    let length = digits.chars().take_while(|character| character.is_digit(radix)).count();
    let character = char::from_u32(u32::from_str_radix(&digits[..length], radix).ok()?)?;
    let consumed = text.len() - digits.len() + length;
    Some((character, consumed + usize::from(text[consumed..].starts_with(';'))))
}

/// Returns the web addresses in prose, each up to white space or closing punctuation.
pub(crate) fn bare_addresses(source: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in source[range.clone()].match_indices("://") {
        let (before, after) = (&source[range.start..range.start + at], &source[range.start + at + 3..]);
        let Some(scheme) = ["https", "http"].iter().find(|scheme| before.ends_with(**scheme)) else {
            continue;
        };
        let start = range.start + at - scheme.len();
        let is_separate = found.last().is_none_or(|last| last.end <= start);
        if !is_separate || !after.starts_with(|first: char| first.is_alphanumeric()) {
            continue;
        }
        let ends = |next: char| next.is_whitespace() || "<>()[]\"'`|".contains(next);
        let host = &after[..after.find(ends).unwrap_or(after.len())];
        let length = host.trim_end_matches(['.', ',', ';', ':']).len();
        found.push(start..range.start + at + 3 + length);
    }
    found
}

/// Returns the range of the destination of `[text](destination "title")`, whose text ends at `text_end`.
pub(crate) fn inline_range(source: &str, range: &Range<usize>, text_end: usize) -> Option<Range<usize>> {
    let opening = source.get(text_end..range.end)?.find("](")?;
    destination_range(source, text_end + opening + 2, range.end)
}

/// Returns the range of the destination of the definition `[label]: destination "title"`.
pub(crate) fn definition_range(source: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let opening = source.get(range.clone())?.find("]:")?;
    destination_range(source, range.start + opening + 2, range.end)
}

/// Returns the range of a destination after `start`: in angle brackets, or up to white space or the closing parenthesis
/// (CommonMark 0.31.2, section 6.3).
fn destination_range(source: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let text = source.get(start..end)?;
    let start = start + (text.len() - text.trim_start().len());
    let text = text.trim_start();
    if let Some(bracketed) = text.strip_prefix('<') {
        return Some(start + 1..start + 1 + bracketed.find('>')?);
    }
    let mut depth = 0_usize;
    let mut escaped = false;
    let length = text
        .char_indices()
        .find(|(_, character)| {
            let literal = escaped;
            escaped = *character == '\\' && !literal;
            match character {
                '(' if !literal => depth += 1,
                ')' if !literal && depth == 0 => return true,
                ')' if !literal => depth -= 1,
                other => return other.is_whitespace() || other.is_control(),
            }
            false
        })
        .map_or(text.len(), |(at, _)| at);
    (length > 0).then_some(start..start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_hidden_schemes() {
        for hidden in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\tscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "&#106;avascript:alert(1)",
            "&#x6A;avascript&colon;alert(1)",
            "javascript%3Aalert(1)",
            "%256Aavascript%253Aalert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//example.org/",
            "\\\\example.org",
            "/\t/example.org/",
        ] {
            assert!(refused_scheme(hidden).is_some(), "{hidden:?}");
        }
        for open in [
            "https://a/b:c",
            "HTTP://a",
            "mailto:a@b",
            "/errors/x/",
            "#id",
            "a/b:c",
            "?q=a:b",
            "",
            "x.md#a:b",
        ] {
            assert_eq!(refused_scheme(open), None, "{open:?}");
        }
    }

    #[test]
    fn finds_destinations_in_the_source() {
        let find = |source: &str, text_end| {
            inline_range(source, &(0..source.len()), text_end).map(|at| source[at].to_string())
        };
        assert_eq!(find("[a](/b(c)d \"t\")", 2).as_deref(), Some("/b(c)d"));
        assert_eq!(find("[a](  </b c> )", 2).as_deref(), Some("/b c"));
        assert_eq!(find("[a]()", 2), None);
        assert_eq!(definition_range("[a]: /b 'c'", &(0..11)), Some(5..7));
    }
}
