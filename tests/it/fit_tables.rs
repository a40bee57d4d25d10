//! Published fit tables, read like the calculator reads them, match the estimator.

use std::fs;

use kbgen::files::Outputs;
use kbgen::load;
use kbgen::pipeline;
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::backend::Backend;
use kbgen_estimate::estimator::{BytesRange, estimate, file_bytes};
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::Verdict;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};
use serde_json::Value;

use kbgen::fit::figures;
use kbgen::site::{DeviceMemory, Figures, Run, Runner};

use crate::draw::Draw;
use crate::expect::{options, repository};
use crate::measured::models;

/// One model for each kind of layer.
const MODELS: [(&str, &str); 6] = [
    ("llama", "llama-3.1-8b-instruct"),
    ("gemma", "gemma-3-4b-it"),
    ("gemma", "gemma-4-26b-a4b-it"),
    ("granite", "granite-4.0-h-tiny"),
    ("deepseek", "deepseek-v2-lite-chat"),
    ("gpt", "gpt-oss-20b"),
];

/// Builds a site of these models and all quantizations.
fn site() -> Outputs {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("site.toml".into(), "title = \"T\"\nbase_url = \"https://kb.example/\"\npacks = [\"llm\"]\n");
    for (family, slug) in MODELS {
        let text = fs::read_to_string(repository(&format!("content/models/{family}/{slug}.md"))).unwrap();
        let end = text[4..].find("\n---\n").unwrap() + 9;
        // With every type, even if files exist in only one.
        let every_type = text[..end].replace("released_as: MXFP4\n", "");
        write(format!("content/models/{family}/{slug}.md"), &every_type);
    }
    for quant in Quantization::ALL {
        let page = format!(
            "---\ntitle: {quant}\ngguf_type: {quant}\nfamily: k-quant\nsources: [\"https://kb.example/\"]\n---\nText.\n"
        );
        write(format!("content/quants/{}.md", quant.name().to_lowercase().replace('_', "-")), &page);
    }
    let (sources, faults) = load::read(folder.path()).unwrap();
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    built.outputs.unwrap_or_else(|| panic!("{:?}", built.analysis.findings))
}

