//! Drawings of guides: bars to scale, computed from the figures of a model.

use kbgen_estimate::backend::Backend;
use serde::Serialize;

use crate::render::views::common::context_label;
use crate::render::views::context::RenderContext;
use crate::render::views::defaults::{CONTEXTS, default_quant};
use crate::site::kinds::{Illustration, ModelData};
use crate::site::{DEFAULT_CTX, DeviceMemory, Figures, Page, Run, gib};

/// A drawing of rows with bars, all on one scale.
#[derive(Serialize)]
pub(super) struct IllustrationView {
    title: String,
    rows: Vec<Row>,
    keys: Vec<Key>,
}

#[derive(Serialize)]
struct Row {
    label: String,
    /// Sum of the parts, in words.
    total: String,
    parts: Vec<Part>,
}

/// A part of a bar, in percent of the scale.
#[derive(Serialize)]
struct Part {
    name: &'static str,
    x: f64,
    share: f64,
}

/// An entry of the legend.
#[derive(Serialize)]
struct Key {
    name: &'static str,
    label: String,
}

/// Bytes of a row, by the name of the part.
type Bytes = Vec<(&'static str, u64)>;

/// Returns a drawing from the figures of a model; `None` if the model is not covered.
pub(super) fn illustration(
    cx: &RenderContext<'_>,
    kind: Illustration,
    model: &Page<ModelData>,
) -> Option<IllustrationView> {
    let figures = cx.inputs.fits.figures(&model.head.id.slug)?;
    let quant = default_quant(cx.inputs, &model.data, figures)?;
    let name = format!("{}, {}", model.head.title.value, cx.inputs.fits.quants[quant]);
    let named = |title: &str| format!("{title} ({name})");
    let (title, rows) = match kind {
        Illustration::Memory => (named(cx.tr("Memory use of a GPU")), memory(cx, model)?),
        Illustration::Context => (
            named(cx.tr("Memory use by context length")),
            contexts(cx, figures, quant).collect::<Option<_>>()?,
        ),
        Illustration::Offload => {
            (named(cx.tr("GPU memory and RAM with offload")), offload(cx, figures, quant)?)
        }
    };
    Some(draw(cx, title, rows))
}

fn draw(cx: &RenderContext<'_>, title: String, rows: Vec<(String, String, Bytes)>) -> IllustrationView {
    let sum = |bytes: &Bytes| bytes.iter().map(|part| part.1).sum::<u64>();
    let scale = rows.iter().map(|row| sum(&row.2)).max().unwrap_or_default().max(1);
    let percent = |bytes: u64| (bytes as f64 * 10_000.0 / scale as f64).round() / 100.0;
    let mut keys: Vec<Key> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.2) {
        if keys.iter().all(|key| key.name != *name) {
            keys.push(Key { name, label: label(cx, name).into() });
        }
    }
    let row = |(label, total, bytes): (String, String, Bytes)| {
        let mut x = 0;
        let parts = bytes.into_iter().map(|(name, own)| {
            x += own;
            Part { name, x: percent(x - own), share: percent(own) }
        });
        Row { label, total, parts: parts.collect() }
    };
    IllustrationView { title, rows: rows.into_iter().map(row).collect(), keys }
}

fn label<'s>(cx: &RenderContext<'s>, name: &str) -> &'s str {
    match name {
        "weights" => cx.tr("Weights"),
        "kv" => cx.tr("KV cache"),
        "compute" => cx.tr("Compute buffer"),
        "driver" => cx.tr("Driver, at most"),
        "host" => cx.tr("In RAM"),
        _ => cx.tr("Free"),
    }
}

/// Returns the smallest GPU that holds the model with default settings.
fn memory(cx: &RenderContext<'_>, model: &Page<ModelData>) -> Option<Vec<(String, String, Bytes)>> {
    let answer = cx.runs_on(model)?;
    let card = answer.card?;
    let room = DeviceMemory::cuda(card.visible);
    let (run, driver) = (&answer.run, room.driver.high.0);
    let free = room.visible.low.0.checked_sub(run.total() + driver)?;
    let total = cx.fill(
        "{used} of {size} at {context}",
        &[
            ("used", &gib(run.total() + driver)),
            ("size", &gib(room.visible.low.0)),
            ("context", &context_label(run.ctx)),
        ],
    );
    let parts = vec![
        ("weights", run.weights),
        ("kv", run.kv),
        ("compute", run.compute),
        ("driver", driver),
        ("free", free),
    ];
    Some(vec![(format!("{} GB", card.memory_gib), total, parts)])
}

/// Returns a row for each context up to the model's maximum; `None` where the compute buffer is not covered.
fn contexts(
    cx: &RenderContext<'_>,
    figures: &Figures,
    quant: usize,
) -> impl Iterator<Item = Option<(String, String, Bytes)>> {
    let weights = figures.quants[quant].as_ref().map(|fit| fit.gpu);
    let row = move |ctx: u64| {
        let run = Run::plain(0);
        let (kv, compute) = (figures.cache(run, ctx), figures.compute(run, ctx)?);
        let parts = vec![("weights", weights?), ("kv", kv), ("compute", compute)];
        let total = cx.fill("KV cache {size}", &[("size", &gib(kv))]);
        Some((context_label(ctx), total, parts))
    };
    CONTEXTS.into_iter().filter(|ctx| *ctx <= figures.max_ctx).map(row)
}

/// Returns the whole model on the GPU, with its experts in RAM if it has any, and with half of its layers in RAM.
fn offload(cx: &RenderContext<'_>, figures: &Figures, quant: usize) -> Option<Vec<(String, String, Bytes)>> {
    let layers = figures.classes.len();
    let ctx = DEFAULT_CTX.min(figures.max_ctx);
    let run = Run::plain(0);
    let fit = figures.quants[quant].as_ref()?;
    let row = |label: String, on_gpu: usize, host_experts: usize| {
        let on_host = (layers + 1).saturating_sub(on_gpu).min(layers);
        let total = figures.total_of_part(quant, run, (on_gpu, host_experts), ctx, &[Backend::Cuda])?;
        let weights = figures.weights_of(quant, on_host..layers, 0..host_experts)? + fit.output.gpu;
        let kv = figures.cache_of(on_host..layers, run, ctx);
        let layer_kinds = || fit.layers.iter().map(|kind| &fit.kinds[*kind]).enumerate();
        let host_layers: u64 = layer_kinds().take(on_host).map(|(_, kind)| kind.whole.host).sum();
        let experts: u64 =
            layer_kinds().take(host_experts).skip(on_host).map(|(_, kind)| kind.experts.host).sum();
        let host = host_layers + experts + figures.cache_of(0..on_host, run, ctx);
        let parts = vec![("weights", weights), ("kv", kv), ("compute", total - weights - kv), ("host", host)];
        let says = match host {
            0 => cx.fill("{gpu} on the GPU", &[("gpu", &gib(total))]),
            _ => cx.fill("{gpu} on the GPU, {ram} in RAM", &[("gpu", &gib(total)), ("ram", &gib(host))]),
        };
        Some((label, says, parts))
    };
    let experts = figures.experts.map(|_| row(cx.tr("Experts in RAM").into(), layers + 1, layers));
    let half = cx.fill("{n} of {all} layers in RAM", &[("n", &layers.div_ceil(2)), ("all", &layers)]);
    let rows = [
        Some(row(cx.tr("All on the GPU").into(), layers + 1, 0)),
        experts,
        Some(row(half, layers + 1 - layers.div_ceil(2), 0)),
    ];
    rows.into_iter().flatten().collect()
}
