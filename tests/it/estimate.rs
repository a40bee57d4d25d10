//! The estimator against rows measured with llama.cpp itself, and properties that hold for every model.
//!
//! `tests/data/measured.csv` holds what llama.cpp (commit 0c1e570) computes: its quantizer's
//! dry run, and its memory breakdown after a load without allocation on a stand-in for CUDA
//! devices. `tests/data/measured_models.csv` holds the models' hyperparameters.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::OnceLock;

use kbgen::parts::estimate::Architecture;
use kbgen::parts::estimate::ArchitectureFields;
use kbgen::parts::estimate::Bytes;
use kbgen::parts::estimate::Device;
use kbgen::parts::estimate::{
    Available, best_quantization, fewest_cpu_experts, largest_context, most_gpu_layers,
};
use kbgen::parts::estimate::{
    CacheLayout, CachePlacement, ExpertPlacement, FlashAttention, Settings, WindowCache,
};
use kbgen::parts::estimate::{CacheType, Quantization};
use kbgen::parts::estimate::{Estimate, Evidence, estimate, file_bytes, tensor_counts};
use kbgen::parts::estimate::{cells_of, device_segments, segments, value_at};

pub(crate) type Row = BTreeMap<String, String>;

pub(crate) fn rows(name: &str) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

pub(crate) fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or(0)
}

fn fields(row: &Row) -> ArchitectureFields {
    let number = |column: &str| number(row, column);
    let text = |column: &str| row[column].clone();
    let flag = |column: &str| row[column] == "1";
    ArchitectureFields {
        gguf_arch: text("gguf_arch"),
        layers: number("layers"),
        layer_kinds: text("layer_kinds"),
        hidden: number("hidden"),
        heads: number("heads"),
        kv_heads: number("kv_heads"),
        head_dim: number("head_dim"),
        kv_heads_full: number("kv_heads_full"),
        head_dim_full: number("head_dim_full"),
        k_eq_v_full: flag("k_eq_v_full"),
        ffn: number("ffn"),
        vocab: number("vocab"),
        tied: flag("tied"),
        experts: number("experts"),
        experts_used: number("experts_used"),
        expert_ffn: number("expert_ffn"),
        shared_expert_ffn: number("shared_expert_ffn"),
        first_dense_layers: number("first_dense_layers"),
        moe_every: number("moe_every"),
        sliding_window: number("sliding_window"),
        mla_kv_lora: number("mla_kv_lora"),
        mla_q_lora: number("mla_q_lora"),
        mla_qk_rope: number("mla_qk_rope"),
        mla_qk_nope: number("mla_qk_nope"),
        mla_v_head: number("mla_v_head"),
        ssm_conv: number("ssm_conv"),
        ssm_inner: number("ssm_inner"),
        ssm_state: number("ssm_state"),
        ssm_dt_rank: number("ssm_dt_rank"),
        ssm_groups: number("ssm_groups"),
        qkv_bias: flag("qkv_bias"),
        qk_norm: text("qk_norm"),
        fused_qkv: flag("fused_qkv"),
        fused_gate_up: flag("fused_gate_up"),
        gated_ffn: flag("gated_ffn"),
        max_ctx: number("max_ctx"),
    }
}

pub(crate) fn models() -> BTreeMap<String, Architecture> {
    let rows = rows("measured_models.csv");
    rows.iter().map(|row| (row["id"].clone(), fields(row).build().unwrap())).collect()
}

fn settings(row: &Row) -> Settings {
    let mut settings = Settings::new(row["quant"].parse().unwrap(), number(row, "ctx").max(1));
    if let Ok(kind) = row["kv_type"].parse() {
        settings.cache_type_k = kind;
        settings.cache_type_v = kind;
    }
    settings.n_ubatch = number(row, "n_ubatch").max(1);
    if row["flash_attn"] == "0" {
        settings.flash_attention = FlashAttention::Off;
    }
    settings.sequences = number(row, "n_seq").max(1);
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

fn device(row: &Row) -> Device {
    match row["device"].strip_prefix("gpu") {
        Some(index) => Device::Gpu(index.parse().unwrap()),
        None => Device::Host,
    }
}

/// A run's row with what the estimator says instead.
struct Compared {
    row: Row,
    estimated: u64,
    measured: u64,
}

/// Every run's row of this kind: `model_bytes`, `kv_bytes` or `compute_bytes`.
fn compared(kind: &str) -> Vec<&'static Compared> {
    static ALL: OnceLock<Vec<Compared>> = OnceLock::new();
    let all = ALL.get_or_init(compare_all).iter();
    all.filter(|compared| compared.row["kind"] == kind).collect()
}

