//! One line of Markdown, as HTML and as what it holds: titles, and how to tell a cause.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::markdown::calls::{Call, Covered};
use crate::markdown::fence::Fence;
use crate::markdown::outline::{Link, Outline, read};
use crate::markdown::plain::plain_inline;
use crate::markdown::render::{Figure, Picture, Pieces};
use crate::markdown::writer::Writer;

/// Stands before the line while it is parsed: a line that begins with a letter is a paragraph, so that
/// `1. x`, `# x` and `- x` are read as the words they are.
const PREFIX: &str = "x ";

/// Renders one line: emphasis, code, links and estimator calls. What else Markdown has stays text, and
/// an image is its words. Ranges of calls are those of `text`.
pub fn inline(text: &str, pieces: &impl Pieces) -> String {
    let line = Line::new(text);
    let covered = Covered::new(&line.padded, Options::empty());
    let shifted = Shifted { pieces, line: &line };
    let mut writer = Writer::new(&line.padded, &covered, &shifted, Vec::new());
    line.each(&covered, |event, range| writer.event(event, range, &[]));
    writer.into_html()
}

/// Reads one line of Markdown as [`inline`] does: links, calls and their faults.
pub fn outline_inline(text: &str) -> Outline {
    let line = Line::new(text);
    let options = Options::empty();
    let mut outline = read(&line.padded, &Covered::new(&line.padded, options), options);
    for range in outline
        .links
        .iter_mut()
        .map(|link| &mut link.range)
        .chain(outline.calls.iter_mut().flat_map(|call| [&mut call.range, &mut call.inner_range]))
        .chain(&mut outline.code)
        .chain(outline.faults.iter_mut().map(|fault| &mut fault.range))
    {
        *range = line.place(range);
    }
    outline.lead = plain_inline(text);
    outline.has_body = !text.trim().is_empty();
    outline
}

/// The links of one line of Markdown, as [`outline_inline`] reads them.
pub fn links_inline(text: &str) -> Vec<Link> {
    // Without one of these there is none, and most lines have neither.
    if text.contains(['[', '<']) { outline_inline(text).links } else { Vec::new() }
}

/// A line made ready to be parsed.
pub(crate) struct Line {
    /// The line, trimmed, in one paragraph.
    pub padded: String,
    /// White space before the line in the text given.
    leading: usize,
}

impl Line {
    /// Puts `text` on one line behind the prefix.
    pub fn new(text: &str) -> Self {
        let leading = text.len() - text.trim_start().len();
        Self { padded: format!("{PREFIX}{}", text.trim().replace(['\n', '\r'], " ")), leading }
    }

    /// A range of `padded` as a range of the text given.
    pub fn place(&self, range: &Range<usize>) -> Range<usize> {
        let back = |at: usize| (at + self.leading).saturating_sub(PREFIX.len());
        back(range.start)..back(range.end)
    }

    /// The events of the line without its prefix, and without images and blocks.
    pub fn each(&self, covered: &Covered, mut take: impl FnMut(&Event, &Range<usize>)) {
        for (event, range) in Parser::new_ext(&covered.text, Options::empty()).into_offset_iter() {
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

/// The caller's answers, with the places of calls put back.
struct Shifted<'p, P> {
    pieces: &'p P,
    line: &'p Line,
}

impl<P: Pieces> Pieces for Shifted<'_, P> {
    fn href(&self, destination: &str) -> String {
        self.pieces.href(destination)
    }

    fn picture(&self, destination: &str) -> Picture {
        self.pieces.picture(destination)
    }

    fn figure(&self, call: &Call) -> Option<Figure> {
        self.pieces.figure(&Call {
            range: self.line.place(&call.range),
            inner_range: self.line.place(&call.inner_range),
            source: call.source.clone(),
        })
    }

    fn say(&self, english: &'static str) -> String {
        self.pieces.say(english)
    }

    fn label(&self, fence: &Fence) -> String {
        self.pieces.label(fence)
    }
}
