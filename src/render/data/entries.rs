//! Pages as entries of the data files, in the forms that `forms` describes.

use serde_json::{Map, Value, json};

use crate::files::Placed;
use crate::render::data::{append, markdown};
use crate::render::views::{CONTEXTS, Shelf, runs_on};
use crate::site::kinds::{
    DeviceData, ErrorData, GuideData, ModelData, Signature, SignatureText, ToolData, given,
};
use crate::site::{CACHE_TYPES, Figures, Head, ModelFit, Page, Run};

/// What every entry begins with.
fn head(head: &Head, more: Value) -> Value {
    let mut entry = json!({
        "id": head.id.slug,
        "slug": head.id.slug,
        "title": head.title.value,
        "url": format!("/{}", head.id.address()),
        "aliases": plain(&head.aliases),
    });
    append(&mut entry, more);
    entry
}

fn plain(placed: &[Placed<String>]) -> Vec<&str> {
    placed.iter().map(|placed| placed.value.as_str()).collect()
}

fn maybe(placed: Option<&Placed<String>>) -> Option<&str> {
    placed.map(|placed| placed.value.as_str())
}

fn pairs(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

/// An error page.
pub(super) fn error(shelf: &Shelf<'_>, error: &Page<ErrorData>) -> Value {
    let data = &error.data;
    let description = shelf.describe(&error.head);
    head(
        &error.head,
        json!({
            "description": (!description.is_empty()).then_some(description),
            "category": data.category,
            "kind": data.kind.name(),
            "severity": data.severity.name(),
            "status": data.status.name(),
            "retired": data.retired,
            "tools": plain(&data.tools),
            "platforms": data.platforms,
            "signatures": data.signatures.iter().map(signature).collect::<Vec<_>>(),
            "causes": data.causes.iter().map(|cause| json!({
                "id": cause.id.value,
                "title": cause.title.value,
                "tell": markdown::line(shelf, &error.head, &cause.tell.value, "/").as_str(),
                "when": maybe(cause.when.as_ref()),
                "case": maybe(cause.case.as_ref()),
                "solutions": plain(&cause.solutions),
            })).collect::<Vec<_>>(),
            "solutions": data.solutions.iter().map(|solution| json!({
                "id": solution.id.value,
                "title": solution.title,
                "cost": solution.cost,
            })).collect::<Vec<_>>(),
            "related": plain(&data.related),
            "changes": data.changes.iter().map(|change| json!({
                "date": change.date.value.to_string(),
                "what": change.what,
            })).collect::<Vec<_>>(),
            "verified": error.head.verified.as_ref().map(|date| date.value.to_string()),
            "verified_with": pairs(&data.evidence.verified_with),
            "sources": plain(&data.evidence.sources),
        }),
    )
}

fn signature(signature: &Signature) -> Value {
    let mut entry = match &signature.text {
        SignatureText::Pattern(pattern) => json!({"pattern": pattern.value}),
        SignatureText::All(all) => json!({"all": plain(all)}),
        SignatureText::Unclear => json!({}),
    };
    if !signature.not.is_empty() {
        entry["not"] = json!(plain(&signature.not));
    }
    append(
        &mut entry,
        json!({
            "extract": maybe(signature.extract.as_ref()),
            "when": maybe(signature.when.as_ref()),
            "source": signature.source,
            "versions": pairs(&signature.versions),
            "samples": plain(&signature.samples),
        }),
    );
    entry
}

/// A model.
pub(super) fn model(model: &Page<ModelData>) -> Value {
    let data = &model.data;
    head(
        &model.head,
        json!({
            "family": data.family,
            "hf_id": data.hf_id,
            "licence": data.licence,
            "released": data.released.map(|date| date.to_string()),
            "parameters": data.parameters.as_ref().map(|count| count.value),
            "max_ctx": given(data.architecture.fields.max_ctx),
            "sources": plain(&data.evidence.sources),
        }),
    )
}

/// A model with its hyperparameters and what it needs.
pub(super) fn whole_model(shelf: &Shelf<'_>, page: &Page<ModelData>) -> Value {
    let data = &page.data;
    let slug = &page.head.id.slug;
    let mut entry = model(page);
    let not_covered = match shelf.order.fits.models.get(slug) {
        Some(ModelFit::NotCovered(reason)) => Some(reason.as_str()),
        Some(ModelFit::Covered(_)) => None,
        None => Some("no figures were computed"),
    };
    append(
        &mut entry,
        json!({
            "note": data.note,
            "released_as": maybe(data.released_as.as_ref()),
            "architecture": data.architecture.json(),
            "memory": shelf.order.fits.figures(slug).map(|figures| memory(shelf, figures)),
            "not_covered": not_covered,
            "runs_on": runs_on(shelf.order, page).map(|answer| json!({
                "quantization": answer.run.quant_name,
                "ctx": answer.run.ctx,
                "needs_bytes": answer.run.total(),
                "memory_gib": answer.memory_gib,
                "badge": format!("/{}", answer.badge),
            })),
        }),
    );
    entry
}

/// Weights do not depend on the context, nor buffers on the quantization: the sum of one of each is exact to the byte.
fn memory(shelf: &Shelf<'_>, figures: &Figures) -> Value {
    let fits = shelf.order.fits;
    let weights = fits.quants.iter().zip(&figures.quants).filter_map(|(name, fit)| {
        let fit = fit.as_ref()?;
        Some(json!({"quantization": name, "file_bytes": fit.file, "gpu_bytes": fit.gpu}))
    });
    let buffers = CACHE_TYPES.into_iter().enumerate().flat_map(|(cache, cache_type)| {
        CONTEXTS.into_iter().filter(|ctx| *ctx <= figures.max_ctx).filter_map(move |ctx| {
            let run = Run::plain(cache);
            Some(json!({
                "cache_type": cache_type,
                "ctx": ctx,
                "cache_bytes": figures.cache(run, ctx),
                "compute_bytes": figures.compute(run, ctx)?,
            }))
        })
    });
    json!({
        "driver_bytes": {"least": fits.driver.0, "most": fits.driver.1},
        "weights": weights.collect::<Vec<_>>(),
        "buffers": buffers.collect::<Vec<_>>(),
    })
}

/// A device.
pub(super) fn device(device: &Page<DeviceData>) -> Value {
    let data = &device.data;
    head(
        &device.head,
        json!({
            "vendor": data.vendor,
            "class": data.class,
            "architecture": data.architecture,
            "generation": data.generation,
            "memory_bytes": data.memory_bytes(),
            "visible_bytes": data.visible_bytes(),
            "memory_options_gib": data.memory_options_gib,
            "unified": data.unified,
            "memory_type": data.memory_type,
            "bus_bits": data.bus_bits,
            "bandwidth_gbps": data.bandwidth_gbps,
            "tdp_w": data.tdp_w,
            "compute_capability": data.compute_capability,
            "released": data.released.map(|date| date.to_string()),
            "note": data.note,
            "sources": plain(&data.evidence.sources),
        }),
    )
}

/// A tool.
pub(super) fn tool(tool: &Page<ToolData>) -> Value {
    head(&tool.head, json!({"homepage": tool.data.homepage}))
}

/// A guide.
pub(super) fn guide(guide: &Page<GuideData>) -> Value {
    head(&guide.head, json!({"related": plain(&guide.data.related)}))
}
