//! The weights that a GPU copies in when it computes what the host holds.

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::names::{Home, Name};
use crate::estimate::placement::Device;
use crate::estimate::quantization::Quantization;
use crate::estimate::weights::{allocated_bytes, typed_tensors};

/// Sizes on a GPU of the largest tensors of a model, by where they belong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LargestTensors {
    /// Layer by layer, experts left out.
    pub layers: Vec<Bytes>,
    /// Layer by layer, of its experts; zero without.
    pub experts: Vec<Bytes>,
    /// The output; of a tied model the embedding.
    pub output: Bytes,
}

/// The largest tensors of a model in a quantization.
pub fn largest_tensors(model: &Architecture, quantization: Quantization) -> LargestTensors {
    let none = vec![Bytes(0); model.layers.len()];
    let mut largest = LargestTensors { layers: none.clone(), experts: none, output: Bytes(0) };
    for (tensor, kind) in typed_tensors(model, quantization) {
        let place = match tensor.home {
            Home::Layer(index) => &mut largest.layers[index as usize],
            Home::Experts(index) => &mut largest.experts[index as usize],
            Home::Output => &mut largest.output,
            Home::Input if model.tied && tensor.name == Name::TokenEmbedding => &mut largest.output,
            Home::Input | Home::EveryDevice => continue,
        };
        *place = allocated_bytes(&tensor, kind, Device::Gpu(0)).max(*place);
    }
    largest
}
