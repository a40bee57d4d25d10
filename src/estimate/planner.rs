//! One model asked for many settings: what settings share is worked out once.

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::cache;
use crate::estimate::estimator::{Estimate, NotCovered, check, estimate};
use crate::estimate::placement::Device;
use crate::estimate::quantization::Quantization;
use crate::estimate::segments::{DeviceSegments, Segment, device_segments, pieces_by_stretch};
use crate::estimate::settings::Settings;
use crate::estimate::weights::{PlacedWeights, Weights};

/// A model with all that was worked out for it so far. It only saves time: every answer is
/// that of [`estimate`] and [`device_segments`].
#[derive(Debug)]
pub struct Planner<'m> {
    model: &'m Architecture,
}

impl<'m> Planner<'m> {
    /// A planner that knows nothing yet.
    pub fn new(model: &'m Architecture) -> Planner<'m> {
        Planner { model }
    }

    /// What every device needs.
    pub fn estimate(&mut self, settings: &Settings) -> Result<Estimate, NotCovered> {
        estimate(self.model, settings)
    }

    /// The compute buffers of the GPUs in order, then of the host, over cells: from 256 a
    /// stream to those of the model's longest context. The quantization matters only where a
    /// GPU computes with weights in the host's memory.
    pub fn compute(&mut self, settings: &Settings) -> Result<Vec<Vec<Segment>>, NotCovered> {
        let devices = device_segments(self.model, settings)?;
        Ok(devices.into_iter().map(|device| device.compute).collect())
    }

    /// Cache and compute buffer of every device over cells.
    pub fn segments(&mut self, settings: &Settings) -> Result<Vec<DeviceSegments>, NotCovered> {
        device_segments(self.model, settings)
    }

    /// Cache and state of one layer on a device, over cells as [`Planner::compute`]. A
    /// device's cache is the sum over its layers.
    pub fn layer_cache(
        &self,
        layer: usize,
        settings: &Settings,
        device: Device,
    ) -> Result<Vec<Segment>, NotCovered> {
        check(self.model, settings)?;
        let layer = &self.model.layers[layer];
        Ok(pieces_by_stretch(self.model, settings, |at| cache::layer_bytes(self.model, at, layer, device)))
    }

    /// The weights of a quantization, place by place.
    pub fn weights(&mut self, quantization: Quantization) -> PlacedWeights {
        Weights::new(self.model, quantization).by_place(self.model)
    }

    /// Tensor data of the model file in a quantization.
    pub fn file_bytes(&mut self, quantization: Quantization) -> Bytes {
        Weights::new(self.model, quantization).file_bytes()
    }
}
