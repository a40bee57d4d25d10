//! Texts that stood on pages of their own come to stand in one: their links become fragments, their ids get the name of
//! their page, and what only costs room is left out.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;

use crate::render::address::root;
use crate::render::assets::Assets;
use crate::render::bundle::digest::base64;
use crate::render::bundle::markup::{Tag, Token, escaped, open, tokens};

/// A text with the address that its links start from.
pub(super) struct Piece {
    /// Address of its page, relative to the root of the site.
    pub address: String,
    /// Its HTML.
    pub html: String,
}

/// All texts of a bundle, and where the rest of the site is.
pub(super) struct Pieces<'s> {
    pieces: &'s [Piece],
    assets: &'s Assets,
    base_url: &'s str,
    /// Every place that a fragment can name.
    places: BTreeSet<String>,
    /// Those that a link names.
    wanted: BTreeSet<String>,
}

/// The page that stands for the home page and for diagnosis.
pub(super) const START: &str = "diagnose";

/// Classes of colored code. They are a tenth of the file; prompts and troubled lines keep theirs.
const COLORS: [&str; 8] = ["k", "s", "c", "n", "f", "v", "o", "t"];

/// Ids that the paste box links to.
const CAUSE: &str = "cause-";

impl<'s> Pieces<'s> {
    /// Looks up what leads where.
    pub fn new(pieces: &'s [Piece], assets: &'s Assets, base_url: &'s str) -> Self {
        let mut all = Self {
            pieces,
            assets,
            base_url,
            places: BTreeSet::from([START.into()]),
            wanted: BTreeSet::new(),
        };
        for piece in pieces {
            all.places.insert(key(&piece.address));
            for tag in tags(&piece.html) {
                all.places.extend(tag.get("id").map(|id| inner(&key(&piece.address), id)));
                all.places.extend(tag.get("data-page").map(|href| key(&absolute(&piece.address, href))));
            }
        }
        let leads = pieces.iter().flat_map(|piece| {
            let links = tags(&piece.html).filter_map(|tag| tag.get("href"));
            links.filter_map(|href| all.place(&piece.address, href)).collect::<Vec<_>>()
        });
        all.wanted = leads.collect();
        all
    }

    /// The texts as parts of one page.
    pub fn articles(&self) -> String {
        let mut out = String::new();
        for piece in self.pieces {
            open(&mut out, "article", [("class", Some("prose")), ("id", Some(&key(&piece.address)))]);
            self.write(piece, &mut out);
            out.push_str("</article>\n");
        }
        out
    }

    fn write(&self, piece: &Piece, out: &mut String) {
        // For each open `span` whether it is written, and whether a link of a heading to itself is open.
        let (mut spans, mut in_anchor) = (Vec::new(), false);
        for token in tokens(&piece.html) {
            match token {
                Token::Text(text) => out.push_str(text),
                Token::Open(tag) if tag.name == "a" && tag.get("class") == Some("anchor") => in_anchor = true,
                Token::Close("a") if in_anchor => in_anchor = false,
                Token::Open(tag) if tag.name == "span" => {
                    let is_plain = tag.get("class").is_some_and(|class| COLORS.contains(&class));
                    spans.push(!is_plain);
                    if !is_plain {
                        self.write_tag(piece, &tag, out);
                    }
                }
                Token::Close("span") if !spans.pop().unwrap_or(true) => {}
                Token::Open(tag) if tag.name == "img" => self.write_image(piece, &tag, out),
                Token::Open(tag) => self.write_tag(piece, &tag, out),
                Token::Close(name) => {
                    out.push_str("</");
                    out.push_str(name);
                    out.push('>');
                }
            }
        }
    }

