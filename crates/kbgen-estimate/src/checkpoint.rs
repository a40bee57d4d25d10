//! Weights of a model as Python engines load them: safetensors by data type, whole or split over GPUs.
//!
//! Parameters are counted from the GGUF tensor list, which reproduces published counts. It does not contain
//! vision towers and layers for multi-token prediction.

use std::fmt;
use std::str::FromStr;

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::estimator::NotCovered;
use crate::names::{Home, Name, Role, WeightTensor};
use crate::tensors::weight_tensors;

/// Storage type of the matrices of a checkpoint. Embeddings, output matrix, norms, routers and biases of a
/// quantized checkpoint stay in 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WeightType {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// Brain floats, 16 bits.
    Bf16,
    /// 8-bit floats with one scale for each row.
    Fp8,
    /// AWQ: 4 bits, a 16-bit scale and a 4-bit zero for each group of 128
    /// (<https://github.com/casper-hansen/AutoAWQ>).
    Awq,
    /// GPTQ: as AWQ, with a 32-bit index for each column (<https://github.com/AutoGPTQ/AutoGPTQ>).
    Gptq,
    /// Experts in MXFP4, blocks of 32 values with a scale of 8 bits; the rest in 16 bits, as gpt-oss is published.
    Mxfp4Experts,
    /// EXL3 of ExLlamaV3 with this whole number of bits per weight, and an output matrix of [`EXL3_HEAD_BITS`]. Both
    /// dimensions are padded to 128, and each has a 16-bit scale per entry; the embedding stays in RAM
    /// (`modules/linear.py`, `modules/quant/exl3.py`, `modules/embedding.py` of exllamav3 1.6.5).
    Exl3(u8),
    /// Affine quantization of MLX with this number of bits, a 16-bit scale and bias for each group of 64, also for the
    /// embedding; routers have 8 bits (`quantize_model` in `mlx_lm/utils.py`, `quant_predicate` of the models;
    /// mlx-lm 0.32.2).
    Mlx(u8),
}

/// Bits of the output matrix that exllamav3 writes by default (`--head_bits`).
const EXL3_HEAD_BITS: u8 = 6;

