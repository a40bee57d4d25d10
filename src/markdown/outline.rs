//! What a text holds and what is wrong with it, each with its place.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};

use crate::markdown::BODY;
use crate::markdown::calls::{Call, Covered, Segment};
use crate::markdown::destination;
use crate::markdown::fault::{Fault, FaultKind};
use crate::markdown::fence::{self, Fence};
use crate::markdown::footnotes;
use crate::markdown::foreign;
use crate::markdown::headings::{self, Heading};
use crate::markdown::limits;
use crate::unicode_safety::{host_disguise, invisible_chars};

/// How deep quotations, lists and emphasis may lie in each other.
pub(crate) const MAX_DEPTH: usize = 16;
/// Most columns of a table: every row is filled up to them, however short it is.
pub(crate) const MAX_COLUMNS: usize = 64;

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where it leads, entities and escapes decoded; `mailto:` stands before an address in `<…>`.
    pub destination: String,
    /// The text that a reader sees, code included; empty for an image.
    pub text: String,
    /// Whether it is an image.
    pub image: bool,
    /// The destination as written (of `[text][label]`: in the definition), or else the whole link.
    pub range: Range<usize>,
}

/// What a text holds. All ranges are byte ranges of the text given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Headings outside lists and quotations, in order.
    pub headings: Vec<Heading>,
    /// Links and images, in order.
    pub links: Vec<Link>,
    /// Estimator calls, in order.
    pub calls: Vec<Call>,
    /// The opening lines of fenced code blocks, in order.
    pub fences: Vec<Fence>,
    /// Inline code with its backticks, in order.
    pub code: Vec<Range<usize>>,
    /// Where footnotes are defined, in order.
    pub footnotes: Vec<Range<usize>>,
    /// What is wrong, by place.
    #[serde(skip)] // A text with some is not kept.
    pub faults: Vec<Fault>,
    /// Plain text of the first paragraph before the first heading; estimator calls as they are written.
    pub lead: String,
    /// Whether there is anything but white space and definitions.
    pub has_body: bool,
}

/// Reads a body. Linear in its length, whatever it holds.
pub fn outline(text: &str) -> Outline {
    read(text, &Covered::new(text, BODY), BODY)
}

/// Reads a text whose calls are found already.
pub(crate) fn read(source: &str, covered: &Covered, options: Options) -> Outline {
    let broken = RefCell::new(Vec::new());
    let note_broken = |link: BrokenLink| {
        // `[word]` alone is text; two brackets in a row were meant as a link.
        if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
            let kind = FaultKind::UndefinedReference(link.reference.to_string());
            broken.borrow_mut().push(Fault { range: link.span, kind });
        }
        None::<(CowStr, CowStr)>
    };
    let mut events =
        Parser::new_with_broken_link_callback(&covered.text, options, Some(note_broken)).into_offset_iter();
    let definitions: BTreeMap<String, Range<usize>> = events
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
        .collect();
    let mut reader = Reader { definitions, ..Reader::new(source, covered) };
    for (event, range) in events.by_ref() {
        reader.event(event, range);
    }
    drop(events);
    reader.finish(broken.into_inner())
}

struct OpenLink {
    index: usize,
    link_type: LinkType,
    label: String,
    text_end: usize,
}

