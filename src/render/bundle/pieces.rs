//! Combines articles into one page: links become fragments, ids are prefixed with their page, and dispensable markup
//! is removed.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use crate::render::address::root;
use crate::render::assets::Assets;

/// An article and the base address of its links.
pub(super) struct Piece {
    /// Address of its page, relative to the root of the site.
    pub address: String,
    /// HTML of the article.
    pub html: String,
}

/// All articles of a bundle.
pub(super) struct Pieces<'s> {
    pieces: &'s [Piece],
    assets: &'s Assets,
    base_url: &'s str,
    /// All ids that a fragment can refer to.
    places: BTreeSet<String>,
    /// Ids that a link refers to.
    wanted: BTreeSet<String>,
}

/// Id that replaces the home page and the diagnosis page.
pub(super) const START: &str = "diagnose";

/// Classes of syntax highlighting that are removed: they take a tenth of the file. Prompts and error lines keep
/// theirs.
const COLORS: [&str; 8] = ["k", "s", "c", "n", "f", "v", "o", "t"];

/// Prefix of ids that the diagnosis links to.
const CAUSE: &str = "cause-";

impl<'s> Pieces<'s> {
    /// Collects the targets of all links.
    pub fn new(pieces: &'s [Piece], assets: &'s Assets, base_url: &'s str) -> Self {
        let mut all = Self {
            pieces,
            assets,
            base_url,
            places: BTreeSet::from([START.into()]),
            wanted: BTreeSet::new(),
        };
        for piece in pieces {
            all.places.insert(page_fragment(&piece.address));
            for tag in tags(&piece.html) {
                all.places.extend(
                    value(&tag, "id").map(|id| element_fragment(&page_fragment(&piece.address), &id)),
                );
                all.places.extend(
                    value(&tag, "data-page").map(|href| page_fragment(&absolute(&piece.address, &href))),
                );
            }
        }
        let leads = pieces.iter().flat_map(|piece| {
            let links = tags(&piece.html).filter_map(|tag| value(&tag, "href"));
            links.filter_map(|href| all.fragment(&piece.address, &href)).collect::<Vec<_>>()
        });
        all.wanted = leads.collect();
        all
    }

    /// Returns the articles as elements of one page.
    pub fn articles(&self) -> String {
        let mut out = String::new();
        for piece in self.pieces {
            out.push_str(&format!("<article class=\"prose\" id=\"{}\">", page_fragment(&piece.address)));
            self.write(piece, &mut out);
            out.push_str("</article>\n");
        }
        out
    }

    fn write(&self, piece: &Piece, out: &mut String) {
        // For each open `span`, whether it is written; and whether a heading's link to itself is open.
        let (mut spans, mut in_anchor) = (Vec::new(), false);
        for (event, source) in events(&piece.html) {
            match event {
                Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                    "a" if has_class(&tag, &["anchor"]) => in_anchor = true,
                    "img" => self.write_image(piece, &tag, out),
                    "span" => {
                        spans.push(!has_class(&tag, &COLORS));
                        if !has_class(&tag, &COLORS) {
                            self.write_tag(piece, &tag, out);
                        }
                    }
                    _ => self.write_tag(piece, &tag, out),
                },
                Event::End(tag) if in_anchor && tag.name().as_ref() == "a" => in_anchor = false,
                Event::End(tag) if tag.name().as_ref() == "span" && !spans.pop().unwrap_or(true) => {}
                _ => out.push_str(source),
            }
        }
    }

    fn write_tag(&self, piece: &Piece, tag: &BytesStart<'_>, out: &mut String) {
        let attributes = attributes(tag).into_iter().filter_map(|(name, value)| match name.as_str() {
            "href" => Some((name, self.resolve(&piece.address, &value))),
            "id" => {
                let place = element_fragment(&page_fragment(&piece.address), &value);
                (value.starts_with(CAUSE) || self.wanted.contains(&place)).then_some((name, place))
            }
            "data-page" => Some(("id".into(), page_fragment(&absolute(&piece.address, &value)))),
            // Has no effect on a link within the page.
            "rel" if value == "noopener" => None,
            _ => Some((name, value)),
        });
        open(out, tag.name().as_ref(), attributes);
    }

    /// Writes an image of the site inline; replaces others by their text.
    fn write_image(&self, piece: &Piece, tag: &BytesStart<'_>, out: &mut String) {
        let path = value(tag, "src").map(|source| absolute(&piece.address, &source)).unwrap_or_default();
        let Some((media, bytes)) = media(&path).zip(self.assets.at(&path)) else {
            out.push_str(&value(tag, "alt").unwrap_or_default());
            return;
        };
        let rest = attributes(tag).into_iter().filter(|(name, _)| name != "src");
        open(out, "img", std::iter::once(("src".into(), data_address(media, bytes))).chain(rest));
    }

    /// Returns the address of a link in this file.
    fn resolve(&self, from: &str, href: &str) -> String {
        if is_elsewhere(href) {
            return href.to_string();
        }
        match self.fragment(from, href) {
            Some(place) => format!("#{place}"),
            None => format!("{}{}", escape(self.base_url), absolute(from, href)),
        }
    }

    /// Returns the fragment in this file that a link refers to.
    fn fragment(&self, from: &str, href: &str) -> Option<String> {
        if is_elsewhere(href) {
            return None;
        }
        let target = absolute(from, href);
        let (path, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let page = Some(page_fragment(path)).filter(|page| self.places.contains(page))?;
        let decoded = percent_decode_str(fragment).decode_utf8_lossy();
        let place = element_fragment(&page, &decoded);
        Some(if self.places.contains(&place) { place } else { page })
    }
}

