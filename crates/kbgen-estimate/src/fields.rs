//! Hyperparameters of a model page: declared once, validated, and converted to an `Architecture`.

use crate::architecture::{
    Architecture, Experts, FeedForward, FieldError, Indexer, Latent, Layer, LayerKind, Pooling, Recurrent,
};
use crate::family::{Family, LayerForm};
use crate::field::{ArchitectureField, FieldKind, FieldType};

/// Maximum number of layers of a model.
pub(crate) const MAX_LAYERS: u64 = 1024;

/// Declares the hyperparameters: description, whether every model has it, name and type. Possible values and
/// default are given if they differ from those of the type.
macro_rules! architecture_fields {
    (@required required) => { true };
    (@required optional) => { false };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@kind $type:ty,) => { <$type as FieldType>::KIND };
    (@default $default:expr) => { $default };
    (@default) => { Default::default() };
    ($(
        $(#[doc = $doc:literal])+
        $need:ident $name:ident: $type:ty $(where $kind:expr)? $(=> $default:expr)?
    ),+ $(,)?) => {
        /// Hyperparameters of a model. Zero or empty means that a value is not given.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct ArchitectureFields {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Default for ArchitectureFields {
            fn default() -> Self {
                Self { $($name: architecture_fields!(@default $($default)?),)+ }
            }
        }

        impl ArchitectureFields {
            /// Every hyperparameter, in the order of the manual.
            pub const ALL: &'static [ArchitectureField] = &[$(ArchitectureField {
                name: stringify!($name),
                doc: concat!($($doc),+).trim_ascii(),
                kind: architecture_fields!(@kind $type, $($kind)?),
                is_required: architecture_fields!(@required $need),
                get: |fields| fields.$name.clone().value(),
                set: |fields, value| FieldType::of(value).map(|value| fields.$name = value).is_some(),
            }),+];
        }
    };
}

architecture_fields! {
    /// Name of the architecture in GGUF files (`general.architecture`).
    required name: String,
    /// Layers in order, run-length coded: F full attention, S sliding window, R recurrent, M latent attention, T latent
    /// attention without an indexer of its own, N none; `F32` is 32 full layers.
    required layers: String,
    /// Width of the hidden state.
    required hidden: u64,
    /// Attention heads.
    required heads: u64,
    /// Heads of keys and values.
    required kv_heads: u64,
    /// Width of a head; left out where it is the hidden width divided by the heads, and with latent attention.
    optional head_dim: u64,
    /// Width of a head of values, where it differs.
    optional value_head_dim: u64,
    /// Width of the dense feed-forward layer; left out where all layers have experts.
    optional ffn: u64,
    /// Tokens in the vocabulary.
    required vocab: u64,
    /// Whether output and token embedding are one tensor.
    required tied: bool,
    /// Largest context, in tokens.
    required max_ctx: u64 where FieldKind::Count { most: 100_000_000 },
    /// KV heads of the full-attention layers, where they differ.
    optional kv_heads_full: u64,
    /// Head width of the full-attention layers, where it differs.
    optional head_dim_full: u64,
    /// Whether full-attention layers share keys and values.
    optional k_eq_v_full: bool,
    /// Width of the token embeddings of each layer, besides the one at the input.
    optional per_layer_embedding: u64,
    /// Layers at the end that read the cache of earlier layers.
    optional kv_shared_layers: u64,
    /// Feed-forward width of these layers, where it differs.
    optional kv_shared_ffn: u64,
    /// Experts of a layer.
    optional experts: u64,
    /// Experts used for a token.
    optional experts_used: u64 where FieldKind::Count { most: 256 },
    /// Feed-forward width of an expert.
    optional expert_ffn: u64,
    /// Feed-forward width of the shared experts together.
    optional shared_expert_ffn: u64,
    /// Width that the hidden state is projected to for the routed experts.
    optional expert_latent: u64,
    /// Layers at the start without experts.
    optional first_dense_layers: u64,
    /// Every how many layers there are experts.
    optional moe_every: u64,
    /// Tokens that a sliding-window layer sees.
    optional sliding_window: u64,
    /// Latent attention: rank of keys and values.
    optional mla_kv_lora: u64,
    /// Latent attention: rank of queries.
    optional mla_q_lora: u64,
    /// Latent attention: head width with positions.
    optional mla_qk_rope: u64,
    /// Latent attention: head width without positions.
    optional mla_qk_nope: u64,
    /// Latent attention: width of a value head.
    optional mla_v_head: u64,
    /// Sparse attention: heads of the indexer.
    optional indexer_heads: u64,
    /// Sparse attention: width of a head of the indexer.
    optional indexer_head_dim: u64,
    /// Sparse attention: tokens that the indexer chooses.
    optional indexer_top_k: u64,
    /// Recurrent layers: width of the convolution.
    optional ssm_conv: u64,
    /// Recurrent layers: inner width.
    optional ssm_inner: u64,
    /// Recurrent layers: width of the state.
    optional ssm_state: u64,
    /// Recurrent layers: rank of the time step.
    optional ssm_dt_rank: u64,
    /// Recurrent layers: groups.
    optional ssm_groups: u64,
    /// Whether queries, keys and values have a bias.
    optional qkv_bias: bool,
    /// Norms of queries and keys, if there are any.
    optional qk_norm: String where FieldKind::Word(&[
        ("head", "One norm with the width of a head."),
        ("full", "One norm with the width of all heads."),
    ]),
    /// Whether queries, keys and values are one tensor.
    optional fused_qkv: bool,
    /// Whether gate and up projection are one tensor.
    optional fused_gate_up: bool,
    /// Whether the feed-forward layer has a gate; left out: it has.
    optional gated_ffn: bool => true,
    /// Embedding models: how the vectors of the tokens become that of the text; left out where the model writes text.
    optional pooling: String where FieldKind::Word(&[
        ("mean", "The mean of all."),
        ("cls", "The vector of the first token."),
        ("last", "The vector of the last token."),
    ]),
    /// Token types with a vector of their own.
    optional token_types: u64,
}

