//! Links to missing pages.

use crate::check::misleading_link::starts_with_host;
use crate::check::{CheckContext, MAX_SUGGESTIONS};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::site::{Dangling, Kind, Missing};

pub(super) const RULE: Rule = Rule {
    code: "broken-link",
    requirement: "links within the site lead to existing pages",
    why: "readers would get a 404 error",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .links
        .dangling
        .iter()
        .filter(|link| link.missing == Missing::Page && !link.image)
        .enumerate()
        .map(|(at, link)| {
            let near = if at < MAX_SUGGESTIONS { help(context, link) } else { None };
            Diagnostic::error(&RULE, link.span, format!("no page `{}`", link.destination))
                .help(near.unwrap_or_else(|| FORMS.to_string()))
        })
        .collect()
}

/// Help for links without a similar page.
const FORMS: &str = "link to the file, `../folder/page.md`, or to the URL, `/errors/slug/`";

/// Help for a link to another site without a scheme.
pub(super) fn with_scheme(destination: &str) -> String {
    format!("write `https://{destination}`")
}

/// Returns the path of a file relative to the folder of another one.
fn relative(from: &str, to: &str) -> String {
    let folders = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let (from, folder) = (folders(from), folders(to));
    let shared = from.split('/').zip(folder.split('/')).take_while(|(one, other)| one == other).count();
    let up = "../".repeat(from.split('/').count() - shared);
    let down: Vec<&str> = to.split('/').skip(shared).collect();
    format!("{up}{}", down.join("/"))
}

fn help(context: &CheckContext<'_>, link: &Dangling) -> Option<String> {
    let destination = link.destination.as_str();
    if starts_with_host(destination) {
        return Some(with_scheme(destination));
    }
    let (path, anchor) = destination.split_once('#').unwrap_or((destination, ""));
    if path.trim_matches('/') == "glossary" {
        let near = nearest(anchor, context.site.slugs(Kind::Term))?;
        return Some(format!("did you mean `/glossary/#{near}`?"));
    }
    if path.ends_with(".md") {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.trim_end_matches(".md");
        let by_slug = nearest(stem, context.site.heads().map(|head| head.id.slug.as_str()))?;
        let head = context.site.heads().find(|head| head.id.slug == by_slug)?;
        if path.trim_start_matches('/') == head.path {
            let own = &context.sources.get(link.span.source).path;
            return Some(format!("write `/{}` or `{}`", head.id.address(), relative(own, &head.path)));
        }
        return Some(format!("did you mean `/{}`, the file `{}`?", head.id.address(), head.path));
    }
    let wanted = format!("{}/", path.trim_matches('/'));
    let addresses: Vec<String> =
        context.site.heads().map(|head| head.id.address()).chain(context.site.list_addresses()).collect();
    let same_slug = wanted.trim_end_matches('/').rsplit('/').next().and_then(|slug| {
        context.site.heads().find(|head| head.id.slug == slug).map(|head| head.id.address())
    });
    let near =
        same_slug.or_else(|| nearest(&wanted, addresses.iter().map(String::as_str)).map(str::to_string));
    near.map(|near| format!("did you mean `/{near}`?"))
}
