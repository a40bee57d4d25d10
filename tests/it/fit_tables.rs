//! The fit tables that a site publishes, read as the calculator reads them, against the estimator.

use std::fs;

use jiff::civil::date;
use kbgen::parts::estimate::{
    Architecture, CacheLayout, CacheType, Device, Quantization, Settings, estimate, file_bytes,
};
use kbgen::parts::files::Outputs;
use kbgen::parts::load::{self, Drafts};
use kbgen::parts::pipeline::{self, Order};
use kbgen::parts::render::Audience;
use serde_json::Value;

use crate::expect::repository;
use crate::measured::models;

/// One model of each sort of layer.
const MODELS: [(&str, &str); 6] = [
    ("llama", "llama-3.1-8b-instruct"),
    ("gemma", "gemma-3-4b-it"),
    ("gemma", "gemma-4-26b-a4b-it"),
    ("granite", "granite-4.0-h-tiny"),
    ("deepseek", "deepseek-v2-lite-chat"),
    ("gpt", "gpt-oss-20b"),
];

/// A site of these models and of every quantization.
fn site() -> Outputs {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("site.toml".into(), "title = \"T\"\nbase_url = \"https://kb.example/\"\n");
    for (family, slug) in MODELS {
        let text = fs::read_to_string(repository(&format!("content/models/{family}/{slug}.md"))).unwrap();
        let end = text[4..].find("\n---\n").unwrap() + 9;
        write(format!("content/models/{family}/{slug}.md"), &text[..end]);
    }
    for quant in Quantization::ALL {
        let page = format!(
            "---\ntitle: {quant}\ngguf_type: {quant}\nfamily: k-quant\nsources: [\"https://kb.example/\"]\n---\nText.\n"
        );
        write(format!("content/quants/{}.md", quant.name().to_lowercase().replace('_', "-")), &page);
    }
    let (sources, faults) = load::read(folder.path()).unwrap();
    let order = Order {
        today: date(2026, 6, 30),
        drafts: Drafts::Exclude,
        base_url: None,
        audience: Audience::World,
    };
    let built = pipeline::build(&sources, faults, &order).unwrap();
    built.outputs.unwrap_or_else(|| panic!("{:?}", built.draft.found))
}

/// What the script of a model hands over.
fn table(outputs: &Outputs, slug: &str) -> Value {
    let text = String::from_utf8(outputs.get(&format!("data/fit/{slug}.js")).unwrap().to_vec()).unwrap();
    let inner = text.strip_prefix(&format!("kbFit(\"{slug}\",")).unwrap();
    serde_json::from_str(inner.strip_suffix(");\n").unwrap()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn runs(value: &Value) -> Vec<usize> {
    let numbers: Vec<usize> = value.as_array().unwrap().iter().map(|n| number(n) as usize).collect();
    numbers.chunks(2).flat_map(|run| std::iter::repeat_n(run[0], run[1])).collect()
}

/// A curve at a number of cells.
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

/// Bytes of weights on the GPU, and in the host's memory, with all layers on the GPU.
fn weights(table: &Value, quant: usize) -> (u64, u64) {
    let fit = &table["quants"][quant];
    let layers: u64 = runs(&fit["layer"]).into_iter().map(|kind| number(&fit["kinds"][kind][0])).sum();
    let factors = table["factors"]["gpu"].as_u64().unwrap_or(0);
    (layers + number(&fit["out"][0]) + factors, number(&fit["in"]))
}

/// The same numbers at every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
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
