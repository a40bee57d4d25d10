//! Placement of layers on devices.

use std::ops::Range;

use crate::architecture::{Architecture, LayerKind};
use crate::names::Home;
use crate::settings::Settings;

/// Device whose buffers are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// The GPU with this index.
    Gpu(usize),
    /// Host memory.
    Host,
}

impl Device {
    /// Returns the index of the device's buffer: the GPUs in order, then the host.
    pub(crate) fn buffer(self, gpus: usize) -> usize {
        match self {
            Device::Gpu(gpu) => gpu,
            Device::Host => gpus,
        }
    }
}

/// Device of every layer and of the output.
#[derive(Debug)]
pub(crate) struct Placement {
    layers: Vec<Device>,
    output: Device,
    /// Devices with layers that use rotary factors.
    rotary: Vec<Device>,
    cpu_experts: Range<u64>,
}

impl Placement {
    /// Applies llama.cpp's rule (`src/llama-model.cpp`, `get_layer_buft_list`): of the layers and the output,
    /// the last `gpu_layers` are on the GPUs. Each one is on the first GPU whose cumulative share exceeds its
    /// relative position among them.
    pub(crate) fn new(model: &Architecture, settings: &Settings) -> Placement {
        let layers = model.layers.len() as u64;
        let places = layers + 1;
        let first = settings.on_host(layers);
        let on_gpu = places - first;
        let total: u64 = settings.tensor_split.iter().sum();
        let device = |layer: u64| -> Device {
            if layer < first {
                return Device::Host;
            }
            let mut cumulative = 0;
            for (share, gpu) in settings.tensor_split.iter().zip(0..) {
                cumulative += share;
                // cumulative / total > (layer - first) / on_gpu, compared as llama.cpp does
                if exceeds(cumulative, total, layer - first, on_gpu) {
                    return Device::Gpu(gpu);
                }
            }
            Device::Gpu(settings.tensor_split.len().saturating_sub(1))
        };
        let cpu_experts = settings.experts.on_host(layers);
        let uses_factors = |layer: &u64| reads_factors(model, model.layers[*layer as usize].kind);
        let mut rotary: Vec<Device> = (0..layers).filter(uses_factors).map(device).collect();
        rotary.dedup();
        Placement { layers: (0..layers).map(device).collect(), output: device(layers), rotary, cpu_experts }
    }

    /// Returns the device of a layer.
    pub(crate) fn layer(&self, index: u64) -> Device {
        self.layers[index as usize]
    }

    /// Returns the device of the output.
    pub(crate) fn output(&self) -> Device {
        self.output
    }

    /// Returns the device of a layer's experts.
    pub(crate) fn experts(&self, index: u64) -> Device {
        if self.cpu_experts.contains(&index) { Device::Host } else { self.layer(index) }
    }

    /// Returns the device of the weights of `home`. Rotary factors are on several devices.
    pub(crate) fn device_of(&self, home: Home) -> Device {
        match home {
            Home::Input => Device::Host,
            Home::Output => self.output,
            Home::Experts(index) => self.experts(index),
            Home::Layer(index) => self.layer(index),
            Home::EveryDevice => self.rotary.first().copied().unwrap_or(Device::Host),
        }
    }

    /// Returns whether a device has a layer that uses rotary factors.
    pub(crate) fn has_rotary_layer(&self, device: Device) -> bool {
        self.rotary.contains(&device)
    }
}

/// Returns whether layers of this kind use rotary factors.
pub fn reads_factors(model: &Architecture, kind: LayerKind) -> bool {
    !model.family.factors_of_full_layers || kind == LayerKind::Full
}

/// Returns whether `cumulative / total > place / places` in single precision, as llama.cpp computes it.
fn exceeds(cumulative: u64, total: u64, place: u64, places: u64) -> bool {
    cumulative as f32 / total as f32 > place as f32 / places as f32
}
