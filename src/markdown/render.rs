//! Renders bodies as HTML, split into lead and sections.

use pulldown_cmark::{Event, Parser, TagEnd};
use serde::{Deserialize, Serialize};

use crate::markdown::BODY;
use crate::markdown::calls::{Call, MaskedText};
use crate::markdown::fence::Fence;
use crate::markdown::headings::Heading;
use crate::markdown::highlight::highlight;
use crate::markdown::html;
use crate::markdown::html_writer::HtmlWriter;
use crate::markdown::outline;

/// Information about the page and the site that rendering needs.
pub trait RenderHooks {
    /// Returns the `href` of a link, relative to the page that shows the text.
    fn href(&self, destination: &str) -> String;

    /// Returns the address and size of an image.
    fn picture(&self, destination: &str) -> Picture {
        Picture { source: self.href(destination), size: None }
    }

    /// Returns the value of an estimator call; `None` if it has none, so that its source text is shown.
    fn call_value(&self, call: &Call) -> Option<CallValue>;

    /// Returns the HTML of a call that is a paragraph of its own, if it includes a text.
    fn included_html(&self, _call: &Call) -> Option<String> {
        None
    }

    /// Translates a text of the interface into the language of the page, without replacing `{n}`.
    fn tr(&self, english: &'static str) -> String {
        english.to_string()
    }

    /// Returns the highlighted HTML of a code block.
    fn code(&self, language: &str, code: &str) -> String {
        highlight(language, code)
    }

    /// Returns the name of a tool, for the label of a code block.
    fn tool_name(&self, slug: &str) -> String {
        slug.to_string()
    }

    /// Returns the label of a code block; empty for none.
    fn label(&self, fence: &Fence) -> String {
        fence.label(|slug| self.tool_name(slug))
    }
}

/// The attributes of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Value of `src`.
    pub source: String,
    /// Width and height in pixels, if known.
    pub size: Option<(u32, u32)>,
}

/// The value of an estimator call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallValue {
    /// Formatted value: `4.00 GiB`.
    pub text: String,
    /// Machine-readable value: `4294967296`.
    pub value: String,
    /// Inputs and source of the estimate, shown as a tooltip.
    pub title: String,
}

/// The HTML of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// HTML before the first section.
    pub lead_html: String,
    /// First paragraph of the lead as plain text, with the values of calls.
    pub lead_text: String,
    /// The sections, one for each heading of level 2.
    pub sections: Vec<Section>,
    /// Headings of level 2 and 3, in order.
    pub toc: Vec<TocEntry>,
    /// Footnotes of the whole body; empty if there are none.
    pub footnotes_html: String,
    /// Label of the self-links of headings.
    pub anchor_label: String,
}

/// A heading of level 2 and the text up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Id of the heading.
    pub id: String,
    /// Plain text of the heading.
    pub title: String,
    /// Inline HTML of the heading.
    pub title_html: String,
    /// HTML after the heading.
    pub html: String,
}

/// An entry of the table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TocEntry {
    /// Level of the heading, 2 or 3.
    pub level: u8,
    /// Id of the heading.
    pub id: String,
    /// Plain text of the heading.
    pub title: String,
}

impl TocEntry {
    /// Returns the entry of a heading, if its level is listed.
    pub fn of(heading: &Heading) -> Option<Self> {
        let entry =
            || Self { level: heading.level.max(2), id: heading.id.clone(), title: heading.title.clone() };
        (heading.level <= 3).then(entry)
    }
}

/// Renders a body. The HTML is safe and well formed for any input: raw HTML becomes text, and a refused link its text.
/// [`outline::outline`] reports the errors.
pub fn render(text: &str, hooks: &impl RenderHooks) -> Rendered {
    render_outlined(text, outline(text).headings, hooks)
}

/// Renders a body with the headings of its outline; see [`render`].
pub fn render_outlined(text: &str, headings: Vec<Heading>, hooks: &impl RenderHooks) -> Rendered {
    let masked = MaskedText::new(text, BODY);
    let events: Vec<_> = Parser::new_ext(&masked.text, BODY).into_offset_iter().collect();
    let mut writer = HtmlWriter::new(text, &masked, hooks, headings);
    let mut rest = events.as_slice();
    while let [(event, range), after @ ..] = rest {
        rest = after;
        let call = masked.own_paragraph(event, range);
        if let Some(html) = call.and_then(|call| hooks.included_html(call)) {
            writer.out.push_str(&html);
            let end = rest.iter().position(|(event, _)| *event == Event::End(TagEnd::Paragraph));
            rest = &rest[end.map_or(0, |end| end + 1)..];
        } else {
            writer.event(event, range, rest);
        }
    }
    writer.finish()
}

impl Rendered {
    /// Returns the HTML of the whole body, with headings of level 2 and footnotes.
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
