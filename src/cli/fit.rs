//! `kbgen fit`: whether a model runs on a device, and what it needs.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::cli::arguments::{AnswerFormat, Arguments, FitOptions};
use crate::cli::terminal::{Style, Terminal};
use crate::cli::{Outcome, world};
use crate::diag::nearest;
use crate::fit;
use crate::load::{self, Drafts};
use crate::site::kinds::DeviceData;
use crate::site::{CACHE_TYPES, Figures, FitTable, Kind, ModelFit, Page, Run, Site, Verdict, gib, tokens};

#[derive(Serialize)]
struct Answer {
    model: String,
    context: u64,
    kv_type: String,
    rows: Vec<Row>,
    devices: Vec<DeviceAnswer>,
}

/// Bytes at one quantization.
#[derive(Debug, Clone, Serialize)]
struct Row {
    quant: String,
    file_bytes: u64,
    weights_bytes: u64,
    kv_bytes: u64,
    compute_bytes: u64,
    total_bytes: u64,
}

#[derive(Serialize)]
struct DeviceAnswer {
    device: String,
    memory_bytes: u64,
    driver_bytes: [u64; 2],
    covered: bool,
    verdicts: Vec<VerdictRow>,
    best_quant: Option<String>,
}

#[derive(Serialize)]
struct VerdictRow {
    quant: String,
    verdict: &'static str,
    /// Bytes that remain, or are missing, if the driver takes the most.
    margin_bytes: i64,
    largest_context: Option<u64>,
}

/// Context of a question that names none.
const DEFAULT_CTX: u64 = 8192;

pub(super) fn run(arguments: &Arguments, options: &FitOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let page = named(&site, Kind::Model, &options.model)?;
    let model = site.models.iter().find(|model| model.head.id.slug == page).expect("the name was found");
    let devices: Vec<&Page<DeviceData>> = options
        .gpu
        .iter()
        .map(|gpu| {
            let slug = named(&site, Kind::Hardware, gpu)?;
            Ok(site.devices.iter().find(|device| device.head.id.slug == slug).expect("the name was found"))
        })
        .collect::<Result<_>>()?;
    // The figures of this model alone: those of all would take longer than the answer is worth waiting for.
    let alone = Site { models: vec![model.clone()], quants: site.quants.clone(), ..Site::default() };
    let (table, _) = fit::table(&alone);
    let figures = match &table.models[&page] {
        ModelFit::Covered(figures) => figures,
        ModelFit::NotCovered(reason) => bail!("`{page}` is not covered: {reason}"),
    };
    let answer = answer(&table, figures, &model.head.title.value, &devices, options)?;
    match options.format {
        AnswerFormat::Json => terminal.print(&format!("{}\n", serde_json::to_string_pretty(&answer)?)),
        AnswerFormat::Human => terminal.print(&describe(&answer, terminal)),
    }
    Ok(Outcome::Fine)
}

/// The slug that was meant, or the nearest one in the error.
fn named(site: &Site, kind: Kind, name: &str) -> Result<String> {
    let lower = name.to_lowercase();
    if let Some(slug) = site.slugs(kind).find(|slug| *slug == lower) {
        return Ok(slug.to_string());
    }
    let near =
        site.slugs(kind).find(|slug| slug.contains(&lower)).or_else(|| nearest(&lower, site.slugs(kind)));
    match near {
        Some(near) => bail!("there is no {} `{name}`: did you mean `{near}`?", kind.name()),
        None => bail!(
            "there is no {} `{name}`: the pages under content/{}/ are all there are",
            kind.name(),
            kind.folder()
        ),
    }
}

fn choose(what: &str, name: &str, known: &[impl AsRef<str>]) -> Result<usize> {
    if let Some(at) = known.iter().position(|known| known.as_ref().eq_ignore_ascii_case(name)) {
        return Ok(at);
    }
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let near = nearest(name, known.iter().copied());
    bail!(
        "there is no {what} `{name}`: {}",
        near.map_or_else(
            || format!("known are {}", known.join(", ")),
            |near| format!("did you mean `{near}`?")
        )
    )
}

