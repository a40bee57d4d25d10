//! Splits the HTML of a body into its lead and its sections.

use crate::markdown::headings::Heading;
use crate::markdown::html::{self, attribute};
use crate::markdown::render::{Rendered, Section, TocEntry};

/// Collects sections, the table of contents, and the plain text of headings and lead.
pub(crate) struct SectionBuilder {
    rendered: Rendered,
    /// Headings of the outline that have not been written.
    headings: std::vec::IntoIter<Heading>,
    /// The open heading and its plain text so far.
    open: Option<(Heading, String)>,
    in_lead: bool,
}

impl SectionBuilder {
    /// Creates a builder with the headings of the outline and the label of their self-links.
    pub fn new(headings: Vec<Heading>, anchor_label: String) -> Self {
        let rendered = Rendered { anchor_label, ..Rendered::default() };
        Self { rendered, headings: headings.into_iter(), open: None, in_lead: false }
    }

    /// Starts a paragraph outside lists and quotations; the first one before any heading is the lead.
    pub fn start_paragraph(&mut self) {
        self.in_lead = self.rendered.lead_text.is_empty()
            && self.rendered.sections.is_empty()
            && self.rendered.toc.is_empty();
    }

    pub fn end_paragraph(&mut self) {
        self.in_lead = false;
    }

    /// Adds plain text to the open heading or the lead.
    pub fn plain(&mut self, text: &str) {
        let text = if text == "\n" { " " } else { text };
        if let Some((_, title)) = &mut self.open {
            title.push_str(text);
        } else if self.in_lead {
            self.rendered.lead_text.push_str(text);
        }
    }

    /// Starts a heading outside lists and quotations. A heading of level 2 (or 1, which is an error) ends the previous section,
    /// whose HTML is in `out`.
    pub fn start_heading(&mut self, out: &mut String) {
        let heading = self.headings.next().expect("the outline has every heading outside containers");
        if heading.level <= 2 {
            self.flush(out);
        } else {
            out.push_str(&format!("<h{}", heading.level));
            attribute(out, "id", &heading.id);
            out.push('>');
        }
        self.open = Some((heading, String::new()));
    }

    /// Ends the heading; `out` has the HTML of its title.
    pub fn end_heading(&mut self, out: &mut String) {
        let Some((heading, title)) = self.open.take() else { return };
        let title = title.trim().to_string();
        self.rendered.toc.extend(TocEntry::of(&Heading { title: title.clone(), ..heading.clone() }));
        if heading.level <= 2 {
            let title_html = std::mem::take(out);
            self.rendered.sections.push(Section { id: heading.id, title, title_html, html: String::new() });
        } else {
            out.push_str(&html::anchor(&heading.id, &self.rendered.anchor_label));
            out.push_str(&format!("</h{}>\n", heading.level));
        }
    }

    /// Ends the last section and returns the result.
    pub fn finish(mut self, out: &mut String, footnotes_html: String) -> Rendered {
        self.flush(out);
        self.rendered.footnotes_html = footnotes_html;
        self.rendered.lead_text = self.rendered.lead_text.trim().to_string();
        self.rendered
    }

    fn flush(&mut self, out: &mut String) {
        let html = std::mem::take(out);
        match self.rendered.sections.last_mut() {
            Some(section) => section.html = html,
            None => self.rendered.lead_html = html,
        }
    }
}
