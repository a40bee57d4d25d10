//! Missing images and files.

use crate::check::CheckContext;
use crate::check::broken_link::with_scheme;
use crate::check::misleading_link::starts_with_host;
use crate::diag::{Diagnostic, Rule};
use crate::site::Missing;

pub(super) const RULE: Rule = Rule {
    code: "missing-file",
    requirement: "images and files used by a page are next to it or under static/",
    why: "readers would see a broken image",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .links
        .dangling
        .iter()
        .filter_map(|link| {
            let what = if link.image { "image" } else { "file" };
            let absent = || format!("no {what} `{}`", link.destination);
            let (words, help) = match &link.missing {
                Missing::File { .. } if !link.image && starts_with_host(&link.destination) => {
                    (absent(), with_scheme(&link.destination))
                }
                Missing::File { path } => (absent(), format!("add `{path}`, or fix the path")),
                Missing::Copy => (
                    format!("external image `{}`", link.destination),
                    "save the image next to the page; pages load nothing from other sites, which could track \
                     readers"
                        .into(),
                ),
                Missing::Page if link.image => {
                    (absent(), "use a file next to the page, or `/name` for a file under static/".into())
                }
                _ => return None,
            };
            Some(Diagnostic::error(&RULE, link.span, words).help(help))
        })
        .collect()
}
