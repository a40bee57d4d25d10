//! Compares estimates for Python engines with figures from their logs.
//!
//! `tests/data/vllm.csv` contains the memory that vLLM logged, with the address of each log.

use kbgen_estimate::architecture::LayerKind;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::{WeightType, weight_bytes};
use kbgen_estimate::estimator::BytesRange;
use kbgen_estimate::local::{exllamav3, mlx};
use kbgen_estimate::parameters::parameter_count;
use kbgen_estimate::sglang::{sglang, token_bytes};
use kbgen_estimate::transformers::transformers;
use kbgen_estimate::vllm::{PoolCache, PoolSettings, PoolVerdict, request_bytes, vllm};

use crate::loads::logged_models;
use crate::rows::{models, number, rows};

/// Memory that vLLM logged.
const REPORTS: &str = include_str!("../data/vllm.csv");

const GIB: u64 = 1 << 30;

fn card(memory_gib: u64) -> PoolSettings {
    PoolSettings { memory: Bytes(memory_gib * GIB), ..PoolSettings::default() }
}

#[test]
fn vllm_s_logs_agree_with_weights_and_pool() {
    let models = models();
    let (mut weights_seen, mut pools_seen) = (0, 0);
    for row in rows(REPORTS).iter().filter(|row| !row["bytes"].is_empty()) {
        let model = &models[&row["catalogue_id"]];
        let kind: WeightType = row["quant"].parse().unwrap();
        let logged = number(row, "bytes");
        let (estimated, within) = match (row["kind"].as_str(), row["ctx"].as_str()) {
            // Weights in the log include tables such as rotary positions.
            ("model_bytes", _) => {
                weights_seen += 1;
                (weight_bytes(model, kind, number(row, "n_gpu")).unwrap(), logged / 200)
            }
            ("kv_bytes", tokens) if !tokens.is_empty() => {
                pools_seen += 1;
                let settings = PoolSettings { weights: kind, ..card(24) };
                let need = request_bytes(model, &settings, tokens.parse().unwrap()).unwrap();
                assert_eq!(need.low, need.high);
                (need.low, number(row, "tol_bytes"))
            }
            _ => continue,
        };
        assert!(estimated.0.abs_diff(logged) <= within, "{row:?}: {}", estimated.0);
    }
    assert_eq!((weights_seen, pools_seen), (4, 3));
}

#[test]
fn exact_weights_do_not_make_a_model_divisible() {
    let model = &models()["qwen3-0.6b"];
    let settings = PoolSettings { cards: 3, exact_weights: Some(Bytes(GIB)), ..card(24) };
    let refusal = vllm(model, &settings).unwrap_err();
    assert_eq!(refusal.0, "16 attention heads are not divisible among 3 GPUs");
    assert_eq!(sglang(model, &settings).unwrap_err(), refusal);
    assert!(sglang(model, &PoolSettings { cards: 0, ..settings }).is_err());
}

#[test]
fn a_gpu_smaller_than_what_sglang_leaves_free_has_no_pool() {
    let small = PoolSettings { cards: 2, further: Bytes(GIB), ..card(4) };
    let need = sglang(&models()["llama-3.2-1b-instruct"], &small).unwrap();
    assert_eq!(need.pool, BytesRange::default());
    assert!(need.reserve.high < Bytes(8 * GIB), "{:?}", need.reserve);
}

#[test]
fn what_vllm_measures_lies_in_the_range() {
    let models = models();
    let model = &models["llama-3.1-8b-instruct"];
    // an H100 of 79.22 GiB with a pool of 53.29 GiB, at 0.9
    let seen = PoolSettings { memory: Bytes(GIB * 7922 / 100), utilization: Some(900), ..card(80) };
    let need = vllm(model, &seen).unwrap();
    assert!((need.pool.low.0..=need.pool.high.0).contains(&57_219_701_801), "{need:?}");
    // activation peak and memory outside PyTorch, on one GPU and on each of two
    let reserve = |cards| vllm(model, &PoolSettings { cards, ..card(80) }).unwrap().reserve;
    for (cards, logged) in [(1, 1_352_914_698 + 1_921_997_865), (2, 1_352_914_698 + 3_843_995_730)] {
        assert!((reserve(cards).low.0..=reserve(cards).high.0).contains(&logged));
    }
}

