//! Computes the figures of estimator calls in prose.

use std::collections::BTreeMap;

use crate::diag::Diagnostic;
use crate::fit::rules::NOT_COVERED;
use crate::site::kinds::{DeviceData, key};
use crate::site::{
    CACHE_TYPES, DEFAULT_CTX, Figure, FitTable, Kind, ModelFit, ProseCall, ProseFigure, Run, Site,
    format_count, gib,
};

/// Returns figures by file of the page and offset of the call in the body. Omits calls that `check` rejects.
pub fn figures(
    site: &Site,
    table: &FitTable,
    found: &mut Vec<Diagnostic>,
) -> BTreeMap<String, BTreeMap<usize, ProseFigure>> {
    let mut figures: BTreeMap<String, BTreeMap<usize, ProseFigure>> = BTreeMap::new();
    for head in site.heads().filter(|head| !head.is_unread()) {
        for call in &head.body.outline.calls {
            let place = head.body.span.part(call.range.start, call.range.end);
            let Ok(parsed) = ProseCall::parse(&call.source) else { continue };
            match figure(site, table, &parsed) {
                Some(Ok(figure)) => {
                    figures.entry(head.path.clone()).or_default().insert(call.range.start, figure);
                }
                Some(Err(reason)) => found.push(
                    Diagnostic::error(&NOT_COVERED, place, format!("cannot compute this figure: {reason}"))
                        .help("describe it in words, or request another figure"),
                ),
                None => {}
            }
        }
    }
    figures
}

fn figure(site: &Site, table: &FitTable, call: &ProseCall) -> Option<Result<ProseFigure, String>> {
    let title = |kind: Kind, slug: &str| {
        site.heads()
            .find(|head| head.id.kind == kind && head.id.slug == slug)
            .map(|head| head.title.value.clone())
    };
    let model = title(Kind::Model, &call.model.value)?;
    let fit = match table.models.get(&call.model.value)? {
        ModelFit::Covered(fit) => fit,
        ModelFit::NotCovered(reason) => return Some(Err(reason.clone())),
    };
    let quant = table.quant(&call.quant.value)?;
    let kv = call.kv.as_ref().map_or("f16", |kv| kv.value.as_str());
    let run = Run::plain(CACHE_TYPES.iter().position(|name| *name == kv)?);
    let ctx = call.ctx.as_ref().map_or(DEFAULT_CTX, |ctx| ctx.value);
    let Some(weights) = &fit.quants[quant] else {
        return Some(Err(format!("{model} is not available in {}", call.quant.value)));
    };
    let Some(compute) = fit.compute(run, ctx) else {
        return Some(Err(format!("{model} is not covered with a {kv} cache")));
    };
    let bytes = |value: u64| ProseFigure { value, text: gib(value) };
    Some(Ok(match call.figure.value {
        Figure::File => bytes(weights.file),
        Figure::Weights => bytes(weights.gpu),
        Figure::Kv => bytes(fit.cache(run, ctx)),
        Figure::Compute => bytes(compute),
        Figure::Total => bytes(weights.gpu + fit.cache(run, ctx) + compute),
        Figure::MaxCtx => {
            let gpu = call.gpu.as_ref()?;
            let device = site.devices.iter().find(|device| device.head.id.slug == gpu.value)?;
            let is_known = [key!(DeviceData.vendor), key!(DeviceData.class), key!(DeviceData.memory_gb)]
                .iter()
                .all(|field| device.head.knows(field));
            if !is_known {
                return None;
            }
            let name = &device.head.title.value;
            if !device.data.is_cuda() {
                return Some(Err(format!("buffers on {name} are not modeled")));
            }
            let memory = device.data.visible_bytes();
            match fit.largest_context(quant, run, table.driver.1, memory) {
                Some(value) => ProseFigure { value, text: format_count(value) },
                None => return Some(Err(format!("{model} does not fit on {name}"))),
            }
        }
    }))
}
