//! Estimate of the memory that each device needs, by part, with the evidence for each part.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::architecture::{Architecture, Layer};
use crate::backend::Backend;
use crate::bytes::Bytes;
use crate::cache::devices;
use crate::placement::Device;
use crate::planner::Planner;
use crate::quantization::{CacheType, Quantization, TensorType};
use crate::segments::cells_of;
use crate::settings::{FlashAttention, Settings};
use crate::weights::{WeightList, Weights};

/// Maximum number of GPUs (`llama_max_devices` of llama.cpp).
const MAX_GPUS: usize = 16;

/// Maximum number of attention scores of a layer; sums of their bytes stay below 2^63.
const MAX_SCORES: u128 = 1 << 54;

/// Evidence for a figure, which determines how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Counted tensor by tensor: llama.cpp's own figure.
    Exact,
    /// llama.cpp's graph, scheduler and allocator, replayed without memory. Every measured buffer was equal
    /// to the byte, but another release may build another graph.
    Replayed,
    /// As [`Evidence::Replayed`], for a device with a flash-attention kernel for these cache types. A stock
    /// CUDA build has one only if K and V have the same type and it is f32, f16, bf16, q8_0 or q4_0 (ggml's
    /// `src/ggml-cuda/fattn.cu`). Without such a kernel, attention runs slowly on the CPU, and the buffers
    /// differ.
    ReplayedWithKernel,
    /// Approximate figure for a GPU that holds a part of the model ([`plan::partial`](crate::plan::partial)).
    Planned,
    /// The band of another backend around the replay ([`Profile`](crate::backend::Profile)).
    Banded,
}

/// One part of a device's need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// Upper bound of the size.
    pub bytes: Bytes,
    /// Lower bound of the size.
    pub low: Bytes,
    /// Evidence of the figure.
    pub evidence: Evidence,
}

impl Part {
    fn exact(bytes: Bytes) -> Part {
        Part::new(bytes, Evidence::Exact)
    }

    /// Creates a part without a range.
    pub(crate) fn new(bytes: Bytes, evidence: Evidence) -> Part {
        Part { bytes, low: bytes, evidence }
    }

    /// Creates a part with a range.
    pub(crate) fn within(range: BytesRange, evidence: Evidence) -> Part {
        Part { bytes: range.high, low: range.low, evidence }
    }
}

/// A range of bytes, both ends included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct BytesRange {
    /// Lower bound.
    pub low: Bytes,
    /// Upper bound.
    pub high: Bytes,
}

impl BytesRange {
    /// Returns the smallest range that contains both.
    pub fn hull(self, other: BytesRange) -> BytesRange {
        BytesRange { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// Need of one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceEstimate {
    /// The device.
    pub device: Device,
    /// Weights.
    pub weights: Part,
    /// KV cache and recurrent state.
    pub cache: Part,
    /// Compute buffer.
    pub compute: Part,
    /// Memory used by the driver in addition to buffers; none for the host. Figures reported for CUDA are between 309 MiB
    /// (<https://github.com/ollama/ollama/issues/6160>) and 749 MiB
    /// (<https://github.com/ggml-org/llama.cpp/issues/27953>).
    pub driver_context: Option<BytesRange>,
}

impl DeviceEstimate {
    /// Returns the upper bound of weights, cache and compute buffer, without the driver's context.
    pub fn total(&self) -> Bytes {
        self.weights.bytes + self.cache.bytes + self.compute.bytes
    }

    /// Returns the range of weights, cache and compute buffer, without the driver's context.
    pub fn total_range(&self) -> BytesRange {
        BytesRange { low: self.weights.low + self.cache.low + self.compute.low, high: self.total() }
    }
}

/// Need of a model with given settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Estimate {
    /// The GPUs in order, then the host.
    pub devices: Vec<DeviceEstimate>,
}

impl Estimate {
    /// Returns the need of a device; none for a GPU that the settings do not have.
    pub fn device(&self, device: Device) -> Option<&DeviceEstimate> {
        self.devices.iter().find(|estimate| estimate.device == device)
    }
}

/// Reason why there is no estimate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NotCovered(pub String);

impl fmt::Display for NotCovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not covered: {}", self.0)
    }
}

impl std::error::Error for NotCovered {}