struct Reader<'a> {
    source: &'a str,
    covered: &'a Covered<'a>,
    definitions: BTreeMap<String, Range<usize>>,
    outline: Outline,
    /// Containers around the place: quotations, lists, footnotes.
    containers: usize,
    /// Everything counted by [`MAX_DEPTH`].
    depth: usize,
    in_code: bool,
    in_lead: bool,
    heading: Option<Heading>,
    open_links: Vec<OpenLink>,
    footnotes: footnotes::Labels,
    /// Code, links and tables: syntax of other dialects is not looked for in them.
    opaque: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, covered: &'a Covered<'a>) -> Self {
        Self {
            source,
            covered,
            definitions: BTreeMap::new(),
            outline: Outline::default(),
            containers: 0,
            depth: 0,
            in_code: false,
            in_lead: false,
            heading: None,
            open_links: Vec::new(),
            footnotes: footnotes::Labels::default(),
            opaque: Vec::new(),
        }
    }

    fn fault(&mut self, range: Range<usize>, kind: FaultKind) {
        self.outline.faults.push(Fault { range, kind });
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
                self.decoded(&text, &range);
                self.footnotes.look_for_undefined(self.source, &range, &mut self.outline.faults);
                if self.open_links.is_empty() {
                    for address in destination::bare_addresses(self.source, &range) {
                        self.fault(address, FaultKind::BareAddress);
                    }
                }
                for segment in self.covered.segments(&text, &range) {
                    self.prose(match segment {
                        Segment::Text(text) => text,
                        Segment::Call(call) => &self.source[call.range.clone()],
                    });
                }
            }
            Event::Code(text) => {
                self.outline.code.push(range.clone());
                self.opaque.push(range);
                self.prose(&text);
            }
            Event::SoftBreak | Event::HardBreak => self.prose(" "),
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
                self.fault(range.clone(), FaultKind::TooDeep);
            }
        }
        if foreign::is_opaque(&tag) {
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
                    self.outline.faults.extend(headings::attribute_fault(self.source, &range));
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
                self.footnotes.define(&label, range, self.source, &mut self.outline.faults);
            }
            Tag::CodeBlock(kind) => {
                self.in_code = true;
                if let CodeBlockKind::Fenced(_) = kind {
                    let (fence, faults) = fence::read(self.source, &range);
                    self.outline.fences.push(fence);
                    self.outline.faults.extend(faults);
                }
            }
            Tag::HtmlBlock => {
                let html = self.source[range.clone()].trim();
                self.raw_html(html, range.start..range.start + self.source[range].trim_end().len());
            }
            Tag::Table(alignments) if alignments.len() > MAX_COLUMNS => {
                self.fault(range, FaultKind::TooWide(alignments.len()));
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

    /// Characters that nobody sees and that stand in the source as references: `&#x202E;`.
    fn decoded(&mut self, text: &str, range: &Range<usize>) {
        if self.source.get(range.clone()).is_none_or(|source| source != text) {
            let whole = self.source.get(range.clone()).unwrap_or_default();
            for (_, character, kind) in
                invisible_chars(text).filter(|(_, character, _)| !whole.contains(*character))
            {
                self.fault(range.clone(), FaultKind::of_invisible(character, kind));
            }
        }
    }

    fn prose(&mut self, text: &str) {
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
            FaultKind::HtmlComment
        } else {
            let tag: String = html.chars().take_while(|character| *character != '>').take(40).collect();
            FaultKind::RawHtml(tag.split_whitespace().next().unwrap_or("<").to_string() + ">")
        };
        self.fault(range, kind);
    }

    fn close_heading(&mut self) {
        let Some(mut heading) = self.heading.take() else { return };
        heading.title = heading.title.trim().to_string();
        if self.containers > 0 {
            return self.fault(heading.range, FaultKind::HeadingNested);
        }
        let before = self.outline.headings.last().map_or(1, |before| before.level);
        if heading.level == 1 {
            self.fault(heading.range.clone(), FaultKind::HeadingLevelOne);
        } else if heading.level > before + 1 {
            let kind = FaultKind::HeadingSkipsLevel { before, level: heading.level };
            self.fault(heading.range.clone(), kind);
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
        self.decoded(&format!("{dest_url}\n{title}"), &range);
        let length = dest_url.len() + title.len();
        if length > destination::MAX_ADDRESS {
            self.fault(range.clone(), FaultKind::LongAddress(length));
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
        let refused = destination::refused_scheme(destination).map(FaultKind::LinkScheme);
        if let Some(kind) = refused.or_else(|| host_disguise(destination).map(FaultKind::LinkHost)) {
            self.fault(range, kind);
        }
        if let Some(outer) = self.open_links.last_mut() {
            outer.text_end = outer.text_end.max(end);
        }
    }

    fn finish(mut self, broken: Vec<Fault>) -> Outline {
        self.footnotes.finish(&mut self.outline.faults);
        let mut outline = self.outline;
        outline.faults.extend(broken);
        outline.footnotes = self.footnotes.places();
        headings::give_ids(&mut outline.headings, &mut outline.faults);
        for range in &self.covered.unclosed {
            outline.faults.push(Fault { range: range.clone(), kind: FaultKind::UnclosedCall });
        }
        for (at, character, kind) in invisible_chars(self.source) {
            let range = at..at + character.len_utf8();
            outline.faults.push(Fault { range, kind: FaultKind::of_invisible(character, kind) });
        }
        outline.faults.extend(foreign::find(self.source, &self.opaque));
        outline.calls = self.covered.calls.clone();
        limits::apply(&mut outline, &mut self.footnotes.references);
        outline.faults.sort_by_key(|fault| (fault.range.start, fault.range.end));
        // A definition with a bad address is one fault, however often it is used.
        let mut seen = HashSet::new();
        outline.faults.retain(|fault| seen.insert((fault.range.clone(), fault.kind.message())));
        outline.lead = outline.lead.trim().to_string();
        outline
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
