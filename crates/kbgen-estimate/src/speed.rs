//! Decode speed as a range: how much of its memory bandwidth a class of device reaches.
//!
//! A token needs every weight that it uses read once, and the cache of the tokens before
//! it. Bandwidth over these bytes is the ceiling; reported speeds lie in a band below it
//! that depends on the class of the device. Bands hold with all layers on one device and
//! one sequence at a time. Where no speeds were collected there is no band, and no range.

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::cache::state_widths;
use crate::names::{Home, Name, WeightTensor};
use crate::quantization::{CacheType, Quantization, TensorType};
use crate::weights::{tensor_bytes, typed_tensors};

/// A class of devices whose reported speeds were collected.
///
/// Sources: llama.cpp's benchmarks (`benches/` at 0c1e570, discussions
/// <https://github.com/ggml-org/llama.cpp/discussions/15013> and
/// <https://github.com/ggml-org/llama.cpp/discussions/4167>) and
/// <https://github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpeedClass {
    /// NVIDIA cards with GDDR memory, from Pascal on.
    NvidiaGddr,
    /// NVIDIA chips that share LPDDR5X memory with the system; measured on the GB10.
    NvidiaLpddr,
    /// A100 and H100 and their variants with HBM2e or HBM3.
    NvidiaHbm,
    /// Apple chips.
    Apple,
}

/// Kind of data read per token in addition to the cache, as relevant for the band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpeedKind {
    /// All weights.
    Dense,
    /// Some of the experts.
    Experts,
    /// Some of the experts, and a latent (MLA) cache.
    LatentExperts,
}

/// Share of the ceiling that is reached, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Band {
    /// The least.
    pub low: u32,
    /// The most.
    pub high: u32,
}

/// Tokens per second, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedRange {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl SpeedClass {
    /// Every class.
    pub const ALL: &'static [SpeedClass] =
        &[SpeedClass::NvidiaGddr, SpeedClass::NvidiaLpddr, SpeedClass::NvidiaHbm, SpeedClass::Apple];

    /// The class of a device: who makes it, its architecture and its kind of memory, as
    /// `NVIDIA`, `Ampere`, `HBM2e`. None where no speeds were collected: Kepler and Maxwell,
    /// Volta, HBM3e, AMD and Intel.
    pub fn of(vendor: &str, architecture: &str, memory: &str) -> Option<SpeedClass> {
        let is_old = ["Kepler", "Maxwell"].iter().any(|old| architecture.starts_with(old));
        match (vendor, memory) {
            ("Apple", _) => Some(SpeedClass::Apple),
            ("NVIDIA", "LPDDR5X") => Some(SpeedClass::NvidiaLpddr),
            ("NVIDIA", "HBM2e" | "HBM3") if matches!(architecture, "Ampere" | "Hopper") => {
                Some(SpeedClass::NvidiaHbm)
            }
            ("NVIDIA", memory) if memory.starts_with("GDDR") && !is_old => Some(SpeedClass::NvidiaGddr),
            _ => None,
        }
    }

    /// The name in tables and on pages.
    pub fn name(self) -> &'static str {
        match self {
            SpeedClass::NvidiaGddr => "nvidia-gddr",
            SpeedClass::NvidiaLpddr => "nvidia-lpddr",
            SpeedClass::NvidiaHbm => "nvidia-hbm",
            SpeedClass::Apple => "apple",
        }
    }

    /// The share of the ceiling that was reported for this class; none where nothing was.
    /// Of the 75 speeds in `tests/data/speeds.csv` 72 lie inside. Latent caches on Metal get
    /// a band of their own: one model, its share falling from 0.28 to 0.15 as the context fills.
    pub fn band(self, kind: SpeedKind) -> Option<Band> {
        let band = |low, high| Some(Band { low, high });
        match (self, kind) {
            (SpeedClass::NvidiaGddr | SpeedClass::NvidiaLpddr, SpeedKind::Dense) => band(500, 850),
            (SpeedClass::NvidiaLpddr, SpeedKind::Experts | SpeedKind::LatentExperts) => band(600, 820),
            (SpeedClass::NvidiaHbm, SpeedKind::Dense) => band(300, 550),
            (SpeedClass::Apple, SpeedKind::Dense) => band(380, 780),
            (SpeedClass::Apple, SpeedKind::Experts) => band(200, 450),
            (SpeedClass::Apple, SpeedKind::LatentExperts) => band(140, 310),
            (SpeedClass::NvidiaGddr | SpeedClass::NvidiaHbm, _) => None,
        }
    }
}

