//! Weights and cache layer by layer, so that any division over devices is a sum.

use crate::estimate::architecture::{Architecture, Layer, LayerKind};
use crate::estimate::bytes::Bytes;
use crate::estimate::cache::{self, CELL_STEP, Cells};
use crate::estimate::estimator::{NotCovered, check};
use crate::estimate::names::{Home, Name};
use crate::estimate::placement::Device;
use crate::estimate::quantization::Quantization;
use crate::estimate::segments::{Segment, append};
use crate::estimate::settings::Settings;
use crate::estimate::weights::{Weights, allocated_bytes};

/// Bytes on a GPU, and the same tensors in the host's memory, where they are padded less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct OnDevice {
    /// On a GPU.
    pub gpu: Bytes,
    /// In the host's memory.
    pub host: Bytes,
}

impl OnDevice {
    fn add(&mut self, other: OnDevice) {
        self.gpu += other.gpu;
        self.host += other.host;
    }
}

/// Weights of one layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LayerBytes {
    /// All of them.
    pub whole: OnDevice,
    /// Its routed experts alone.
    pub experts: OnDevice,
}

/// Where the weights of a model in one quantization come to lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightShares {
    /// Tensor data of the file.
    pub file: Bytes,
    /// Elements of all tensors in it.
    pub parameters: u64,
    /// What always stays in the host's memory: the token embedding.
    pub input: Bytes,
    /// Layers in order.
    pub layers: Vec<LayerBytes>,
    /// The output stage, a copy of the embedding among it where the model is tied.
    pub output: OnDevice,
    /// Rotary factors: every device with a layer that reads them has its own copy.
    pub factors: OnDevice,
}

/// The weights of a model in a quantization, place by place.
pub fn weight_shares(model: &Architecture, quantization: Quantization) -> WeightShares {
    let weights = Weights::new(model, quantization);
    let mut shares = WeightShares {
        file: weights.file_bytes(),
        parameters: 0,
        input: Bytes(0),
        layers: vec![LayerBytes::default(); model.layers.len()],
        output: OnDevice::default(),
        factors: OnDevice::default(),
    };
    for (tensor, kind) in weights.tensors() {
        shares.parameters += tensor.columns * tensor.rows * tensor.matrices;
        let size = OnDevice {
            gpu: allocated_bytes(tensor, *kind, Device::Gpu(0)),
            host: allocated_bytes(tensor, *kind, Device::Host),
        };
        match tensor.home {
            Home::Input => shares.input += size.host,
            Home::Layer(index) => shares.layers[index as usize].whole.add(size),
            Home::Experts(index) => {
                shares.layers[index as usize].whole.add(size);
                shares.layers[index as usize].experts.add(size);
            }
            Home::Output => shares.output.add(size),
            Home::EveryDevice => shares.factors.add(size),
        }
        if model.tied && tensor.name == Name::TokenEmbedding {
            let on_host = weights.copies_output_on(Device::Host);
            shares.output.add(OnDevice { host: if on_host { size.host } else { Bytes(0) }, ..size });
        }
    }
    shares
}

/// Cache and state of one layer on a GPU, from 256 cells to those of the model's longest
/// context; the context of `settings` is not used.
///
/// # Errors
/// What llama.cpp would refuse.
pub fn layer_segments(
    model: &Architecture,
    settings: &Settings,
    layer: &Layer,
) -> Result<Vec<Segment>, NotCovered> {
    check(model, settings)?;
    let at = |cells: u64| {
        let cells = Cells::new(model, &settings.at_context(cells));
        cache::layer_bytes(model, settings, cells, layer, Device::Gpu(0))
    };
    // a sliding window grows with the context until it is full
    let full = Cells::new(model, &settings.at_context(u64::MAX / 4)).sliding;
    let mut pieces = Vec::new();
    for cells in [CELL_STEP, full] {
        let turns = cells == CELL_STEP || layer.kind == LayerKind::Sliding;
        if turns && cells <= model.max_context.next_multiple_of(CELL_STEP) {
            let (bytes, next) = (at(cells), at(cells + CELL_STEP));
            append(&mut pieces, Segment { cells, bytes, slope: next.0 as i64 - bytes.0 as i64 });
        }
    }
    Ok(pieces)
}
