//! The GGUF architectures whose tensors, cache and compute graph are known here, a file for relatives.
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

/// The families of each file.
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

/// The graph of a part of a layer: the layer, its input, its output.
pub(crate) type LayerGraph = fn(&mut Builder<'_>, u64, TensorId) -> TensorId;

/// Declares the properties of families with their defaults, which are those of Llama.
macro_rules! traits {
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $default:expr,)+) => {
        /// A GGUF architecture: which tensors a model has and which graph llama.cpp builds.
        ///
        /// A declaration says where a family differs from [`Family::PLAIN`].
        pub struct Family {
            $($(#[doc = $doc])+ $visibility $name: $type,)+
        }

        impl Family {
            /// Defaults of a family: Llama's tensors and graph.
            pub(crate) const PLAIN: Family = Family { $($name: $default,)+ };
        }
    };
}

traits! {
    /// The name in GGUF files (`general.architecture`).
    pub name: &'static str = "",
    /// Further names of the architecture in configurations of Hugging Face (`model_type`), besides the name itself.
    pub(crate) model_types: &'static [&'static str] = &[],
    /// One of so many layers has full attention, where the file does not say which layers have a sliding window
    /// (`set_swa_pattern` in llama.cpp's `src/models`); zero: no layer has a window.
    pub full_attention_every: u64 = 0,
    /// Ollama serves one request at a time (`server/sched.go`).
    pub served_alone_by_ollama: bool = false,
    /// The published checkpoint keeps the experts in MXFP4.
    pub mxfp4_checkpoint: bool = false,

    /// Every token of a text sees all others: the whole text is one micro-batch, nothing is cached, and the result are
    /// vectors instead of logits.
    pub is_encoder: bool = false,

    // Metadata that model pages do not give.
    /// Whether the router has a correction bias.
    pub(crate) router_bias: fn(&ArchitectureFields) -> bool = |_| false,
    /// Frequency factors that the converter writes (`convert_hf_to_gguf.py`, `generate_extra_tensors`).
    pub(crate) rope_factors: fn(&ArchitectureFields) -> RopeFactors = |_| RopeFactors::None,
    /// KV heads are stored layer by layer, also of layers without attention.
    pub(crate) kv_heads_by_layer: bool = false,
    /// Whether 80 layers make it llama.cpp's `LLM_TYPE_70B`, whose V projections get a wider type.
    pub(crate) is_70b: fn(&Architecture) -> bool = |_| false,

    // Tensors.
    /// Tensors between the token embedding and the layers; those of the first layer last.
    pub(crate) input_tensors: Option<fn(&mut TensorList<'_>)> = None,
    /// Norms of a layer.
    pub(crate) norms: &'static [Name] = &[Name::AttentionNorm, Name::FfnNorm],
    /// The norms have a bias.
    pub(crate) norm_bias: bool = false,
    /// Tensors of a layer behind its norms.
    pub(crate) layer_tensors: Option<fn(&mut TensorList<'_>, &Layer)> = None,
    /// Q, K and V are always one matrix.
    pub(crate) fused_qkv: bool = false,
    /// The Q projection also computes a gate of the same width.
    pub(crate) query_gate: bool = false,
    /// Norms of Q and K.
    pub(crate) query_key_norm: QueryKeyNorm = QueryKeyNorm::ByHead,
    /// The output projection of attention has a bias.
    pub(crate) attention_output_bias: bool = false,
    /// Whether attention of a layer has sinks.
    pub(crate) attention_sinks: fn(&Layer) -> bool = |_| false,
    /// The dense feed-forward has biases.
    pub(crate) ffn_bias: bool = false,
    /// Router and experts have biases.
    pub(crate) expert_bias: bool = false,
    /// Tensors of router and experts, where they differ by more than that.
    pub(crate) expert_tensors: Option<fn(&mut TensorList<'_>, Experts, u64)> = None,
    /// Gate of the shared experts.
    pub(crate) shared_gate: SharedGate = SharedGate::None,
    /// Kind of the recurrent layers.
    pub(crate) recurrence: Recurrence = Recurrence::Mamba2,
    /// The output matrix has a bias.
    pub(crate) output_bias: bool = false,
    /// A tied output that is computed on the CPU is a copy of the embedding (as measured).
    pub copies_tied_output: bool = false,

    // Graph.
    /// Kind of the norms.
    pub(crate) norm: NormKind = NormKind::Rms,
    /// Vectors of an image that the first layers add, each to the result of one layer (`n_deepstack_layers`).
    pub(crate) stacked_embeddings: u64 = 0,
    /// Follows the embedding: gives what the first layer reads.
    pub(crate) before_layers: Option<fn(&mut Builder<'_>, TensorId) -> TensorId> = None,
    /// Follows feed-forward and its sum with the stream.
    pub(crate) after_feed_forward: Option<LayerGraph> = None,
    /// The embedding is scaled.
    pub(crate) scales_embedding: bool = false,
    /// Position numbers of a token.
    pub(crate) positions: u64 = 1,
    /// A scale of the query is an input of the graph.
    pub(crate) query_scale: bool = false,
    /// How the parts of a layer are put together.
    pub(crate) layer_form: LayerForm = LayerForm::TwoParts,
    /// The sum with the stream names the stream first: after attention, after feed-forward.
    pub(crate) stream_first: [bool; 2] = [false, false],
    /// The outputs of attention and feed-forward are scaled.
    pub(crate) scales_residual: bool = false,
    /// Attention, where it is not the plain one.
    pub(crate) attention: Option<LayerGraph> = None,
    /// Whether a layer has rotary positions.
    pub(crate) uses_rope: fn(&Architecture, u64) -> bool = |_, _| true,
    /// Only layers of full attention read the frequency factors.
    pub(crate) factors_of_full_layers: bool = false,
    /// Follows the rotary positions.
    pub(crate) after_rope: Option<fn(&mut Builder<'_>, u64, &mut Projections)> = None,
    /// Scores of attention are capped.
    pub(crate) caps_scores: bool = false,
    /// Feed-forward of a layer with experts, where it is not the plain one; takes the stream before its norm.
    pub(crate) experts: Option<LayerGraph> = None,
    /// Without a gate, feed-forward squares what the relu lets pass.
    pub(crate) squared_relu: bool = false,
    /// How router logits become shares; `None`: a sigmoid where the router has a bias, else a soft maximum.
    pub(crate) gating: Option<Gating> = None,
    /// Shares are made to sum to one.
    pub(crate) normalizes_shares: bool = true,
    /// Shares are scaled after that.
    pub(crate) scales_shares: bool = false,
    /// Shares multiply what goes into the experts, and logits rank them.
    pub(crate) shares_before: bool = false,
    /// Shared experts are computed before the routed ones.
    pub(crate) shared_first: bool = false,
    /// Where tokens without logits are dropped.
    pub(crate) output_rows: OutputRows = OutputRows::InLastLayer,
    /// Operations on the logits.
    pub(crate) logit_steps: u64 = 0,
}

/// Norms of Q and K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKeyNorm {
    /// By head, where the model has them.
    ByHead,
    /// By head, after rotary positions.
    ByHeadAfterRope,
    /// As wide as all heads.
    Whole,
    /// By head with weights for each; from 64 layers on.
    EachHead,
}

/// Gate of the shared experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedGate {
    /// They have none.
    None,
    /// It is computed before them, as `sigmoid(x) = silu(x) / x`.
    Before,
    /// It is computed after them.
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

/// How the parts of a layer are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerForm {
    /// Attention, then feed-forward.
    TwoParts,
    /// Attention, then feed-forward, each normed after its sum with the stream; there is no last norm.
    NormedSums,
    /// Parallel attention and feed-forward, added to each other first or to the residual stream.
    Parallel {
        /// To each other first.
        parts_first: bool,
    },
    /// Either a mixer or a feed-forward network, whose experts are in layers of the kind `N`.
    OnePart,
}

/// Where tokens without logits are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputRows {
    /// In the last layer.
    InLastLayer,
    /// Before the last norm: the state that a draft head would read is an output, too.
    BeforeNorm,
    /// After the last norm.
    AfterNorm,
}

impl Family {
    /// Every family, by file.
    pub fn all() -> impl Iterator<Item = &'static Family> {
        FILES.iter().copied().flatten()
    }

    /// The family with Llama's tensors and graph.
    pub fn plain() -> &'static Family {
        &llama::FAMILIES[0]
    }

    /// Returns whether a model ends with a norm and an output matrix.
    pub(crate) fn has_output(&self) -> bool {
        self.layer_form != LayerForm::NormedSums
    }

    /// Returns the family of an architecture's name in configurations of Hugging Face, such as `qwen3_moe`.
    pub fn of_model_type(name: &str) -> Option<&'static Family> {
        let plain = |name: &str| name.trim_end_matches("_text").replace(['_', '-'], "");
        Family::all()
            .find(|family| family.model_types.contains(&name))
            .or_else(|| Family::all().find(|family| plain(family.name) == plain(name)))
    }

    /// The family of a name in GGUF files.
    pub fn named(name: &str) -> Option<&'static Family> {
        Family::all().find(|family| family.name == name)
    }
}

/// Scales the query, as families do whose attention is not scaled otherwise.
fn scale_query(builder: &mut Builder<'_>, _layer: u64, parts: &mut Projections) {
    parts.query = builder.graph.in_place(&[parts.query]);
}

/// One tensor of factors, of half a head.
fn factors_of_half_a_head(fields: &ArchitectureFields) -> RopeFactors {
    RopeFactors::One(fields.half_head())
}

/// Whether the layer is none of every fourth.
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
    fn a_declaration_is_all_that_a_family_takes() {
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
        // two vectors of 4 bytes a number in each layer, one behind the layers
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
