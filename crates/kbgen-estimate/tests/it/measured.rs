//! Reads, compares and scores llama.cpp's figures and those of the estimator, for the tests and for
//! `ACCURACY.md`, whose tables the methodology page of the site repeats.
//!
//! All rows are llama.cpp's own: its quantizer's dry run (`measured_files.csv`) and its memory breakdown
//! after a load without allocation on a simulated CUDA device (`measured.csv`, one row per run).
//! `measured_models.csv` contains the models' hyperparameters. Most rows are of commit 0c1e570. Those of
//! Qwen2.5-VL, Qwen3-VL, Ministral 3, Nemotron Nano 2, Nemotron 3 Super, Gemma 4 E2B and E4B, and the
//! embedding models are of v0.5.0, as built for `@node-llama-cpp/linux-x64` 3.22.1. It gives the figures of
//! 0c1e570 except for the host's compute buffer with two GPUs, which these rows omit. E2B and E4B have no
//! rows with two GPUs, where their compute buffers differ from the replay by 3 to 15 MiB. DeepSeek V3.2,
//! GLM-5 and MiMo V2 Flash are also of v0.5.0, as built for `llama-cpp-python` 0.3.36; that build gave the
//! figures of 0c1e570 for the rows of DeepSeek V2 Lite that were repeated. The shares of their experts are
//! normalized and scaled according to the metadata of the files. The embedding models pool their vectors
//! (`embeddings` of `llama_context_params`), so all tokens have outputs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::loads::{bands_section, loads_section};
use crate::rows::{MODELS, Row, fields, models, number, rows};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::estimator::{DeviceEstimate, estimate, file_bytes};
use kbgen_estimate::family::Family;
use kbgen_estimate::placement::Device;
use kbgen_estimate::planner::{Planner, STAND_IN};
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};

/// Sizes of files, from the quantizer's dry run.
pub const FILES: &str = include_str!("../data/measured_files.csv");

/// Memory of runs, from the breakdown after a load.
const RUNS: &str = include_str!("../data/measured.csv");

fn settings(row: &Row) -> Settings {
    let mut settings = Settings::new(row["quant"].parse().unwrap(), number(row, "ctx"));
    let kind = row["kv_type"].parse().unwrap();
    settings.cache_type_k = kind;
    settings.cache_type_v = kind;
    settings.n_ubatch = number(row, "n_ubatch");
    if row["flash_attn"] == "0" {
        settings.flash_attention = FlashAttention::Off;
    }
    settings.sequences = number(row, "n_seq");
    if row["kv_unified"] == "1" {
        settings.cache_layout = CacheLayout::Unified;
    }
    settings.n_outputs = row["n_outputs"].parse().ok();
    settings.gpu_layers = row["n_gpu_layers"].parse().ok();
    settings.tensor_split = match row["tensor_split"].as_str() {
        "none" => Vec::new(),
        split => split.split_whitespace().map(|share| share.parse().unwrap()).collect(),
    };
    settings.experts = match row["moe_cpu"].split_once(':') {
        Some((_, layers)) => ExpertPlacement::FirstLayersOnCpu(layers.parse().unwrap()),
        None if row["moe_cpu"] == "all" => ExpertPlacement::Cpu,
        None => ExpertPlacement::WithLayer,
    };
    if row["kv_on_gpu"] == "0" {
        settings.cache_placement = CachePlacement::Host;
    }
    if row["swa_full"] == "1" {
        settings.window_cache = WindowCache::Full;
    }
    settings
}

/// Part of the need that a figure describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    File,
    Weights,
    Cache,
    Compute,
    /// Weights, cache and compute buffer of one GPU.
    Total,
}

/// Placement of the layers of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    OneGpu,
    SomeLayers,
    ExpertsOnCpu,
    CacheOnHost,
    TwoGpus,
    NoGpu,
}

/// Figures of llama.cpp and of the estimator.
pub struct Figure {
    pub part: Part,
    pub placed: Placed,
    pub on_gpu: bool,
    pub estimated: u64,
    pub measured: u64,
    /// Settings of the run, for failure messages.
    pub run: String,
}

impl Figure {
    fn error(&self) -> f64 {
        match self.estimated.abs_diff(self.measured) {
            0 => 0.0,
            difference => difference as f64 / self.measured.max(1) as f64,
        }
    }
}

