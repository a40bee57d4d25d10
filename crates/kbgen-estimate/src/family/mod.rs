//! The supported GGUF architectures: their tensors, cache and compute graph, with related ones in one file.
//!
//! Each follows llama.cpp's `src/models/*.cpp` (<https://github.com/ggml-org/llama.cpp>, commit 0c1e570): its
//! tensors are those of `load_arch_tensors`, its graph that of the constructor of `graph`.

mod apertus;
mod arcee;
mod bailing;
mod bert;
mod cohere;
mod deepseek;
mod dots;
mod ernie;
mod exaone;
mod gemma;
mod gemma4;
mod glm;
mod gpt_oss;
mod granite;
mod hunyuan;
mod lfm2;
mod llama;
mod llama4;
mod mimo;
mod minimax;
mod mistral3;
mod nemotron_h;
mod olmo;
mod phi;
mod qwen;
mod qwen3_next;
mod qwen_vl;
mod seed_oss;
mod smollm3;
mod stablelm;
mod starcoder2;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::architecture::{Architecture, Experts, Layer, RopeFactors};
use crate::compute::{Builder, Gating, NormKind, Projections, TensorId};
use crate::fields::ArchitectureFields;
use crate::names::Name;
use crate::tensors::TensorList;

/// Families by file.
const FILES: &[&[Family]] = &[
    apertus::FAMILIES,
    arcee::FAMILIES,
    bailing::FAMILIES,
    bert::FAMILIES,
    cohere::FAMILIES,
    deepseek::FAMILIES,
    dots::FAMILIES,
    ernie::FAMILIES,
    exaone::FAMILIES,
    gemma::FAMILIES,
    gemma4::FAMILIES,
    glm::FAMILIES,
    gpt_oss::FAMILIES,
    granite::FAMILIES,
    hunyuan::FAMILIES,
    lfm2::FAMILIES,
    llama::FAMILIES,
    llama4::FAMILIES,
    mimo::FAMILIES,
    minimax::FAMILIES,
    mistral3::FAMILIES,
    nemotron_h::FAMILIES,
    olmo::FAMILIES,
    phi::FAMILIES,
    qwen::FAMILIES,
    qwen3_next::FAMILIES,
    qwen_vl::FAMILIES,
    seed_oss::FAMILIES,
    smollm3::FAMILIES,
    stablelm::FAMILIES,
    starcoder2::FAMILIES,
];

