//! Bytes of the weights: in the file and on each device.

use std::collections::{BTreeMap, HashMap};
use std::ops::{AddAssign, Range};

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::names::{Home, Name, WeightTensor};
use crate::placement::{Device, Placement};
use crate::quantization::{Quantization, TensorType};
use crate::recipe::tensor_types;
use crate::tensors::weight_tensors;

/// Alignment of tensors in CUDA buffers.
pub const GPU_ALIGNMENT: u64 = 128;
/// Alignment of tensors in host buffers.
pub(crate) const HOST_ALIGNMENT: u64 = 32;
/// CUDA pads the rows of quantized tensors to a multiple of this (`MATRIX_ROW_PADDING`).
const ROW_PADDING: u64 = 512;

/// The weight tensors of a model.
#[derive(Debug)]
pub(crate) struct WeightList {
    tensors: Vec<WeightTensor>,
    /// Range of each layer's tensors, which are contiguous.
    layers: Vec<Range<usize>>,
    tied: bool,
    copies_tied_output: bool,
}

impl WeightList {
    pub(crate) fn new(model: &Architecture) -> WeightList {
        let tensors = weight_tensors(model);
        let layer = |tensor: &WeightTensor| match tensor.home {
            Home::Layer(layer) | Home::Experts(layer) => Some(layer),
            _ => None,
        };
        let mut layers = Vec::new();
        let mut start = 0;
        for run in tensors.chunk_by(|a, b| layer(a) == layer(b)) {
            if layer(&run[0]).is_some() {
                layers.push(start..start + run.len());
            }
            start += run.len();
        }
        let family = model.family;
        let copies_tied_output = family.copies_tied_output;
        WeightList { tensors, layers, tied: model.tied && family.has_output(), copies_tied_output }
    }

    pub(crate) fn len(&self) -> usize {
        self.tensors.len()
    }

    pub(crate) fn tensor(&self, place: usize) -> WeightTensor {
        self.tensors[place]
    }

    /// Returns the index of a layer's tensor of this name, among its experts or not, if the layer has it.
    pub(crate) fn place_in_layer(&self, layer: u64, name: Name) -> Option<usize> {
        let layer = self.layers[layer as usize].clone();
        self.tensors[layer.clone()]
            .iter()
            .position(|tensor| tensor.name == name)
            .map(|place| layer.start + place)
    }

    /// Returns the index of the tensor with this home and name, if the model has it.
    pub(crate) fn place(&self, home: Home, name: Name) -> Option<usize> {
        let range = match home {
            Home::Layer(layer) | Home::Experts(layer) => return self.place_in_layer(layer, name),
            Home::Input => 0..self.layers.first()?.start,
            Home::EveryDevice | Home::Output => self.layers.last()?.end..self.tensors.len(),
        };
        self.tensors[range.clone()]
            .iter()
            .position(|tensor| tensor.name == name)
            .map(|place| range.start + place)
    }

    /// Returns the weights in a quantization. `model` must be the one that the list was created from.
    pub(crate) fn quantized(&self, model: &Architecture, quantization: Quantization) -> Weights {
        let types = tensor_types(model, &self.tensors, quantization);
        let placed = self.placed(self.tensors.iter().copied().zip(types.iter().copied()));
        self.weights(types, placed)
    }

    /// Returns the weights of a file, from its tensors and their types. Tensors of the list that the file
    /// does not name are F32.
    pub(crate) fn of_file(&self, tensors: &[(WeightTensor, TensorType)]) -> Weights {
        let known: HashMap<(Home, Name), TensorType> =
            tensors.iter().map(|(tensor, kind)| ((tensor.home, tensor.name), *kind)).collect();
        let kind = |tensor: &WeightTensor| {
            known.get(&(tensor.home, tensor.name)).copied().unwrap_or(TensorType::F32)
        };
        self.weights(self.tensors.iter().map(kind).collect(), self.placed(tensors.iter().copied()))
    }

    fn weights(&self, types: Vec<TensorType>, placed: PlacedWeights) -> Weights {
        let mut known: Vec<&[TensorType]> = Vec::new();
        let patterns = self.layers.iter().map(|layer| {
            let types = &types[layer.clone()];
            let found = known.iter().position(|known| *known == types);
            found.unwrap_or_else(|| {
                known.push(types);
                known.len() - 1
            }) as u16
        });
        let patterns = patterns.collect();
        Weights { placed, patterns, types }
    }

    /// Returns the tensors with their types.
    pub(crate) fn typed(&self, weights: &Weights) -> impl Iterator<Item = (WeightTensor, TensorType)> {
        self.tensors.iter().copied().zip(weights.types.iter().copied())
    }

