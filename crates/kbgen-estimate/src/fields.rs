//! The plain fields of a model page, checked and turned into an `Architecture`.

use crate::architecture::{
    Architecture, Experts, FeedForward, FieldError, Latent, Layer, LayerKind, Recurrent, RopeFactors,
};
use crate::family::Family;

/// The largest value any field may have: products of three stay below 2^63.
const LARGEST: u64 = 1 << 24;

/// The fields as a model page writes them; zero and empty mean "has none".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchitectureFields {
    /// GGUF architecture, such as `llama`.
    pub gguf_arch: String,
    /// Number of layers.
    pub layers: u64,
    /// Run-length code of the layers in order, such as `S5F1`: F full, S sliding,
    /// R recurrent, M latent, N none. Empty: all full.
    pub layer_kinds: String,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Attention heads.
    pub heads: u64,
    /// KV heads.
    pub kv_heads: u64,
    /// Width of a head; zero: `hidden / heads`.
    pub head_dim: u64,
    /// KV heads of the full layers where they differ; zero: `kv_heads`.
    pub kv_heads_full: u64,
    /// Head width of the full layers where it differs; zero: `head_dim`.
    pub head_dim_full: u64,
    /// Full layers use K as V.
    pub k_eq_v_full: bool,
    /// Width of the dense feed-forward.
    pub ffn: u64,
    /// Vocabulary.
    pub vocab: u64,
    /// Output and embedding are one matrix.
    pub tied: bool,
    /// Number of routed experts.
    pub experts: u64,
    /// Experts used for a token.
    pub experts_used: u64,
    /// Width of one expert.
    pub expert_ffn: u64,
    /// Width of the shared experts together.
    pub shared_expert_ffn: u64,
    /// Leading layers without experts.
    pub first_dense_layers: u64,
    /// Every so many layers has experts; zero and one: each.
    pub moe_every: u64,
    /// Window of sliding layers.
    pub sliding_window: u64,
    /// Rank of the compressed K and V (MLA).
    pub mla_kv_lora: u64,
    /// Rank of the compressed Q (MLA).
    pub mla_q_lora: u64,
    /// Width of a head's rotary part (MLA).
    pub mla_qk_rope: u64,
    /// Width of a head's other part (MLA).
    pub mla_qk_nope: u64,
    /// Width of a head's value (MLA).
    pub mla_v_head: u64,
    /// Length of the convolution of recurrent layers.
    pub ssm_conv: u64,
    /// Inner width of recurrent layers.
    pub ssm_inner: u64,
    /// State of recurrent layers.
    pub ssm_state: u64,
    /// Rank of the time step.
    pub ssm_dt_rank: u64,
    /// Groups of recurrent layers.
    pub ssm_groups: u64,
    /// Q, K, V have a bias.
    pub qkv_bias: bool,
    /// Norm of Q and K: `head`, `full` or empty.
    pub qk_norm: String,
    /// Q, K, V are one matrix.
    pub fused_qkv: bool,
    /// Gate and up are one matrix.
    pub fused_gate_up: bool,
    /// The feed-forward has a gate.
    pub gated_ffn: bool,
    /// Longest context in tokens.
    pub max_ctx: u64,
}

impl ArchitectureFields {
    /// Checks every field and makes the architecture; names the first field that holds an
    /// impossible value.
    pub fn build(&self) -> Result<Architecture, FieldError> {
        let family: Family = self
            .gguf_arch
            .parse()
            .map_err(|_| error("gguf_arch", format!("unknown architecture `{}`", self.gguf_arch)))?;
        self.check_sizes()?;
        let kinds = self.kinds()?;
        self.check_parts(&kinds)?;
        let experts = (self.experts > 0).then(|| Experts {
            count: self.experts,
            used: self.experts_used,
            width: self.expert_ffn,
            shared_width: self.shared_expert_ffn,
            router_bias: self.router_bias(family),
        });
        let latent = (self.mla_kv_lora > 0).then_some(Latent {
            kv_lora: self.mla_kv_lora,
            q_lora: self.mla_q_lora,
            qk_rope: self.mla_qk_rope,
            qk_nope: self.mla_qk_nope,
            v_head: self.mla_v_head,
        });
        let recurrent = kinds.contains(&LayerKind::Recurrent).then_some(Recurrent {
            conv: self.ssm_conv,
            inner: self.ssm_inner,
            state: self.ssm_state,
            dt_rank: self.ssm_dt_rank,
            groups: self.ssm_groups,
        });
        let layers: Vec<Layer> =
            kinds.iter().zip(0..).map(|(kind, index)| self.layer(family, *kind, index)).collect();
        Ok(Architecture {
            family,
            rope_factors: self.rope_factors(family),
            layers,
            hidden: self.hidden,
            heads: self.heads,
            ffn: self.ffn,
            vocabulary: self.vocab,
            tied: self.tied,
            experts,
            latent,
            recurrent,
            sliding_window: self.sliding_window,
            qkv_bias: self.qkv_bias,
            head_norm: self.qk_norm == "head",
            fused_qkv: self.fused_qkv,
            fused_gate_up: self.fused_gate_up,
            gated_ffn: self.gated_ffn,
            max_context: self.max_ctx,
        })
    }

