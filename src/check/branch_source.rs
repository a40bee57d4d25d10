//! Messages whose source is a file on a branch.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "branch-source",
    requirement: "the source of a message on GitHub is a thread, or a file at a release or commit, not on `main` or `master`",
    why: "on a branch the file changes, and the message may no longer be in it",
};

/// Usual names of the branch with the newest state.
const BRANCHES: [&str; 2] = ["main", "master"];

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let signatures = context.pages.errors.iter().flat_map(|error| &error.data.signatures);
    let finding = |(branch, span)| {
        Diagnostic::warning(&RULE, span, format!("source of a message on the branch `{branch}`"))
            .help("link to the file at a release or commit; the key `y` shows that address")
    };
    signatures
        .filter_map(|signature| Some((branch(&signature.source)?, signature.span)))
        .map(finding)
        .collect()
}

/// Returns the branch that the address of a file on GitHub names.
fn branch(address: &str) -> Option<&str> {
    let (_, rest) = address.strip_prefix("https://github.com/")?.split_once("/blob/")?;
    rest.split('/').next().filter(|name| BRANCHES.contains(name))
}