/// Parses the data in the script of a model.
fn table(outputs: &Outputs, slug: &str) -> Value {
    let text = String::from_utf8(outputs.get(&format!("data/fit/{slug}.js")).unwrap().to_vec()).unwrap();
    let inner = text.strip_prefix(&format!("kbgen.fit.add(\"{slug}\",")).unwrap();
    serde_json::from_str(inner.strip_suffix(");\n").unwrap()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn runs(value: &Value) -> Vec<usize> {
    let numbers: Vec<usize> = value.as_array().unwrap().iter().map(|n| number(n) as usize).collect();
    numbers.chunks(2).flat_map(|run| std::iter::repeat_n(run[0], run[1])).collect()
}

/// Evaluates a curve at a number of cells.
fn at(table: &Value, curve: &Value, cells: u64) -> u64 {
    let numbers: Vec<i64> = table["curves"][number(curve) as usize]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_i64().unwrap())
        .collect();
    let piece = numbers.chunks(3).rev().find(|piece| piece[0] <= cells as i64).unwrap();
    (piece[1] + piece[2] * (cells as i64 - piece[0]) / 256) as u64
}

/// Returns the bytes of weights on the GPU and in host memory, with all layers on the GPU.
fn weights(table: &Value, quant: usize) -> (u64, u64) {
    let fit = &table["quants"][quant];
    let layers: u64 = runs(&fit["layer"]).into_iter().map(|kind| number(&fit["kinds"][kind][0])).sum();
    let factors = table["factors"]["gpu"].as_u64().unwrap_or(0);
    (layers + number(&fit["out"][0]) + factors, number(&fit["in"]))
}

const TYPES: [CacheType; 3] = [CacheType::F16, CacheType::Q8_0, CacheType::Q4_0];
const SLOTS: [u64; 4] = [1, 2, 4, 8];

#[test]
fn published_figures_are_the_estimators_own_at_any_setting() {
    let (outputs, models) = (site(), models());
    let mut draw = Draw(2026);
    for (_, slug) in MODELS {
        let (table, model): (Value, &Architecture) = (table(&outputs, slug), &models[slug]);
        let classes = runs(&table["class"]);
        assert_eq!(classes.len(), model.layers.len());
        for _ in 0..40 {
            let quant = draw.below(Quantization::ALL.len() as u64) as usize;
            let (key, value) = (draw.below(3) as usize, draw.below(3) as usize);
            let slots = draw.below(4) as usize;
            let server = draw.below(2) as usize;
            let halvings = draw.below(8);
            let context = 1 + draw.below(model.max_context >> halvings);
            let quantization = Quantization::ALL[quant];
            let settings = Settings {
                cache_type_k: TYPES[key],
                cache_type_v: TYPES[value],
                sequences: SLOTS[slots],
                cache_layout: CacheLayout::Unified,
                n_outputs: (server == 1).then_some(SLOTS[slots]),
                ..Settings::new(quantization, context)
            };
            let place = format!("{slug}: {settings:?}");
            let compute = &table["compute"][server][slots][3 * key + value];
            let Ok(need) = estimate(model, &settings) else {
                assert_eq!(compute.as_i64(), Some(-1), "{place}");
                continue;
            };
            let gpu = need.device(Device::Gpu(0)).unwrap();
            let cells = context.next_multiple_of(256);
            assert_eq!(at(&table, compute, cells), gpu.compute.bytes.0, "compute: {place}");
            let cache = |class: &usize| at(&table, &table["cache"][*class][slots][3 * key + value], cells);
            assert_eq!(classes.iter().map(cache).sum::<u64>(), gpu.cache.bytes.0, "cache: {place}");
            let fit = &table["quants"][quant];
            if fit.is_null() {
                assert!(quantization == Quantization::MXFP4 && model.experts.is_none(), "{place}");
                continue;
            }
            assert_eq!(number(&fit["file"]), file_bytes(model, quantization).0, "{place}");
            let host = need.device(Device::Host).unwrap().weights.bytes.0;
            assert_eq!(weights(&table, quant), (gpu.weights.bytes.0, host), "{place}");
        }
    }
}

/// Random quantization, run, context, GPU layers and layers with experts on the host.
fn part(draw: &mut Draw, model: &Architecture) -> (usize, Run, u64, usize, usize) {
    let layers = model.layers.len() as u64;
    let quant = draw.below(Quantization::ALL.len() as u64) as usize;
    let runner = if draw.below(2) == 0 { Runner::Library } else { Runner::Server };
    let (slots, key, value) = (draw.below(4) as usize, draw.below(3) as usize, draw.below(3) as usize);
    let halvings = draw.below(8);
    let context = 1 + draw.below(model.max_context >> halvings);
    let gpu_layers = if draw.below(3) == 0 { layers + 1 } else { draw.below(layers + 2) };
    let experts = match model.experts {
        None => 0,
        Some(_) => [0, layers, draw.below(layers + 1)][draw.below(3) as usize],
    };
    (quant, Run { runner, slots, key, value }, context, gpu_layers as usize, experts as usize)
}

#[test]
fn a_part_of_a_model_takes_what_the_planner_says() {
    let mut draw = Draw(7);
    let mut seen = 0;
    for (slug, model) in models() {
        let Ok(table) = figures(&model, Quantization::ALL) else { continue };
        let mut planner = Planner::new(&model);
        for _ in 0..25 {
            let (quant, run, context, gpu_layers, host_experts) = part(&mut draw, &model);
            let settings = Settings {
                cache_type_k: TYPES[run.key],
                cache_type_v: TYPES[run.value],
                sequences: SLOTS[run.slots],
                cache_layout: CacheLayout::Unified,
                n_outputs: (run.runner == Runner::Server).then_some(SLOTS[run.slots]),
                gpu_layers: Some(gpu_layers as u64),
                experts: match host_experts {
                    0 => ExpertPlacement::WithLayer,
                    count => ExpertPlacement::FirstLayersOnCpu(count as u64),
                },
                ..Settings::new(Quantization::ALL[quant], context)
            };
            let planned = planner.planned_totals(&settings);
            let found =
                table.total_of_part(quant, run, (gpu_layers, host_experts), context, &[Backend::Cuda]);
            let (Ok(planned), Some(found)) = (planned, found) else { continue };
            assert_eq!(found, planned[0].0, "{slug}: {settings:?}");
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn a_verdict_never_says_yes_where_the_buffers_and_a_driver_exceed_the_memory() {
    const LEAST_DRIVER: u64 = 3 * (1 << 30) / 10;
    let table = plain_table("llama-3.2-1b-instruct");
    let mut draw = Draw(3);
    for _ in 0..2000 {
        let memory = draw.below(16 << 30);
        let context = 1 + draw.below(131_072);
        let total =
            table.total(draw.below(10) as usize, Run::plain(draw.below(3) as usize), context).unwrap();
        let verdict = Verdict::of(total, memory);
        assert!(verdict == Verdict::No || total + LEAST_DRIVER <= memory, "{verdict:?}: {total} of {memory}");
    }
}

fn plain_table(slug: &str) -> Figures {
    figures(&models()[slug], Quantization::ALL).unwrap()
}

#[test]
fn the_largest_context_fits_and_no_larger_one_does() {
    for slug in ["llama-3.2-1b-instruct", "gemma-3-4b-it", "deepseek-v2-lite-chat"] {
        let table = plain_table(slug);
        let mut draw = Draw(5);
        for _ in 0..20 {
            let run = Run {
                runner: if draw.below(2) == 0 { Runner::Library } else { Runner::Server },
                slots: draw.below(4) as usize,
                ..Run::plain(draw.below(3) as usize)
            };
            let (quant, memory) = (draw.below(10) as usize, draw.below(40 << 30));
            let fits = |ctx: &u64| table.total(quant, run, *ctx).unwrap() <= memory;
            let mut steps = (1..=table.max_ctx.div_ceil(256)).map(|step| (step * 256).min(table.max_ctx));
            let expected = steps.rfind(fits);
            let room = DeviceMemory { driver: BytesRange::default(), ..DeviceMemory::cuda(memory) };
            assert_eq!(table.largest_context(quant, run, &room), expected, "{slug} {run:?} {memory}");
        }
    }
}