    fn check_sizes(&self) -> Result<(), FieldError> {
        let required = [
            ("layers", self.layers),
            ("hidden", self.hidden),
            ("heads", self.heads),
            ("vocab", self.vocab),
            ("max_ctx", self.max_ctx),
        ];
        for (field, value) in required {
            if value == 0 {
                return Err(error(field, "must be above zero".into()));
            }
        }
        let bounded = [
            ("kv_heads", self.kv_heads),
            ("head_dim", self.head_dim),
            ("kv_heads_full", self.kv_heads_full),
            ("head_dim_full", self.head_dim_full),
            ("ffn", self.ffn),
            ("experts", self.experts),
            ("expert_ffn", self.expert_ffn),
            ("shared_expert_ffn", self.shared_expert_ffn),
            ("sliding_window", self.sliding_window),
            ("ssm_inner", self.ssm_inner),
            ("ssm_state", self.ssm_state),
        ];
        for (field, value) in required.into_iter().chain(bounded) {
            if value > LARGEST {
                return Err(error(field, format!("{value} is beyond any model")));
            }
        }
        if self.layers > 1024 {
            return Err(error("layers", format!("{} is beyond any model", self.layers)));
        }
        Ok(())
    }

    fn check_parts(&self, kinds: &[LayerKind]) -> Result<(), FieldError> {
        let attends = |kind: &LayerKind| matches!(kind, LayerKind::Full | LayerKind::Sliding);
        if kinds.iter().any(attends) {
            if self.kv_heads == 0 {
                return Err(error("kv_heads", "a model with attention has some".into()));
            }
            if !self.heads.is_multiple_of(self.kv_heads) {
                let problem = format!("{} heads do not share {} KV heads", self.heads, self.kv_heads);
                return Err(error("kv_heads", problem));
            }
            if self.head_dim == 0 && !self.hidden.is_multiple_of(self.heads) {
                return Err(error("head_dim", "`hidden / heads` is not whole: write it".into()));
            }
        }
        if kinds.contains(&LayerKind::Sliding) && self.sliding_window == 0 {
            return Err(error("sliding_window", "the model has sliding layers".into()));
        }
        if kinds.contains(&LayerKind::Latent) {
            let parts = [
                ("mla_kv_lora", self.mla_kv_lora),
                ("mla_qk_rope", self.mla_qk_rope),
                ("mla_qk_nope", self.mla_qk_nope),
                ("mla_v_head", self.mla_v_head),
            ];
            for (field, value) in parts {
                if value == 0 {
                    return Err(error(field, "the model has latent layers".into()));
                }
            }
        }
        if kinds.contains(&LayerKind::Recurrent) && self.ssm_conv < 2 {
            return Err(error("ssm_conv", "the model has recurrent layers".into()));
        }
        if self.experts > 0 {
            if self.experts_used == 0 || self.experts_used > self.experts {
                return Err(error("experts_used", format!("must be 1 to {}", self.experts)));
            }
            if self.expert_ffn == 0 {
                return Err(error("expert_ffn", "the model has experts".into()));
            }
        } else if self.ffn == 0 {
            return Err(error("ffn", "a model without experts has one".into()));
        }
        Ok(())
    }