/// One estimate a run: rows that share model and settings belong to one.
fn compare_all() -> Vec<Compared> {
    let models = models();
    let mut runs: HashMap<(String, Settings), Estimate> = HashMap::new();
    let rows = rows("measured.csv").into_iter().filter(|row| row["device"] != "file");
    rows.map(|row| {
        let (id, settings) = (row["catalogue_id"].clone(), settings(&row));
        let need = runs
            .entry((id.clone(), settings.clone()))
            .or_insert_with(|| estimate(&models[&id], &settings).unwrap());
        let part = need.device(device(&row)).unwrap();
        let part = match row["kind"].as_str() {
            "model_bytes" => part.weights,
            "kv_bytes" => part.cache,
            _ => part.compute,
        };
        Compared { estimated: part.bytes.0, measured: number(&row, "bytes"), row }
    })
    .collect()
}

fn describe(row: &Row) -> String {
    let values: Vec<String> = row.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.join(" ")
}

#[test]
fn a_file_has_the_bytes_and_the_types_that_the_quantizer_gives_it() {
    let models = models();
    let mut seen = 0;
    for row in rows("measured.csv").iter().filter(|row| row["device"] == "file") {
        let model = &models[&row["catalogue_id"]];
        let quantization: Quantization = row["quant"].parse().unwrap();
        assert_eq!(file_bytes(model, quantization), Bytes(number(row, "bytes")), "{}", describe(row));
        let counted: Vec<String> = tensor_counts(model, quantization)
            .iter()
            .map(|(kind, count)| format!("{}:{count}", kind.name()))
            .collect();
        let mut counted = counted;
        counted.sort_by_key(|entry| entry.to_lowercase());
        let mut measured: Vec<&str> = row["types"].split_whitespace().collect();
        measured.sort_by_key(|entry| entry.to_lowercase());
        assert_eq!(counted, measured, "{}", describe(row));
        seen += 1;
    }
    assert!(seen >= 100, "{seen} rows");
}

#[test]
fn cache_and_state_agree_to_the_byte_on_every_device() {
    let rows = compared("kv_bytes");
    assert!(rows.len() >= 100, "{} rows", rows.len());
    for row in rows {
        assert_eq!(row.estimated, row.measured, "{}", describe(&row.row));
    }
}

#[test]
fn weights_agree_to_the_byte_on_every_device() {
    let rows = compared("model_bytes");
    assert!(rows.len() >= 100, "{} rows", rows.len());
    for row in rows {
        assert_eq!(row.estimated, row.measured, "{}", describe(&row.row));
    }
}

#[test]
fn compute_buffers_agree_to_the_byte_on_every_device() {
    let rows = compared("compute_bytes");
    assert!(rows.len() >= 200, "{} rows", rows.len());
    for row in rows {
        assert_eq!(row.estimated, row.measured, "{}", describe(&row.row));
    }
}

#[test]
fn every_name_of_an_enumeration_parses_to_itself() {
    for quantization in Quantization::ALL {
        assert_eq!(quantization.name().parse(), Ok(*quantization));
    }
    for kind in CacheType::ALL {
        assert_eq!(kind.name().parse(), Ok(*kind));
    }
    assert_eq!("mxfp4_moe".parse(), Ok(Quantization::MXFP4));
    assert!("Q4_K_XL".parse::<Quantization>().is_err());
    assert!("q3_0".parse::<CacheType>().is_err());
}

fn gpu_total(need: &Estimate) -> Bytes {
    need.device(Device::Gpu(0)).unwrap().total()
}

