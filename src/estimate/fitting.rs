//! The largest choices that still fit in the memory that is free.

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::cache::CELL_STEP;
use crate::estimate::estimator::{Estimate, NotCovered, estimate};
use crate::estimate::placement::Device;
use crate::estimate::quantization::Quantization;
use crate::estimate::settings::Settings;

/// Memory that is free for weights, cache and compute buffers, on each GPU in order; what
/// the driver takes is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// GPU by GPU.
    pub gpus: Vec<Bytes>,
}

impl Available {
    /// Whether every GPU holds its part.
    pub fn holds(&self, need: &Estimate) -> bool {
        self.gpus
            .iter()
            .zip(0..)
            .all(|(free, gpu)| need.device(Device::Gpu(gpu)).is_none_or(|device| device.total() <= *free))
    }
}

/// The largest context in tokens, a multiple of 256 up to the model's own maximum, with
/// which everything fits; none when not even 256 tokens do.
pub fn largest_context(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    let fits = |steps: u64| -> Result<bool, NotCovered> {
        let context = (steps * CELL_STEP).min(model.max_context.max(1));
        Ok(available.holds(&estimate(model, &settings.at_context(context))?))
    };
    let (mut low, mut high) = (0, model.max_context.div_ceil(CELL_STEP));
    // invariant: `low` steps fit (or are none), more than `high` do not
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle)? {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok((low > 0).then(|| (low * CELL_STEP).min(model.max_context)))
}

/// The first of `candidates`, best first, with which everything fits; none when none does.
pub fn best_quantization(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
    candidates: &[Quantization],
) -> Result<Option<Quantization>, NotCovered> {
    for quantization in candidates {
        let attempt = Settings { quantization: *quantization, ..settings.clone() };
        if available.holds(&estimate(model, &attempt)?) {
            return Ok(Some(*quantization));
        }
    }
    Ok(None)
}

/// The most layers on the GPUs (the output counted as one) with which everything fits on
/// them; none when not even no layer does, since the GPU computes for the CPU too.
pub fn most_gpu_layers(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    for layers in (0..=model.layers.len() as u64 + 1).rev() {
        let attempt = Settings { gpu_layers: Some(layers), ..settings.clone() };
        if available.holds(&estimate(model, &attempt)?) {
            return Ok(Some(layers));
        }
    }
    Ok(None)
}
