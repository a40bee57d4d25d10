//! Outlines of Markdown texts: headings, links, calls, code blocks and errors, with their positions.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use crate::markdown::BODY;
use crate::markdown::calls::{Call, MaskedText, Segment};
use crate::markdown::destination;
use crate::markdown::fence::{self, Fence};
use crate::markdown::footnotes;
use crate::markdown::headings::{self, Heading};
use crate::markdown::limits;
use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};
use crate::markdown::unsupported;
use crate::unicode_safety::{host_spoofing, invisible_chars};

/// Maximum nesting of quotations, lists and emphasis.
pub(crate) const MAX_DEPTH: usize = 16;
/// Maximum columns of a table, because pulldown-cmark fills each row up to the number of columns.
pub(crate) const MAX_COLUMNS: usize = 64;

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Destination with entities and escapes decoded, and with `mailto:` before a mail address in `<…>`.
    pub destination: String,
    /// Visible text, code included; empty for an image.
    pub text: String,
    /// Whether it is an image.
    pub image: bool,
    /// Range of the destination (for `[text][label]` in the definition), or else of the whole link.
    pub range: Range<usize>,
}

/// The structure of a text. All ranges are byte ranges in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Headings outside lists and quotations, in order.
    pub headings: Vec<Heading>,
    /// Links and images, in order.
    pub links: Vec<Link>,
    /// Estimator calls, in order.
    pub calls: Vec<Call>,
    /// Fenced code blocks, in order.
    pub fences: Vec<Fence>,
    /// Inline code with its backticks, in order.
    pub code: Vec<Range<usize>>,
    /// Labels of footnote definitions, in order.
    pub footnotes: Vec<Range<usize>>,
    /// Errors, sorted by position.
    #[serde(skip)] // Texts with errors are not cached.
    pub errors: Vec<MarkdownError>,
    /// Plain text of the first paragraph before the first heading; estimator calls as source text.
    pub lead: String,
    /// Whether the text has anything but white space and definitions.
    pub has_body: bool,
}

/// Parses a body. Takes time linear in its length for any input.
pub fn outline(text: &str) -> Outline {
    outline_masked(text, &MaskedText::new(text, BODY), BODY)
}

/// Parses a text whose calls are masked.
pub(crate) fn outline_masked(source: &str, masked: &MaskedText, options: Options) -> Outline {
    let broken = RefCell::new(Vec::new());
    let note_broken = |link: BrokenLink| {
        // `[word]` alone is text; two pairs of brackets are meant as a link.
        if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
            let kind = Kind::UndefinedReference(link.reference.to_string());
            broken.borrow_mut().push(MarkdownError { range: link.span, kind });
        }
        None::<(CowStr, CowStr)>
    };
    let mut events =
        Parser::new_with_broken_link_callback(&masked.text, options, Some(note_broken)).into_offset_iter();
    let definitions: BTreeMap<String, Range<usize>> = events
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
        .collect();
    let mut builder = OutlineBuilder { definitions, ..OutlineBuilder::new(source, masked) };
    for (event, range) in events.by_ref() {
        builder.event(event, range);
    }
    drop(events);
    builder.finish(broken.into_inner())
}

struct OpenLink {
    index: usize,
    link_type: LinkType,
    label: String,
    text_end: usize,
}

struct OutlineBuilder<'a> {
    source: &'a str,
    masked: &'a MaskedText<'a>,
    definitions: BTreeMap<String, Range<usize>>,
    outline: Outline,
    /// Number of open quotations, lists and footnotes.
    containers: usize,
    /// Nesting that [`MAX_DEPTH`] limits.
    depth: usize,
    in_code: bool,
    in_lead: bool,
    heading: Option<Heading>,
    open_links: Vec<OpenLink>,
    footnotes: footnotes::FootnoteLabels,
    /// Code, links and tables, which are not searched for unsupported syntax.
    opaque: Vec<Range<usize>>,
}

impl<'a> OutlineBuilder<'a> {
    fn new(source: &'a str, masked: &'a MaskedText<'a>) -> Self {
        Self {
            source,
            masked,
            definitions: BTreeMap::new(),
            outline: Outline::default(),
            containers: 0,
            depth: 0,
            in_code: false,
            in_lead: false,
            heading: None,
            open_links: Vec::new(),
            footnotes: footnotes::FootnoteLabels::default(),
            opaque: Vec::new(),
        }
    }

    fn error(&mut self, range: Range<usize>, kind: Kind) {
        self.outline.errors.push(MarkdownError { range, kind });
    }

