//! Rewrites links and references when a page moves.

use crate::files::{Edit, Sources, Span, Spanned};
use crate::link::{is_elsewhere, join};
use crate::markdown::links_inline;
use crate::site::{Head, LinkTarget, Links, PageId, Site};

/// The move of a page to another file.
#[derive(Debug)]
pub struct Move<'s> {
    /// Pages before the move.
    pub site: &'s Site,
    /// Links before the move.
    pub links: &'s Links,
    /// Sources before the move.
    pub sources: &'s Sources,
    /// Page to move.
    pub page: &'s Head,
    /// New path of its file.
    pub path: &'s str,
    /// New id of the page.
    pub id: &'s PageId,
}

/// Place that names the page in a form that cannot be rewritten, such as an escaped address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unwritable(pub Span);

impl Move<'_> {
    /// Returns the edits of all pages: links to the page, relative links in it, references to its slug, and an alias with
    /// its old address.
    ///
    /// # Errors
    /// Every place that has to be rewritten by hand first.
    pub fn edits(&self) -> Result<Vec<Edit>, Vec<Unwritable>> {
        let (mut edits, mut faults) = (Vec::new(), Vec::new());
        let mut add = |edit: Result<Edit, Unwritable>| match edit {
            Ok(edit) => edits.push(edit),
            Err(fault) => faults.push(fault),
        };
        for head in self.site.heads() {
            self.body_edits(head).into_iter().for_each(&mut add);
        }
        for error in &self.site.errors {
            for line in error.data.causes.iter().flat_map(|cause| [&cause.title, &cause.tell]) {
                for link in links_inline(&line.value) {
                    if let Some(new) = self.new_destination(&error.head, &link.destination, None) {
                        add(self.in_line(line.span, &link.destination, &new));
                    }
                }
            }
        }
        if self.id.slug != self.page.id.slug {
            for reference in self.site.all_references() {
                if reference.kind == self.page.id.kind && reference.slug.value == self.page.id.slug {
                    add(self.replacement(reference.slug.span, self.page.id.name(), self.id.name()));
                }
            }
        }
        if let Some(edit) = self.alias() {
            add(edit);
        }
        if faults.is_empty() { Ok(edits) } else { Err(faults) }
    }

    fn body_edits(&self, head: &Head) -> Vec<Result<Edit, Unwritable>> {
        let Some(links) = self.links.of(head) else { return Vec::new() };
        let mut edits = Vec::new();
        for link in &head.body.outline.links {
            let target = links.target(&link.range);
            let Some(new) = self.new_destination(head, &link.destination, target) else { continue };
            let span = head.body.span.part(link.range.start, link.range.end);
            edits.push(self.replacement(span, &link.destination, &new));
        }
        edits
    }

    /// Returns the new destination of a link in `head`, if it changes. The target is looked up if it is not given.
    fn new_destination(&self, head: &Head, destination: &str, target: Option<&LinkTarget>) -> Option<String> {
        if is_elsewhere(destination) {
            return None;
        }
        let known = target.or_else(|| self.links.of(head)?.lines.get(destination))?;
        let leads_here = matches!(known, LinkTarget::Page { page, .. } if *page == self.page.id);
        let (path, anchor) = match destination.find('#') {
            Some(at) => destination.split_at(at),
            None => (destination, ""),
        };
        if path.is_empty() {
            return None;
        }
        if path.starts_with('/') {
            let address = self.id.address();
            let is_same = !leads_here || address == self.page.id.address();
            let new = match address.contains('#') {
                true => format!("/{address}"),
                false if path.ends_with('/') => format!("/{address}{anchor}"),
                false => format!("/{}{anchor}", address.trim_end_matches('/')),
            };
            return (!is_same).then_some(new);
        }
        let from = if head.id == self.page.id { self.path } else { &head.path };
        let old = join(&head.path, path);
        let to = if leads_here { self.path } else { &old };
        (join(from, path) != to).then(|| format!("{}{anchor}", relative(from, to)))
    }

    /// Replaces a text that is written as it is, with or without quotes.
    fn replacement(&self, span: Span, old: &str, new: &str) -> Result<Edit, Unwritable> {
        let written = self.sources.text(span);
        let start = written.find(old).filter(|_| written.trim().trim_matches(['"', '\'']) == old);
        let start = start.ok_or(Unwritable(span))?;
        Ok(Edit::new(span.part(start, start + old.len()), new))
    }

    /// Replaces the destination of a link in one line of front matter.
    fn in_line(&self, span: Span, old: &str, new: &str) -> Result<Edit, Unwritable> {
        let written = self.sources.text(span);
        let is_whole = |at: &usize| {
            written[..*at].ends_with(['(', '<']) && written[at + old.len()..].starts_with([')', '>', ' '])
        };
        let mut found = written.match_indices(old).map(|(at, _)| at).filter(is_whole);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(Edit::new(span.part(at, at + old.len()), new)),
            _ => Err(Unwritable(span)),
        }
    }

    /// Adds the old address to the aliases of the page, unless it stays or pages of the kind have none. It replaces an
    /// alias that becomes the address.
    fn alias(&self) -> Option<Result<Edit, Unwritable>> {
        let (old, new) = (self.page.id.address(), self.id.address());
        if old == new || !self.page.id.kind.has_address() {
            return None;
        }
        let alias = format!("/{old}");
        let is_new = |known: &&Spanned<String>| known.value.trim_matches('/') == new.trim_end_matches('/');
        if let Some(known) = self.page.aliases.iter().find(is_new) {
            return Some(self.replacement(known.span, &known.value, &alias));
        }
        let text = &self.sources.get(self.page.source).text;
        let line_end = if text[..self.page.front.end].ends_with("\r\n") { "\r\n" } else { "\n" };
        let Some(first) = self.page.aliases.first() else {
            if let Some(list) = self.page.aliases_span {
                return Some(Ok(Edit::new(list.part("[".len(), "[".len()), alias)));
            }
            let end = Span::new(self.page.source, self.page.front.end, self.page.front.end);
            return Some(Ok(Edit::new(end, format!("aliases: [{alias}]{line_end}"))));
        };
        let line = text[..first.span.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line..first.span.start];
        Some(Ok(match before.trim() {
            "-" => Edit::new(Span::new(self.page.source, line, line), format!("{before}{alias}{line_end}")),
            _ => Edit::new(first.span.part(0, 0), format!("{alias}, ")),
        }))
    }
}

/// Returns the relative path from the folder of a file to another file.
fn relative(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let common = from[..from.len() - 1].iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", from.len() - 1 - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_lead_from_the_folder_of_a_file() {
        for (from, to, path) in [
            ("content/errors/a/x.md", "content/errors/a/y.md", "y.md"),
            ("content/errors/a/x.md", "content/errors/b/y.md", "../b/y.md"),
            ("content/guides/x.md", "content/errors/b/y.md", "../errors/b/y.md"),
        ] {
            assert_eq!(relative(from, to), path);
            assert_eq!(join(from, path), to);
        }
    }
}