/// Iterates over the tags and texts of HTML, each with its source; the rest after a syntax error is text.
fn events(html: &str) -> impl Iterator<Item = (Event<'_>, &str)> {
    let mut reader = Reader::from_str(html);
    let config = reader.config_mut();
    // HTML elements may lack end tags.
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    let mut rest = html;
    std::iter::from_fn(move || {
        let event = match reader.read_event() {
            Ok(Event::Eof) | Err(_) if rest.is_empty() => return None,
            Ok(Event::Eof) | Err(_) => Event::Eof,
            Ok(event) => event,
        };
        let end = if event == Event::Eof { html.len() } else { reader.buffer_position() as usize };
        let source = &rest[..end - (html.len() - rest.len())];
        rest = &html[end..];
        Some((event, source))
    })
}

/// Iterates over the opening tags of HTML.
fn tags(html: &str) -> impl Iterator<Item = BytesStart<'_>> {
    events(html).filter_map(|(event, _)| match event {
        Event::Start(tag) | Event::Empty(tag) => Some(tag),
        _ => None,
    })
}

/// Returns names and values of the attributes of a tag, still escaped.
fn attributes(tag: &BytesStart<'_>) -> Vec<(String, String)> {
    let mut attributes = tag.html_attributes();
    attributes
        .with_checks(false)
        .flatten()
        .map(|one| (one.key.as_ref().to_string(), one.value.into_owned()))
        .collect()
}

/// Returns the value of an attribute, still escaped.
fn value(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    attributes(tag).into_iter().find_map(|(own, value)| (own == name).then_some(value))
}

fn has_class(tag: &BytesStart<'_>, classes: &[&str]) -> bool {
    value(tag, "class").is_some_and(|class| classes.contains(&class.as_str()))
}

/// Writes an opening tag.
fn open(out: &mut String, name: &str, attributes: impl Iterator<Item = (String, String)>) {
    out.push('<');
    out.push_str(name);
    attributes.for_each(|(name, value)| out.push_str(&format!(" {name}=\"{value}\"")));
    out.push('>');
}

/// Returns whether a link has a scheme or a host.
fn is_elsewhere(href: &str) -> bool {
    let scheme = href.split(['/', '#', '?']).next().unwrap_or_default();
    scheme.contains(':') || href.starts_with("//")
}

/// Returns the fragment of a page: `errors/x` for `errors/x/` and `errors/x/index.html`.
fn page_fragment(address: &str) -> String {
    let path = address.strip_suffix("index.html").unwrap_or(address).trim_end_matches('/');
    if path.is_empty() { START.to_string() } else { path.to_string() }
}

/// Returns the fragment of an element on a page.
fn element_fragment(page: &str, id: &str) -> String {
    format!("{page}/{id}")
}

/// Resolves a link to an address relative to the root of the site.
fn absolute(from: &str, href: &str) -> String {
    if href.starts_with('#') {
        return format!("{from}{href}");
    }
    // Links in templates and prose start at the root.
    let path = href.strip_prefix(&root(from)).unwrap_or(href);
    path.to_string()
}

fn media(path: &str) -> Option<&'static str> {
    let media = match path.rsplit_once('.')?.1 {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        _ => return None,
    };
    Some(media)
}

/// Returns content as a `data:` address.
pub(super) fn data_address(media: &str, bytes: &[u8]) -> String {
    format!("data:{media};base64,{}", STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_named_after_addresses() {
        for (address, name) in [
            ("errors/x/", "errors/x"),
            ("errors/x/index.html", "errors/x"),
            ("index.html", START),
            ("kb.json", "kb.json"),
        ] {
            assert_eq!(page_fragment(address), name);
        }
    }

    #[test]
    fn recognizes_external_links() {
        for href in ["https://x.example/", "mailto:a@b.example", "//x.example"] {
            assert!(is_elsewhere(href), "{href}");
        }
        for href in ["../../errors/x/index.html#a:b", "#a", "x/?a=b:c", "data/x"] {
            assert!(!is_elsewhere(href), "{href}");
        }
    }
}
