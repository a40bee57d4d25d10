//! A language model: its hyperparameters as facts.

use jiff::civil::Date;

use crate::files::Placed;
use crate::schema::{Choice, Field, Fields, Shape};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, SOURCES, TITLE};

const COUNT: Shape = Shape::Integer { min: 1, max: 10_000_000 };

const NORMS: &[Choice] = &[
    Choice { name: "head", doc: "One norm as wide as a head." },
    Choice { name: "full", doc: "One norm as wide as all heads." },
];

/// Hyperparameters in front matter and in the data of a model.
pub const ARCHITECTURE: &[Field] = &[
    Field::required("name", Shape::Text, "Name of the architecture in GGUF files (`general.architecture`)."),
    Field::required(
        "layers",
        Shape::Text,
        "Layers in order, run-length coded: F full attention, S sliding window, R recurrent, M latent attention, N none; `F32` is 32 full layers.",
    ),
    Field::required("hidden", COUNT, "Width of the hidden state."),
    Field::required("heads", COUNT, "Attention heads."),
    Field::required("kv_heads", COUNT, "Heads of keys and values."),
    Field::optional(
        "head_dim",
        COUNT,
        "Width of a head; left out where it is the hidden width divided by the heads, and with latent attention.",
    ),
    Field::optional(
        "ffn",
        COUNT,
        "Width of the dense feed-forward layer; left out where all layers have experts.",
    ),
    Field::required("vocab", COUNT, "Tokens in the vocabulary."),
    Field::required("tied", Shape::Flag, "Whether output and token embedding are one tensor."),
    Field::required("max_ctx", Shape::Integer { min: 1, max: 100_000_000 }, "Largest context, in tokens."),
    Field::optional("kv_heads_full", COUNT, "KV heads of the full-attention layers, where they differ."),
    Field::optional("head_dim_full", COUNT, "Head width of the full-attention layers, where it differs."),
    Field::optional("k_eq_v_full", Shape::Flag, "Whether full-attention layers share keys and values."),
    Field::optional("experts", COUNT, "Experts of a layer."),
    Field::optional("experts_used", COUNT, "Experts used for a token."),
    Field::optional("expert_ffn", COUNT, "Feed-forward width of an expert."),
    Field::optional("shared_expert_ffn", COUNT, "Feed-forward width of the shared experts together."),
    Field::optional("first_dense_layers", COUNT, "Layers at the start without experts."),
    Field::optional("moe_every", COUNT, "Every how many layers there are experts."),
    Field::optional("sliding_window", COUNT, "Tokens that a sliding-window layer sees."),
    Field::optional("mla_kv_lora", COUNT, "Latent attention: rank of keys and values."),
    Field::optional("mla_q_lora", COUNT, "Latent attention: rank of queries."),
    Field::optional("mla_qk_rope", COUNT, "Latent attention: head width with positions."),
    Field::optional("mla_qk_nope", COUNT, "Latent attention: head width without positions."),
    Field::optional("mla_v_head", COUNT, "Latent attention: width of a value head."),
    Field::optional("ssm_conv", COUNT, "Recurrent layers: width of the convolution."),
    Field::optional("ssm_inner", COUNT, "Recurrent layers: inner width."),
    Field::optional("ssm_state", COUNT, "Recurrent layers: width of the state."),
    Field::optional("ssm_dt_rank", COUNT, "Recurrent layers: rank of the time step."),
    Field::optional("ssm_groups", COUNT, "Recurrent layers: groups."),
    Field::optional("qkv_bias", Shape::Flag, "Whether queries, keys and values have a bias."),
    Field::optional("qk_norm", Shape::Choice(NORMS), "Norms of queries and keys, if there are any."),
    Field::optional("fused_qkv", Shape::Flag, "Whether queries, keys and values are one tensor."),
    Field::optional("fused_gate_up", Shape::Flag, "Whether gate and up projection are one tensor."),
    Field::optional("gated_ffn", Shape::Flag, "Whether the feed-forward layer has a gate; left out: it has."),
];