/// Estimates the need of every device. To estimate one model with several settings, a [`Planner`] is faster.
///
/// # Errors
/// If [`check`] refuses the settings.
pub fn estimate(model: &Architecture, settings: &Settings) -> Result<Estimate, NotCovered> {
    Planner::new(model).estimate(settings)
}

/// Combines the parts of each device. Devices are the GPUs in order, then the host.
pub(crate) fn combine(
    settings: &Settings,
    weights: &[Bytes],
    cache: &[Bytes],
    compute: &[Bytes],
) -> Estimate {
    let evidence = compute_evidence(settings);
    let devices = devices(settings).zip(weights.iter().zip(cache).zip(compute));
    let devices = devices.map(|(device, ((weights, cache), compute))| DeviceEstimate {
        device,
        weights: Part::exact(*weights),
        cache: Part::exact(*cache),
        compute: Part::new(*compute, evidence),
        driver_context: driver_context(device),
    });
    Estimate { devices: devices.collect() }
}

fn compute_evidence(settings: &Settings) -> Evidence {
    let in_stock_build = matches!(
        settings.cache_type_k,
        CacheType::F32 | CacheType::F16 | CacheType::Bf16 | CacheType::Q8_0 | CacheType::Q4_0
    );
    let same = settings.cache_type_k == settings.cache_type_v;
    let fused = settings.flash_attention == FlashAttention::On;
    if fused && !settings.tensor_split.is_empty() && !(same && in_stock_build) {
        Evidence::ReplayedWithKernel
    } else {
        Evidence::Replayed
    }
}

/// Returns the size of the tensor data in the model file. The header and the tokenizer add 5 to 10 MB.
pub fn file_bytes(model: &Architecture, quantization: Quantization) -> Bytes {
    quantized(model, quantization).placed.file
}

/// Returns the number of tensors in the file by type, in the order of [`TensorType`].
pub fn tensor_counts(model: &Architecture, quantization: Quantization) -> Vec<(TensorType, u64)> {
    quantized(model, quantization).count_by_type().into_iter().collect()
}

fn quantized(model: &Architecture, quantization: Quantization) -> Weights {
    WeightList::new(model).quantized(model, quantization)
}

/// Checks settings for values that llama.cpp refuses or that are not modeled.
///
/// # Errors
/// If llama.cpp refuses a value, or it is not modeled.
pub fn check(model: &Architecture, settings: &Settings) -> Result<(), NotCovered> {
    let no = |reason: &str| Err(NotCovered(reason.to_owned()));
    if settings.context == 0 || settings.n_ubatch == 0 || settings.n_batch == 0 {
        return no("context and batch sizes must be above zero");
    }
    if settings.tensor_split.len() > MAX_GPUS {
        return no("llama.cpp uses at most 16 GPUs");
    }
    if settings.tensor_split.len() > 1 && settings.tensor_split.iter().sum::<u64>() == 0 {
        return no("no GPU has any layers");
    }
    let value = settings.cache_type_v.tensor_type();
    let is_fused = match model.family.is_encoder {
        // without a cache, it does not matter whether there is a kernel
        true => settings.flash_attention == FlashAttention::On,
        false => model.fuses_attention(settings),
    };
    if !is_fused && value.is_quantized() {
        return no("a quantized V cache needs flash attention");
    }
    for kind in [settings.cache_type_k.tensor_type(), value] {
        let block = kind.block().0;
        let whole = |layer: &Layer| {
            layer.kv_heads == 0
                || [layer.head_dim, layer.value_dim].iter().all(|width| width.is_multiple_of(block))
        };
        let index_key = model.indexer.map_or(0, |indexer| indexer.width);
        if !model.layers.iter().all(whole) || !index_key.is_multiple_of(block) {
            return no("the head size is not a multiple of the block size of the cache type");
        }
    }
    if settings.sequences == 0 {
        return no("at least one slot is required");
    }
    let cells = cells_of(&settings.at_context(settings.context.max(model.max_context)));
    let tokens = settings.micro_batch().max(settings.sequences);
    if u128::from(model.heads) * u128::from(cells) * u128::from(tokens) > MAX_SCORES {
        return no("the attention scores would be larger than any memory");
    }
    Ok(())
}

/// Returns the range of memory used by the driver's context with CUDA.
pub fn driver_context(device: Device) -> Option<BytesRange> {
    match device {
        Device::Gpu(_) => Some(Backend::Cuda.profile().driver),
        Device::Host => None,
    }
}