impl SpeedKind {
    /// The kind of a model.
    pub fn of(model: &Architecture) -> SpeedKind {
        match model.experts {
            None => SpeedKind::Dense,
            Some(_) if model.has(LayerKind::Latent) => SpeedKind::LatentExperts,
            Some(_) => SpeedKind::Experts,
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            SpeedKind::Dense => "dense",
            SpeedKind::Experts => "experts",
            SpeedKind::LatentExperts => "latent-experts",
        }
    }
}

impl Band {
    /// Tokens per second of a device with this bandwidth (GB/s of 10^9 bytes) that reads
    /// `bytes` for a token.
    pub fn range(self, bandwidth_gbps: f64, bytes: Bytes) -> SpeedRange {
        let speed = |thousandths: u32| bandwidth_gbps * 1e6 * f64::from(thousandths) / bytes.0 as f64;
        SpeedRange { low: speed(self.low), high: speed(self.high) }
    }
}

/// Bytes of weights that a token reads: all but the embedding, of which it looks up one row
/// (the output of a tied model reads it whole), and of the experts those it uses.
pub fn weight_bytes_read(model: &Architecture, quantization: Quantization) -> Bytes {
    bytes_read(model, typed_tensors(model, quantization))
}

/// [`weight_bytes_read`] of tensors with their types.
pub(crate) fn bytes_read(
    model: &Architecture,
    tensors: impl Iterator<Item = (WeightTensor, TensorType)>,
) -> Bytes {
    let used = model.experts.map_or(1, |experts| experts.used);
    let read = tensors.filter_map(|(tensor, kind)| {
        let bytes = tensor_bytes(&tensor, kind).0;
        match (tensor.home, model.experts) {
            (Home::Input, _) if tensor.name == Name::TokenEmbedding && !model.tied => None,
            (Home::Experts(_), Some(experts)) => Some(Bytes(bytes / experts.count * used)),
            _ => Some(Bytes(bytes)),
        }
    });
    read.sum()
}

/// Bytes that a token reads from the cache, by its type and the tokens before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CacheRead {
    /// Values of K (or of the latent row) that each earlier token adds.
    pub full_key: u64,
    /// Values of V that each earlier token adds.
    pub full_value: u64,
    /// Values of K that each earlier token in the window adds.
    pub window_key: u64,
    /// Values of V that each earlier token in the window adds.
    pub window_value: u64,
    /// Tokens of the window.
    pub window: u64,
    /// Bytes of the recurrent state, whatever the context.
    pub state: Bytes,
}

impl CacheRead {
    /// Returns the cache reads of a model.
    pub fn of(model: &Architecture) -> CacheRead {
        let mut read = CacheRead { window: model.sliding_window, ..CacheRead::default() };
        let (conv, state) = state_widths(model);
        for layer in &model.layers {
            let row = layer.kv_heads * layer.head_dim;
            match layer.kind {
                LayerKind::Full => {
                    read.full_key += row;
                    read.full_value += row;
                }
                LayerKind::Sliding => {
                    read.window_key += row;
                    read.window_value += row;
                }
                LayerKind::Latent => read.full_key += layer.head_dim,
                LayerKind::Recurrent => read.state += TensorType::F32.row_size(conv + state),
                LayerKind::None => {}
            }
        }
        read
    }

    /// Bytes read for a token that comes after `depth` others.
    pub fn at(&self, depth: u64, key: CacheType, value: CacheType) -> Bytes {
        let in_window = depth.min(self.window);
        let keys = self.full_key * depth + self.window_key * in_window;
        let values = self.full_value * depth + self.window_value * in_window;
        key.tensor_type().row_size(keys) + value.tensor_type().row_size(values) + self.state
    }
}