/// Returns every measured figure with its estimate.
pub fn figures() -> &'static [Figure] {
    static ALL: OnceLock<Vec<Figure>> = OnceLock::new();
    ALL.get_or_init(|| {
        let models = models();
        let files = rows(FILES);
        let runs = rows(RUNS);
        let files = files.iter().map(|row| file_figure(&models[&row["catalogue_id"]], row));
        let runs = runs.iter().flat_map(|row| run_figures(&models[&row["catalogue_id"]], row));
        files.chain(runs).collect()
    })
}

fn file_figure(model: &Architecture, row: &Row) -> Figure {
    let quantization: Quantization = row["quant"].parse().unwrap();
    Figure {
        part: Part::File,
        placed: Placed::OneGpu,
        on_gpu: false,
        estimated: file_bytes(model, quantization).0,
        measured: number(row, "bytes"),
        run: describe(row),
    }
}

fn run_figures(model: &Architecture, row: &Row) -> Vec<Figure> {
    const DEVICES: [(&str, Device); 3] =
        [("gpu0", Device::Gpu(0)), ("gpu1", Device::Gpu(1)), ("host", Device::Host)];
    const PARTS: [(&str, Part); 4] =
        [("model", Part::Weights), ("kv", Part::Cache), ("compute", Part::Compute), ("total", Part::Total)];
    let settings = settings(row);
    let need = estimate(model, &settings).unwrap();
    let mut figures = Vec::new();
    for (device_name, device) in DEVICES {
        for (part_name, part) in PARTS {
            let Some(measured) = row.get(&format!("{device_name}_{part_name}")).and_then(|n| n.parse().ok())
            else {
                continue;
            };
            figures.push(Figure {
                part,
                placed: placed(row),
                on_gpu: device != Device::Host,
                estimated: bytes(need.device(device).unwrap(), part),
                measured,
                run: format!("{device_name}_{part_name} of {}", describe(row)),
            });
        }
    }
    figures
}

fn bytes(need: &DeviceEstimate, part: Part) -> u64 {
    match part {
        Part::Weights => need.weights.bytes.0,
        Part::Cache => need.cache.bytes.0,
        Part::Compute => need.compute.bytes.0,
        Part::File | Part::Total => need.total().0,
    }
}

fn placed(row: &Row) -> Placed {
    match row["tensor_split"].as_str() {
        "none" => Placed::NoGpu,
        split if split.contains(' ') => Placed::TwoGpus,
        _ if row["kv_on_gpu"] == "0" => Placed::CacheOnHost,
        _ if !row["moe_cpu"].is_empty() => Placed::ExpertsOnCpu,
        _ if !row["n_gpu_layers"].is_empty() => Placed::SomeLayers,
        _ => Placed::OneGpu,
    }
}

