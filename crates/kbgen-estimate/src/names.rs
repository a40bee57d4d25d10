//! Names of weight tensors, their purposes and their devices.

/// Tensor of the model or of one of its layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Name {
    TokenEmbedding,
    PositionEmbedding,
    TypeEmbedding,
    EmbeddingNorm,
    EmbeddingNormBias,
    /// Per-layer embeddings of a token.
    LayerEmbeddings,
    LayerEmbeddingsProjection,
    LayerEmbeddingsNorm,
    RopeFactors,
    OutputNorm,
    OutputNormBias,
    Output,
    OutputBias,
    AttentionNorm,
    AttentionNormBias,
    AttentionPostNorm,
    Q,
    K,
    V,
    Qkv,
    QBias,
    KBias,
    VBias,
    QNorm,
    KNorm,
    AttentionOutput,
    AttentionOutputBias,
    Sinks,
    LatentQDown,
    LatentQNorm,
    LatentQUp,
    LatentKvDown,
    LatentKvNorm,
    LatentKUp,
    LatentVUp,
    IndexerQ,
    IndexerK,
    IndexerKNorm,
    IndexerKNormBias,
    IndexerShares,
    StateIn,
    StateGate,
    StateConv,
    StateConvBias,
    StateStep,
    StateDecay,
    StateSkip,
    StateBeta,
    StateAlpha,
    StateBetaAlpha,
    StateNorm,
    StateOut,
    FfnNorm,
    FfnNormBias,
    FfnPostNorm,
    FfnGate,
    FfnUp,
    FfnUpBias,
    FfnDown,
    FfnDownBias,
    Router,
    RouterInputBias,
    RouterBias,
    RouterScale,
    ExpertsLatentDown,
    ExpertsLatentUp,
    ExpertsPreNorm,
    DensePostNorm,
    ExpertsPostNorm,
    ExpertsGate,
    ExpertsGateBias,
    ExpertsUp,
    ExpertsUpBias,
    ExpertsGateUp,
    ExpertsDown,
    ExpertsDownBias,
    ExpertsDownScale,
    SharedRouter,
    SharedGate,
    SharedUp,
    SharedDown,
    LayerScale,
    LayerEmbeddingGate,
    LayerEmbeddingUp,
    LayerEmbeddingNorm,
    /// A tensor of a file whose name no known graph uses.
    Other,
}

/// Purpose of a weight, as far as its type depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    TokenEmbedding,
    Output,
    AttentionQ,
    AttentionK,
    AttentionV,
    AttentionOutput,
    FfnDown,
    /// Any other matrix that is quantized.
    Matrix,
    /// Matrix that stays in 16 bits.
    Unquantized,
    /// Norms, biases, routers, convolutions: kept in F32.
    Plain,
}