/// Builds the graph of a part of a layer from the layer's index and input, and returns its output.
pub(crate) type LayerGraph = fn(&mut Builder<'_>, u64, TensorId) -> TensorId;

/// Declares the properties of families with their defaults, which are those of Llama.
macro_rules! family_fields {
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $default:expr,)+) => {
        /// A GGUF architecture: which tensors a model has and which graph llama.cpp builds.
        ///
        /// A declaration only contains the differences from [`Family::PLAIN`].
        pub struct Family {
            $($(#[doc = $doc])+ $visibility $name: $type,)+
        }

        impl Family {
            /// Defaults of a family: Llama's tensors and graph.
            pub(crate) const PLAIN: Family = Family { $($name: $default,)+ };
        }
    };
}

family_fields! {
    /// The name in GGUF files (`general.architecture`).
    pub name: &'static str = "",
    /// Further names of the architecture in configurations of Hugging Face (`model_type`).
    pub(crate) model_types: &'static [&'static str] = &[],
    /// Period of full-attention layers, if the file does not say which layers have a sliding window
    /// (`set_swa_pattern` in llama.cpp's `src/models`). Zero: no layer has a window.
    pub full_attention_every: u64 = 0,
    /// Whether Ollama serves one request at a time (`server/sched.go`).
    pub served_alone_by_ollama: bool = false,
    /// Whether the published checkpoint stores the experts in MXFP4.
    pub mxfp4_checkpoint: bool = false,

    /// Whether every token of a text attends to all others: the whole text is one micro-batch, nothing is
    /// cached, and the results are vectors instead of logits.
    pub is_encoder: bool = false,

    // Metadata that model pages do not contain.
    /// Whether the router has a correction bias.
    pub(crate) router_bias: fn(&ArchitectureFields) -> bool = |_| false,
    /// Frequency factors that the converter writes (`convert_hf_to_gguf.py`, `generate_extra_tensors`).
    pub(crate) rope_factors: fn(&ArchitectureFields) -> RopeFactors = |_| RopeFactors::None,
    /// Whether KV heads are stored by layer, including layers without attention.
    pub(crate) kv_heads_by_layer: bool = false,
    /// Whether a model with 80 layers is llama.cpp's `LLM_TYPE_70B`, whose V projections get a wider type.
    pub(crate) is_70b: fn(&Architecture) -> bool = |_| false,

    // Tensors.
    /// Adds tensors between the token embedding and the layers; those of the first layer come last.
    pub(crate) input_tensors: Option<fn(&mut TensorList<'_>)> = None,
    /// Norms of a layer.
    pub(crate) norms: &'static [Name] = &[Name::AttentionNorm, Name::FfnNorm],
    /// Whether the norms have a bias.
    pub(crate) norm_bias: bool = false,
    /// Adds tensors of a layer after its norms.
    pub(crate) layer_tensors: Option<fn(&mut TensorList<'_>, &Layer)> = None,
    /// Whether Q, K and V are always one matrix.
    pub(crate) fused_qkv: bool = false,
    /// Whether full-attention layers may use the K projection as V projection.
    pub(crate) value_may_be_key: bool = false,
    /// Whether the Q projection also computes a gate of the same width.
    pub(crate) query_gate: bool = false,
    /// Norms of Q and K.
    pub(crate) query_key_norm: QueryKeyNorm = QueryKeyNorm::ByHead,
    /// Whether the output projection of attention has a bias.
    pub(crate) attention_output_bias: bool = false,
    /// Whether attention of a layer has sinks.
    pub(crate) attention_sinks: fn(&Layer) -> bool = |_| false,
    /// Whether the dense feed-forward network has biases.
    pub(crate) ffn_bias: bool = false,
    /// Whether router and experts have biases.
    pub(crate) expert_bias: bool = false,
    /// Adds the tensors of router and experts, if the properties above do not describe them.
    pub(crate) expert_tensors: Option<fn(&mut TensorList<'_>, Experts, u64)> = None,
    /// Gate of the shared experts.
    pub(crate) shared_gate: SharedGate = SharedGate::None,
    /// Kind of the recurrent layers.
    pub(crate) recurrence: Recurrence = Recurrence::Mamba2,
    /// Whether the output matrix has a bias.
    pub(crate) output_bias: bool = false,
    /// Whether a tied output that is computed on the CPU is a copy of the embedding (as measured).
    pub copies_tied_output: bool = false,

    // Graph.
    /// Kind of the norms.
    pub(crate) norm: NormKind = NormKind::Rms,
    /// Number of image vectors, each of which is added to the result of one of the first layers
    /// (`n_deepstack_layers`).
    pub(crate) stacked_embeddings: u64 = 0,
    /// Runs after the embedding, and returns the input of the first layer.
    pub(crate) before_layers: Option<fn(&mut Builder<'_>, TensorId) -> TensorId> = None,
    /// Runs after feed-forward and its sum with the residual stream.
    pub(crate) after_feed_forward: Option<LayerGraph> = None,
    /// Whether the embedding is scaled.
    pub(crate) scales_embedding: bool = false,
    /// Position numbers per token.
    pub(crate) positions: u64 = 1,
    /// Whether the graph has a scale of the query as input.
    pub(crate) query_scale: bool = false,
    /// How the parts of a layer are combined.
    pub(crate) layer_form: LayerForm = LayerForm::TwoParts,
    /// Whether the residual stream is the first operand of the sum: after attention, after feed-forward.
    pub(crate) stream_first: [bool; 2] = [false, false],
    /// Whether the outputs of attention and feed-forward are scaled.
    pub(crate) scales_residual: bool = false,
    /// Builds attention, if it is not the plain one.
    pub(crate) attention: Option<LayerGraph> = None,
    /// Whether a layer has rotary positions.
    pub(crate) uses_rope: fn(&Architecture, u64) -> bool = |_, _| true,
    /// Whether only full-attention layers read the frequency factors.
    pub(crate) factors_of_full_layers: bool = false,
    /// Runs after the rotary positions.
    pub(crate) after_rope: Option<fn(&mut Builder<'_>, u64, &mut Projections)> = None,
    /// Whether attention scores are capped.
    pub(crate) caps_scores: bool = false,
    /// Builds feed-forward of a layer with experts, if it is not the plain one. The input is the residual
    /// stream before the norm.
    pub(crate) experts: Option<LayerGraph> = None,
    /// Whether feed-forward without a gate squares the output of its ReLU.
    pub(crate) squared_relu: bool = false,
    /// How router logits become routing weights (shares). `None`: sigmoid if the router has a bias, else
    /// softmax.
    pub(crate) gating: Option<Gating> = None,
    /// Whether shares are normalized to sum to one.
    pub(crate) normalizes_shares: bool = true,
    /// Whether shares are scaled after normalization.
    pub(crate) scales_shares: bool = false,
    /// Whether shares multiply the input of the experts, and logits rank the experts.
    pub(crate) shares_before: bool = false,
    /// Whether shared experts are computed before the routed ones.
    pub(crate) shared_first: bool = false,
    /// Where tokens without logits are dropped.
    pub(crate) output_rows: OutputRows = OutputRows::InLastLayer,
    /// Number of operations on the logits.
    pub(crate) logit_steps: u64 = 0,
}

/// Norms of Q and K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKeyNorm {
    /// By head, if the model has them.
    ByHead,
    /// By head, after rotary positions.
    ByHeadAfterRope,
    /// Over all heads at once.
    Whole,
    /// By head with separate weights for each head (from 64 layers on).
    EachHead,
}

/// Gate of the shared experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedGate {
    /// No gate.
    None,
    /// Computed before the experts, as `sigmoid(x) = silu(x) / x`.
    Before,
    /// Computed after the experts.
    After,
}

/// Kind of the recurrent layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recurrence {
    /// Mamba 2.
    Mamba2,
    /// A gated delta net.
    DeltaNet {
        /// Beta and alpha are one projection; keys are repeated to the number of value heads.
        joint: bool,
    },
    /// A short convolution.
    ShortConvolution,
}

/// How the parts of a layer are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerForm {
    /// Attention, then feed-forward.
    TwoParts,
    /// Attention, then feed-forward, each normalized after its sum with the residual stream; there is no last
    /// norm.
    NormedSums,
    /// Parallel attention and feed-forward. Either their outputs are added first, or one of them is added to
    /// the residual stream first.
    Parallel {
        /// Whether the outputs are added first.
        parts_first: bool,
    },
    /// Either a mixer or a feed-forward network. Experts are in layers of the kind `N`.
    OnePart,
}

/// Where tokens without logits are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputRows {
    /// In the last layer.
    InLastLayer,
    /// Before the last norm; the state that a draft head would read is also an output.
    BeforeNorm,
    /// After the last norm.
    AfterNorm,
}