/// Describes the settings of a run.
pub fn describe(row: &Row) -> String {
    let settings = row.iter().filter(|(name, value)| {
        !value.is_empty() && !["gpu0_", "gpu1_", "host_"].iter().any(|device| name.starts_with(device))
    });
    settings.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Row of the table: its label, and whether a figure belongs to it.
type Line = (&'static str, fn(&Figure) -> bool);

/// Rows of the table in order; every figure belongs to exactly one.
const LINES: &[Line] = &[
    ("file", |figure| figure.part == Part::File),
    ("weights, each device", |figure| figure.part == Part::Weights),
    ("KV cache and state, each device", |figure| figure.part == Part::Cache),
    ("compute buffer, one GPU", |figure| {
        figure.part == Part::Compute && figure.placed == Placed::OneGpu && figure.on_gpu
    }),
    ("compute buffer, otherwise", |figure| {
        figure.part == Part::Compute && !(figure.placed == Placed::OneGpu && figure.on_gpu)
    }),
    ("sum, one GPU", |figure| is_total(figure, Placed::OneGpu)),
    ("sum, part of the layers", |figure| is_total(figure, Placed::SomeLayers)),
    ("sum, experts on the CPU", |figure| is_total(figure, Placed::ExpertsOnCpu)),
    ("sum, cache on the host", |figure| is_total(figure, Placed::CacheOnHost)),
    ("sum, each of two GPUs", |figure| is_total(figure, Placed::TwoGpus)),
];

fn is_total(figure: &Figure, placed: Placed) -> bool {
    figure.part == Part::Total && figure.placed == placed
}

/// Returns the compared figures and the errors of the estimates.
fn error_section() -> String {
    let figures = figures();
    let (files, runs) = (rows(FILES), rows(RUNS));
    let distinct = |column: &str| files.iter().map(|row| row[column].clone()).collect::<BTreeSet<_>>();
    let (measured, quantizations) = (distinct("catalogue_id"), distinct("quant"));
    let models = rows(MODELS);
    let models: Vec<&Row> = models.iter().filter(|row| measured.contains(&row["id"])).collect();
    let kinds: BTreeSet<&String> = models.iter().map(|row| &row["gguf_arch"]).collect();
    let mut text = format!(
        "{} figures were compared: {} files and {} runs, of {} models with {} architectures in {} \
         quantizations. An exact figure is equal to the byte; the other columns give the error, the difference \
         as a share of what llama.cpp itself computed: the median, the one that nine of ten do not exceed, and \
         the worst. \"One GPU\" means that it holds all layers; a sum is that of weights, cache and compute \
         buffer on a GPU.\n\n\
         | figure | compared | exact | median | p90 | worst |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
        grouped(figures.len()),
        grouped(files.len()),
        grouped(runs.len()),
        models.len(),
        kinds.len(),
        quantizations.len(),
    );
    for (name, belongs) in LINES {
        text += &line(name, figures.iter().filter(|figure| belongs(figure)));
    }
    text += &line("**all**", figures.iter());
    text
}

fn line<'f>(name: &str, figures: impl Iterator<Item = &'f Figure>) -> String {
    let mut errors: Vec<f64> = figures.map(Figure::error).collect();
    errors.sort_by(f64::total_cmp);
    let exact = errors.iter().filter(|error| **error == 0.0).count();
    let at = |share: f64| percent(errors[(errors.len() as f64 * share) as usize]);
    format!(
        "| {name} | {} | {} | {} | {} | {} |\n",
        grouped(errors.len()),
        percent(exact as f64 / errors.len() as f64),
        at(0.5),
        at(0.9),
        percent(*errors.last().unwrap()),
    )
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "0%".into(),
        1.0 => "100%".into(),
        _ if share < 0.000_01 => "< 0.001%".into(),
        _ => format!("{:.3}%", share * 100.0),
    }
}

/// Formats `7176` as `7,176`.
fn grouped(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

#[test]
fn every_figure_has_its_line() {
    for figure in figures() {
        let lines = LINES.iter().filter(|(_, belongs)| belongs(figure)).count();
        assert_eq!(lines, 1, "{}", figure.run);
    }
}

#[test]
fn accuracy_is_written_down_as_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ACCURACY.md");
    let text = format!(
        "# Accuracy\n\nWritten by the crate's tests (`KBGEN_BLESS=1 cargo test`) from the tables in `tests/data`.\n\n\
         ## Memory\n\n{}\n## Loads of real programs\n\n{}\n## Loads of other backends\n\n{}",
        error_section(),
        loads_section(),
        bands_section()
    );
    if std::env::var_os("KBGEN_BLESS").is_some_and(|value| !value.is_empty()) {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        text,
        "KBGEN_BLESS=1 cargo test writes {}",
        path.display()
    );
}

#[test]
fn a_model_of_an_unknown_architecture_lies_in_the_stated_range() {
    let [low, high] = STAND_IN;
    for row in rows(MODELS) {
        let known = fields(&row);
        // the replacement has logits, an encoder does not
        if Family::named(&known.name).is_some_and(|family| family.is_encoder) {
            continue;
        }
        let stand_in = known.clone().with_plain_family().build().unwrap();
        let known = known.build().unwrap();
        for (context, n_outputs) in [(8192, Some(1)), (8192, None), (65_536, Some(1)), (65_536, None)] {
            let settings = Settings { n_outputs, ..Settings::new(Quantization::Q4_K_M, context) };
            let (mut own, mut other) = (Planner::new(&known), Planner::new(&stand_in));
            let ratio =
                own.compute_on(&settings).unwrap()[0].0 * 1000 / other.compute_on(&settings).unwrap()[0].0;
            assert!((low..=high).contains(&ratio), "{}: {ratio}", row["id"]);
            let (cache, most) = (own.cache_on(&settings).unwrap()[0], other.cache_on(&settings).unwrap()[0]);
            assert!(cache <= most, "{}: {cache} of {most}", row["id"]);
        }
    }
}