    fn event(&mut self, event: Event, range: Range<usize>) {
        let end = range.end;
        let closes_link = matches!(event, Event::End(TagEnd::Link | TagEnd::Image));
        match event {
            Event::Start(tag) => {
                self.outline.has_body = true;
                return self.start(tag, range);
            }
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.outline.has_body |= !text.trim().is_empty(),
            Event::Text(text) => {
                self.check_decoded(&text, &range);
                self.footnotes.find_undefined(self.source, &range, &mut self.outline.errors);
                if self.open_links.is_empty() {
                    for address in destination::bare_addresses(self.source, &range) {
                        self.error(address, Kind::BareAddress);
                    }
                }
                for segment in self.masked.segments(&text, &range) {
                    self.push_text(match segment {
                        Segment::Text(text) => text,
                        Segment::Call(call) => &self.source[call.range.clone()],
                    });
                }
            }
            Event::Code(text) => {
                self.outline.code.push(range.clone());
                self.opaque.push(range);
                self.push_text(&text);
            }
            Event::SoftBreak | Event::HardBreak => self.push_text(" "),
            Event::InlineHtml(html) => self.raw_html(&html, range),
            Event::FootnoteReference(label) => self.footnotes.refer(&label, range),
            _ => {}
        }
        if let Some(link) = self.open_links.last_mut().filter(|_| !closes_link) {
            link.text_end = link.text_end.max(end);
        }
    }

