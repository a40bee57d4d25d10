//! Describes the inputs of a figure in prose.

use crate::i18n::text;
use crate::render::RenderInputs;
use crate::site::{DEFAULT_CTX, Figure, Kind, PageId, ProseCall, format_count};

/// Returns the inputs of a call's figure, shown on demand; `None` for a call with syntax errors.
pub(super) fn provenance(inputs: &RenderInputs<'_>, source: &str) -> Option<String> {
    let call = ProseCall::parse(source).ok()?;
    let title = |kind: Kind, slug: &str| {
        inputs.site.head(&PageId::new(kind, slug)).map(|head| head.title.value.as_str())
    };
    let words = match call.figure.value {
        Figure::File => text("{model}, {quant}: all tensors of the file"),
        Figure::Weights => text("{model}, {quant}: weights on the GPU"),
        Figure::Kv => text("{model}: KV cache, {n} tokens of context, {type} cache"),
        Figure::Compute => text("{model}: compute buffer, {n} tokens of context, {type} cache"),
        Figure::Total => text(
            "{model}, {quant}: weights, KV cache and compute buffer on the GPU, {n} tokens of context, {type} cache",
        ),
        Figure::MaxCtx => text("{model}, {quant}: largest context on {device}, {type} cache"),
    };
    let device = call.gpu.as_ref().and_then(|gpu| title(Kind::Hardware, &gpu.value));
    let context = call.ctx.as_ref().map_or(DEFAULT_CTX, |ctx| ctx.value);
    Some(inputs.config.texts.fill(
        words,
        &[
            ("model", &title(Kind::Model, &call.model.value)?),
            ("quant", &call.quant.value),
            ("n", &format_count(context)),
            ("type", &call.kv.as_ref().map_or("f16", |kv| kv.value.as_str())),
            ("device", &device.unwrap_or_default()),
        ],
    ))
}
