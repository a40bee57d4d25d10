//! Estimates against what llama.cpp itself computed, and the properties that they must have.

use std::error::Error;
use std::str::FromStr;

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::build::Build;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::WeightType;
use kbgen_estimate::estimator::{Estimate, Evidence, estimate, tensor_counts};
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::parameters::{ParameterCount, parameter_count};
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::search::{
    Available, best_quantization, fewest_cpu_experts, largest_context, most_gpu_layers,
};
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::segments::{cells_of, segments, value_at};
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, FlashAttention, Settings};

use crate::measured::{FILES, Part, describe, figures};
use crate::rows::{MODELS, Row, fields, models, rows};

#[test]
fn a_file_has_as_many_tensors_of_each_type_as_the_quantizer_gives_it() {
    let models = models();
    for row in rows(FILES) {
        let quantization: Quantization = row["quant"].parse().unwrap();
        let mut counted: Vec<String> = tensor_counts(&models[&row["catalogue_id"]], quantization)
            .iter()
            .map(|(kind, count)| format!("{}:{count}", kind.name()))
            .collect();
        counted.sort_by_key(|entry| entry.to_lowercase());
        let mut measured: Vec<&str> = row["types"].split_whitespace().collect();
        measured.sort_by_key(|entry| entry.to_lowercase());
        assert_eq!(counted, measured, "{}", describe(&row));
    }
}

/// Asserts that every figure of a part is llama.cpp's own.
fn agree_to_the_byte(part: Part, at_least: usize) {
    let figures: Vec<_> = figures().iter().filter(|figure| figure.part == part).collect();
    assert!(figures.len() >= at_least, "{} figures", figures.len());
    for figure in figures {
        assert_eq!(figure.estimated, figure.measured, "{}", figure.run);
    }
}

#[test]
fn a_file_has_the_bytes_that_the_quantizer_gives_it() {
    agree_to_the_byte(Part::File, 393);
}

#[test]
fn cache_and_state_agree_to_the_byte_on_every_device() {
    agree_to_the_byte(Part::Cache, 1710);
}

#[test]
fn weights_agree_to_the_byte_on_every_device() {
    agree_to_the_byte(Part::Weights, 1028);
}

#[test]
fn compute_buffers_agree_to_the_byte_on_every_device() {
    agree_to_the_byte(Part::Compute, 2510);
}

