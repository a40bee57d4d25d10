//! The weights that a GPU copies in when it computes what the host holds.

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::names::{Home, Name};
use crate::estimate::placement::Device;
use crate::estimate::quantization::Quantization;
use crate::estimate::weights::{Weights, allocated_bytes};

/// Sizes on a GPU of the largest tensors of a model, by where they belong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LargestTensors {
    /// Of a layer, experts left out.
    pub layer: Bytes,
    /// Of experts.
    pub experts: Bytes,
    /// The output; of a tied model the embedding.
    pub output: Bytes,
}

/// The largest tensors of a model in a quantization.
pub fn largest_tensors(model: &Architecture, quantization: Quantization) -> LargestTensors {
    let weights = Weights::new(model, quantization);
    let mut largest = LargestTensors::default();
    for (tensor, kind) in weights.tensors() {
        let place = match tensor.home {
            Home::Layer(_) => &mut largest.layer,
            Home::Experts(_) => &mut largest.experts,
            Home::Output => &mut largest.output,
            Home::Input if model.tied && tensor.name == Name::TokenEmbedding => &mut largest.output,
            Home::Input | Home::EveryDevice => continue,
        };
        *place = allocated_bytes(tensor, *kind, Device::Gpu(0)).max(*place);
    }
    largest
}
