//! Hosts in Punycode, which browsers display with other letters.

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::unicode_safety::{Punycode, punycode_hosts};

pub(super) const RULE: Rule = Rule {
    code: "punycode-host",
    requirement: "hosts are not written in Punycode (`xn--…`); this is only a warning if the host does not look like ASCII",
    why: "a browser may display it like a host that readers trust",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in texts::heads(context) {
        for text in texts::whole(context, head) {
            found.extend(punycode_hosts(text.text).iter().map(|host| finding(host, text.span(&host.range))));
        }
        let body = context.sources.text(head.body.span);
        for link in &head.body.outline.links {
            let written = body.get(link.range.clone()).unwrap_or_default();
            if written != link.destination && punycode_hosts(written).is_empty() {
                let span = head.body.span.part(link.range.start, link.range.end);
                found.extend(punycode_hosts(&link.destination).iter().map(|host| finding(host, span)));
            }
        }
    }
    found
}

fn finding(host: &Punycode, span: Span) -> Diagnostic {
    let make = if host.is_lookalike { Diagnostic::error } else { Diagnostic::warning };
    let message = match &host.decoded {
        Some(decoded) => format!("host in Punycode, displayed by browsers as `{decoded}`"),
        None => "invalid Punycode host".to_string(),
    };
    make(&RULE, span, message).help("link to an ASCII host, or remove the link")
}