#[test]
fn more_context_never_needs_less() {
    for (id, model) in models() {
        for kind in [CacheType::F16, CacheType::Q8_0] {
            let mut settings = Settings::new(Quantization::Q4_K_M, 256);
            settings.cache_type_k = kind;
            settings.cache_type_v = kind;
            let mut before = Bytes(0);
            for context in [256, 257, 1000, 4096, 16384, 40000, 131_072] {
                let need = gpu_total(&estimate(&model, &settings.at_context(context)).unwrap());
                assert!(need >= before, "{id} at {context} tokens of {kind}: {need} < {before}");
                before = need;
            }
        }
    }
}

#[test]
fn a_wider_cache_type_never_needs_a_smaller_cache() {
    for (id, model) in models() {
        let mut before = Bytes(u64::MAX);
        for kind in CacheType::ALL {
            let mut settings = Settings::new(Quantization::Q4_K_M, 8192);
            settings.cache_type_k = *kind;
            settings.cache_type_v = *kind;
            let need = estimate(&model, &settings).unwrap();
            let cache = need.device(Device::Gpu(0)).unwrap().cache.bytes;
            assert!(cache <= before, "{id} with {kind}");
            before = cache;
        }
    }
}

#[test]
fn experts_of_all_layers_on_the_cpu_are_the_same_from_either_end() {
    let models = models();
    let model = &models["gpt-oss-20b"];
    let with = |experts| {
        let mut settings = Settings::new(Quantization::MXFP4, 8192);
        settings.experts = experts;
        estimate(model, &settings).unwrap()
    };
    let layers = model.layers.len() as u64;
    let all = with(ExpertPlacement::Cpu);
    assert_eq!(with(ExpertPlacement::FirstLayersOnCpu(layers)), all);
    assert_eq!(with(ExpertPlacement::LastLayersOnCpu(layers)), all);
    let some = with(ExpertPlacement::LastLayersOnCpu(3));
    assert!(gpu_total(&some) > gpu_total(&all));
    assert!(gpu_total(&some) < gpu_total(&with(ExpertPlacement::WithLayer)));
}

#[test]
fn a_pair_of_cache_types_without_a_stock_kernel_is_told_apart() {
    let models = models();
    let evidence = |key, value, flash_attention| {
        let mut settings = Settings::new(Quantization::Q4_K_M, 8192);
        settings.cache_type_k = key;
        settings.cache_type_v = value;
        settings.flash_attention = flash_attention;
        let need = estimate(&models["llama-3.2-1b-instruct"], &settings).unwrap();
        need.device(Device::Gpu(0)).unwrap().compute.evidence
    };
    let (on, off) = (FlashAttention::On, FlashAttention::Off);
    let (f16, q8_0, q5_0) = (CacheType::F16, CacheType::Q8_0, CacheType::Q5_0);
    assert_eq!(evidence(q8_0, q8_0, on), Evidence::Replayed);
    assert_eq!(evidence(q8_0, f16, on), Evidence::ReplayedWithKernel);
    assert_eq!(evidence(q5_0, q5_0, on), Evidence::ReplayedWithKernel);
    assert_eq!(evidence(q8_0, f16, off), Evidence::Replayed);
}

#[test]
fn segments_give_the_estimators_own_value_at_every_number_of_cells() {
    let models = models();
    let plain = Settings::new(Quantization::Q4_K_M, 1);
    let server = Settings {
        sequences: 4,
        cache_layout: CacheLayout::Unified,
        n_outputs: Some(4),
        cache_type_k: CacheType::Q8_0,
        cache_type_v: CacheType::Q8_0,
        ..plain.clone()
    };
    let two_gpus = Settings { tensor_split: vec![2, 1], sequences: 3, ..plain.clone() };
    let cases = [
        ("llama-3.2-1b-instruct", &server),
        ("gemma-3-4b-it", &plain),
        ("gpt-oss-20b", &two_gpus),
        ("granite-4.0-h-tiny", &server),
        ("deepseek-v2-lite-chat", &plain),
    ];
    for (id, settings) in cases {
        let model = Architecture { max_context: 30_000, ..models[id].clone() };
        let devices = device_segments(&model, settings).unwrap();
        for context in (0..30_000).step_by(487) {
            let settings = settings.at_context(context + 1);
            let need = estimate(&model, &settings).unwrap();
            for found in &devices {
                let device = need.device(found.device).unwrap();
                let cells = cells_of(&settings);
                let at = format!("{id}, {:?}, {context} tokens", found.device);
                assert_eq!(value_at(&found.cache, cells), Some(device.cache.bytes), "{at}");
                assert_eq!(value_at(&found.compute, cells), Some(device.compute.bytes), "{at}");
            }
        }
    }
}

