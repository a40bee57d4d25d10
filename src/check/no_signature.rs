//! Errors without signatures, and signatures without text.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Head;
use crate::site::kinds::{ErrorData, ErrorKind, SignatureText, key};

pub(super) const RULE: Rule = Rule {
    code: "no-signature",
    requirement: "errors other than symptoms have a signature, with either `pattern` or `all`",
    why: "signatures match logs to pages",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let is_known = |head: &Head| head.knows(key!(ErrorData.signatures)) && head.knows(key!(ErrorData.kind));
    for error in context.pages.errors.iter().filter(|error| is_known(&error.head)) {
        let data = &error.data;
        if data.kind != ErrorKind::Symptom && data.signatures.is_empty() {
            found.push(
                Diagnostic::error(&RULE, error.head.title.span, "missing signature")
                    .help("add `signatures:` with the message, or `kind: symptom` if there is no message"),
            );
        }
        for signature in &data.signatures {
            if matches!(signature.text(), SignatureText::Unclear) {
                found.push(
                    Diagnostic::error(
                        &RULE,
                        signature.span,
                        "signature without exactly one of `pattern` and `all`",
                    )
                    .help("write one of the two keys"),
                );
            }
        }
    }
    found
}
