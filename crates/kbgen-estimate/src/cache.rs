//! Bytes of the KV cache and of the recurrent state, device by device.
//!
//! Sources: llama.cpp's `src/llama-kv-cache.cpp`, `src/llama-kv-cache-iswa.cpp`,
//! `src/llama-memory-recurrent.cpp` (<https://github.com/ggml-org/llama.cpp>, October 2026).

use crate::architecture::{Architecture, CacheShape, Layer, LayerKind};
use crate::bytes::Bytes;
use crate::placement::{Device, Placement};
use crate::quantization::TensorType;
use crate::settings::{CacheLayout, CachePlacement, FlashAttention, Settings, WindowCache};
use crate::weights::{GPU_ALIGNMENT, HOST_ALIGNMENT, row_tail};

/// Multiple to which the number of cells of a cache is padded.
pub const CELL_STEP: u64 = 256;

/// Cells of the caches of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cells {
    /// Cells per stream of a full-attention or latent layer.
    pub(crate) full: u64,
    /// Cells per stream of a sliding-window layer.
    pub(crate) sliding: u64,
    /// Streams: one, or one per sequence.
    pub(crate) streams: u64,
}

impl Cells {
    /// Computes the cells of a context with these settings.
    pub(crate) fn new(model: &Architecture, settings: &Settings) -> Cells {
        let sequences = settings.sequences.max(1);
        let streams = streams(settings);
        let window_sequences = sequences / streams;
        // The context is padded, then divided, and each share is padded again.
        let whole = settings.context.max(1).next_multiple_of(CELL_STEP);
        let full = (whole / streams).next_multiple_of(CELL_STEP);
        let window = model.sliding_window * window_sequences + settings.micro_batch();
        let sliding = match settings.window_cache {
            WindowCache::Full => full,
            WindowCache::Window => full.min(window).next_multiple_of(CELL_STEP),
        };
        Cells { full, sliding, streams }
    }

    /// Returns the cells per stream of a layer of this kind.
    pub(crate) fn of(&self, kind: LayerKind) -> u64 {
        match kind {
            LayerKind::Full | LayerKind::Latent => self.full,
            LayerKind::Sliding => self.sliding,
            LayerKind::Recurrent | LayerKind::None => 0,
        }
    }
}

/// Returns the GPUs in order, then the host.
pub(crate) fn devices(settings: &Settings) -> impl Iterator<Item = Device> {
    (0..settings.tensor_split.len()).map(Device::Gpu).chain([Device::Host])
}

/// Returns the number of streams of the cache: one, or one per sequence.
pub(crate) fn streams(settings: &Settings) -> u64 {
    match settings.cache_layout {
        CacheLayout::Unified => 1,
        CacheLayout::Separate => settings.sequences.max(1),
    }
}

/// Returns the bytes of cache and state on the GPUs in order, then on the host.
pub(crate) fn buffer_bytes(model: &Architecture, settings: &Settings, placement: &Placement) -> Vec<Bytes> {
    let cells = Cells::new(model, settings);
    let host = settings.tensor_split.len();
    let mut buffers = vec![Bytes(0); host + 1];
    // Most layers have equal caches.
    let mut known: Vec<(CacheShape, Device, Bytes)> = Vec::new();
    for (layer, index) in model.layers.iter().zip(0..) {
        let device = match settings.cache_placement {
            CachePlacement::Host => Device::Host,
            CachePlacement::WithLayer => placement.layer(index),
        };
        let shape = layer.cache_shape();
        let kind = if device == Device::Host { device } else { Device::Gpu(0) };
        let found = known.iter().find(|(other, device, _)| (*other, *device) == (shape, kind));
        let bytes = found.map_or_else(|| layer_bytes(model, settings, cells, layer, kind), |found| found.2);
        if found.is_none() {
            known.push((shape, kind, bytes));
        }
        buffers[device.buffer(host)] += bytes;
    }
    buffers
}

/// Returns the bytes of one layer's cache and state on a device.
pub(crate) fn layer_bytes(
    model: &Architecture,
    settings: &Settings,
    cells: Cells,
    layer: &Layer,
    device: Device,
) -> Bytes {
    if model.family.is_encoder {
        return Bytes(0);
    }
    let key = settings.cache_type_k.tensor_type();
    let value = settings.cache_type_v.tensor_type();
    let rows = cells.of(layer.kind) * cells.streams;
    match layer.cache_kind() {
        LayerKind::Full | LayerKind::Sliding => {
            let key_row = layer.kv_heads * layer.head_dim;
            let value_row = match settings.flash_attention {
                FlashAttention::On => layer.kv_heads * layer.value_dim,
                FlashAttention::Off => model.widest_value_row(),
            };
            cache_tensor(key, key_row, rows, device) + cache_tensor(value, value_row, rows, device)
        }
        LayerKind::Latent => {
            let index_key = model.indexer.filter(|_| layer.has_indexer).map_or(0, |indexer| indexer.width);
            cache_tensor(key, layer.head_dim, rows, device) + cache_tensor(key, index_key, rows, device)
        }
        LayerKind::Recurrent => {
            let sequences = settings.sequences.max(1);
            let state = |width| cache_tensor(TensorType::F32, width, sequences, device);
            let (conv_width, state_width) = state_widths(model);
            state(conv_width) + state(state_width)
        }
        LayerKind::None => Bytes(0),
    }
}

/// Returns the values that one sequence stores for a recurrent layer: convolution and state.
pub(crate) fn state_widths(model: &Architecture) -> (u64, u64) {
    match model.recurrent {
        None => (0, 0),
        Some(recurrent) if recurrent.inner == 0 => ((recurrent.conv - 1) * model.hidden, 0),
        Some(recurrent) => {
            let mixed = recurrent.inner + 2 * recurrent.groups * recurrent.state;
            ((recurrent.conv - 1) * mixed, recurrent.state * recurrent.inner)
        }
    }
}

fn cache_tensor(kind: TensorType, row: u64, rows: u64, device: Device) -> Bytes {
    let data = Bytes(kind.row_size(row).0 * rows);
    match device {
        Device::Host => data.aligned(HOST_ALIGNMENT),
        Device::Gpu(_) => (data + row_tail(kind, row)).aligned(GPU_ALIGNMENT),
    }
}
