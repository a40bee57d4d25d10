//! References to pages by slug, in front matter and code blocks.

use crate::custom::named_entries;
use crate::files::Spanned;
use crate::site::kind::Kind;
use crate::site::page::{Head, Site};
use crate::site::prose_call::{ProseCall, included};

/// A slug that names a page.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Kind of the page.
    pub kind: Kind,
    /// Its slug.
    pub slug: Spanned<String>,
}

impl Reference {
    fn new(kind: Kind, slug: &Spanned<String>) -> Self {
        Self { kind, slug: slug.clone() }
    }
}

impl Site {
    /// Returns the references to related errors, tools, benchmarked models, models of drawings and entries.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        let mut add = |kind: Kind, slug: &Spanned<String>| found.push(Reference::new(kind, slug));
        for error in &self.errors {
            error.data.related.iter().for_each(|slug| add(Kind::Error, slug));
            error.data.tools.iter().for_each(|slug| add(Kind::Tool, slug));
        }
        for guide in &self.guides {
            guide.data.related.iter().for_each(|slug| add(Kind::Error, slug));
            guide.data.tools.iter().for_each(|slug| add(Kind::Tool, slug));
            guide.data.illustration_model.iter().for_each(|slug| add(Kind::Model, slug));
        }
        for reading in &self.readings {
            let says = reading.data.says.iter().flat_map(|says| says.pages.iter().flatten());
            reading.data.pages.iter().chain(says).for_each(|slug| add(Kind::Error, slug));
        }
        for device in &self.devices {
            device.data.benchmarks.iter().for_each(|row| add(Kind::Model, &row.model));
        }
        let own = self.errors.iter().map(|error| &error.data.own);
        let own = own.chain(self.entries.iter().map(|entry| &entry.data.own));
        own.flat_map(|own| named_entries(own)).for_each(|id| add(Kind::Entry, &id));
        for head in self.heads() {
            for fence in &head.body.outline.fences {
                if let (Some(slug), Some(range)) = (&fence.tool, &fence.tool_range) {
                    let span = head.body.span.part(range.start, range.end);
                    add(Kind::Tool, &Spanned::new(slug.clone(), span));
                }
            }
        }
        found
    }

    /// As [`Site::references`], with those that other checks examine: extractors, readings, models and devices in calls.
    pub fn all_references(&self) -> Vec<Reference> {
        let mut found = self.references();
        for error in &self.errors {
            let extractors = error.data.signatures.iter().filter_map(|one| one.extract.as_ref());
            found.extend(extractors.map(|slug| Reference::new(Kind::Extractor, slug)));
        }
        for reading in &self.readings {
            let tables = reading.data.lookups.iter().map(|lookup| &lookup.table);
            found.extend(tables.map(|slug| Reference::new(Kind::Reading, slug)));
        }
        found.extend(self.heads().flat_map(in_calls));
        found
    }
}

/// Returns the models, devices and included texts in the calls of a page.
fn in_calls(head: &Head) -> Vec<Reference> {
    let mut found = Vec::new();
    for call in &head.body.outline.calls {
        let inner = head.body.span.part(call.inner_range.start, call.inner_range.end);
        if let Some(Ok(name)) = included(&call.source) {
            let span = inner.part(name.range.start, name.range.end);
            found.push(Reference { kind: Kind::Include, slug: Spanned::new(name.value, span) });
        }
        let Ok(parsed) = ProseCall::parse(&call.source) else { continue };
        let named = [(Kind::Model, Some(parsed.model)), (Kind::Hardware, parsed.gpu)];
        for (kind, argument) in named {
            found.extend(argument.map(|one| {
                let span = inner.part(one.range.start, one.range.end);
                Reference { kind, slug: Spanned::new(one.value, span) }
            }));
        }
    }
    found
}
