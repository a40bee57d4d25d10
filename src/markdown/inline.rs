//! One-line Markdown of front matter, such as the titles of causes, as HTML and as an outline.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::markdown::calls::{Call, MaskedText};
use crate::markdown::fence::Fence;
use crate::markdown::html_writer::HtmlWriter;
use crate::markdown::outline::{Link, Outline, outline_masked};
use crate::markdown::plain::plain_inline;
use crate::markdown::render::{CallValue, Picture, RenderHooks};

/// Prefix of the line during parsing, so that `1. x`, `# x` and `- x` are paragraphs.
const PREFIX: &str = "x ";

/// Renders one line: emphasis, code, links and estimator calls. Other syntax stays text, and an image becomes its alternative
/// text. The ranges of calls refer to `text`.
pub fn inline(text: &str, hooks: &impl RenderHooks) -> String {
    let line = InlineLine::new(text);
    let masked = MaskedText::new(&line.padded, Options::empty());
    let shifted = ShiftedHooks { hooks, line: &line };
    let mut writer = HtmlWriter::new(&line.padded, &masked, &shifted, Vec::new());
    line.for_each_event(&masked, |event, range| writer.event(event, range, &[]));
    writer.into_html()
}

/// Returns the links, calls and errors of one line; see [`inline`].
pub fn outline_inline(text: &str) -> Outline {
    let line = InlineLine::new(text);
    let options = Options::empty();
    let mut outline = outline_masked(&line.padded, &MaskedText::new(&line.padded, options), options);
    for range in outline
        .links
        .iter_mut()
        .map(|link| &mut link.range)
        .chain(outline.calls.iter_mut().flat_map(|call| [&mut call.range, &mut call.inner_range]))
        .chain(&mut outline.code)
        .chain(outline.errors.iter_mut().map(|error| &mut error.range))
    {
        *range = line.source_range(range);
    }
    outline.lead = plain_inline(text);
    outline.has_body = !text.trim().is_empty();
    outline
}

/// Returns the links of one line; see [`outline_inline`].
pub fn links_inline(text: &str) -> Vec<Link> {
    // Avoids parsing most lines.
    if text.contains(['[', '<']) { outline_inline(text).links } else { Vec::new() }
}

/// A line with the prefix for parsing.
pub(crate) struct InlineLine {
    /// The trimmed line after the prefix.
    pub padded: String,
    /// Bytes of leading white space in the source text.
    leading: usize,
}

impl InlineLine {
    /// Joins the lines of `text` and adds the prefix.
    pub fn new(text: &str) -> Self {
        let leading = text.len() - text.trim_start().len();
        Self { padded: format!("{PREFIX}{}", text.trim().replace(['\n', '\r'], " ")), leading }
    }

    /// Converts a range of `padded` to a range of the source text.
    pub fn source_range(&self, range: &Range<usize>) -> Range<usize> {
        let offset = |at: usize| (at + self.leading).saturating_sub(PREFIX.len());
        offset(range.start)..offset(range.end)
    }

    /// Calls `take` with the events of the line, without the prefix, images and blocks.
    pub fn for_each_event(&self, masked: &MaskedText, mut take: impl FnMut(&Event, &Range<usize>)) {
        for (event, range) in Parser::new_ext(&masked.text, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::Paragraph | Tag::Image { .. })
                | Event::End(TagEnd::Paragraph | TagEnd::Image) => {}
                Event::Text(text) if range.start == 0 => {
                    let rest = text.get(PREFIX.len()..).unwrap_or_default().to_string();
                    take(&Event::Text(rest.into()), &(PREFIX.len()..range.end));
                }
                other => take(&other, &range),
            }
        }
    }
}

/// Hooks of the caller, with ranges of the source text.
struct ShiftedHooks<'p, P> {
    hooks: &'p P,
    line: &'p InlineLine,
}

impl<P: RenderHooks> RenderHooks for ShiftedHooks<'_, P> {
    fn href(&self, destination: &str) -> String {
        self.hooks.href(destination)
    }

    fn picture(&self, destination: &str) -> Picture {
        self.hooks.picture(destination)
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        self.hooks.call_value(&Call {
            range: self.line.source_range(&call.range),
            inner_range: self.line.source_range(&call.inner_range),
            ..call.clone()
        })
    }

    fn tr(&self, english: &'static str) -> String {
        self.hooks.tr(english)
    }

    fn label(&self, fence: &Fence) -> String {
        self.hooks.label(fence)
    }
}