    fn write_tag(&self, piece: &Piece, tag: &Tag<'_>, out: &mut String) {
        let mut kept: Vec<(&str, Option<String>)> = Vec::new();
        for (name, value) in &tag.attributes {
            let value = value.map(str::to_string);
            match (*name, value) {
                ("href", Some(href)) => kept.push(("href", Some(self.lead(&piece.address, &href)))),
                ("id", Some(id)) => {
                    let place = inner(&key(&piece.address), &id);
                    if id.starts_with(CAUSE) || self.wanted.contains(&place) {
                        kept.push(("id", Some(place)));
                    }
                }
                ("data-page", Some(href)) => {
                    kept.push(("id", Some(key(&absolute(&piece.address, &href)))));
                }
                // Means nothing for a link that stays in its window.
                ("rel", Some(rel)) if rel == "noopener" => {}
                (name, value) => kept.push((name, value)),
            }
        }
        open(out, tag.name, kept.iter().map(|(name, value)| (*name, value.as_deref())));
    }

    /// A picture of the site stands in the file itself; any other is its text.
    fn write_image(&self, piece: &Piece, tag: &Tag<'_>, out: &mut String) {
        let path = tag.get("src").map(|source| absolute(&piece.address, source)).unwrap_or_default();
        let Some((media, bytes)) = media(&path).zip(self.assets.at(&path)) else {
            out.push_str(tag.get("alt").unwrap_or_default());
            return;
        };
        let source = data_address(media, bytes);
        let rest = tag.attributes.iter().copied().filter(|(name, _)| *name != "src");
        open(out, "img", std::iter::once(("src", Some(source.as_str()))).chain(rest));
    }

    /// Where a link leads from this file.
    fn lead(&self, from: &str, href: &str) -> String {
        if is_elsewhere(href) {
            return href.to_string();
        }
        match self.place(from, href) {
            Some(place) => format!("#{place}"),
            None => format!("{}{}", escaped(self.base_url), absolute(from, href)),
        }
    }

    /// The place in this file that a link names.
    fn place(&self, from: &str, href: &str) -> Option<String> {
        if is_elsewhere(href) {
            return None;
        }
        let target = absolute(from, href);
        let (path, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let page = Some(key(path)).filter(|page| self.places.contains(page))?;
        let decoded = percent_decode_str(fragment).decode_utf8_lossy();
        let place = inner(&page, &decoded);
        Some(if self.places.contains(&place) { place } else { page })
    }
}

/// The opening tags of a text.
fn tags(html: &str) -> impl Iterator<Item = Tag<'_>> {
    tokens(html).filter_map(|token| match token {
        Token::Open(tag) => Some(tag),
        Token::Text(_) | Token::Close(_) => None,
    })
}

/// Whether a link names its scheme or its host.
fn is_elsewhere(href: &str) -> bool {
    let scheme = href.split(['/', '#', '?']).next().unwrap_or_default();
    scheme.contains(':') || href.starts_with("//")
}

/// The fragment of a page: `errors/x` for `errors/x/` and `errors/x/index.html`.
fn key(address: &str) -> String {
    let path = address.strip_suffix("index.html").unwrap_or(address).trim_end_matches('/');
    if path.is_empty() { START.to_string() } else { path.to_string() }
}

/// The fragment of a place on a page.
fn inner(page: &str, id: &str) -> String {
    format!("{page}/{id}")
}

/// The address that a link names, relative to the root of the site.
fn absolute(from: &str, href: &str) -> String {
    if href.starts_with('#') {
        return format!("{from}{href}");
    }
    // The templates write links from the root, and prose too.
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

/// Bytes as an address.
pub(super) fn data_address(media: &str, bytes: &[u8]) -> String {
    format!("data:{media};base64,{}", base64(bytes))
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
            assert_eq!(key(address), name);
        }
    }

    #[test]
    fn a_link_is_elsewhere_when_it_says_so() {
        for href in ["https://x.example/", "mailto:a@b.example", "//x.example"] {
            assert!(is_elsewhere(href), "{href}");
        }
        for href in ["../../errors/x/index.html#a:b", "#a", "x/?a=b:c", "data/x"] {
            assert!(!is_elsewhere(href), "{href}");
        }
    }
}
