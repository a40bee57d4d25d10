//! A body as HTML, cut into its lead and its sections.

use std::sync::Arc;

use pulldown_cmark::Parser;
use serde::{Deserialize, Serialize};

use crate::markdown::BODY;
use crate::markdown::calls::{Call, Covered};
use crate::markdown::fence::Fence;
use crate::markdown::headings::Heading;
use crate::markdown::highlight::highlight;
use crate::markdown::html;
use crate::markdown::outline;
use crate::markdown::writer::Writer;

/// What a text cannot know by itself; the caller answers.
pub trait Pieces {
    /// The address to write for a link with this destination, from the page that shows the text.
    fn href(&self, destination: &str) -> String;

    /// The address and size of an image.
    fn picture(&self, destination: &str) -> Picture {
        Picture { source: self.href(destination), size: None }
    }

    /// What an estimator call comes to. `None`: it cannot be answered, and stays as it is written.
    fn figure(&self, call: &Call) -> Option<Figure>;

    /// A text of ours in the language of the page; `{n}` stays for a number.
    fn say(&self, english: &'static str) -> String {
        english.to_string()
    }

    /// A code block in colors.
    fn code(&self, language: &str, code: &str) -> Arc<str> {
        highlight(language, code)
    }

    /// The name of a tool, for the label of a code block.
    fn tool_name(&self, slug: &str) -> String {
        slug.to_string()
    }

    /// The label of a code block; empty for none.
    fn label(&self, fence: &Fence) -> String {
        fence.label(|slug| self.tool_name(slug))
    }
}

/// An image as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its address.
    pub source: String,
    /// Width and height in pixels, where they are known.
    pub size: Option<(u32, u32)>,
}

/// What an estimator call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// As a reader sees it: `4.00 GiB`.
    pub text: String,
    /// As a program reads it: `4294967296`.
    pub value: String,
    /// What it rests on, shown on demand.
    pub title: String,
}

/// A body as HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// What stands before the first section.
    pub lead_html: String,
    /// The first paragraph of the lead as plain text, figures filled in.
    pub lead_text: String,
    /// The sections, one for each heading of level 2.
    pub sections: Vec<Section>,
    /// Headings of level 2 and 3, in order.
    pub toc: Vec<TocEntry>,
    /// The footnotes of the whole body, for its end; empty where there are none.
    pub footnotes_html: String,
    /// What the link of a heading to itself is called.
    pub anchor_label: String,
}

/// What stands under a heading of level 2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The heading's id.
    pub id: String,
    /// The heading as plain text.
    pub title: String,
    /// The heading as inline HTML.
    pub title_html: String,
    /// What follows, up to the next section.
    pub html: String,
}

/// A line of the table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TocEntry {
    /// 2 or 3.
    pub level: u8,
    /// The heading's id.
    pub id: String,
    /// The heading as plain text.
    pub title: String,
}

/// Renders a body. Safe and well formed whatever the text is: faults are [`outline::outline`]'s matter,
/// here raw HTML turns to text and a refused link to its words.
pub fn render(text: &str, pieces: &impl Pieces) -> Rendered {
    render_outlined(text, outline(text).headings, pieces)
}

/// As [`render`], for a text whose headings are known from its outline.
pub fn render_outlined(text: &str, headings: Vec<Heading>, pieces: &impl Pieces) -> Rendered {
    let covered = Covered::new(text, BODY);
    let events: Vec<_> = Parser::new_ext(&covered.text, BODY).into_offset_iter().collect();
    let mut writer = Writer::new(text, &covered, pieces, headings);
    for (index, (event, range)) in events.iter().enumerate() {
        writer.event(event, range, &events[index + 1..]);
    }
    writer.finish()
}

impl Rendered {
    /// The whole body in one piece, headings of level 2 and footnotes included.
    pub fn html(&self) -> String {
        let mut html = self.lead_html.clone();
        for section in &self.sections {
            html.push_str(&format!(
                "<h2 id=\"{id}\">{title}{anchor}</h2>\n{body}",
                id = html::escape(&section.id),
                title = section.title_html,
                anchor = html::anchor(&section.id, &self.anchor_label),
                body = section.html
            ));
        }
        html.push_str(&self.footnotes_html);
        html
    }
}
