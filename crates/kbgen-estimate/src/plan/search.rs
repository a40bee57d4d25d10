//! Finds the largest values of single settings that fit into the free memory.

use crate::bytes::Bytes;
use crate::cache::CELL_STEP;
use crate::estimator::NotCovered;
use crate::planner::Planner;
use crate::quantization::Quantization;
use crate::segments::{at_step, cells_of};
use crate::settings::{ExpertPlacement, Settings};

/// Free memory for weights, cache and compute buffers, by GPU, without the memory that the driver uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// Free memory of each GPU, in order.
    pub gpus: Vec<Bytes>,
}

impl Available {
    /// Returns whether every GPU has enough memory. An unlisted GPU has none.
    pub fn holds(&self, needs: &[Bytes]) -> bool {
        let free = self.gpus.iter().copied().chain(std::iter::repeat(Bytes(0)));
        needs.iter().zip(free).all(|(need, free)| *need <= free)
    }

    fn holds_run(&self, planner: &mut Planner<'_>, settings: &Settings) -> Result<bool, NotCovered> {
        Ok(self.holds(&planner.planned_totals(settings)?))
    }
}

/// Returns the largest context in tokens that fits, up to the model's own maximum, or `None` if not even 256
/// tokens per separate sequence fit.
///
/// Tests every number of cells: a compute buffer may shrink as the context grows, so a binary search could
/// miss the largest one.
///
/// # Errors
/// If [`check`](crate::estimator::check) refuses the settings.
pub fn largest_context(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    let curves = planner.planned_curves(settings)?;
    let needs = |cells: u64| -> Vec<Bytes> { curves.iter().map(|gpu| gpu.at(cells)).collect() };
    let longest = planner.model().max_context;
    let last = cells_of(&settings.at_context(longest)) / CELL_STEP;
    let steps = (1..=last).rev().find(|step| available.holds(&needs(step * CELL_STEP)));
    Ok(steps.map(|steps| at_step(settings, steps).context.min(longest)))
}

/// Returns the first of `candidates` (best first) that fits, or `None`.
///
/// # Errors
/// If [`check`](crate::estimator::check) refuses the settings with a candidate.
pub fn best_quantization(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
    candidates: &[Quantization],
) -> Result<Option<Quantization>, NotCovered> {
    for quantization in candidates {
        let attempt = Settings { quantization: *quantization, ..settings.clone() };
        if available.holds_run(planner, &attempt)? {
            return Ok(Some(*quantization));
        }
    }
    Ok(None)
}

/// Returns the largest number of layers on the GPUs that fits, counting the output as one, or `None` if not
/// even zero fits, since the GPU also computes for the CPU.
///
/// # Errors
/// If [`check`](crate::estimator::check) refuses the settings.
pub fn most_gpu_layers(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    for layers in (0..=planner.model().layers.len() as u64 + 1).rev() {
        let attempt = Settings { gpu_layers: Some(layers), ..settings.clone() };
        if available.holds_run(planner, &attempt)? {
            return Ok(Some(layers));
        }
    }
    Ok(None)
}

/// Returns the smallest number of first layers whose experts must stay on the CPU (`--n-cpu-moe`) for
/// everything else to fit on the GPUs, or `None` if the model has no experts or even all are not enough.
///
/// # Errors
/// If [`check`](crate::estimator::check) refuses the settings.
pub fn fewest_cpu_experts(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    if planner.model().experts.is_none() {
        return Ok(None);
    }
    for layers in 1..=planner.model().layers.len() as u64 {
        let experts = ExpertPlacement::FirstLayersOnCpu(layers);
        let attempt = Settings { experts, ..settings.clone() };
        if available.holds_run(planner, &attempt)? {
            return Ok(Some(layers));
        }
    }
    Ok(None)
}
