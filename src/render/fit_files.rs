//! The fit table for the calculator: an index in the page, and one script per model.

use kbgen_estimate::backend::{Backend, FileShare};
use kbgen_estimate::estimator::BytesRange;
use kbgen_estimate::speed::{RAM_GBPS, SPREAD, SpeedClass, Unmeasured};
use kbgen_estimate::weights::GPU_ALIGNMENT;
use serde_json::{Value, json};

use crate::files::Outputs;
use crate::i18n::Translations;
use crate::render::RenderInputs;
use crate::render::assets::digest;
use crate::render::not_covered::not_covered;
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{
    CACHE_TYPES, Curve, DEFAULT_CTX, Factors, Figures, MIN_VISIBLE, Offload, PAIRS, QuantFit, Runner, SLOTS,
    SampledSplit, Share, Vllm, WEIGHT_TYPES, WINDOWS_DESKTOP,
};

/// Version of the format; increased when readers have to change.
const VERSION: u32 = 3;

/// Makes `data/fit/<slug>.js` for every covered model.
pub(super) fn tables(inputs: &RenderInputs<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    for model in &inputs.site.models {
        let slug = &model.head.id.slug;
        if let Some(figures) = inputs.fits.figures(slug) {
            let data = model_data(&inputs.config.texts, figures, &model.data);
            // A function call instead of JSON, so that it also loads from disk.
            outputs.add(format!("data/fit/{slug}.js"), format!("kbgen.fit.add({},{data});\n", json!(slug)));
        }
    }
    outputs
}

/// Returns the index in the page: names, devices, and constants of all models. `tables` are the files of the models.
pub(super) fn index(inputs: &RenderInputs<'_>, tables: &Outputs) -> Value {
    let fits = inputs.fits;
    let models: Vec<Value> = inputs
        .site
        .models
        .iter()
        .filter_map(|model| {
            let figures = fits.figures(&model.head.id.slug)?;
            let mut entry = json!({
                "id": model.head.id.slug,
                "name": model.head.title.value,
                "family": model.data.family,
                "max": figures.max_ctx,
            });
            if figures.experts.is_some() {
                entry["moe"] = json!(1);
            }
            Some(entry)
        })
        .collect();
    let devices: Vec<Value> = inputs
        .site
        .devices
        .iter()
        .map(|device| {
            let mut entry = json!({
                "id": device.head.id.slug,
                "name": device.head.title.value,
                "vendor": device.data.vendor.name(),
                "mem": device.data.memory_bytes(),
                "vis": device.data.visible_bytes(),
                "ok": device.data.is_cuda(),
            });
            let visible = device.data.visible_range(device.data.memory_bytes());
            if visible.high > visible.low {
                entry["most"] = json!(visible.high.0);
            }
            let sizes = device.data.memory_sizes();
            let other_systems: serde_json::Map<String, Value> = device
                .data
                .systems()
                .iter()
                .filter(|system| device.data.default_systems() != [**system])
                .map(|system| {
                    let visible = sizes.iter().map(|memory| device.data.visible_on(&[*system], *memory));
                    let visible: Vec<Value> = visible.map(bounds).collect();
                    (system.name().to_string(), json!(visible))
                })
                .collect();
            if !other_systems.is_empty() {
                entry["systems"] = json!(other_systems);
            }
            if device.data.unified {
                entry["shared"] = json!(1);
            }
            if sizes.len() > 1 {
                let size = |memory: &u64| {
                    let visible = device.data.visible_range(*memory);
                    [*memory, visible.low.0, visible.high.0]
                };
                entry["sizes"] = json!(sizes.iter().map(size).collect::<Vec<_>>());
            }
            if !device.data.is_cuda() {
                entry["backends"] = json!(backends(device.data.backends()));
            }
            if let Some(rate) = device.data.bandwidth_gbps {
                entry["bw"] = json!(rate);
            }
            entry["sp"] = speed_class(&device.data);
            entry
        })
        .collect();
    json!({
        "v": VERSION,
        "stamp": stamp(tables),
        "quants": fits.quants,
        "kv": CACHE_TYPES,
        "slots": SLOTS,
        "dtypes": WEIGHT_TYPES,
        "runners": Runner::NAMES.map(|(name, _)| name),
        "models": models,
        "devices": devices,
        "driver": [fits.driver.0, fits.driver.1],
        "backends": profiles(),
        "visible": MIN_VISIBLE,
        "desktop": WINDOWS_DESKTOP,
        "ctx": DEFAULT_CTX,
        "decode": decode(),
        "unmeasured": unmeasured(&inputs.config.texts),
    })
}