impl Family {
    /// Returns all families, by file.
    pub fn all() -> impl Iterator<Item = &'static Family> {
        FILES.iter().copied().flatten()
    }

    /// Returns the family with Llama's tensors and graph.
    pub fn plain() -> &'static Family {
        &llama::FAMILIES[0]
    }

    /// Returns whether a model ends with a norm and an output matrix.
    pub(crate) fn has_output(&self) -> bool {
        self.layer_form != LayerForm::NormedSums
    }

    /// Returns whether the graph computes Q, K and V with separate matrices.
    pub(crate) fn has_separate_projections(&self) -> bool {
        self.query_gate || self.value_may_be_key || self.query_key_norm == QueryKeyNorm::Whole
    }

    /// Returns the family of an architecture's name in configurations of Hugging Face, such as `qwen3_moe`.
    pub fn of_model_type(name: &str) -> Option<&'static Family> {
        let plain = |name: &str| name.trim_end_matches("_text").replace(['_', '-'], "");
        Family::all()
            .find(|family| family.model_types.contains(&name))
            .or_else(|| Family::all().find(|family| plain(family.name) == plain(name)))
    }

    /// Returns the family with this name in GGUF files.
    pub fn named(name: &str) -> Option<&'static Family> {
        Family::all().find(|family| family.name == name)
    }
}

