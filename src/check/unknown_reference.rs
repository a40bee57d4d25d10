//! Front matter or a code block names a page that is not there.

use crate::check::{SOUGHT, Subject};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::site::{Head, Kind, PageId};

pub(super) const RULE: Rule = Rule {
    code: "unknown-reference",
    demands: "related errors and tools are pages of this site",
    why: "readers are led there",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut look = |kind: Kind, named: &Spanned<String>| {
        if subject.site.head(&PageId::new(kind, named.value.as_str())).is_some() {
            return;
        }
        let near = (found.len() < SOUGHT).then(|| nearest(&named.value, subject.site.slugs(kind))).flatten();
        found.push(unknown(kind, named, near));
    };
    for error in &subject.pages.errors {
        error.data.related.iter().for_each(|slug| look(Kind::Error, slug));
        error.data.tools.iter().for_each(|slug| look(Kind::Tool, slug));
    }
    for guide in &subject.pages.guides {
        guide.data.related.iter().for_each(|slug| look(Kind::Error, slug));
        guide.data.tools.iter().for_each(|slug| look(Kind::Tool, slug));
    }
    for head in subject.pages.heads() {
        fence_tools(head).iter().for_each(|slug| look(Kind::Tool, slug));
    }
    for error in &subject.pages.errors {
        if let Some(own) = error.data.related.iter().find(|slug| slug.value == error.head.id.slug) {
            found.push(
                Diagnostic::error(&RULE, own.span, "the page names itself as related")
                    .help("take it out of the list"),
            );
        }
    }
    found
}

fn unknown(kind: Kind, named: &Spanned<String>, near: Option<&str>) -> Diagnostic {
    let slug = &named.value;
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write `content/{}/…{slug}.md`, or take it out of the list", kind.folder()),
    };
    Diagnostic::error(&RULE, named.span, format!("there is no {} `{slug}`", kind.name())).help(help)
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