#[test]
fn sums_agree_to_the_byte_on_every_gpu() {
    agree_to_the_byte(Part::Total, 1535);
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
fn parameters_are_counted_as_publishers_count_them() {
    let models = models();
    let dense = parameter_count(&models["llama-3.1-8b-instruct"]);
    assert_eq!(dense, ParameterCount { held: 8_030_261_248, active: 8_030_261_248 });
    // 8 of 128 experts: 120 x 48 layers x 3 matrices of 2048 x 768 rest
    let experts = parameter_count(&models["qwen3-30b-a3b"]);
    assert_eq!(experts.held, 30_532_122_624);
    assert_eq!(experts.held - experts.active, 120 * 48 * 3 * 2048 * 768);
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
                // llama.cpp's own buffer of GLM-5 is larger at 512 tokens than at 768
                if model.indexer.is_some_and(|indexer| context < indexer.top) {
                    continue;
                }
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
        let devices = Planner::new(&model).segments(settings).unwrap();
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
    let segments = segments(10_000, term).unwrap();
    assert!(segments.len() <= 6, "{segments:?}");
    for cells in (256..=10_240).step_by(256) {
        assert_eq!(value_at(&segments, cells), term(cells).ok());
    }
    assert_eq!(value_at(&segments, 255), None);
}

#[test]
fn the_largest_choice_fits_and_the_next_does_not() {
    let models = models();
    let model = &models["llama-3.1-8b-instruct"];
    let settings = Settings::new(Quantization::Q4_K_M, 8192);
    let available = Available { gpus: vec![Bytes(8 << 30)] };
    let holds = |settings: Settings| available.holds(&Planner::new(model).planned_totals(&settings).unwrap());
    let context = largest_context(&mut Planner::new(model), &settings, &available).unwrap().unwrap();
    assert!(holds(settings.at_context(context)));
    assert!(!holds(settings.at_context(context + 1)));
    let best = best_quantization(&mut Planner::new(model), &settings, &available, Quantization::ALL).unwrap();
    assert_eq!(best, Some(Quantization::Q6_K));
    let half = Available { gpus: vec![Bytes(3 << 30)] };
    let layers = most_gpu_layers(&mut Planner::new(model), &settings, &half).unwrap().unwrap();
    assert!((1..33).contains(&layers), "{layers}");
    let nothing = Available { gpus: vec![Bytes(1 << 20)] };
    assert_eq!(largest_context(&mut Planner::new(model), &settings, &nothing), Ok(None));
}

#[test]
fn an_unknown_name_is_an_error_with_a_message() {
    fn refusal<T: FromStr<Err: Error>>() -> String {
        "other".parse::<T>().err().unwrap().to_string()
    }
    assert_eq!(refusal::<Quantization>(), "unknown quantization");
    assert_eq!(refusal::<CacheType>(), "unknown cache type");
    assert_eq!(refusal::<WeightType>(), "unknown weight type");
    assert_eq!(refusal::<Build>(), "expected a build number such as `b9000`, or a date such as `2026-05`");
}

#[test]
fn an_impossible_field_is_named() {
    let row = &rows(MODELS)[0];
    let broken = |change: fn(&mut ArchitectureFields)| {
        let mut fields = fields(row);
        change(&mut fields);
        fields.build().unwrap_err().field
    };
    assert_eq!(broken(|fields| fields.name = "lama".into()), "name");
    assert_eq!(broken(|fields| fields.layers = "F0".into()), "layers");
    assert_eq!(broken(|fields| fields.layers = String::new()), "layers");
    assert_eq!(broken(|fields| fields.layers = "F1000S25".into()), "layers");
    for layers in ["F", "F2S", "F18446744073709551615S2", "F99999999999999999999", "X3"] {
        let fields = ArchitectureFields { layers: layers.into(), ..fields(row) };
        assert_eq!(fields.build().unwrap_err().field, "layers", "{layers}");
        assert_eq!((fields.layer_runs(), fields.layer_count()), (Vec::new(), 0), "{layers}");
    }
    assert_eq!(broken(|fields| fields.layers = "F3X2".into()), "layers");
    assert_eq!(broken(|fields| fields.layers = "Fé9".into()), "layers");
    assert_eq!(broken(|fields| fields.vocab = u64::MAX), "vocab");
    assert_eq!(broken(|fields| fields.max_ctx = 100_000_001), "max_ctx");
    assert_eq!(broken(|fields| fields.hidden = 10_000_001), "hidden");
    let longest = ArchitectureFields { max_ctx: 100_000_000, ..fields(row) };
    assert_eq!(longest.build().unwrap().max_context, 100_000_000);
    assert_eq!(broken(|fields| fields.kv_heads = 7), "kv_heads");
}

/// Returns the field that is named when a changed model is refused.
fn refused_field(rows: &[Row], slug: &str, change: fn(&mut ArchitectureFields)) -> &'static str {
    let mut fields = fields(rows.iter().find(|row| row["id"] == slug).unwrap());
    change(&mut fields);
    fields.build().unwrap_err().field
}

#[test]
fn a_field_that_the_graph_of_the_architecture_cannot_have_is_named() {
    let rows = rows(MODELS);
    let broken = |slug: &str, change: fn(&mut ArchitectureFields)| refused_field(&rows, slug, change);
    let mamba = "granite-4.0-h-tiny";
    assert_eq!(broken(mamba, |fields| fields.ssm_inner = 0), "ssm_inner");
    assert_eq!(broken(mamba, |fields| fields.ssm_groups = 0), "ssm_groups");
    assert_eq!(broken(mamba, |fields| fields.ssm_groups = 5), "ssm_groups");
    assert_eq!(broken(mamba, |fields| fields.ssm_dt_rank = 7), "ssm_dt_rank");
    assert_eq!(broken("lfm2-1.2b", |fields| fields.ssm_inner = 2048), "ssm_inner");
    let delta_net = "qwen3.5-9b";
    assert_eq!(broken(delta_net, |fields| fields.ssm_dt_rank = 0), "ssm_dt_rank");
    assert_eq!(broken(delta_net, |fields| fields.ssm_inner *= 2), "ssm_inner");
    assert_eq!(broken(delta_net, |fields| fields.ssm_groups = 5), "ssm_groups");
    let experts = |fields: &mut ArchitectureFields| {
        (fields.experts, fields.experts_used, fields.expert_ffn) = (8, 2, 64);
    };
    assert_eq!(broken("nomic-embed-text-v1.5", experts), "experts");
    assert_eq!(broken("c4ai-command-r7b-12-2024", experts), "experts");
    let used = |fields: &mut ArchitectureFields| {
        (fields.experts, fields.experts_used) = (1_000_000, 70_000);
    };
    assert_eq!(broken("qwen3-30b-a3b", used), "experts_used");
    assert_eq!(broken("qwen3-30b-a3b", |fields| fields.gated_ffn = false), "gated_ffn");
    assert_eq!(broken("gemma-4-e2b-it", |fields| fields.kv_shared_layers = 34), "kv_shared_layers");
    assert_eq!(broken("llama-3.1-8b-instruct", |fields| fields.k_eq_v_full = true), "k_eq_v_full");
    for slug in [delta_net, "gemma-4-e2b-it", "olmo-2-1124-7b-instruct"] {
        assert_eq!(broken(slug, |fields| fields.fused_qkv = true), "fused_qkv", "{slug}");
    }
}

