//! References to missing pages in front matter and code blocks.

use crate::check::{CheckContext, MAX_SUGGESTIONS};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::site::{Head, Kind, PageId};

pub(super) const RULE: Rule = Rule {
    code: "unknown-reference",
    requirement: "related errors, tools, benchmarked models and models of drawings refer to existing pages",
    why: "pages link to them",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut look = |kind: Kind, named: &Spanned<String>| {
        if context.site.head(&PageId::new(kind, named.value.as_str())).is_some() {
            return;
        }
        let near = (found.len() < MAX_SUGGESTIONS)
            .then(|| nearest(&named.value, context.site.slugs(kind)))
            .flatten();
        found.push(unknown(kind, named, near));
    };
    for error in &context.pages.errors {
        error.data.related.iter().for_each(|slug| look(Kind::Error, slug));
        error.data.tools.iter().for_each(|slug| look(Kind::Tool, slug));
    }
    for guide in &context.pages.guides {
        guide.data.related.iter().for_each(|slug| look(Kind::Error, slug));
        guide.data.tools.iter().for_each(|slug| look(Kind::Tool, slug));
        guide.data.illustration_model.iter().for_each(|slug| look(Kind::Model, slug));
    }
    for reading in &context.pages.readings {
        reading.data.pages.iter().for_each(|slug| look(Kind::Error, slug));
    }
    for device in &context.pages.devices {
        device.data.benchmarks.iter().for_each(|row| look(Kind::Model, &row.model));
    }
    for head in context.pages.heads() {
        fence_tools(head).iter().for_each(|slug| look(Kind::Tool, slug));
    }
    for error in &context.pages.errors {
        if let Some(own) = error.data.related.iter().find(|slug| slug.value == error.head.id.slug) {
            found.push(
                Diagnostic::error(&RULE, own.span, "the page lists itself as related")
                    .help("remove it from the list"),
            );
        }
    }
    found
}

fn unknown(kind: Kind, named: &Spanned<String>, near: Option<&str>) -> Diagnostic {
    let slug = &named.value;
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add `content/{}/…{slug}.md`, or remove it from the list", kind.folder()),
    };
    Diagnostic::error(&RULE, named.span, format!("unknown {} `{slug}`", kind.name())).help(help)
}

fn fence_tools(head: &Head) -> Vec<Spanned<String>> {
    head.body
        .outline
        .fences
        .iter()
        .filter_map(|fence| {
            let range = fence.tool_range.clone()?;
            Some(Spanned::new(fence.tool.clone()?, head.body.span.part(range.start, range.end)))
        })
        .collect()
}
