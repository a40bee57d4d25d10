//! Errors without signatures, and signatures without text.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Head;
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText, key};

pub(super) const RULE: Rule = Rule {
    code: "no-signature",
    demands: "an error has a signature, with either `pattern` or `all`; only a symptom has none",
    why: "a pasted log finds its page by it",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let is_known = |head: &Head| head.knows(key!(ErrorData.signatures)) && head.knows(key!(ErrorData.kind));
    for error in context.pages.errors.iter().filter(|error| is_known(&error.head)) {
        let data = &error.data;
        if data.kind != ErrorKind::Symptom && data.signatures.is_empty() {
            found.push(
                Diagnostic::error(&RULE, error.head.title.span, "the error has no signature")
                    .help("add `signatures:` with the message, or `kind: symptom` if no program prints one"),
            );
        }
        for signature in &data.signatures {
            if matches!(signature.text(), SignatureText::Unclear) {
                found.push(
                    Diagnostic::error(&RULE, signature.span, "a signature has either `pattern` or `all`")
                        .help("keep one of the two"),
                );
            }
        }
    }
    found
}
