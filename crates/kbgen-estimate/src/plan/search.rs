//! The largest choices that still fit in the memory that is free.

use crate::bytes::Bytes;
use crate::cache::CELL_STEP;
use crate::estimator::NotCovered;
use crate::planner::{PlannedCompute, Planner};
use crate::quantization::Quantization;
use crate::segments::{Segment, at_step, cells_of, value_at};
use crate::settings::{ExpertPlacement, Settings};

/// Memory that is free for weights, cache and compute buffers, on each GPU in order; what
/// the driver takes is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// GPU by GPU.
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

/// The largest context in tokens up to the model's own maximum with which everything fits;
/// none when not even 256 tokens for each separate sequence do.
///
/// Every number of cells is looked at: a compute buffer may shrink where the context
/// grows, so a search by halves could miss the largest.
pub fn largest_context(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<u64>, NotCovered> {
    let weights = planner.weights_on(settings)?;
    let planned = planner.planned_compute(settings)?;
    let caches = planner.cache_segments(settings)?;
    let exact = match planned {
        PlannedCompute::Exact => planner.compute(settings)?,
        PlannedCompute::Partial { .. } => Vec::new(),
    };
    let at = |segments: &[Segment], cells| value_at(segments, cells).unwrap_or_default();
    let needs = |cells: u64| -> Vec<Bytes> {
        let compute = |gpu: usize| planned.at(cells).unwrap_or_else(|| at(&exact[gpu], cells));
        let gpus = 0..settings.tensor_split.len();
        gpus.map(|gpu| weights[gpu] + at(&caches[gpu], cells) + compute(gpu)).collect()
    };
    let longest = planner.model().max_context;
    let last = cells_of(&settings.at_context(longest)) / CELL_STEP;
    let steps = (1..=last).rev().find(|step| available.holds(&needs(step * CELL_STEP)));
    Ok(steps.map(|steps| at_step(settings, steps).context.min(longest)))
}

/// The first of `candidates`, best first, with which everything fits; none when none does.
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

/// The most layers on the GPUs (the output counted as one) with which everything fits on
/// them; none when not even no layer does, since the GPU computes for the CPU too.
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

/// The fewest first layers whose experts have to stay on the CPU (`--n-cpu-moe`) for
/// everything else to fit on the GPUs; none when even all do not suffice, or without experts.
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
