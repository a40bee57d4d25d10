//! Collects the external links of the content.

use std::collections::BTreeMap;

use url::Url;

use crate::cli::links::host;
use crate::files::{Sources, Span};
use crate::site::{LinkTarget, Links, Site};

/// Returns each URL without its fragment, with the first place that uses it. URLs of local machines and networks are
/// examples and left out.
pub(super) fn addresses(site: &Site, links: &Links, sources: &Sources) -> BTreeMap<String, Span> {
    let mut places = BTreeMap::new();
    let mut add = |url: &str, span: Span| {
        let whole = url.split_once('#').map_or(url, |(page, _)| page);
        if is_public(whole) {
            places.entry(whole.to_string()).or_insert(span);
        }
    };
    for head in site.heads() {
        let source = sources.get(head.source);
        let front = &source.text[head.front.start..head.front.end];
        for (at, value) in values(front) {
            let start = head.front.start + at;
            add(value, Span::new(head.source, start, start + value.len()));
        }
    }
    for head in site.heads() {
        for (range, target) in links.of(head).into_iter().flat_map(|links| &links.targets) {
            if let LinkTarget::Elsewhere { url } = target {
                add(url, head.body.span.part(range.start, range.end));
            }
        }
    }
    places
}

/// Returns the front matter values that consist of a URL, with their offsets. URLs inside log messages do not count.
fn values(front: &str) -> impl Iterator<Item = (usize, &str)> {
    let parts = front.split_inclusive(['\n', ',', '[', ']', ' ']).scan(0, |at, part| {
        let start = *at;
        *at += part.len();
        Some((start, part))
    });
    parts.filter_map(move |(start, part)| {
        let line_start = front[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let before = front[line_start..start].trim();
        let opens = before.is_empty() || before.ends_with([':', '-', '[', ',']);
        let value = part.trim_end_matches(['\n', ',', ']', ' ', '\r']);
        let bare = value.trim_matches(['"', '\'']);
        let quote = value.len() - value.trim_start_matches(['"', '\'']).len();
        (opens && bare.starts_with("http")).then_some((start + quote, bare))
    })
}

/// Returns whether a URL points to the public network.
fn is_public(url: &str) -> bool {
    let is_plain = !url.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\');
    is_plain && Url::parse(url).is_ok_and(|url| host::is_public(&url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_addresses_as_a_whole() {
        let front = "title: see https://a.org/x\nsource: https://b.org/1\nsources:\n  - https://c.org/2\n  - \"https://d.org/3\"\n\
                     list: [https://e.org/4, https://f.org/5]\nsamples:\n  - |\n    HTTPError at https://g.org/6\n";
        let found: Vec<&str> = values(front)
            .map(|(at, value)| {
                assert_eq!(&front[at..at + value.len()], value);
                value
            })
            .collect();
        let expected =
            ["https://b.org/1", "https://c.org/2", "https://d.org/3", "https://e.org/4", "https://f.org/5"];
        assert_eq!(found, expected);
    }
}
