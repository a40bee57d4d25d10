//! Links as HTML, which has no link in a link.

use crate::markdown::destination;
use crate::markdown::html::attribute;

/// The links that are open.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Whether each of them was written.
    written: Vec<bool>,
    /// Marks of footnotes that stand in a link, for its end: they are links themselves.
    marks: String,
}

impl Links {
    /// Begins a link: nothing where its address is refused, or where one is open, as around an address in `<…>`.
    pub fn start(&mut self, out: &mut String, destination: &str, href: &str, title: &str) {
        let allowed =
            [destination, href].iter().all(|address| destination::refused_scheme(address).is_none());
        let written = allowed && !self.is_open();
        self.written.push(written);
        if !written {
            return;
        }
        out.push_str("<a");
        attribute(out, "href", href);
        if destination::is_external(href) {
            out.push_str(" rel=\"noopener\"");
        }
        if !title.is_empty() {
            attribute(out, "title", title);
        }
        out.push('>');
    }

    /// Ends the innermost link.
    pub fn end(&mut self, out: &mut String) {
        if self.written.pop() == Some(true) {
            out.push_str("</a>");
            out.push_str(&std::mem::take(&mut self.marks));
        }
    }

    /// Writes the mark of a footnote, behind the link that is open.
    pub fn mark(&mut self, out: &mut String, mark: &str) {
        if self.is_open() { &mut self.marks } else { out }.push_str(mark);
    }

    fn is_open(&self) -> bool {
        self.written.contains(&true)
    }
}
