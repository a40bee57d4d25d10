//! Hyperparameters of files and pages that nobody checked: they are refused, or the model has estimates.

use std::panic::catch_unwind;

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::WeightType;
use kbgen_estimate::family::Family;
use kbgen_estimate::field::{FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::local::{exllamav3, mlx};
use kbgen_estimate::plan::remedies::Remedies;
use kbgen_estimate::plan::search::Available;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{ExpertPlacement, FlashAttention, Settings};
use kbgen_estimate::sglang::sglang;
use kbgen_estimate::transformers::transformers;
use kbgen_estimate::vllm::{PoolSettings, vllm};

/// Number of models of each architecture. With 3,000 it takes five minutes.
const TRIES: u64 = 60;

/// Layers to choose from.
const LAYERS: [&str; 10] = ["F2", "S1F1", "F1S1", "R1F1", "F1R1", "M2", "M1T1", "N1F1", "R2", "S3F1R1N1"];
/// Counts to choose from: none, small ones, and those of real models.
const COUNTS: [u64; 12] = [0, 0, 1, 2, 3, 4, 8, 16, 32, 64, 96, 128];

/// Numbers that look random (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % below
    }

    /// Returns whether the next number is one of `one_in`.
    fn chance(&mut self, one_in: usize) -> bool {
        self.next(one_in) == 0
    }
}

/// Returns a small model of this architecture in which some fields have another value.
fn random_fields(numbers: &mut Numbers, family: &Family) -> ArchitectureFields {
    let mut fields = ArchitectureFields {
        name: family.name.to_owned(),
        layers: LAYERS[numbers.next(LAYERS.len())].to_owned(),
        hidden: 256,
        heads: 4,
        kv_heads: 2,
        head_dim: 64,
        ffn: 512,
        vocab: 1000,
        max_ctx: 4096,
        sliding_window: 512,
        mla_kv_lora: 64,
        mla_q_lora: 32,
        mla_qk_rope: 32,
        mla_qk_nope: 64,
        mla_v_head: 64,
        ssm_conv: 4,
        ssm_inner: 256,
        ssm_state: 32,
        ssm_dt_rank: 8,
        ssm_groups: 4,
        ..ArchitectureFields::default()
    };
    if numbers.chance(2) {
        (fields.experts, fields.experts_used, fields.expert_ffn) = (8, 2, 64);
    }
    for field in ArchitectureFields::ALL {
        if ["name", "layers", "max_ctx"].contains(&field.name) || !numbers.chance(16) {
            continue;
        }
        let value = match field.kind {
            FieldKind::Count { .. } => FieldValue::Count(COUNTS[numbers.next(COUNTS.len())]),
            FieldKind::Flag => FieldValue::Flag(numbers.chance(2)),
            FieldKind::Word(words) => FieldValue::Text(words[numbers.next(words.len())].0.to_owned()),
            FieldKind::Text => continue,
        };
        assert!((field.set)(&mut fields, value), "`{}` is of another type", field.name);
    }
    fields
}

/// Settings that take different ways through the estimate.
fn settings() -> Vec<Settings> {
    let plain = Settings::new(Quantization::Q4_K_M, 512);
    vec![
        Settings { gpu_layers: Some(1), ..plain.clone() },
        Settings { experts: ExpertPlacement::Cpu, sequences: 3, ..plain.clone() },
        Settings { tensor_split: vec![1, 1], ..plain.clone() },
        Settings { tensor_split: Vec::new(), ..plain.clone() },
        Settings { flash_attention: FlashAttention::Off, ..plain.clone() },
        Settings { cache_type_k: CacheType::Q8_0, cache_type_v: CacheType::Q8_0, ..plain.clone() },
        plain,
    ]
}

#[test]
fn any_hyperparameters_are_refused_or_have_an_estimate() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let settings = settings();
    let (mut built, mut refused) = (0, 0);
    for family in Family::all() {
        for _ in 0..TRIES {
            let fields = random_fields(&mut numbers, family);
            let attempt = catch_unwind(|| {
                let Ok(model) = fields.build() else { return false };
                let mut planner = Planner::new(&model);
                for settings in &settings {
                    // a cache type that does not fit the heads is not covered
                    let _ = planner.estimate(settings);
                    planner.weights_read(settings);
                }
                let _ = planner.compute(&settings[0]);
                let free = Available { gpus: vec![Bytes(1 << 20)] };
                let _ = Remedies::find(&mut planner, &settings[6], &free, &[Quantization::Q4_0]);
                let pool = PoolSettings { cards: 2, memory: Bytes(1 << 30), ..PoolSettings::default() };
                let _ = (vllm(&model, &pool), sglang(&model, &pool));
                let _ = (transformers(&model, WeightType::Bf16, 512), mlx(&model, WeightType::Mlx(4), 512));
                let _ = exllamav3(&model, 4, 8, 512);
                true
            });
            match attempt {
                Ok(true) => built += 1,
                Ok(false) => refused += 1,
                Err(_) => panic!("{fields:?}"),
            }
        }
    }
    assert!(built > 1000 && refused > 1000, "{built} built, {refused} refused");
}