/// Returns a range as one number if its ends are equal.
fn bounds(visible: BytesRange) -> Value {
    if visible.low == visible.high { json!(visible.low.0) } else { json!([visible.low.0, visible.high.0]) }
}

/// Position of the device's class in [`decode`], or that of the reason in [`unmeasured`], negative and less 1.
pub(super) fn speed_class(data: &DeviceData) -> Value {
    match data.speed_class() {
        Ok(class) => json!(SpeedClass::ALL.iter().position(|known| *known == class)),
        Err(missing) => json!(-1 - missing as i64),
    }
}

/// How fast each class of devices decodes: share of the bandwidth, time per layer, and the positions in [`unmeasured`]
/// for models with experts and for a part in RAM, or -1.
fn decode() -> Value {
    let why = |missing: Option<Unmeasured>| missing.map_or(-1, |missing| missing as i64);
    let class = |class: &SpeedClass| {
        let rate = class.rate();
        let [experts, ram] = [class.unmeasured_with_experts(), class.unmeasured_partly_in_ram()].map(why);
        json!([rate.share, rate.layer_us, experts, ram])
    };
    json!({"classes": SpeedClass::ALL.iter().map(class).collect::<Vec<_>>(), "spread": SPREAD, "ram": RAM_GBPS})
}

/// Reasons why a speed is unknown, in the order of [`Unmeasured::ALL`].
fn unmeasured(texts: &Translations) -> [&str; 4] {
    Unmeasured::ALL.map(|missing| not_covered(texts, missing.reason()))
}

/// Positions of backends in [`profiles`].
pub(super) fn backends(of_device: &[Backend]) -> Vec<usize> {
    of_device.iter().filter_map(|backend| Backend::ALL.iter().position(|known| known == backend)).collect()
}

/// How each backend differs from CUDA.
pub(super) fn profiles() -> Vec<Value> {
    let profile = |backend: &Backend| {
        let profile = backend.profile();
        json!({
            "name": backend.name(),
            "compute": profile.compute,
            "extra": profile.extra,
            "widens": profile.widens_cache,
            "pipelined": profile.pipelined_since.is_some(),
            "file": match profile.file {
                FileShare::None => "",
                FileShare::Mapped => "mapped",
                FileShare::Shared => "shared",
            },
            "driver": [profile.driver.low.0, profile.driver.high.0],
        })
    };
    Backend::ALL.iter().map(profile).collect()
}

/// Returns a hash of all tables. It is part of their addresses, so that a page never loads a cached table of another
/// build.
fn stamp(tables: &Outputs) -> String {
    let texts: Vec<&[u8]> = tables.iter().map(|(_, text)| text.as_slice()).collect();
    digest(&texts.concat())
}

fn model_data(texts: &Translations, figures: &Figures, model: &ModelData) -> Value {
    let mut data = json!({
        "max": figures.max_ctx,
        "layers": figures.classes.len(),
        "params": figures.parameters,
        "curves": figures.curves.iter().map(curve).collect::<Vec<_>>(),
        "class": run_lengths(&figures.classes),
        "read": figures.read,
        "cache": figures.cache,
        "compute": figures.compute.each_ref().map(|slots| slots.each_ref().map(places)),
        "samples": figures.samples.iter().map(|samples| sampled(samples)).collect::<Vec<_>>(),
        "quants": figures.quants.iter().map(|fit| fit.as_ref().map(quant_data)).collect::<Vec<_>>(),
    });
    data["vllm"] = match &figures.vllm {
        // They may be loaded in 16 bits on every card, or not at all.
        Ok(vllm) => vllm_data(vllm, 2 * model.further_parameters(figures.parameters)),
        Err(reason) => json!(not_covered(texts, reason)),
    };
    data["offload"] = offload_data(&figures.offload);
    if let Some(id) = &model.hf_id {
        data["hf"] = json!(id);
    }
    if !model.writes_text() {
        data["embeds"] = json!(1);
    }
    if model.architecture.fields.build().is_ok_and(|model| !model.has_fused_kernel()) {
        data["unfused"] = json!(1);
    }
    if let Some(quantization) = &model.released_as {
        data["as"] = json!(quantization.value);
    }
    if let Some((all, used)) = figures.experts {
        data["moe"] = json!([all, used]);
    }
    if let Some(Factors { size, classes }) = &figures.factors {
        data["factors"] = json!({"gpu": size.gpu, "host": size.host, "class": classes});
    }
    data
}