/// Pools that vLLM logged, each with the memory that vLLM saw.
#[test]
fn logged_pools_lie_in_the_range() {
    const MIB: u64 = 1 << 20;
    let models = logged_models();
    let logged = |id: &str, seen: u64, utilization: u64, pool: u64| {
        let settings = PoolSettings { memory: Bytes(seen * MIB), utilization: Some(utilization), ..card(1) };
        let need = vllm(&models[id], &settings).unwrap();
        let range = need.pool.low.0 / MIB..=need.pool.high.0.div_ceil(MIB);
        assert!(range.contains(&pool), "{id}: {pool} MiB is not in {range:?}");
    };
    // an A100 40 GB and an H100 SXM5, at 0.9
    logged("llama-3.1-8b-instruct", 40_377, 900, 19_866);
    logged("llama-3.1-8b-instruct", 81_081, 900, 55_930);
    // a Tesla T4, at 0.9
    logged("qwen2.5-3b-instruct", 14_909, 900, 5929);
    // Four RTX PRO 6000 with MiniMax M2.5 in FP8: memory other than weights and pool, at 0.92.
    let four = PoolSettings { memory: Bytes(97_247 * MIB), cards: 4, ..card(1) };
    let reserve = vllm(&models["llama-3.1-8b-instruct"], &four).unwrap().reserve;
    assert!(reserve.high.0 >= (97_247 * 92 / 100 - 55_040 - 24_186) * MIB);
}

#[test]
fn vllm_starts_only_with_a_context_that_its_pool_holds() {
    let models = models();
    let model = &models["llama-3.1-8b-instruct"];
    let need = vllm(model, &card(24)).unwrap();
    assert!(need.context.0 < need.context.1 && need.context.1 < model.max_context);
    assert_eq!(need.verdict(need.context.0), PoolVerdict::Fits);
    assert_eq!(need.verdict(need.context.1), PoolVerdict::Tight);
    assert_eq!(need.verdict(need.context.1 + 1), PoolVerdict::TooLarge);
    let fp8 = vllm(model, &PoolSettings { cache: PoolCache::Fp8, ..card(24) }).unwrap();
    assert!(fp8.context.0 > need.context.0);
    let none = vllm(model, &card(12)).unwrap();
    assert_eq!(none.context, (0, 0), "the weights alone are larger");
}

#[test]
fn a_sliding_window_needs_less_than_the_whole_context() {
    let models = models();
    let settings = card(24);
    let gemma = request_bytes(&models["gemma-3-27b-it"], &settings, 100_000).unwrap();
    assert!(gemma.low < gemma.high);
    let all_layers: u64 = 100_000 * 62 * 2 * 16 * 128 * 2;
    assert!(gemma.high.0 * 3 < all_layers);
    // GLM's latent row of 576 values, the same on every GPU
    let latent = &models["glm-4.7-flash"];
    let on_cards = |cards| request_bytes(latent, &PoolSettings { cards, ..settings }, 16).unwrap().low;
    assert_eq!(on_cards(1), Bytes(16 * 47 * 576 * 2));
    assert_eq!(on_cards(4), on_cards(1));
    assert!(request_bytes(&models["gemma-4-26b-a4b-it"], &settings, 16).is_err());
}

#[test]
fn narrower_weights_are_smaller_and_the_rest_stays_wide() {
    let models = models();
    assert!(
        weight_bytes(&models["bge-m3"], WeightType::SELECTABLE[0], 1).is_err(),
        "only llama.cpp is modeled"
    );
    for (id, model) in models.iter().filter(|(_, model)| !model.family.is_encoder) {
        let sizes: Vec<u64> =
            WeightType::SELECTABLE.iter().map(|kind| weight_bytes(model, *kind, 1).unwrap().0).collect();
        assert_eq!(sizes[0], 4 * parameter_count(model).held, "{id}");
        assert_eq!(sizes[1], 2 * parameter_count(model).held, "{id}");
        assert_eq!(sizes[2], sizes[1], "{id}");
        assert!(sizes.is_sorted_by(|wide, narrow| wide >= narrow), "{id}");
    }
    // the matrices at 4.16 bits, embedding and output at 16
    let llama = &models["llama-3.1-8b-instruct"];
    assert_eq!(parameter_count(llama).held, 8_030_261_248);
    let awq = weight_bytes(llama, WeightType::Awq, 1).unwrap().0;
    assert!((5_700_000_000..5_760_000_000).contains(&awq), "{awq}");
}

