//! The largest choices that still fit in the memory that is free.

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::cache::CELL_STEP;
use crate::estimator::{Estimate, NotCovered};
use crate::placement::Device;
use crate::planner::Planner;
use crate::quantization::Quantization;
use crate::segments::{at_step, cells_of, value_at};
use crate::settings::{ExpertPlacement, Settings};

/// Memory that is free for weights, cache and compute buffers, on each GPU in order; what
/// the driver takes is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// GPU by GPU.
    pub gpus: Vec<Bytes>,
}

impl Available {
    /// Whether every GPU holds its part; one that is not listed holds nothing.
    pub fn holds(&self, need: &Estimate) -> bool {
        need.devices.iter().all(|device| device.total() <= self.on(device.device))
    }

    /// What is free on a device; the host is not looked at.
    fn on(&self, device: Device) -> Bytes {
        match device {
            Device::Gpu(gpu) => self.gpus.get(gpu).copied().unwrap_or(Bytes(0)),
            Device::Host => Bytes(u64::MAX),
        }
    }
}

/// The largest context in tokens up to the model's own maximum with which everything fits;
/// none when not even 256 tokens for each separate sequence do.
///
/// Every number of cells is looked at: a compute buffer may shrink where the context
/// grows, so a search by halves could miss the largest.
pub fn largest_context(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    let mut planner = Planner::new(model);
    let need = planner.estimate(&settings.at_context(CELL_STEP))?;
    let pieces = planner.segments(settings)?;
    let fits = |cells: u64| {
        need.devices.iter().zip(&pieces).all(|(device, pieces)| {
            let parts = [&pieces.cache, &pieces.compute].map(|part| value_at(part, cells));
            let dependent: Bytes = parts.into_iter().flatten().sum();
            device.weights.bytes + dependent <= available.on(device.device)
        })
    };
    let last = cells_of(&settings.at_context(model.max_context)) / CELL_STEP;
    let steps = (1..=last).rev().find(|step| fits(step * CELL_STEP));
    Ok(steps.map(|steps| at_step(settings, steps).context.min(model.max_context)))
}

/// The first of `candidates`, best first, with which everything fits; none when none does.
pub fn best_quantization(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
    candidates: &[Quantization],
) -> Result<Option<Quantization>, NotCovered> {
    let mut planner = Planner::new(model);
    for quantization in candidates {
        let attempt = Settings { quantization: *quantization, ..settings.clone() };
        if available.holds(&planner.estimate(&attempt)?) {
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
    let mut planner = Planner::new(model);
    for layers in (0..=model.layers.len() as u64 + 1).rev() {
        let attempt = Settings { gpu_layers: Some(layers), ..settings.clone() };
        if available.holds(&planner.estimate(&attempt)?) {
            return Ok(Some(layers));
        }
    }
    Ok(None)
}

/// The fewest first layers whose experts have to stay on the CPU (`--n-cpu-moe`) for
/// everything else to fit on the GPUs; none when even all do not suffice, or without experts.
pub fn fewest_cpu_experts(
    model: &Architecture,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    if model.experts.is_none() {
        return Ok(None);
    }
    let mut planner = Planner::new(model);
    for layers in 1..=model.layers.len() as u64 {
        let experts = ExpertPlacement::FirstLayersOnCpu(layers);
        let attempt = Settings { experts, ..settings.clone() };
        if available.holds(&planner.estimate(&attempt)?) {
            return Ok(Some(layers));
        }
    }
    Ok(None)
}
