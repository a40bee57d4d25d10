//! Converts Markdown events to HTML.

use std::ops::Range;

use pulldown_cmark::{Alignment, BlockQuoteKind, CodeBlockKind, Event, LinkType, Tag, TagEnd};

use crate::markdown::calls::{Call, MaskedText, Segment};
use crate::markdown::destination;
use crate::markdown::fence;
use crate::markdown::footnotes::FootnoteList;
use crate::markdown::headings::Heading;
use crate::markdown::html::{attribute, escape_into};
use crate::markdown::render::{RenderHooks, Rendered};
use crate::markdown::section_builder::SectionBuilder;
use crate::markdown::variant_group::VariantGroup;

type SpannedEvent<'e> = (Event<'e>, Range<usize>);

/// Writes the HTML of a text.
pub(crate) struct HtmlWriter<'a, P> {
    source: &'a str,
    masked: &'a MaskedText<'a>,
    hooks: &'a P,
    sections: SectionBuilder,
    pub(super) out: String,
    /// HTML before each open footnote definition, and its label.
    suspended: Vec<(String, String)>,
    containers: usize,
    /// The open image: nesting depth, destination, title and alternative text so far.
    image: Option<(usize, String, String, String)>,
    /// Whether each open link has an `<a>` element.
    links: Vec<bool>,
    /// The open code block: language, label and code so far.
    code: Option<(String, String, String)>,
    variants: VariantGroup,
    table: TableState,
    footnotes: FootnoteList,
}