/// Names of matrices in GGUF files (`gguf-py/gguf/constants.py` of llama.cpp). Norms have no entry, because families use one
/// name for norms of several purposes: all of them are F32 in every file.
pub(crate) const FILE_NAMES: &[(&str, Name)] = &[
    ("token_embd.weight", Name::TokenEmbedding),
    ("per_layer_token_embd.weight", Name::LayerEmbeddings),
    ("per_layer_model_proj.weight", Name::LayerEmbeddingsProjection),
    ("inp_gate.weight", Name::LayerEmbeddingGate),
    ("proj.weight", Name::LayerEmbeddingUp),
    ("output.weight", Name::Output),
    ("attn_q.weight", Name::Q),
    ("attn_k.weight", Name::K),
    ("attn_v.weight", Name::V),
    ("attn_qkv.weight", Name::Qkv),
    ("attn_output.weight", Name::AttentionOutput),
    ("attn_q_a.weight", Name::LatentQDown),
    ("attn_q_b.weight", Name::LatentQUp),
    ("attn_kv_a_mqa.weight", Name::LatentKvDown),
    ("attn_k_b.weight", Name::LatentKUp),
    ("attn_v_b.weight", Name::LatentVUp),
    ("indexer.attn_q_b.weight", Name::IndexerQ),
    ("indexer.attn_k.weight", Name::IndexerK),
    ("indexer.proj.weight", Name::IndexerShares),
    ("ssm_in.weight", Name::StateIn),
    ("shortconv.in_proj.weight", Name::StateIn),
    ("attn_gate.weight", Name::StateGate),
    ("ssm_conv1d.weight", Name::StateConv),
    ("shortconv.conv.weight", Name::StateConv),
    ("ssm_beta.weight", Name::StateBeta),
    ("ssm_alpha.weight", Name::StateAlpha),
    ("ssm_ba.weight", Name::StateBetaAlpha),
    ("ssm_out.weight", Name::StateOut),
    ("shortconv.out_proj.weight", Name::StateOut),
    ("ffn_gate.weight", Name::FfnGate),
    ("ffn_up.weight", Name::FfnUp),
    ("ffn_down.weight", Name::FfnDown),
    ("ffn_gate_inp.weight", Name::Router),
    ("ffn_latent_down.weight", Name::ExpertsLatentDown),
    ("ffn_latent_up.weight", Name::ExpertsLatentUp),
    ("ffn_gate_exps.weight", Name::ExpertsGate),
    ("ffn_up_exps.weight", Name::ExpertsUp),
    ("ffn_gate_up_exps.weight", Name::ExpertsGateUp),
    ("ffn_down_exps.weight", Name::ExpertsDown),
    ("ffn_gate_inp_shexp.weight", Name::SharedRouter),
    ("ffn_gate_shexp.weight", Name::SharedGate),
    ("ffn_up_shexp.weight", Name::SharedUp),
    ("ffn_down_shexp.weight", Name::SharedDown),
];

impl Name {
    /// Returns the tensor with this name in a GGUF file; names of tensors in layers omit the layer.
    pub(crate) fn of_file(name: &str) -> Option<Name> {
        FILE_NAMES.iter().find(|(known, _)| *known == name).map(|(_, tensor)| *tensor)
    }

    /// Returns the category that llama.cpp's quantizer derives from the tensor's name.
    pub(crate) fn role(self) -> Role {
        match self {
            Name::TokenEmbedding | Name::LayerEmbeddings => Role::TokenEmbedding,
            Name::LayerEmbeddingsProjection => Role::Unquantized,
            Name::Output => Role::Output,
            Name::Q => Role::AttentionQ,
            Name::K => Role::AttentionK,
            Name::V | Name::Qkv => Role::AttentionV,
            Name::AttentionOutput => Role::AttentionOutput,
            Name::FfnDown | Name::ExpertsDown | Name::SharedDown => Role::FfnDown,
            Name::LatentQDown
            | Name::LatentQUp
            | Name::LatentKvDown
            | Name::LatentKUp
            | Name::LatentVUp
            | Name::IndexerQ
            | Name::IndexerK
            | Name::IndexerShares
            | Name::StateIn
            | Name::StateGate
            | Name::StateBeta
            | Name::StateAlpha
            | Name::StateBetaAlpha
            | Name::StateOut
            | Name::LayerEmbeddingGate
            | Name::LayerEmbeddingUp
            | Name::ExpertsLatentDown
            | Name::ExpertsLatentUp
            | Name::FfnGate
            | Name::FfnUp
            | Name::ExpertsGate
            | Name::ExpertsUp
            | Name::ExpertsGateUp
            | Name::SharedGate
            | Name::SharedUp => Role::Matrix,
            _ => Role::Plain,
        }
    }
}

/// Part of the model that a weight belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Home {
    /// Before the layers; always in host memory.
    Input,
    /// A layer, except for its experts.
    Layer(u64),
    /// The experts of a layer, which may be kept on the CPU.
    Experts(u64),
    /// Rotary factors: one copy in the file, and one on every device that holds a layer.
    EveryDevice,
    /// After the layers.
    Output,
}

/// One weight tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WeightTensor {
    pub(crate) name: Name,
    pub(crate) home: Home,
    /// Elements of a row.
    pub(crate) columns: u64,
    /// Rows of one matrix.
    pub(crate) rows: u64,
    /// Matrices: the number of experts, or of heads in MLA.
    pub(crate) matrices: u64,
}
