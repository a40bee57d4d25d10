//! Link destinations: where they stand in the text, and which schemes a page may link to.

use std::borrow::Cow;
use std::ops::Range;

/// Schemes that a link may have; one without a scheme is relative.
pub(crate) const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Most bytes of an address and its title: a definition may be used by every link of the text.
pub(crate) const MAX_ADDRESS: usize = 2_048;
/// So many characters of a destination can hold a scheme.
const DECODED: usize = 256;

/// The scheme that makes a destination unfit for a page, if it has one.
///
/// A browser drops control characters and decodes before it looks for a scheme, so the destination is
/// read likewise. `//host` has no scheme but leaves the site, and is refused too.
pub fn refused_scheme(destination: &str) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'%' | b'&');
    let start = &destination.as_bytes()[..destination.len().min(DECODED)];
    let bare = match str::from_utf8(start) {
        // Most say what they mean.
        Ok(plain) if start.iter().all(is_plain) => Cow::Borrowed(plain),
        _ => Cow::Owned(decoded(destination)),
    };
    let mut start = bare.bytes();
    if matches!((start.next(), start.next()), (Some(b'/' | b'\\'), Some(b'/' | b'\\'))) {
        return Some("//".to_string());
    }
    let end = bare.find([':', '/', '\\', '?', '#'])?;
    if !bare[end..].starts_with(':') {
        return None;
    }
    let scheme = bare[..end].to_ascii_lowercase();
    (!SCHEMES.contains(&scheme.as_str())).then_some(scheme)
}

/// Whether a destination leads off the site.
pub(crate) fn is_external(destination: &str) -> bool {
    let head = destination.get(..8.min(destination.len())).unwrap_or_default().to_ascii_lowercase();
    head.starts_with("http://") || head.starts_with("https://")
}

/// The destination without white space and controls, percent and entity forms decoded. Only the part
/// that can hold a scheme is read, so long destinations cost nothing.
fn decoded(destination: &str) -> String {
    let mut text: String = destination.chars().take(DECODED).collect();
    // Twice: what decodes to an encoded form is not worth a doubt.
    for _ in 0..2 {
        text = percent_encoding::percent_decode_str(&entities(&text)).decode_utf8_lossy().into_owned();
        text.retain(|character| !character.is_control() && !character.is_whitespace());
    }
    text
}

/// Numeric references and the few names that can hide a scheme; others hold no letter or colon.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match reference(rest) {
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

fn reference(text: &str) -> Option<(char, usize)> {
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

/// The web addresses that stand in the prose of `range`, each up to white space or a closing sign.
pub(crate) fn bare_addresses(source: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in source[range.clone()].match_indices("://") {
        let (before, after) = (&source[range.start..range.start + at], &source[range.start + at + 3..]);
        let Some(scheme) = ["https", "http"].iter().find(|scheme| before.ends_with(**scheme)) else {
            continue;
        };
        let start = range.start + at - scheme.len();
        let is_apart = found.last().is_none_or(|last| last.end <= start);
        if !is_apart || !after.starts_with(|first: char| first.is_alphanumeric()) {
            continue;
        }
        let ends = |next: char| next.is_whitespace() || "<>()[]\"'`|".contains(next);
        let host = &after[..after.find(ends).unwrap_or(after.len())];
        let length = host.trim_end_matches(['.', ',', ';', ':']).len();
        found.push(start..range.start + at + 3 + length);
    }
    found
}

/// The destination of `[text](destination "title")` in `range`, whose text ends at `text_end`.
pub(crate) fn inline_range(source: &str, range: &Range<usize>, text_end: usize) -> Option<Range<usize>> {
    let opening = source.get(text_end..range.end)?.find("](")?;
    written_range(source, text_end + opening + 2, range.end)
}

/// The destination of the definition `[label]: destination "title"` in `range`.
pub(crate) fn definition_range(source: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let opening = source.get(range.clone())?.find("]:")?;
    written_range(source, range.start + opening + 2, range.end)
}

/// A destination as it is written from `start` on: in pointed brackets, or up to white space or the
/// parenthesis that closes the link (CommonMark 0.31.2, section 6.3).
fn written_range(source: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let text = source.get(start..end)?;
    let start = start + (text.len() - text.trim_start().len());
    let text = text.trim_start();
    if let Some(pointed) = text.strip_prefix('<') {
        return Some(start + 1..start + 1 + pointed.find('>')?);
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
    fn schemes_are_seen_through_what_hides_them() {
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
    fn written_destinations_are_found() {
        let place = |source: &str, text_end| {
            inline_range(source, &(0..source.len()), text_end).map(|at| source[at].to_string())
        };
        assert_eq!(place("[a](/b(c)d \"t\")", 2).as_deref(), Some("/b(c)d"));
        assert_eq!(place("[a](  </b c> )", 2).as_deref(), Some("/b c"));
        assert_eq!(place("[a]()", 2), None);
        assert_eq!(definition_range("[a]: /b 'c'", &(0..11)), Some(5..7));
    }
}