#[test]
fn cards_share_what_can_be_shared() {
    let models = models();
    let llama = &models["llama-3.1-8b-instruct"];
    let on = |cards| weight_bytes(llama, WeightType::Bf16, cards);
    let half = on(2).unwrap().0;
    assert!(half * 2 > on(1).unwrap().0, "norms are on both");
    assert!(half * 2 < on(1).unwrap().0 * 1001 / 1000);
    // 16 GPUs copy the 8 KV heads
    assert!(on(16).unwrap().0 * 8 > half * 2 / 2);
    assert!(on(3).is_err());
    assert!(on(0).is_err());
}

#[test]
fn transformers_keeps_keys_and_values_of_every_token() {
    let models = models();
    let need = transformers(&models["llama-3.1-8b-instruct"], WeightType::Bf16, 8192).unwrap();
    assert_eq!(need.cache.low, Bytes(GIB));
    assert_eq!(need.cache.high, need.cache.low);
    assert!(need.total().low < need.total().high);
    let window = transformers(&models["gemma-3-4b-it"], WeightType::Bf16, 8192).unwrap();
    assert!(window.cache.low < window.cache.high);
    assert!(transformers(&models["deepseek-v2-lite-chat"], WeightType::Bf16, 8192).is_err());
    assert!(transformers(&models["granite-4.0-h-tiny"], WeightType::Bf16, 8192).is_err());
}

#[test]
fn a_recurrent_state_takes_a_page_and_leaves_larger_blocks() {
    let models = models();
    let settings = card(24);
    let request = |id: &str, tokens| request_bytes(&models[id], &settings, tokens).unwrap();
    let hybrid = "qwen3.5-9b";
    let layers = |kind| models[hybrid].layers.iter().filter(|layer| layer.kind == kind).count() as u64;
    let (full, recurrent) = (layers(LayerKind::Full), layers(LayerKind::Recurrent));
    let one = request(hybrid, 1);
    assert!(one.low < one.high, "16 or 32 bits for a state");
    // one block of each layer with attention, and one page of each with a state
    assert!(one.low.0.is_multiple_of(full + recurrent));
    let page = one.low.0 / (full + recurrent);
    let long = request(hybrid, 100_000);
    assert!((long.low.0 - one.low.0).is_multiple_of(full * page), "states do not grow");
    let all_layers = 100_000 * 2 * 2 * (full + recurrent) * 4 * 256;
    assert!(long.high.0 * 2 < all_layers, "{} of {all_layers}", long.high);
}