    fn placed(&self, tensors: impl Iterator<Item = (WeightTensor, TensorType)>) -> PlacedWeights {
        let mut places = PlacedWeights {
            layers: vec![EitherDevice::default(); self.layers.len()],
            experts: vec![EitherDevice::default(); self.layers.len()],
            ..PlacedWeights::default()
        };
        for (tensor, kind) in tensors {
            let size = EitherDevice {
                gpu: allocated_bytes(&tensor, kind, Device::Gpu(0)),
                host: allocated_bytes(&tensor, kind, Device::Host),
            };
            places.file += tensor_bytes(&tensor, kind);
            match tensor.home {
                Home::Input => places.input_host += size.host,
                Home::Layer(layer) => places.layers[layer as usize] += size,
                Home::Experts(layer) => places.experts[layer as usize] += size,
                Home::EveryDevice => places.rotary += size,
                Home::Output => places.output += size,
            }
            if self.tied && tensor.name == Name::TokenEmbedding {
                // The output is a separate copy of the embedding, always on a GPU.
                places.output.gpu += size.gpu;
                if self.copies_tied_output {
                    places.output.host += size.host;
                }
            }
        }
        places
    }

    /// Returns the bytes of a copy of a tensor in a compute buffer, before alignment.
    pub(crate) fn copy_bytes(&self, weights: &Weights, home: Home, name: Name, on_host: bool) -> u64 {
        let place = self.place(home, name).expect("only weights that the model has are copied");
        let (tensor, kind) = (&self.tensors[place], weights.types[place]);
        let tail = if on_host { Bytes(0) } else { row_tail(kind, tensor.columns) };
        (tensor_bytes(tensor, kind) + tail).0
    }
}

/// The weights of a model in one quantization.
#[derive(Debug)]
pub(crate) struct Weights {
    /// Type of each tensor of the list.
    types: Vec<TensorType>,
    /// Id of each layer's combination of types: layers with equal ids have equal types.
    pub(crate) patterns: Vec<u16>,
    pub(crate) placed: PlacedWeights,
}

impl Weights {
    /// Returns the number of tensors by type.
    pub(crate) fn count_by_type(&self) -> BTreeMap<TensorType, u64> {
        let mut counts = BTreeMap::new();
        for kind in &self.types {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        counts
    }
}

/// Returns all tensors of the file with their types, layer by layer.
pub(crate) fn typed_tensors(
    model: &Architecture,
    quantization: Quantization,
) -> impl Iterator<Item = (WeightTensor, TensorType)> {
    let tensors = weight_tensors(model);
    let types = tensor_types(model, &tensors, quantization);
    tensors.into_iter().zip(types)
}

/// Weights by where they belong, with their size in a GPU's buffer and in the host's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacedWeights {
    /// Tensor data of the file, without its header.
    pub file: Bytes,
    /// Bytes that are always in host memory: the token embedding.
    pub input_host: Bytes,
    /// Each layer without its experts.
    pub layers: Vec<EitherDevice>,
    /// Routed experts of each layer; zero without experts.
    pub experts: Vec<EitherDevice>,
    /// Rotary factors, once on every device with a layer that uses them.
    pub rotary: EitherDevice,
    /// Output stage, with its copy of the embedding in a tied model.
    pub output: EitherDevice,
}

impl PlacedWeights {
    /// Returns the bytes of the weights on a device.
    pub(crate) fn on(&self, placement: &Placement, device: Device) -> Bytes {
        let mut sum = if device == Device::Host { self.input_host } else { Bytes(0) };
        for (layer, index) in self.layers.iter().zip(0..) {
            if placement.layer(index) == device {
                sum += layer.on(device);
            }
        }
        for (experts, index) in self.experts.iter().zip(0..) {
            if placement.experts(index) == device {
                sum += experts.on(device);
            }
        }
        if placement.has_rotary_layer(device) {
            sum += self.rotary.on(device);
        }
        if placement.output() == device {
            sum += self.output.on(device);
        }
        sum
    }
}

/// Size of the same weights in a GPU's buffer and in the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EitherDevice {
    /// On a GPU.
    pub gpu: Bytes,
    /// In host memory.
    pub host: Bytes,
}

impl EitherDevice {
    /// Returns the size on a device.
    pub fn on(&self, device: Device) -> Bytes {
        match device {
            Device::Gpu(_) => self.gpu,
            Device::Host => self.host,
        }
    }
}

impl AddAssign for EitherDevice {
    fn add_assign(&mut self, other: EitherDevice) {
        self.gpu += other.gpu;
        self.host += other.host;
    }
}

/// Returns the bytes of a tensor's data.
pub(crate) fn tensor_bytes(tensor: &WeightTensor, kind: TensorType) -> Bytes {
    Bytes(kind.row_size(tensor.columns).0 * tensor.rows * tensor.matrices)
}

/// Returns the bytes that a tensor occupies in a buffer of the device.
pub(crate) fn allocated_bytes(tensor: &WeightTensor, kind: TensorType, device: Device) -> Bytes {
    let data = tensor_bytes(tensor, kind);
    match device {
        Device::Host => data.aligned(HOST_ALIGNMENT),
        Device::Gpu(_) => (data + row_tail(kind, tensor.columns)).aligned(GPU_ALIGNMENT),
    }
}

/// Returns the padding that CUDA adds after a quantized tensor, so that kernels may read past the last row.
pub(crate) fn row_tail(kind: TensorType, columns: u64) -> Bytes {
    match columns % ROW_PADDING {
        0 => Bytes(0),
        _ if !kind.is_quantized() => Bytes(0),
        rest => kind.row_size(ROW_PADDING - rest),
    }
}