#[derive(Default)]
struct TableState {
    /// 1-based number among the tables of the text.
    number: usize,
    alignments: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl<'a, P: RenderHooks> HtmlWriter<'a, P> {
    /// Creates a writer for the events of a masked text with the headings of its outline.
    pub fn new(source: &'a str, masked: &'a MaskedText<'a>, hooks: &'a P, headings: Vec<Heading>) -> Self {
        Self {
            source,
            masked,
            hooks,
            sections: SectionBuilder::new(headings, hooks.tr("Link to this section")),
            out: String::new(),
            suspended: Vec::new(),
            containers: 0,
            image: None,
            links: Vec::new(),
            code: None,
            variants: VariantGroup::default(),
            table: TableState::default(),
            footnotes: FootnoteList::default(),
        }
    }

    /// Writes one event; `after` has the following events.
    pub fn event(&mut self, event: &Event, range: &Range<usize>, after: &[SpannedEvent]) {
        match event {
            Event::Start(tag) if self.image.is_some() => self.start_in_image(tag),
            Event::End(tag) if self.image.is_some() => self.end_in_image(tag),
            Event::Start(tag) => self.start(tag, range, after),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(text, range),
            Event::Code(text) => self.inline_code(text),
            Event::Html(text) | Event::InlineHtml(text) => self.push_text(text),
            Event::SoftBreak => self.push_text("\n"),
            Event::HardBreak if self.image.is_some() => self.push_text(" "),
            Event::HardBreak => {
                self.sections.plain(" ");
                self.out.push_str("<br>\n");
            }
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::FootnoteReference(_) if self.image.is_some() => {}
            Event::FootnoteReference(label) => {
                let mark = self.footnotes.reference(label, &self.hooks.tr("Footnote {n}"));
                self.out.push_str(&mark);
            }
            Event::TaskListMarker(done) => {
                let (state, label) = match done {
                    true => ("disabled checked", self.hooks.tr("Done")),
                    false => ("disabled", self.hooks.tr("To do")),
                };
                self.out.push_str(&format!("<input type=\"checkbox\" {state}"));
                attribute(&mut self.out, "aria-label", &label);
                self.out.push_str("> ");
            }
            // The options do not enable math.
            Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    /// Returns the sections with the footnotes.
    pub fn finish(mut self) -> Rendered {
        let back = self.hooks.tr("Back to the text");
        let footnotes = self.footnotes.list(&back, &self.hooks.tr("Footnotes"));
        self.sections.finish(&mut self.out, footnotes)
    }

    /// Returns the HTML of a text without sections.
    pub fn into_html(self) -> String {
        self.out
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        if let Some((_, _, code)) = &mut self.code {
            return code.push_str(text);
        }
        let masked = self.masked;
        for segment in masked.segments(text, range) {
            match segment {
                Segment::Text(text) => self.push_text(text),
                Segment::Call(call) => self.push_call(call),
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Some((.., alternative)) = &mut self.image {
            return alternative.push_str(text);
        }
        self.sections.plain(text);
        escape_into(&mut self.out, text);
    }

    fn push_call(&mut self, call: &Call) {
        let Some(value) = self.hooks.call_value(call) else {
            return self.push_text(&self.source[call.range.clone()]);
        };
        if let Some((.., alternative)) = &mut self.image {
            return alternative.push_str(&value.text);
        }
        self.sections.plain(&value.text);
        self.out.push_str("<data class=\"figure\"");
        attribute(&mut self.out, "value", &value.value);
        if !value.title.is_empty() {
            attribute(&mut self.out, "title", &value.title);
        }
        self.out.push('>');
        escape_into(&mut self.out, &value.text);
        self.out.push_str("</data>");
    }

    fn inline_code(&mut self, text: &str) {
        if self.image.is_some() {
            return self.push_text(text);
        }
        self.out.push_str("<code>");
        self.push_text(text);
        self.out.push_str("</code>");
    }

    fn start(&mut self, tag: &Tag, range: &Range<usize>, after: &[SpannedEvent]) {
        match tag {
            Tag::Paragraph => {
                if self.containers == 0 {
                    self.sections.start_paragraph();
                }
                self.out.push_str("<p>");
            }
            Tag::Heading { .. } if self.containers > 0 => self.out.push_str("<p><strong>"),
            Tag::Heading { .. } => self.sections.start_heading(&mut self.out),
            Tag::BlockQuote(kind) => self.start_quotation(*kind),
            Tag::CodeBlock(kind) => self.start_code(kind, range, after),
            Tag::List(first) => {
                self.containers += 1;
                match first {
                    None => self.out.push_str("<ul>\n"),
                    Some(1) => self.out.push_str("<ol>\n"),
                    Some(first) => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
                }
            }
            Tag::Item => self.out.push_str(if is_task(after) { "<li class=\"task\">" } else { "<li>" }),
            Tag::FootnoteDefinition(label) => {
                self.containers += 1;
                self.suspended.push((std::mem::take(&mut self.out), label.to_string()));
            }
            Tag::HtmlBlock => self.out.push_str("<p>"),
            other => self.start_inline_or_table(other),
        }
    }

    fn start_inline_or_table(&mut self, tag: &Tag) {
        match tag {
            Tag::Table(alignments) => {
                // The regions of a page need distinct labels.
                let number = self.table.number + 1;
                self.table = TableState { alignments: alignments.clone(), number, ..TableState::default() };
                let label = self.hooks.tr("Table {n}").replace("{n}", &number.to_string());
                self.out.push_str("<div class=\"table\" tabindex=\"0\" role=\"region\"");
                attribute(&mut self.out, "aria-label", &label);
                self.out.push_str(">\n<table>\n");
            }
            Tag::TableHead => {
                self.table.in_head = true;
                self.table.column = 0;
                self.out.push_str("<thead>\n<tr>");
            }
            Tag::TableRow => {
                self.table.column = 0;
                self.out.push_str("<tr>");
            }
            Tag::TableCell => self.start_cell(),
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<del>"),
            Tag::Link { link_type, dest_url, title, .. } => self.start_link(*link_type, dest_url, title),
            Tag::Image { dest_url, title, .. } => {
                self.image = Some((1, dest_url.to_string(), title.to_string(), String::new()));
            }
            // `start` handles the blocks; the options do not enable other tags.
            _ => {}
        }
    }

    fn end(&mut self, tag: &TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.sections.end_paragraph();
                self.out.push_str("</p>\n");
            }
            TagEnd::Heading(_) if self.containers > 0 => self.out.push_str("</strong></p>\n"),
            TagEnd::Heading(_) => self.sections.end_heading(&mut self.out),
            TagEnd::BlockQuote(kind) => {
                self.containers -= 1;
                self.out.push_str(if kind.is_some() { "</aside>\n" } else { "</blockquote>\n" });
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(ordered) => {
                self.containers -= 1;
                self.out.push_str(if *ordered { "</ol>\n" } else { "</ul>\n" });
            }
            TagEnd::Item => self.out.push_str("</li>\n"),
            TagEnd::FootnoteDefinition => {
                self.containers -= 1;
                if let Some((before, label)) = self.suspended.pop() {
                    let note = std::mem::replace(&mut self.out, before);
                    self.footnotes.insert(&label, note);
                }
            }
            TagEnd::HtmlBlock => self.out.push_str("</p>\n"),
            other => self.end_inline_or_table(other),
        }
    }

    fn end_inline_or_table(&mut self, tag: &TagEnd) {
        match tag {
            TagEnd::Table => self.out.push_str("</tbody>\n</table>\n</div>\n"),
            TagEnd::TableHead => {
                self.table.in_head = false;
                self.out.push_str("</tr>\n</thead>\n<tbody>\n");
            }
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            TagEnd::TableCell => {
                self.table.column += 1;
                self.out.push_str(if self.table.in_head { "</th>" } else { "</td>" });
            }
            TagEnd::Emphasis => self.out.push_str("</em>"),
            TagEnd::Strong => self.out.push_str("</strong>"),
            TagEnd::Strikethrough => self.out.push_str("</del>"),
            TagEnd::Link => self.end_link(),
            _ => {}
        }
    }

    fn start_quotation(&mut self, kind: Option<BlockQuoteKind>) {
        self.containers += 1;
        let (class, title) = match kind {
            None => return self.out.push_str("<blockquote>\n"),
            Some(BlockQuoteKind::Note) => ("note", self.hooks.tr("Note")),
            Some(BlockQuoteKind::Tip) => ("tip", self.hooks.tr("Tip")),
            Some(BlockQuoteKind::Important) => ("important", self.hooks.tr("Important")),
            Some(BlockQuoteKind::Warning) => ("warning", self.hooks.tr("Warning")),
            Some(BlockQuoteKind::Caution) => ("caution", self.hooks.tr("Caution")),
        };
        self.out.push_str(&format!("<aside class=\"alert alert-{class}\">\n<p class=\"alert-title\">"));
        escape_into(&mut self.out, &title);
        self.out.push_str("</p>\n");
    }

    fn start_code(&mut self, kind: &CodeBlockKind, range: &Range<usize>, after: &[SpannedEvent]) {
        self.out.push_str(&self.variants.open(self.source, range, after));
        let (language, label) = match kind {
            CodeBlockKind::Indented => (String::new(), String::new()),
            CodeBlockKind::Fenced(_) => {
                let fence = fence::parse(self.source, range).0;
                let label = self.hooks.label(&fence);
                (fence.language, label)
            }
        };
        self.code = Some((language, label, String::new()));
    }

    fn end_code(&mut self) {
        let Some((language, label, code)) = self.code.take() else { return };
        self.out.push_str("<div class=\"code\"");
        if !language.is_empty() {
            attribute(&mut self.out, "data-lang", &language);
        }
        if !label.is_empty() {
            attribute(&mut self.out, "data-label", &label);
        }
        self.out.push_str("><pre tabindex=\"0\"><code>");
        self.out.push_str(&self.hooks.code(&language, &code));
        self.out.push_str("</code></pre></div>\n");
        self.out.push_str(self.variants.close());
    }

    fn start_cell(&mut self) {
        self.out.push_str(if self.table.in_head { "<th scope=\"col\"" } else { "<td" });
        match self.table.alignments.get(self.table.column) {
            Some(Alignment::Right) => self.out.push_str(" class=\"right\">"),
            Some(Alignment::Center) => self.out.push_str(" class=\"center\">"),
            _ => self.out.push('>'),
        }
    }

    fn start_link(&mut self, link_type: LinkType, destination: &str, title: &str) {
        let scheme = if link_type == LinkType::Email { "mailto:" } else { "" };
        let destination = format!("{scheme}{destination}");
        let href = self.hooks.href(&destination);
        // HTML does not allow nested links; Markdown allows `<address>` in a link text.
        let allowed = !self.links.contains(&true)
            && [&destination, &href].iter().all(|address| destination::refused_scheme(address).is_none());
        self.links.push(allowed);
        if !allowed {
            return;
        }
        self.out.push_str("<a");
        attribute(&mut self.out, "href", &href);
        if destination::is_external(&href) {
            self.out.push_str(" rel=\"noopener\"");
        }
        if !title.is_empty() {
            attribute(&mut self.out, "title", title);
        }
        self.out.push('>');
    }

    fn end_link(&mut self) {
        if self.links.pop() == Some(true) {
            self.out.push_str("</a>");
        }
    }

    fn start_in_image(&mut self, tag: &Tag) {
        if let (Tag::Image { .. }, Some((depth, ..))) = (tag, &mut self.image) {
            *depth += 1;
        }
    }

    fn end_in_image(&mut self, tag: &TagEnd) {
        let Some((depth, ..)) = self.image.as_mut().filter(|_| *tag == TagEnd::Image) else { return };
        *depth -= 1;
        if *depth > 0 {
            return;
        }
        let Some((_, destination, title, alternative)) = self.image.take() else { return };
        let picture = self.hooks.picture(&destination);
        if [&destination, &picture.source]
            .iter()
            .any(|address| destination::refused_scheme(address).is_some())
        {
            return self.push_text(&alternative);
        }
        self.out.push_str("<img");
        attribute(&mut self.out, "src", &picture.source);
        attribute(&mut self.out, "alt", &alternative);
        if !title.is_empty() {
            attribute(&mut self.out, "title", &title);
        }
        if let Some((width, height)) = picture.size {
            self.out.push_str(&format!(" width=\"{width}\" height=\"{height}\""));
        }
        self.out.push_str(" loading=\"lazy\">");
    }
}

/// Returns whether a list item with these events is a task.
fn is_task(events: &[SpannedEvent]) -> bool {
    let mut events = events.iter().map(|(event, _)| event);
    match events.next() {
        Some(Event::TaskListMarker(_)) => true,
        Some(Event::Start(Tag::Paragraph)) => matches!(events.next(), Some(Event::TaskListMarker(_))),
        _ => false,
    }
}