impl WeightType {
    /// Types that can be selected by name: those that every model can have, the widest first.
    pub const SELECTABLE: &'static [WeightType] = &[
        WeightType::F32,
        WeightType::Bf16,
        WeightType::F16,
        WeightType::Fp8,
        WeightType::Gptq,
        WeightType::Awq,
    ];

    /// Returns the usual name.
    pub fn name(self) -> &'static str {
        match self {
            WeightType::F32 => "F32",
            WeightType::F16 => "F16",
            WeightType::Bf16 => "BF16",
            WeightType::Fp8 => "FP8",
            WeightType::Awq => "AWQ",
            WeightType::Gptq => "GPTQ",
            WeightType::Mxfp4Experts => "MXFP4",
            WeightType::Exl3(bits) => Self::of_bits(bits, EXL3_NAMES),
            WeightType::Mlx(bits) => Self::of_bits(bits, MLX_NAMES),
        }
    }

    fn of_bits(bits: u8, names: [&'static str; 9]) -> &'static str {
        names.get(usize::from(bits)).copied().unwrap_or("")
    }

    /// Returns the bytes per value of unquantized tensors, and of the cache with `auto`.
    pub fn plain_bytes(self) -> u64 {
        if self == WeightType::F32 { 4 } else { 2 }
    }

    /// Returns the bytes of quantized matrices, including their scales.
    fn matrix_bytes(self, columns: u64, rows: u64) -> u64 {
        let groups = columns.div_ceil(128);
        match self {
            WeightType::F32 | WeightType::F16 | WeightType::Bf16 | WeightType::Mxfp4Experts => {
                self.plain_bytes() * columns * rows
            }
            WeightType::Fp8 => (columns + 4) * rows,
            WeightType::Awq => columns * rows / 2 + groups * rows * 5 / 2,
            WeightType::Gptq => WeightType::Awq.matrix_bytes(columns, rows) + 4 * columns,
            WeightType::Exl3(bits) => {
                let (columns, rows) = (columns.next_multiple_of(128), rows.next_multiple_of(128));
                columns * rows * u64::from(bits) / 8 + 2 * (columns + rows)
            }
            WeightType::Mlx(_) if !columns.is_multiple_of(64) => self.plain_bytes() * columns * rows,
            WeightType::Mlx(bits) => columns * rows * u64::from(bits) / 8 + columns / 64 * rows * 4,
        }
    }
}

/// Names of EXL3 by bits.
const EXL3_NAMES: [&str; 9] = [
    "",
    "",
    "EXL3 2.0 bpw",
    "EXL3 3.0 bpw",
    "EXL3 4.0 bpw",
    "EXL3 5.0 bpw",
    "EXL3 6.0 bpw",
    "",
    "EXL3 8.0 bpw",
];
/// Names of affine MLX quantizations by bits.
const MLX_NAMES: [&str; 9] = ["", "", "2-bit", "3-bit", "4-bit", "5-bit", "6-bit", "", "8-bit"];

impl fmt::Display for WeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for a name that is not in [`WeightType::SELECTABLE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWeightType;

impl fmt::Display for UnknownWeightType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown weight type")
    }
}

impl std::error::Error for UnknownWeightType {}

impl FromStr for WeightType {
    type Err = UnknownWeightType;

    /// Parses the usual name in any case.
    fn from_str(name: &str) -> Result<WeightType, UnknownWeightType> {
        let same = |kind: &WeightType| kind.name().eq_ignore_ascii_case(name);
        WeightType::SELECTABLE.iter().copied().find(same).ok_or(UnknownWeightType)
    }
}

/// Returns the bytes of weights on each of `cards` GPUs with tensor parallelism.
///
/// # Errors
/// If the attention heads are not divisible by the number of GPUs.
pub fn weight_bytes(model: &Architecture, kind: WeightType, cards: u64) -> Result<Bytes, NotCovered> {
    Checkpoint::new(model).weight_bytes(kind, cards)
}

/// Tensors of a published checkpoint, for repeated queries.
#[derive(Debug)]
pub struct Checkpoint<'m> {
    model: &'m Architecture,
    /// Tensors of the GGUF file, except rotary factors, which are computed.
    tensors: Vec<WeightTensor>,
}

impl<'m> Checkpoint<'m> {
    /// Creates the checkpoint of a model.
    pub fn new(model: &'m Architecture) -> Checkpoint<'m> {
        let mut tensors = weight_tensors(model);
        tensors.retain(|tensor| tensor.home != Home::EveryDevice);
        Checkpoint { model, tensors }
    }

    /// Returns the bytes of weights on each GPU; see [`weight_bytes`].
    ///
    /// # Errors
    /// If the model cannot be divided among the GPUs.
    pub fn weight_bytes(&self, kind: WeightType, cards: u64) -> Result<Bytes, NotCovered> {
        check_split(self.model, cards)?;
        Ok(self.tensors.iter().map(|tensor| Bytes(tensor_bytes(self.model, tensor, kind, cards))).sum())
    }
}

/// Returns the KV heads of a layer on each GPU: divided, or copied if there are more GPUs than heads.
pub(crate) fn card_kv_heads(kv_heads: u64, cards: u64) -> u64 {
    if kv_heads == 0 { 0 } else { (kv_heads / cards).max(1) }
}

/// Checks that a model can be divided among this number of GPUs.
pub(crate) fn check_split(model: &Architecture, cards: u64) -> Result<(), NotCovered> {
    let no = |reason: String| Err(NotCovered(reason));
    if model.family.is_encoder {
        return no("encoders are modeled for llama.cpp only".into());
    }
    if cards == 0 {
        return no("at least one GPU is required".into());
    }
    if !model.heads.is_multiple_of(cards) {
        return no(format!("{} attention heads are not divisible among {cards} GPUs", model.heads));
    }
    let uneven = model.layers.iter().find(|layer| {
        let heads = layer.kv_heads;
        let split = matches!(layer.kind, LayerKind::Full | LayerKind::Sliding);
        split && !heads.is_multiple_of(cards) && !cards.is_multiple_of(heads)
    });
    match uneven {
        Some(layer) => no(format!("{} KV heads are not divisible among {cards} GPUs", layer.kv_heads)),
        None => Ok(()),
    }
}

fn tensor_bytes(model: &Architecture, tensor: &WeightTensor, kind: WeightType, cards: u64) -> u64 {
    let WeightTensor { columns, rows, matrices, .. } = *tensor;
    match (tensor.name.role(), kind) {
        (Role::TokenEmbedding, WeightType::Exl3(_)) if !model.tied => return 0,
        (Role::TokenEmbedding | Role::Output, WeightType::Exl3(_)) => {
            return WeightType::Exl3(EXL3_HEAD_BITS).matrix_bytes(columns, rows);
        }
        (Role::TokenEmbedding | Role::Output, WeightType::Mlx(_)) => return kind.matrix_bytes(columns, rows),
        (_, WeightType::Mlx(_)) if tensor.name == Name::Router => {
            return WeightType::Mlx(8).matrix_bytes(columns, rows);
        }
        _ => {}
    }
    match tensor.name.role() {
        Role::Plain => kind.plain_bytes() * columns * rows * matrices,
        // vLLM pads the vocabulary to 64 rows and splits the rows
        // (vllm/model_executor/layers/vocab_parallel_embedding.py)
        Role::TokenEmbedding | Role::Output if cards > 1 => {
            kind.plain_bytes() * columns * rows.next_multiple_of(64) / cards
        }
        Role::TokenEmbedding | Role::Output => kind.plain_bytes() * columns * rows,
        _ => {
            let whole = match (kind, tensor.home) {
                (WeightType::Mxfp4Experts, Home::Experts(_)) => columns * rows * matrices * 17 / 32,
                _ => kind.matrix_bytes(columns, rows) * matrices,
            };
            match tensor.name {
                // compressed rows of latent attention are computed on every GPU
                Name::LatentQDown | Name::LatentKvDown => whole,
                Name::K | Name::V => match kv_heads(model, tensor.home) {
                    0 => whole / cards,
                    heads => whole / heads * card_kv_heads(heads, cards),
                },
                _ => whole / cards,
            }
        }
    }
}

fn kv_heads(model: &Architecture, home: Home) -> u64 {
    match home {
        Home::Layer(index) => model.layers[index as usize].kv_heads,
        _ => 0,
    }
}