/// Returns an error with the name of the invalid field.
macro_rules! fail {
    ($fields:ident.$name:ident, $($problem:tt)+) => {{
        let _ = &$fields.$name;
        return Err(FieldError { field: stringify!($name), problem: format!($($problem)+) });
    }};
}

pub(crate) use fail;

impl ArchitectureFields {
    /// Validates all fields and creates the architecture.
    ///
    /// # Errors
    /// If a field is invalid by itself, for the architecture or together with others; names the first one.
    pub fn build(&self) -> Result<Architecture, FieldError> {
        let Some(family) = Family::named(&self.name) else {
            fail!(self.name, "unknown architecture `{}`", self.name)
        };
        let runs = self.parsed_layers()?;
        self.check_sizes()?;
        let letters = runs.iter().flat_map(|(letter, count)| (0..*count).map(|_| *letter));
        let letters: Vec<char> = letters.collect();
        let kinds: Vec<LayerKind> = letters.iter().filter_map(|letter| kind_of(*letter)).collect();
        self.check_parts(family, &kinds)?;
        let experts = (self.experts > 0).then(|| Experts {
            count: self.experts,
            used: self.experts_used,
            width: self.expert_ffn,
            shared_width: self.shared_expert_ffn,
            latent_width: self.expert_latent,
            router_bias: (family.router_bias)(self),
        });
        let latent = (self.mla_kv_lora > 0).then_some(Latent {
            kv_lora: self.mla_kv_lora,
            q_lora: self.mla_q_lora,
            qk_rope: self.mla_qk_rope,
            qk_nope: self.mla_qk_nope,
            v_head: self.mla_v_head,
        });
        let indexer = (self.indexer_heads > 0).then_some(Indexer {
            heads: self.indexer_heads,
            width: self.indexer_head_dim,
            top: self.indexer_top_k,
        });
        let recurrent = kinds.contains(&LayerKind::Recurrent).then_some(Recurrent {
            conv: self.ssm_conv,
            inner: self.ssm_inner,
            state: self.ssm_state,
            dt_rank: self.ssm_dt_rank,
            groups: self.ssm_groups,
        });
        let first_shared = kinds.len() as u64 - self.kv_shared_layers;
        let layer = |(kind, (index, letter)): (&LayerKind, (u64, &char))| Layer {
            has_indexer: *letter == 'M' && indexer.is_some(),
            ..self.layer(family, *kind, index, first_shared)
        };
        let layers = kinds.iter().zip((0..).zip(&letters)).map(layer).collect();
        let architecture = Architecture {
            family,
            rope_factors: (family.rope_factors)(self),
            layers,
            hidden: self.hidden,
            heads: self.heads,
            ffn: self.ffn,
            vocabulary: self.vocab,
            per_layer_embedding: self.per_layer_embedding,
            tied: self.tied,
            experts,
            latent,
            indexer,
            recurrent,
            sliding_window: self.sliding_window,
            qkv_bias: self.qkv_bias,
            head_norm: self.qk_norm == "head",
            fused_qkv: self.fused_qkv,
            fused_gate_up: self.fused_gate_up,
            gated_ffn: self.gated_ffn,
            pooling: match self.pooling.as_str() {
                "" => None,
                "mean" => Some(Pooling::Mean),
                _ => Some(Pooling::Token),
            },
            token_types: self.token_types,
            max_context: self.max_ctx,
        };
        self.check_totals(&architecture)?;
        Ok(architecture)
    }