    fn start(&mut self, tag: Tag, range: Range<usize>) {
        if is_nesting(&tag.to_end()) {
            self.depth += 1;
            if self.depth == MAX_DEPTH + 1 {
                self.error(range.clone(), Kind::TooDeep);
            }
        }
        if unsupported::is_opaque(&tag) {
            self.opaque.push(range.clone());
        }
        match tag {
            Tag::Paragraph => {
                self.in_lead =
                    self.containers == 0 && self.outline.lead.is_empty() && self.outline.headings.is_empty();
            }
            Tag::Heading { level, id, classes, attrs } => {
                let range = range.start..range.start + self.source[range].trim_end().len();
                if id.is_some() || !classes.is_empty() || !attrs.is_empty() {
                    self.outline.errors.extend(headings::attribute_error(self.source, &range));
                }
                self.heading = Some(Heading {
                    level: level as u8,
                    explicit_id: id.is_some(),
                    id: id.map(|id| id.to_string()).unwrap_or_default(),
                    title: String::new(),
                    range,
                });
            }
            Tag::BlockQuote(_) | Tag::List(_) => self.containers += 1,
            Tag::FootnoteDefinition(label) => {
                self.containers += 1;
                self.footnotes.define(&label, range, self.source, &mut self.outline.errors);
            }
            Tag::CodeBlock(kind) => {
                self.in_code = true;
                if let CodeBlockKind::Fenced(_) = kind {
                    let (fence, errors) = fence::parse(self.source, &range);
                    self.outline.fences.push(fence);
                    self.outline.errors.extend(errors);
                }
            }
            Tag::HtmlBlock => {
                let html = self.source[range.clone()].trim();
                self.raw_html(html, range.start..range.start + self.source[range].trim_end().len());
            }
            Tag::Table(alignments) if alignments.len() > MAX_COLUMNS => {
                self.error(range, Kind::TooWide(alignments.len()));
            }
            Tag::Link { .. } | Tag::Image { .. } => self.open_link(tag, range),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        self.depth -= usize::from(is_nesting(&tag));
        match tag {
            TagEnd::Paragraph => self.in_lead = false,
            TagEnd::Heading(_) => self.close_heading(),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition => self.containers -= 1,
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::Link | TagEnd::Image => self.close_link(),
            _ => {}
        }
    }

    /// Reports invisible characters that the source has as references: `&#x202E;`.
    fn check_decoded(&mut self, text: &str, range: &Range<usize>) {
        if self.source.get(range.clone()).is_none_or(|source| source != text) {
            let whole = self.source.get(range.clone()).unwrap_or_default();
            for (_, character, kind) in
                invisible_chars(text).filter(|(_, character, _)| !whole.contains(*character))
            {
                self.error(range.clone(), Kind::of_invisible(character, kind));
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Some(open) = self.open_links.last() {
            let link = &mut self.outline.links[open.index];
            if !link.image {
                link.text.push_str(text);
            }
        }
        if let Some(heading) = &mut self.heading {
            heading.title.push_str(text);
        } else if self.in_lead {
            self.outline.lead.push_str(text);
        }
    }

    fn raw_html(&mut self, html: &str, range: Range<usize>) {
        let kind = if html.starts_with("<!--") {
            Kind::HtmlComment
        } else {
            let tag: String = html.chars().take_while(|character| *character != '>').take(40).collect();
            Kind::RawHtml(tag.split_whitespace().next().unwrap_or("<").to_string() + ">")
        };
        self.error(range, kind);
    }

    fn close_heading(&mut self) {
        let Some(mut heading) = self.heading.take() else { return };
        heading.title = heading.title.trim().to_string();
        if self.containers > 0 {
            return self.error(heading.range, Kind::HeadingNested);
        }
        let before = self.outline.headings.last().map_or(1, |heading| heading.level);
        if heading.level == 1 {
            self.error(heading.range.clone(), Kind::HeadingLevelOne);
        } else if heading.level > before + 1 {
            let kind = Kind::HeadingSkipsLevel { before, level: heading.level };
            self.error(heading.range.clone(), kind);
        }
        self.outline.headings.push(heading);
    }

    fn open_link(&mut self, tag: Tag, range: Range<usize>) {
        let image = matches!(tag, Tag::Image { .. });
        let (Tag::Link { link_type, dest_url, title, id } | Tag::Image { link_type, dest_url, title, id }) =
            tag
        else {
            return;
        };
        self.check_decoded(&format!("{dest_url}\n{title}"), &range);
        let length = dest_url.len() + title.len();
        if length > destination::MAX_ADDRESS {
            self.error(range.clone(), Kind::LongAddress(length));
        }
        let destination = match link_type {
            LinkType::Email => format!("mailto:{dest_url}"),
            _ => dest_url.to_string(),
        };
        self.open_links.push(OpenLink {
            index: self.outline.links.len(),
            link_type,
            label: id.to_lowercase(),
            text_end: range.start + if image { 2 } else { 1 },
        });
        self.outline.links.push(Link { destination, text: String::new(), image, range });
    }

    fn close_link(&mut self) {
        let Some(open) = self.open_links.pop() else { return };
        let link = &mut self.outline.links[open.index];
        let end = link.range.end;
        let written = match open.link_type {
            LinkType::Inline => destination::inline_range(self.source, &link.range, open.text_end),
            LinkType::Autolink | LinkType::Email => Some(link.range.start + 1..end - 1),
            _ => self
                .definitions
                .get(&open.label)
                .and_then(|at| destination::definition_range(self.source, at)),
        };
        link.range =
            written.filter(|range| self.source.get(range.clone()).is_some()).unwrap_or(link.range.clone());
        let (range, destination) = (link.range.clone(), &link.destination);
        let refused = destination::refused_scheme(destination).map(Kind::LinkScheme);
        if let Some(kind) = refused.or_else(|| host_spoofing(destination).map(Kind::LinkHost)) {
            self.error(range, kind);
        }
        if let Some(outer) = self.open_links.last_mut() {
            outer.text_end = outer.text_end.max(end);
        }
    }

    fn finish(mut self, broken: Vec<MarkdownError>) -> Outline {
        self.footnotes.finish(&mut self.outline.errors);
        let mut outline = self.outline;
        outline.errors.extend(broken);
        outline.footnotes = self.footnotes.definitions();
        headings::assign_ids(&mut outline.headings, &mut outline.errors);
        for range in &self.masked.unclosed {
            outline.errors.push(MarkdownError { range: range.clone(), kind: Kind::UnclosedCall });
        }
        for (at, character, kind) in invisible_chars(self.source) {
            let range = at..at + character.len_utf8();
            outline.errors.push(MarkdownError { range, kind: Kind::of_invisible(character, kind) });
        }
        outline.errors.extend(unsupported::find(self.source, &self.opaque));
        outline.calls = self.masked.calls.clone();
        limits::apply(&mut outline, &mut self.footnotes.references);
        outline.errors.sort_by_key(|error| (error.range.start, error.range.end));
        // A definition with a bad address is one error, however often it is used.
        let mut seen = HashSet::new();
        outline.errors.retain(|error| seen.insert((error.range.clone(), error.kind.message())));
        outline.lead = outline.lead.trim().to_string();
        outline.shrink_to_fit();
        outline
    }
}

impl Outline {
    /// Releases unused memory, since the outlines of all pages stay in memory.
    fn shrink_to_fit(&mut self) {
        self.links.shrink_to_fit();
        self.links.iter_mut().for_each(|link| link.text.shrink_to_fit());
        self.headings.shrink_to_fit();
        self.headings.iter_mut().for_each(|heading| heading.title.shrink_to_fit());
        self.fences.shrink_to_fit();
        self.code.shrink_to_fit();
    }
}

fn is_nesting(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::BlockQuote(_)
            | TagEnd::Item
            | TagEnd::FootnoteDefinition
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Image
    )
}