fn vllm_data(vllm: &Vllm, further: u64) -> Value {
    json!({
        "weights": vllm.cards.map(|card| card.map(|card| card.weights)),
        "page": vllm.cards.map(|card| card.map(|card| card.page)),
        "layers": vllm.layers,
        "padded": vllm.padded,
        "window": vllm.window,
        "further": further,
        "states": vllm.states,
        "state": vllm.cards.map(|card| card.map(|card| card.state)),
    })
}

fn offload_data(offload: &Offload) -> Value {
    json!({
        "first": offload.first.each_ref().map(places),
        "last": offload.last.each_ref().map(|slots| slots.each_ref().map(places)),
        "slack": offload.slack,
        "states": offload.states,
        "sharesCache": offload.shares_cache,
        "stream": offload.stream,
        "logits": offload.logits,
    })
}

/// Encodes a curve: first cell, value, slope, repeated.
fn curve(curve: &Curve) -> Vec<i64> {
    let numbers = |(cells, bytes, slope): &(u64, u64, i64)| [*cells as i64, *bytes as i64, *slope];
    curve.pieces.iter().flat_map(numbers).collect()
}

fn places(pairs: &[Option<usize>; PAIRS]) -> [i64; PAIRS] {
    pairs.map(|place| place.map_or(-1, |place| place as i64))
}

/// Encodes values as value, count, repeated.
fn run_lengths(values: &[usize]) -> Vec<usize> {
    values.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len()]).collect()
}

fn quant_data(fit: &QuantFit) -> Value {
    let pair = |share: Share| [share.gpu, share.host];
    let kinds = fit.kinds.iter().map(|kind| {
        let mut numbers = [pair(kind.whole), pair(kind.experts)].concat();
        numbers.push(kind.largest);
        if kind.largest_expert > 0 {
            numbers.push(kind.largest_expert);
        }
        numbers
    });
    json!({
        "file": fit.file,
        "in": fit.input,
        "out": pair(fit.output),
        "touch": fit.touch,
        "big": fit.largest_output,
        "kinds": kinds.collect::<Vec<_>>(),
        "layer": run_lengths(&fit.layers),
        "split": [splits(&fit.splits.layers), splits(&fit.splits.experts), row(fit.splits.nothing)],
    })
}

/// Divides the sizes of compute buffers by their alignment.
fn sampled(samples: &[u64]) -> Vec<u64> {
    samples.iter().map(|bytes| bytes / GPU_ALIGNMENT).collect()
}

/// Encodes splits: layers on the host, and the samples of their buffers by cache type, repeated.
fn splits(splits: &[SampledSplit]) -> Vec<i64> {
    splits.iter().flat_map(|split| [vec![split.count as i64], row(split.samples)].concat()).collect()
}

fn row(places: [Option<usize>; CACHE_TYPES.len()]) -> Vec<i64> {
    places.iter().map(|place| place.map_or(-1, |place| place as i64)).collect()
}

#[cfg(test)]
mod tests {
    use super::run_lengths;

    #[test]
    fn encodes_runs_by_value_and_length() {
        assert_eq!(run_lengths(&[3, 3, 0, 3]), [3, 2, 0, 1, 3, 1]);
        assert!(run_lengths(&[]).is_empty());
    }
}