/// Scales the query, in families whose attention has no other scale.
fn scale_query(builder: &mut Builder<'_>, _layer: u64, parts: &mut Projections) {
    parts.query = builder.graph.in_place(&[parts.query]);
}

/// Returns one tensor of factors with half the width of a head.
fn factors_of_half_a_head(fields: &ArchitectureFields) -> RopeFactors {
    RopeFactors::One(fields.half_head())
}

/// Returns whether the layer is not one of every fourth.
fn three_of_four(_model: &Architecture, layer: u64) -> bool {
    !(layer + 1).is_multiple_of(4)
}

impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        self.name == other.name
    }
}

impl Eq for Family {}

impl Hash for Family {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::{fs, io};

    use crate::architecture::Architecture;
    use crate::estimator::estimate;
    use crate::family::{Family, LayerForm};
    use crate::fields::ArchitectureFields;
    use crate::placement::Device;
    use crate::quantization::Quantization;
    use crate::settings::Settings;

    fn llama() -> Architecture {
        let fields = ArchitectureFields {
            name: "llama".into(),
            layers: "F4".into(),
            hidden: 1024,
            heads: 16,
            kv_heads: 4,
            ffn: 4096,
            vocab: 32_000,
            max_ctx: 8192,
            ..ArchitectureFields::default()
        };
        fields.build().unwrap()
    }

    #[test]
    fn a_family_needs_only_a_declaration() {
        static LIKE_LLAMA: Family = Family { name: "like-llama", ..Family::PLAIN };
        static DIFFERENT: Family = Family {
            name: "different",
            norm_bias: true,
            layer_form: LayerForm::Parallel { parts_first: true },
            ..Family::PLAIN
        };
        let needs = |family| {
            let model = Architecture { family, ..llama() };
            let estimate = estimate(&model, &Settings::new(Quantization::F16, 4096)).unwrap();
            let gpu = estimate.device(Device::Gpu(0)).unwrap();
            (gpu.weights.bytes.0, gpu.compute.bytes.0)
        };
        let (weights, compute) = needs(llama().family);
        assert_eq!(needs(&LIKE_LLAMA), (weights, compute));
        // two vectors of 4-byte numbers in each layer, and one after the layers
        let (more_weights, other_compute) = needs(&DIFFERENT);
        assert_eq!(more_weights - weights, (4 * 2 + 1) * 4 * 1024);
        assert_ne!(other_compute, compute);
    }

    #[test]
    fn no_other_file_names_a_family() -> io::Result<()> {
        let names: BTreeSet<&str> = Family::all().map(|family| family.name).collect();
        assert_eq!(names.len(), Family::all().count(), "a name is declared twice");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![root.clone()];
        let mut naming = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() && !path.ends_with("tests") {
                    folders.push(path);
                    continue;
                }
                if path.is_dir() {
                    continue;
                }
                let text = fs::read_to_string(&path)?;
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                for name in names.iter().filter(|name| code.contains(&format!("\"{name}\""))) {
                    assert!(
                        path.parent().is_some_and(|parent| parent.ends_with("family")),
                        "{}",
                        path.display()
                    );
                    assert!(naming.insert(*name), "two files name `{name}`");
                }
            }
        }
        assert_eq!(naming, names);
        Ok(())
    }
}
