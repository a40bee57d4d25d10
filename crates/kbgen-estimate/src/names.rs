//! Names of weight tensors, their purposes and their devices.

/// Which tensor of a file or of a layer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Name {
    TokenEmbedding,
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
    /// Norms, biases, routers, convolutions: kept in F32.
    Plain,
}

impl Name {
    /// The category that llama.cpp's quantizer puts the tensor in by its name.
    pub(crate) fn role(self) -> Role {
        match self {
            Name::TokenEmbedding => Role::TokenEmbedding,
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
            | Name::StateIn
            | Name::StateGate
            | Name::StateBeta
            | Name::StateAlpha
            | Name::StateBetaAlpha
            | Name::StateOut
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

/// Where a weight belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Home {
    /// Before the layers: always in the host's memory.
    Input,
    /// A layer.
    Layer(u64),
    /// The experts of a layer, which may be kept on the CPU.
    Experts(u64),
    /// Rotary factors: one in the file, one on every device that holds a layer.
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
