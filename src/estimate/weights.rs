//! Bytes of the weights: in the file and on each device.

use std::collections::BTreeMap;

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::family::Family;
use crate::estimate::names::{Home, Name, WeightTensor};
use crate::estimate::placement::{Device, Placement};
use crate::estimate::quantization::{Quantization, TensorType};
use crate::estimate::recipe::tensor_types;
use crate::estimate::tensors::weight_tensors;

/// Alignment of tensors in CUDA buffers.
pub(crate) const GPU_ALIGNMENT: u64 = 128;
/// Alignment of tensors in host buffers.
pub(crate) const HOST_ALIGNMENT: u64 = 32;
/// CUDA pads the rows of quantized tensors to a multiple of this (`MATRIX_ROW_PADDING`).
const ROW_PADDING: u64 = 512;

/// The tensors of a model in one quantization.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    tensors: Vec<(WeightTensor, TensorType)>,
    /// Places in `tensors` by home and name.
    places: BTreeMap<(Home, Name), usize>,
    tied: bool,
    family: Family,
}

impl Weights {
    pub(crate) fn new(model: &Architecture, quantization: Quantization) -> Weights {
        let tensors = weight_tensors(model);
        let types = tensor_types(model, &tensors, quantization);
        let places = tensors.iter().zip(0..).map(|(tensor, place)| ((tensor.home, tensor.name), place));
        Weights {
            places: places.collect(),
            tensors: tensors.into_iter().zip(types).collect(),
            tied: model.tied,
            family: model.family,
        }
    }

    /// The tensor of this name and place, where the model has it.
    pub(crate) fn find(&self, home: Home, name: Name) -> Option<(WeightTensor, TensorType)> {
        self.places.get(&(home, name)).map(|place| self.tensors[*place])
    }

    /// All tensors of the file with their types, layer by layer.
    pub(crate) fn tensors(&self) -> &[(WeightTensor, TensorType)] {
        &self.tensors
    }

    /// The tensor data of the model file, without its header.
    pub(crate) fn file_bytes(&self) -> Bytes {
        self.tensors.iter().map(|(tensor, kind)| tensor_bytes(tensor, *kind)).sum()
    }

    /// How many tensors have each type.
    pub(crate) fn count_by_type(&self) -> BTreeMap<TensorType, u64> {
        let mut counts = BTreeMap::new();
        for (_, kind) in &self.tensors {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        counts
    }

    /// Whether the output of a tied model is a copy of its own beside the embedding: it is
    /// on a GPU, and where Gemma 4 computes its output on the CPU (as measured).
    fn copies_output_on(&self, device: Device) -> bool {
        device != Device::Host || self.family == Family::Gemma4
    }

    /// What the weights of each place take.
    pub(crate) fn by_place(&self, model: &Architecture) -> PlacedWeights {
        let count = model.layers.len();
        let mut places = PlacedWeights {
            file: self.file_bytes(),
            input_host: Bytes(0),
            layers: vec![EitherDevice::default(); count],
            experts: vec![EitherDevice::default(); count],
            rotary: EitherDevice::default(),
            output: EitherDevice::default(),
        };
        for (tensor, kind) in &self.tensors {
            let gpu = allocated_bytes(tensor, *kind, Device::Gpu(0));
            let host = allocated_bytes(tensor, *kind, Device::Host);
            if self.tied && tensor.name == Name::TokenEmbedding {
                places.output.gpu += gpu;
                if self.copies_output_on(Device::Host) {
                    places.output.host += host;
                }
            }
            let place = match tensor.home {
                Home::Input => {
                    places.input_host += host;
                    continue;
                }
                Home::Layer(index) => &mut places.layers[index as usize],
                Home::Experts(index) => &mut places.experts[index as usize],
                Home::EveryDevice => &mut places.rotary,
                Home::Output => &mut places.output,
            };
            place.gpu += gpu;
            place.host += host;
        }
        places
    }

    /// What the weights take on a device.
    pub(crate) fn device_bytes(&self, placement: &Placement, device: Device) -> Bytes {
        let mut sum = Bytes(0);
        for (tensor, kind) in &self.tensors {
            let size = allocated_bytes(tensor, *kind, device);
            if placement.devices(tensor.home).contains(&device) {
                sum += size;
            }
            let output_copy = self.tied && tensor.name == Name::TokenEmbedding;
            if output_copy && placement.output() == device && self.copies_output_on(device) {
                sum += size;
            }
        }
        sum
    }
}

/// Weights by where they belong, in a GPU's buffer and in the host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedWeights {
    /// Tensor data of the file.
    pub file: Bytes,
    /// What always stays in the host's memory: the token embedding.
    pub input_host: Bytes,
    /// Layer by layer, without its experts.
    pub layers: Vec<EitherDevice>,
    /// Layer by layer, its routed experts; zero without.
    pub experts: Vec<EitherDevice>,
    /// Rotary factors: once on every device that holds a layer which uses them.
    pub rotary: EitherDevice,
    /// The output stage, with its copy of the embedding in a tied model.
    pub output: EitherDevice,
}

/// The same weights in a GPU's buffer or in the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EitherDevice {
    /// On a GPU.
    pub gpu: Bytes,
    /// In the host's memory.
    pub host: Bytes,
}

/// Bytes of a tensor's data.
pub(crate) fn tensor_bytes(tensor: &WeightTensor, kind: TensorType) -> Bytes {
    Bytes(kind.row_size(tensor.columns).0 * tensor.rows * tensor.matrices)
}

/// Bytes that a tensor takes in a buffer of the device.
fn allocated_bytes(tensor: &WeightTensor, kind: TensorType, device: Device) -> Bytes {
    let data = tensor_bytes(tensor, kind);
    match device {
        Device::Host => data.aligned(HOST_ALIGNMENT),
        Device::Gpu(_) => (data + row_tail(kind, tensor.columns)).aligned(GPU_ALIGNMENT),
    }
}

/// What CUDA adds after a quantized tensor, so that kernels may read past the last row.
pub(crate) fn row_tail(kind: TensorType, columns: u64) -> Bytes {
    match columns % ROW_PADDING {
        0 => Bytes(0),
        _ if !kind.is_quantized() => Bytes(0),
        rest => kind.row_size(ROW_PADDING - rest),
    }
}