#[test]
fn segments_of_any_term_give_its_value_at_every_multiple_of_256() {
    let term = |cells: u64| Ok::<Bytes, ()>(Bytes((3 * cells).min(5000).max(cells + 1)));
    let pieces = segments(10_000, term).unwrap();
    assert!(pieces.len() <= 6, "{pieces:?}");
    for cells in (256..=10_240).step_by(256) {
        assert_eq!(value_at(&pieces, cells), term(cells).ok());
    }
    assert_eq!(value_at(&pieces, 255), None);
}

#[test]
fn the_largest_choice_fits_and_the_next_does_not() {
    let models = models();
    let model = &models["llama-3.1-8b-instruct"];
    let settings = Settings::new(Quantization::Q4_K_M, 8192);
    let available = Available { gpus: vec![Bytes(8 << 30)] };
    let context = largest_context(model, &settings, &available).unwrap().unwrap();
    assert!(available.holds(&estimate(model, &settings.at_context(context)).unwrap()));
    assert!(!available.holds(&estimate(model, &settings.at_context(context + 1)).unwrap()));
    let best = best_quantization(model, &settings, &available, Quantization::ALL).unwrap();
    assert_eq!(best, Some(Quantization::Q6_K));
    let half = Available { gpus: vec![Bytes(3 << 30)] };
    let layers = most_gpu_layers(model, &settings, &half).unwrap().unwrap();
    assert!((1..33).contains(&layers), "{layers}");
    let nothing = Available { gpus: vec![Bytes(1 << 20)] };
    assert_eq!(largest_context(model, &settings, &nothing), Ok(None));
}

#[test]
fn an_impossible_field_is_named() {
    let row = &rows("measured_models.csv")[0];
    let broken = |change: fn(&mut ArchitectureFields)| {
        let mut fields = fields(row);
        change(&mut fields);
        fields.build().unwrap_err().field
    };
    assert_eq!(broken(|fields| fields.gguf_arch = "lama".into()), "gguf_arch");
    assert_eq!(broken(|fields| fields.layers = 0), "layers");
    assert_eq!(broken(|fields| fields.layer_kinds = "F3X2".into()), "layer_kinds");
    assert_eq!(broken(|fields| fields.layer_kinds = "Fé9".into()), "layer_kinds");
    assert_eq!(broken(|fields| fields.vocab = u64::MAX), "vocab");
    assert_eq!(broken(|fields| fields.kv_heads = 7), "kv_heads");
}

#[test]
fn no_fewer_experts_on_the_cpu_would_do() {
    let models = models();
    let model = &models["gpt-oss-20b"];
    let settings = Settings::new(Quantization::MXFP4, 8192);
    let available = Available { gpus: vec![Bytes(8 << 30)] };
    let layers = fewest_cpu_experts(model, &settings, &available).unwrap().unwrap();
    let with = |layers| {
        let experts = ExpertPlacement::FirstLayersOnCpu(layers);
        available.holds(&estimate(model, &Settings { experts, ..settings.clone() }).unwrap())
    };
    assert!(with(layers) && !with(layers - 1), "{layers}");
    let dense = &models["llama-3.2-1b-instruct"];
    assert_eq!(fewest_cpu_experts(dense, &settings, &available), Ok(None));
    let small = Available { gpus: vec![Bytes(1 << 30)] };
    assert_eq!(fewest_cpu_experts(model, &settings, &small), Ok(None));
}