    /// Replaces an unknown architecture with a Llama of the same sizes, in which every layer has attention.
    pub fn with_plain_family(mut self) -> ArchitectureFields {
        self.name = Family::plain().name.to_owned();
        self.layers = self.layers.replace(['R', 'N'], "F");
        self.k_eq_v_full = false;
        self.gated_ffn |= self.experts > 0;
        self
    }

    /// Returns the layers as runs of one kind: its letter, and the number of layers. Empty if the code is
    /// invalid.
    pub fn layer_runs(&self) -> Vec<(char, u64)> {
        self.parsed_layers().unwrap_or_default()
    }

    /// Returns the number of layers; zero if the code of the layers is invalid.
    pub fn layer_count(&self) -> u64 {
        self.layer_runs().iter().map(|(_, count)| count).sum()
    }

    /// Returns half the width of a head.
    pub(crate) fn half_head(&self) -> u64 {
        self.head_width() / 2
    }

    fn head_width(&self) -> u64 {
        if self.head_dim == 0 { self.hidden / self.heads } else { self.head_dim }
    }

    /// Parses the run-length code of the layers.
    pub(crate) fn parsed_layers(&self) -> Result<Vec<(char, u64)>, FieldError> {
        let (mut runs, mut total) = (Vec::new(), 0);
        let mut rest = self.layers.chars().peekable();
        while let Some(letter) = rest.next() {
            if kind_of(letter).is_none() {
                fail!(self.layers, "`{letter}` is not one of F, S, R, M, T, N");
            }
            let mut digits = String::new();
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            if digits.trim_start_matches('0').is_empty() {
                fail!(self.layers, "a count above zero must follow `{letter}`");
            }
            match digits.parse() {
                Ok(count) if count <= MAX_LAYERS - total => {
                    total += count;
                    runs.push((letter, count));
                }
                _ => fail!(self.layers, "with `{letter}{digits}`, more than {MAX_LAYERS} layers"),
            }
        }
        if runs.is_empty() {
            fail!(self.layers, "must not be empty");
        }
        Ok(runs)
    }

    fn layer(&self, family: &Family, kind: LayerKind, index: u64, first_shared: u64) -> Layer {
        let shares_cache = index >= first_shared;
        let head_dim = self.head_width();
        let (kv_heads, head_dim) = match kind {
            LayerKind::Full => (or(self.kv_heads_full, self.kv_heads), or(self.head_dim_full, head_dim)),
            LayerKind::Sliding => (self.kv_heads, head_dim),
            LayerKind::Latent => (1, self.mla_kv_lora + self.mla_qk_rope),
            LayerKind::Recurrent | LayerKind::None => (0, head_dim),
        };
        let value_dim = match kind {
            LayerKind::Full | LayerKind::Sliding => or(self.value_head_dim, head_dim),
            _ => head_dim,
        };
        let feed_forward = if family.layer_form == LayerForm::OnePart {
            match kind {
                LayerKind::None if self.experts == 0 => FeedForward::Dense(self.ffn),
                LayerKind::None => FeedForward::Experts,
                _ => FeedForward::None,
            }
        } else if self.experts > 0
            && index >= self.first_dense_layers
            && (index + 1).is_multiple_of(or(self.moe_every, 1))
        {
            FeedForward::Experts
        } else {
            FeedForward::Dense(if shares_cache { or(self.kv_shared_ffn, self.ffn) } else { self.ffn })
        };
        let value_is_key = kind == LayerKind::Full && self.k_eq_v_full;
        Layer {
            kind,
            kv_heads,
            head_dim,
            value_dim,
            value_is_key,
            shares_cache,
            has_indexer: false,
            feed_forward,
        }
    }
}

/// Returns the kind of layers with this letter.
fn kind_of(letter: char) -> Option<LayerKind> {
    Some(match letter {
        'F' => LayerKind::Full,
        'S' => LayerKind::Sliding,
        'R' => LayerKind::Recurrent,
        'M' | 'T' => LayerKind::Latent,
        'N' => LayerKind::None,
        _ => return None,
    })
}

/// Returns the code of layers with these letters; see [`ArchitectureFields::layers`].
pub(crate) fn run_lengths(letters: &[char]) -> String {
    letters.chunk_by(|one, other| one == other).map(|run| format!("{}{}", run[0], run.len())).collect()
}

/// Returns a value, or the default if it is not given.
pub(crate) fn or(value: u64, default: u64) -> u64 {
    if value == 0 { default } else { value }
}