#[test]
fn sizes_that_are_possible_alone_but_not_together_are_refused() {
    let rows = rows(MODELS);
    let broken = |slug: &str, change: fn(&mut ArchitectureFields)| refused_field(&rows, slug, change);
    let dense = "llama-3.1-8b-instruct";
    assert_eq!(broken(dense, |fields| (fields.hidden, fields.vocab) = (8_000_000, 8_000_000)), "hidden");
    assert_eq!(broken(dense, |fields| (fields.heads, fields.head_dim) = (8_000_000, 8_000_000)), "hidden");
    let wide = |fields: &mut ArchitectureFields| {
        (fields.kv_heads, fields.heads, fields.hidden) = (1_000_000, 1_000_000, 128);
    };
    assert_eq!(broken(dense, wide), "kv_heads");
    let latent = |fields: &mut ArchitectureFields| (fields.heads, fields.mla_kv_lora) = (4096, 100_000);
    assert_eq!(broken("deepseek-v3.2", latent), "mla_kv_lora");
    let states = |fields: &mut ArchitectureFields| (fields.ssm_state, fields.ssm_inner) = (1 << 23, 48 << 16);
    assert_eq!(broken("granite-4.0-h-tiny", states), "ssm_state");
    let heads = |fields: &mut ArchitectureFields| {
        (fields.heads, fields.head_dim, fields.max_ctx) = (1_000_000, 64, 100_000_000);
    };
    let mut many = fields(rows.iter().find(|row| row["id"] == dense).unwrap());
    heads(&mut many);
    let settings = Settings { n_batch: 1 << 20, n_ubatch: 1 << 20, ..Settings::new(Quantization::F16, 4096) };
    assert!(estimate(&many.build().unwrap(), &settings).is_err());
}

#[test]
fn a_quantized_v_cache_needs_a_kernel_of_flash_attention() {
    let narrow = ArchitectureFields { head_dim: 32, ..fields(&rows(MODELS)[0]) }.build().unwrap();
    let value = |cache_type_v, gpu_layers| {
        let settings = Settings::new(Quantization::F16, 4096);
        estimate(&narrow, &Settings { cache_type_v, gpu_layers, ..settings }).is_ok()
    };
    assert!(value(CacheType::F16, None));
    assert!(!value(CacheType::Q8_0, None));
    assert!(value(CacheType::Q8_0, Some(0)), "the CPU has kernels for all heads");
}

#[test]
fn no_fewer_experts_on_the_cpu_would_do() {
    let models = models();
    let model = &models["gpt-oss-20b"];
    let settings = Settings::new(Quantization::MXFP4, 8192);
    let available = Available { gpus: vec![Bytes(8 << 30)] };
    let layers = fewest_cpu_experts(&mut Planner::new(model), &settings, &available).unwrap().unwrap();
    let with = |layers| {
        let experts = ExpertPlacement::FirstLayersOnCpu(layers);
        available
            .holds(&Planner::new(model).planned_totals(&Settings { experts, ..settings.clone() }).unwrap())
    };
    assert!(with(layers) && !with(layers - 1), "{layers}");
    let dense = &models["llama-3.2-1b-instruct"];
    assert_eq!(fewest_cpu_experts(&mut Planner::new(dense), &settings, &available), Ok(None));
    let small = Available { gpus: vec![Bytes(1 << 30)] };
    assert_eq!(fewest_cpu_experts(&mut Planner::new(model), &settings, &small), Ok(None));
}