#[test]
fn published_mxfp4_experts_are_narrower_than_the_rest() {
    let models = models();
    // 20.9 billion parameters, of which 19.1 are in experts
    let bytes = weight_bytes(&models["gpt-oss-20b"], WeightType::Mxfp4Experts, 1).unwrap().0;
    assert!((13_000_000_000..14_500_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn sglang_s_logs_agree_with_weights_and_tokens() {
    let models = logged_models();
    // https://github.com/vllm-project/vllm/issues/21348: 367,404 tokens, K 8.23 GB and V 8.23 GB on each of four H100
    let four = PoolSettings { weights: WeightType::Fp8, cards: 4, ..card(80) };
    let token = token_bytes(&models["qwen3-235b-a22b"], &four).unwrap();
    let gib = |bytes: u64| (bytes as f64 / GIB as f64 * 100.0).round() / 100.0;
    assert_eq!(gib(token.low.0 / 2 * 367_405), 8.23);
    // https://github.com/sgl-project/sglang/pull/18263: 1,669,816 tokens, K 76.44 GB; 56.98 GB in use after loading
    let token = token_bytes(&models["qwen3-30b-a3b"], &card(288)).unwrap();
    assert_eq!(gib(token.low.0 / 2 * 1_669_817), 76.44);
    let weights = weight_bytes(&models["qwen3-30b-a3b"], WeightType::Bf16, 1).unwrap().0;
    assert!((56.98 - gib(weights)).abs() < 0.3, "{}", gib(weights));
}

#[test]
fn sglang_s_pool_lies_in_the_range() {
    let models = logged_models();
    // https://github.com/vllm-project/vllm/issues/21348, with --mem-fraction-static 0.93
    let four = PoolSettings {
        weights: WeightType::Fp8,
        cards: 4,
        memory: Bytes(GIB * 7918 / 100),
        utilization: Some(930),
        ..card(80)
    };
    let need = sglang(&models["qwen3-235b-a22b"], &four).unwrap();
    let logged = 2 * 823 * GIB / 100;
    assert!((need.pool.low.0..=need.pool.high.0).contains(&logged), "{need:?}");
    // Without the option, a larger GPU keeps more memory free, and no GPU promises more than it has.
    let on = |memory| sglang(&models["llama-3.1-8b-instruct"], &card(memory)).unwrap();
    assert!(on(80).reserve.low > on(24).reserve.low && on(24).reserve.low > on(16).reserve.low);
    assert_eq!(on(16).verdict(8192), PoolVerdict::TooLarge);
    assert_eq!(on(24).verdict(8192), PoolVerdict::Tight);
    assert_eq!(on(48).verdict(8192), PoolVerdict::Fits);
    assert!(sglang(&models["granite-4.0-h-tiny"], &card(24)).is_err());
}

#[test]
fn reported_peaks_of_mlx_lie_in_the_range() {
    let models = logged_models();
    // `Peak memory` in GB of mlx-lm: pull requests 40 (33,898 tokens), 1569 (2,048 and 128), 478 (128 and 128)
    for (id, tokens, peak) in [
        ("mistral-7b-instruct-v0.3", 33_898 + 100, 9_111_000_000),
        ("qwen3-4b", 2_176, 3_300_000_000),
        ("qwen3-next-80b-a3b-instruct", 256, 45_090_000_000),
    ] {
        let total = mlx(&models[id], WeightType::Mlx(4), tokens).unwrap().total();
        assert!((total.low.0..=total.high.0).contains(&peak), "{id}: {peak} in {total:?}");
    }
    // `mlx_lm.benchmark -p 2048 -g 128`: `mlx_lm/BENCHMARKS.md` of mlx-lm 0.32.2
    for (id, kind, peak) in [
        ("qwen3-4b", WeightType::Bf16, 9_020_000_000),
        ("qwen3-4b", WeightType::Mlx(8), 5_254_000_000),
        ("qwen3-4b", WeightType::Mlx(6), 4_250_000_000),
        ("qwen3-4b", WeightType::Mlx(5), 3_860_000_000),
        ("qwen3-4b", WeightType::Mlx(4), 3_350_000_000),
        ("qwen3-30b-a3b", WeightType::Mlx(8), 33_460_000_000),
        ("qwen3-30b-a3b", WeightType::Mlx(6), 25_820_000_000),
        ("qwen3-30b-a3b", WeightType::Mlx(5), 22_010_000_000),
        ("qwen3-30b-a3b", WeightType::Mlx(4), 18_200_000_000),
    ] {
        let total = mlx(&models[id], kind, 2_176).unwrap().total();
        assert!((total.low.0..=total.high.0).contains(&peak), "{id} {kind}: {peak} in {total:?}");
    }
    let gemma = mlx(&models["gemma-3-4b-it"], WeightType::Mlx(4), 32_768).unwrap();
    assert!(gemma.cache.low < gemma.cache.high);
}

#[test]
fn reported_memory_of_exllamav3_lies_in_the_range() {
    let models = logged_models();
    // https://github.com/oobabooga/textgen/pull/6903: a fine-tune of Qwen2.5 32B at 4.0 bpw, 8,192 tokens
    for (cache_bits, mib) in [(16, 18_665), (4, 16_827)] {
        let total = exllamav3(&models["qwen2.5-32b-instruct"], 4, cache_bits, 8192).unwrap().total();
        let seen = mib << 20;
        assert!((total.low.0..=total.high.0).contains(&seen), "{cache_bits}: {seen} in {total:?}");
    }
    let bits = |bits| exllamav3(&models["llama-3.1-8b-instruct"], bits, 16, 100).unwrap();
    assert_eq!(bits(4).cache.low, Bytes(32 * 4 * 1024 * 256), "pages of 256 tokens");
    assert!(bits(4).weights < bits(5).weights);
    assert!(exllamav3(&models["gemma-3-4b-it"], 4, 16, 100).is_err());
}
