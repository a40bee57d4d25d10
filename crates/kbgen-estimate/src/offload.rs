//! Weights that a GPU copies to compute operations on host tensors.

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::names::{Home, Name, WeightTensor};
use crate::placement::Device;
use crate::quantization::TensorType;
use crate::weights::allocated_bytes;

/// Sizes of the largest tensors of a model on a GPU, by where they belong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LargestTensors {
    /// Largest tensor of each layer, without experts.
    pub layers: Vec<Bytes>,
    /// Largest tensor of each layer's experts; zero without experts.
    pub experts: Vec<Bytes>,
    /// Output matrix; the embedding if the model is tied.
    pub output: Bytes,
}

/// Returns the largest tensors of a model.
pub(crate) fn largest_tensors(
    model: &Architecture,
    tensors: impl Iterator<Item = (WeightTensor, TensorType)>,
) -> LargestTensors {
    let none = vec![Bytes(0); model.layers.len()];
    let mut largest = LargestTensors { layers: none.clone(), experts: none, output: Bytes(0) };
    for (tensor, kind) in tensors {
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