/// Front matter of a model page.
pub const FIELDS: &[Field] = &[
    TITLE,
    ALSO_KNOWN_AS,
    Field::optional("hf_id", Shape::Text, "Owner and name on the Hugging Face hub."),
    Field::required("family", Shape::Text, "Family that lists group it under."),
    Field::optional("licence", Shape::Text, "License of the weights."),
    Field::optional("released", Shape::Date, "Day of the first release."),
    Field::optional(
        "released_as",
        Shape::Text,
        "Quantization that its publisher releases the weights in, where they are not 16 bits wide: `MXFP4`.",
    ),
    Field::optional(
        "parameters",
        Shape::Integer { min: 1, max: 100_000_000_000_000 },
        "Parameters as its publisher counts them.",
    ),
    Field::optional(
        "parameters_note",
        Shape::Text,
        "Why that count differs from the tensors that the runner loads.",
    ),
    Field::required(
        "architecture",
        Shape::Record(ARCHITECTURE),
        "Hyperparameters; the fit table is computed from these.",
    ),
    SOURCES,
    Field::optional("note", Shape::Text, "Where the hyperparameters come from, in words."),
    ALIASES,
    DRAFT,
];

/// What a model page holds besides its head.
#[derive(Debug, Clone)]
pub struct ModelData {
    /// Other names that it is looked up by.
    pub also_known_as: Vec<String>,
    /// Owner and name on the hub.
    pub hf_id: Option<String>,
    /// Family that lists group it under.
    pub family: String,
    /// License of the weights.
    pub licence: Option<String>,
    /// Day of the first release.
    pub released: Option<Date>,
    /// Quantization of the published weights, where it is not a 16-bit type.
    pub released_as: Option<Placed<String>>,
    /// Published count of parameters.
    pub parameters: Option<Placed<u64>>,
    /// Why that count differs from what is loaded.
    pub parameters_note: Option<String>,
    /// Hyperparameters.
    pub architecture: ArchitectureData,
    /// Where the hyperparameters come from.
    pub note: Option<String>,
    /// What the page rests on.
    pub evidence: Evidence,
}

/// Hyperparameters as the front matter gives them; the fit stage turns them into the estimator's own type.
#[derive(Debug, Clone)]
pub struct ArchitectureData {
    /// All fields, by the names of the front matter.
    pub fields: Option<Fields>,
    /// Name in GGUF files.
    pub name: Option<Placed<String>>,
    /// Run-length coded layers.
    pub layers: Option<Placed<String>>,
}

impl ArchitectureData {
    /// A count, if it is given.
    pub fn count(&self, name: &str) -> Option<u64> {
        let fields = self.fields.as_ref()?;
        fields.integer(name).and_then(|placed| u64::try_from(placed.value).ok())
    }

    /// Layers in order, as runs of one kind: its letter and how many.
    pub fn layer_runs(&self) -> Vec<(char, u64)> {
        let code = self.layers.as_ref().map(|code| code.value.as_str()).unwrap_or_default();
        let mut runs = Vec::new();
        let mut letters = code.chars().peekable();
        while let Some(letter) = letters.next() {
            let mut number = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                number.push(digit);
            }
            if letter.is_alphabetic() {
                runs.push((letter, number.parse().unwrap_or(1)));
            }
        }
        runs
    }

    /// Layers in all.
    pub fn layer_count(&self) -> u64 {
        self.layer_runs().iter().fold(0, |total, (_, count)| total.saturating_add(*count))
    }

    /// A flag, if it is given.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.fields.as_ref()?.flag(name).map(|placed| placed.value)
    }

    /// A word, if it is given.
    pub fn word(&self, name: &str) -> Option<String> {
        self.fields.as_ref()?.text(name).map(|placed| placed.value)
    }
}

impl ModelData {
    /// What the fields of a model page say.
    pub fn new(fields: &Fields) -> Self {
        let word = |name| fields.text(name).map(|placed| placed.value);
        let architecture = fields.record("architecture").map(|placed| placed.value);
        Self {
            also_known_as: fields.texts("also_known_as").into_iter().map(|name| name.value).collect(),
            hf_id: word("hf_id"),
            family: word("family").unwrap_or_default(),
            licence: word("licence"),
            released: fields.date("released").map(|placed| placed.value),
            released_as: fields.text("released_as"),
            parameters: fields.integer("parameters").map(|placed| placed.map(i64::unsigned_abs)),
            parameters_note: word("parameters_note"),
            architecture: ArchitectureData {
                name: architecture.as_ref().and_then(|fields| fields.text("name")),
                layers: architecture.as_ref().and_then(|fields| fields.text("layers")),
                fields: architecture,
            },
            note: word("note"),
            evidence: Evidence::new(fields),
        }
    }
}
