//! Allowed contents of a built site, taken from a site without attacks.

use std::collections::BTreeSet;

use ammonia::Builder;
use kbgen::files::Outputs;
use quick_xml::events::Event;
use serde_json::Value;

use crate::html::{Tag, tags};

/// Allowed URL schemes.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];
/// Elements and attributes written for Markdown.
const PROSE: &str = "a aside blockquote br code data del div em h2 h3 h4 h5 h6 hr img input li ol p pre section span \
                     strong sup table tbody td th thead tr ul";
const PROSE_ATTRIBUTES: &str = "a:href a:rel a:title a:class a:id a:aria-label a:hreflang data:value data:title data:class img:src img:alt \
     img:title img:width img:height img:loading input:type input:disabled input:checked input:aria-label ol:start \
     th:scope th:class td:class li:class li:id div:class div:tabindex div:role div:aria-label div:data-lang \
     div:data-label div:data-by pre:tabindex h2:id h3:id h4:id h5:id h6:id section:class section:aria-label \
     dt:id sup:class span:class p:class aside:class";

/// Contents of a site without attacks.
pub struct Harmless {
    elements: BTreeSet<String>,
    attributes: BTreeSet<(String, String)>,
    headers: Vec<u8>,
}

impl Harmless {
    /// Collects the contents of these sites and the elements of Markdown.
    pub fn of(sites: &[Outputs]) -> Self {
        let mut elements: BTreeSet<String> = PROSE.split_whitespace().map(str::to_string).collect();
        let pair = |text: &str| text.split_once(':').map(|(tag, name)| (tag.to_string(), name.to_string()));
        let mut attributes: BTreeSet<_> = PROSE_ATTRIBUTES.split_whitespace().filter_map(pair).collect();
        for (_, html) in sites.iter().flat_map(pages) {
            for tag in tags(html) {
                attributes.extend(tag.attributes.iter().map(|(name, _)| (tag.name.clone(), name.clone())));
                elements.insert(tag.name);
            }
        }
        Self { elements, attributes, headers: sites[0].get("_headers").expect("it is written").to_vec() }
    }

    /// Independent sanitizer that removes everything not allowed in the main part of a page.
    fn oracle(&self) -> Builder<'_> {
        let mut builder = Builder::empty();
        // Tables are in a script element, which is checked separately.
        let is_kept = |name: &&str| !["script", "style"].contains(name);
        builder.tags(self.elements.iter().map(String::as_str).filter(is_kept).collect());
        for (tag, name) in self.attributes.iter().filter(|(tag, _)| is_kept(&tag.as_str())) {
            builder.add_tag_attributes(tag.as_str(), [name.as_str()]);
        }
        // The tag parser lowercases names; SVG has some uppercase letters.
        builder
            .add_generic_attributes(["viewBox", "patternTransform", "patternUnits", "preserveAspectRatio"])
            .link_rel(None)
            .strip_comments(false)
            .url_schemes(SCHEMES.into())
            .url_relative(ammonia::UrlRelative::PassThrough);
        builder
    }
}

fn pages(outputs: &Outputs) -> impl Iterator<Item = (&str, &str)> {
    outputs
        .iter()
        .filter(|(path, _)| path.ends_with(".html"))
        .map(|(path, bytes)| (path, std::str::from_utf8(bytes).expect("a page is text")))
}

/// Returns everything in a built site that is not allowed.
pub fn harm(outputs: &Outputs, harmless: &Harmless) -> Vec<String> {
    let mut found = Vec::new();
    for (path, bytes) in outputs.iter() {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
        if !path.chars().all(is_plain) || path.contains("..") {
            found.push(format!("a file is written to `{path}`"));
        }
        let text = String::from_utf8_lossy(bytes);
        let harm = match path.rsplit('.').next().unwrap_or_default() {
            "html" => page_harm(&text, harmless),
            "xml" | "svg" => xml_harm(&text),
            "json" => serde_json::from_str::<Value>(&text).err().map(|error| error.to_string()),
            _ => None,
        };
        found.extend(harm.map(|harm| format!("{path}: {harm}")));
    }
    let redirects = outputs.get("_redirects").map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    for line in redirects.unwrap_or_default().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words.len() != 3 || !words[..2].iter().all(|word| word.starts_with('/')) || words[2] != "301" {
            found.push(format!("a redirect is `{line}`"));
        }
    }
    if outputs.get("_headers").is_none_or(|headers| **headers != *harmless.headers) {
        found.push("the headers are others".into());
    }
    found
}

fn page_harm(html: &str, harmless: &Harmless) -> Option<String> {
    let all = tags(html);
    let mut ids = BTreeSet::new();
    for tag in &all {
        if !harmless.elements.contains(&tag.name) {
            return Some(format!("an element `{}`", tag.name));
        }
        for (name, value) in &tag.attributes {
            if !harmless.attributes.contains(&(tag.name.clone(), name.clone())) {
                return Some(format!("`{}` has an attribute `{name}`", tag.name));
            }
            if name.starts_with("on") || name == "style" && !value.starts_with("--") {
                return Some(format!("`{}` has an attribute `{name}`", tag.name));
            }
            if ["href", "src", "action"].contains(&name.as_str()) && !is_harmless(value, tag) {
                return Some(format!("`{}` leads to `{value}`", tag.name));
            }
            if name == "id" && !ids.insert(value) {
                return Some(format!("the id `{value}` stands twice"));
            }
        }
        if tag.name == "script"
            && tag.get("src").is_none()
            && serde_json::from_str::<Value>(&tag.text).is_err()
        {
            return Some(format!("a script within the page: {}", tag.text));
        }
    }
    let main =
        html.split_once("<main").and_then(|(_, rest)| rest.split_once("</main>")).map(|(main, _)| main)?;
    let main = main.split_once('>')?.1;
    let cleaned = harmless.oracle().clean(main).to_string();
    let (mut before, after) = (names(main), names(&cleaned));
    before.retain(|tag| !after.contains(tag));
    (!before.is_empty()).then(|| format!("the oracle takes something away: {before:?}"))
}

/// Returns the elements of a part of a page with their attributes, unordered.
fn names(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut names: Vec<_> = tags(html)
        .into_iter()
        .filter(|tag| tag.name != "script")
        .map(|mut tag| {
            tag.attributes.sort();
            (tag.name, tag.attributes)
        })
        .collect();
    names.sort();
    names
}

fn is_harmless(address: &str, tag: &Tag) -> bool {
    if tag.name == "script" {
        let inner = address.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/');
        return !address.starts_with("//")
            && ["static/js/", "data/"].iter().any(|own| inner.starts_with(own));
    }
    let end = address.find([':', '/', '?', '#']).unwrap_or(address.len());
    let scheme = &address[..end];
    !address.starts_with("//")
        && (!address[end..].starts_with(':')
            || SCHEMES.contains(&scheme)
            || tag.name != "a" && scheme == "data")
}

fn xml_harm(text: &str) -> Option<String> {
    if let Some(strange) = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        return Some(format!("XML with {strange:?}"));
    }
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => return None,
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                let name = tag.name().as_ref().to_string();
                let handler = tag
                    .attributes()
                    .any(|attribute| attribute.map_or(true, |it| it.key.as_ref().starts_with("on")));
                if name.eq_ignore_ascii_case("script") || handler {
                    return Some(format!("XML with `{name}`"));
                }
            }
            Ok(_) => {}
            Err(error) => return Some(error.to_string()),
        }
    }
}
