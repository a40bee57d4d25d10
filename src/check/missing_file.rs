//! Missing images and files.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Missing;

pub(super) const RULE: Rule = Rule {
    code: "missing-file",
    demands: "images and files that a page names lie beside it or under static/",
    why: "the reader would see a broken picture",
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
                Missing::File { path } => (absent(), format!("put it at `{path}`, or mend the path")),
                Missing::Copy => (
                    format!("`{}` is an image of another site", link.destination),
                    "save it beside the page and name it there: pages load nothing from elsewhere, so that nobody else \
                     learns who reads them"
                        .into(),
                ),
                Missing::Page if link.image => {
                    (absent(), "name a file beside the page, or `/name` for one under static/".into())
                }
                _ => return None,
            };
            Some(Diagnostic::error(&RULE, link.span, words).help(help))
        })
        .collect()
}