    /// Reads the run-length code.
    fn kinds(&self) -> Result<Vec<LayerKind>, FieldError> {
        if self.layer_kinds.is_empty() {
            return Ok(vec![LayerKind::Full; self.layers as usize]);
        }
        let mut kinds = Vec::new();
        let mut rest = self.layer_kinds.as_str();
        while let Some(letter) = rest.chars().next() {
            let kind = match letter {
                'F' => LayerKind::Full,
                'S' => LayerKind::Sliding,
                'R' => LayerKind::Recurrent,
                'M' => LayerKind::Latent,
                'N' => LayerKind::None,
                other => {
                    return Err(error("layer_kinds", format!("`{other}` is none of F, S, R, M, N")));
                }
            };
            rest = &rest[1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let count: u64 = rest[..digits]
                .parse()
                .map_err(|_| error("layer_kinds", format!("a count must follow `{letter}`")))?;
            if count == 0 || kinds.len() as u64 + count > self.layers {
                let problem = format!("does not name {} layers", self.layers);
                return Err(error("layer_kinds", problem));
            }
            kinds.extend(std::iter::repeat_n(kind, count as usize));
            rest = &rest[digits..];
        }
        if kinds.len() as u64 != self.layers {
            let problem = format!("names {} layers of {}", kinds.len(), self.layers);
            return Err(error("layer_kinds", problem));
        }
        Ok(kinds)
    }

    fn layer(&self, family: Family, kind: LayerKind, index: u64) -> Layer {
        let head_dim = if self.head_dim == 0 { self.hidden / self.heads } else { self.head_dim };
        let or = |value: u64, default: u64| if value == 0 { default } else { value };
        let (kv_heads, head_dim) = match kind {
            LayerKind::Full => (or(self.kv_heads_full, self.kv_heads), or(self.head_dim_full, head_dim)),
            LayerKind::Sliding => (self.kv_heads, head_dim),
            LayerKind::Latent => (1, self.mla_kv_lora + self.mla_qk_rope),
            LayerKind::Recurrent | LayerKind::None => (0, head_dim),
        };
        let feed_forward = if family == Family::NemotronHMoe {
            match kind {
                LayerKind::None => FeedForward::Experts,
                _ => FeedForward::None,
            }
        } else if self.experts > 0
            && index >= self.first_dense_layers
            && (index + 1).is_multiple_of(or(self.moe_every, 1))
        {
            FeedForward::Experts
        } else {
            FeedForward::Dense(self.ffn)
        };
        let value_is_key = kind == LayerKind::Full && self.k_eq_v_full;
        Layer { kind, kv_heads, head_dim, value_is_key, feed_forward }
    }

    /// Whether the router has a correction bias tensor. The page does not say; it follows
    /// from the generation: DeepSeek V2 (its vocabulary is 102400) has none, V3 and those
    /// built like it have one.
    fn router_bias(&self, family: Family) -> bool {
        match family {
            Family::Deepseek2 => self.vocab != 102_400,
            Family::Glm4Moe
            | Family::NemotronHMoe
            | Family::MinimaxM2
            | Family::Lfm2Moe
            | Family::Dots1
            | Family::Ernie45Moe
            | Family::BailingMoe2 => true,
            _ => false,
        }
    }

    /// Which frequency factors the converter writes (llama.cpp's `convert_hf_to_gguf.py`,
    /// `generate_extra_tensors`): Llama 3.1 and later, EXAONE 4, Llama 4 and Gemma 4 one
    /// tensor, Phi's LongRoPE two of 48 or 64 values.
    fn rope_factors(&self, family: Family) -> RopeFactors {
        let half = if self.head_dim == 0 { self.hidden / self.heads } else { self.head_dim } / 2;
        match family {
            Family::Llama if self.vocab == 128_256 && self.max_ctx >= 131_072 => RopeFactors::One(half),
            Family::Llama4 | Family::Exaone | Family::Exaone4 | Family::Apertus => RopeFactors::One(half),
            Family::Gemma4 => RopeFactors::One(self.head_dim_full / 2),
            Family::Phi3 if self.max_ctx > 32_768 => RopeFactors::LongAndShort(half.min(48)),
            Family::PhiMoe => RopeFactors::LongAndShort(half),
            _ => RopeFactors::None,
        }
    }
}

fn error(field: &'static str, problem: String) -> FieldError {
    FieldError { field, problem }
}
