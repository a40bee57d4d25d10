//! One model under one setting, asked at many contexts: what does not depend on the context is kept.

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::cache;
use crate::estimate::compute;
use crate::estimate::placement::{Device, Placement};
use crate::estimate::settings::Settings;
use crate::estimate::weights::Weights;

/// A model that runs on one GPU which holds all layers.
#[derive(Debug)]
pub struct Run<'a> {
    model: &'a Architecture,
    settings: Settings,
    placement: Placement,
    weights: Weights,
}

impl<'a> Run<'a> {
    /// Prepares what holds for every context.
    pub fn new(model: &'a Architecture, settings: &Settings) -> Self {
        Self {
            model,
            placement: Placement::new(model, settings),
            weights: Weights::new(model, settings.quantization),
            settings: settings.clone(),
        }
    }

    /// KV cache and state on the first GPU at a context in tokens.
    pub fn cache(&self, context: u64) -> Bytes {
        cache::device_bytes(self.model, &self.settings.at_context(context), &self.placement, Device::Gpu(0))
    }

    /// Compute buffer of the first GPU at a context in tokens.
    pub fn compute(&self, context: u64) -> Bytes {
        compute::compute_bytes(self.model, &self.settings.at_context(context), &self.placement, &self.weights)
            .first()
            .copied()
            .unwrap_or(Bytes(0))
    }
}
