//! Estimator calls with unknown names.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::site::kinds::{QuantData, given, key};
use crate::site::{Argument, CACHE_TYPES, Kind, ProseCall, included};

pub(super) const RULE: Rule = Rule {
    code: "bad-call",
    requirement: "estimator calls use known models, quantizations, cache types and figures",
    why: "the figure is computed at build time; a failing call would leave a gap in the sentence",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in context.pages.heads() {
        for call in head.body.outline.calls.iter().filter(|call| included(&call.source).is_none()) {
            let inner = head.body.span.part(call.inner_range.start, call.inner_range.end);
            match ProseCall::parse(&call.source) {
                Err(fault) => found.push(
                    Diagnostic::error(&RULE, inner.part(fault.range.start, fault.range.end), fault.message)
                        .help(fault.help),
                ),
                Ok(parsed) => {
                    let faults = unknown_names(context, &parsed);
                    found.extend(faults.into_iter().map(|(range, message, help)| {
                        Diagnostic::error(&RULE, inner.part(range.start, range.end), message).help(help)
                    }));
                }
            }
        }
    }
    found
}

type Fault = (std::ops::Range<usize>, String, String);

fn unknown_names(context: &CheckContext<'_>, call: &ProseCall) -> Vec<Fault> {
    let site = context.site;
    let models: Vec<&str> = site.slugs(Kind::Model).collect();
    let devices: Vec<&str> = site.slugs(Kind::Hardware).collect();
    let quants: Vec<&str> = site.quants.iter().map(|quant| quant.data.gguf_type.value.as_str()).collect();
    let mut faults = Vec::new();
    let mut look = |argument: &Argument<String>, what: &str, known: &[&str]| {
        if known.contains(&argument.value.as_str()) {
            return;
        }
        let longer = || known.iter().copied().find(|name| name.starts_with(&format!("{}-", argument.value)));
        let help = match nearest(&argument.value, known.iter().copied()).or_else(longer) {
            Some(near) => format!("did you mean `{near}`?"),
            None if (1..=12).contains(&known.len()) => format!("use one of {}", known.join(", ")),
            None => format!("add a page for this {what} first"),
        };
        faults.push((argument.range.clone(), format!("unknown {what} `{}`", argument.value), help));
    };
    look(&call.model, "model", &models);
    if site.knows(Kind::Quant, &[key!(QuantData.gguf_type)]) {
        look(&call.quant, "quantization", &quants);
    }
    if let Some(kv) = &call.kv {
        look(kv, "cache type", &CACHE_TYPES);
    }
    if let Some(gpu) = &call.gpu {
        look(gpu, "device", &devices);
    }
    if let Some(ctx) = &call.ctx {
        let model = site.models.iter().find(|model| model.head.id.slug == call.model.value);
        let max = model.and_then(|model| given(model.data.architecture.fields.max_ctx));
        if ctx.value == 0 || max.is_some_and(|max| ctx.value > max) {
            let help =
                max.map_or("use at least 1".to_string(), |max| format!("use a number from 1 to {max}"));
            faults.push((ctx.range.clone(), format!("unsupported context of {} tokens", ctx.value), help));
        }
    }
    faults
}
