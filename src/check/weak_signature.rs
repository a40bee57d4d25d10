//! Signatures that are too unspecific to identify an error.

use kbgen_signature::{MIN_ASSERTING_BITS, Pattern, Signature};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Page;
use crate::site::kinds::{self, ErrorData, ErrorKind};

pub(super) const RULE: Rule = Rule {
    code: "weak-signature",
    requirement: "the literal text of a signature is specific enough to identify its error",
    why: "common words match healthy logs, so the signature only suggests its page; this is acceptable if the program prints nothing else. Specificity is the rarity of the words in bits",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let has_messages = |error: &&Page<ErrorData>| error.data.kind != ErrorKind::Symptom;
    let errors = context.pages.errors.iter().filter(has_messages);
    errors.flat_map(|error| error.data.signatures.iter().filter_map(finding)).collect()
}

fn finding(signature: &kinds::Signature) -> Option<Diagnostic> {
    let texts = signature.texts();
    let all: Option<Vec<Pattern>> = texts.iter().map(|text| Pattern::parse(&text.value).ok()).collect();
    let bits = Signature { all: all?, ..Signature::default() }.specificity();
    if bits >= MIN_ASSERTING_BITS {
        return None;
    }
    let message = format!(
        "signature has {bits} bits of specificity, below the {MIN_ASSERTING_BITS} needed to identify an error"
    );
    let finding = Diagnostic::warning(&RULE, texts.first()?.span, message);
    Some(finding.help("add literal text unique to this message"))
}