fn answer(
    table: &FitTable,
    figures: &Figures,
    model: &str,
    devices: &[&Page<DeviceData>],
    options: &FitOptions,
) -> Result<Answer> {
    let cache = choose("cache type", &options.kv_type, &CACHE_TYPES)?;
    let ctx = options.ctx.unwrap_or(DEFAULT_CTX.min(figures.max_ctx));
    if ctx == 0 || ctx > figures.max_ctx {
        bail!("a context of {ctx} tokens is not possible: {model} has between 1 and {}", figures.max_ctx);
    }
    let quants: Vec<usize> = match &options.quant {
        Some(name) => vec![choose("quantization", name, &table.quants)?],
        None => (0..table.quants.len()).collect(),
    };
    let rows: Vec<(usize, Row)> =
        quants.iter().filter_map(|quant| Some((*quant, row(table, figures, *quant, cache, ctx)?))).collect();
    let devices =
        devices.iter().map(|device| device_answer(table, figures, device, (cache, &rows))).collect();
    Ok(Answer {
        model: model.to_string(),
        context: ctx,
        kv_type: CACHE_TYPES[cache].to_string(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        devices,
    })
}

fn row(table: &FitTable, figures: &Figures, quant: usize, cache: usize, ctx: u64) -> Option<Row> {
    let weights = figures.quants[quant].as_ref()?;
    let run = Run::plain(cache);
    let (kv_bytes, compute_bytes) = (figures.cache(run, ctx), figures.compute(run, ctx)?);
    Some(Row {
        quant: table.quants[quant].clone(),
        file_bytes: weights.file,
        weights_bytes: weights.gpu,
        kv_bytes,
        compute_bytes,
        total_bytes: weights.gpu + kv_bytes + compute_bytes,
    })
}

fn device_answer(
    table: &FitTable,
    figures: &Figures,
    device: &Page<DeviceData>,
    (cache, rows): (usize, &[(usize, Row)]),
) -> DeviceAnswer {
    let memory = device.data.memory_bytes();
    let verdicts: Vec<VerdictRow> = rows
        .iter()
        .map(|(quant, row)| VerdictRow {
            quant: row.quant.clone(),
            verdict: Verdict::of(row.total_bytes, table.driver, memory).name(),
            margin_bytes: memory as i64 - (row.total_bytes + table.driver.1) as i64,
            largest_context: figures.largest_context(*quant, Run::plain(cache), table.driver.1, memory),
        })
        .collect();
    let best = verdicts.iter().find(|row| row.verdict == "fits").map(|row| row.quant.clone());
    DeviceAnswer {
        device: device.head.title.value.clone(),
        memory_bytes: memory,
        driver_bytes: [table.driver.0, table.driver.1],
        covered: device.data.is_cuda(),
        verdicts: if device.data.is_cuda() { verdicts } else { Vec::new() },
        best_quant: best.filter(|_| device.data.is_cuda()),
    }
}

fn describe(answer: &Answer, terminal: &Terminal) -> String {
    let heading = format!("{}, context {}, {} cache", answer.model, tokens(answer.context), answer.kv_type);
    let mut text = format!("{}\n\n", terminal.style(Style::Title, &heading));
    text.push_str(&format!(
        "{:<8} {:>11} {:>11} {:>11} {:>11} {:>11}\n",
        "", "file", "weights", "KV cache", "compute", "on the GPU"
    ));
    for row in &answer.rows {
        text.push_str(&format!(
            "{:<8} {:>11} {:>11} {:>11} {:>11} {:>11}\n",
            row.quant,
            gib(row.file_bytes),
            gib(row.weights_bytes),
            gib(row.kv_bytes),
            gib(row.compute_bytes),
            gib(row.total_bytes)
        ));
    }
    text.push_str("\nThese are llama.cpp's own buffers with every layer on one CUDA GPU and flash attention on.\nThe driver takes more on top.\n");
    for device in &answer.devices {
        text.push('\n');
        text.push_str(&describe_device(device, answer, terminal));
    }
    text
}

fn describe_device(device: &DeviceAnswer, answer: &Answer, terminal: &Terminal) -> String {
    let heading = format!("{}, {}", device.device, gib(device.memory_bytes));
    let mut text = format!("{}\n", terminal.style(Style::Strong, &heading));
    if !device.covered {
        text.push_str("  not covered: compute buffers were measured for CUDA GPUs only\n");
        return text;
    }
    for row in &device.verdicts {
        let margin = gib(row.margin_bytes.unsigned_abs());
        let word = match row.verdict {
            "fits" => format!("fits, {margin} to spare"),
            "tight" => format!("tight: {margin} short if the driver takes the most"),
            _ => format!("does not fit, {margin} short"),
        };
        let largest =
            row.largest_context.map_or_else(String::new, |ctx| format!("; largest context {}", tokens(ctx)));
        text.push_str(&format!("  {:<8} {word}{largest}\n", row.quant));
    }
    text.push_str(&format!(
        "  the driver is counted with {} to {}\n",
        gib(device.driver_bytes[0]),
        gib(device.driver_bytes[1])
    ));
    if let Some(best) = &device.best_quant {
        text.push_str(&format!(
            "  try: llama-server -m MODEL-{best}.gguf -ngl 999 -c {} -fa on -ctk {kv} -ctv {kv}\n",
            answer.context,
            kv = answer.kv_type
        ));
    }
    text
}
