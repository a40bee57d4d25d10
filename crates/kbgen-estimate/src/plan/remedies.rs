//! Changes of a single setting with which a model fits.

use serde::Serialize;

use crate::bytes::Bytes;
use crate::estimator::NotCovered;
use crate::placement::Device;
use crate::plan::devices::first_split;
use crate::plan::search::{
    Available, best_quantization, fewest_cpu_experts, largest_context, most_gpu_layers,
};
use crate::planner::Planner;
use crate::quantization::{CacheType, Quantization};
use crate::settings::{ExpertPlacement, Settings};

/// Changes that make the model fit; `None` where a change does not.
#[derive(Debug, Serialize)]
pub struct Remedies {
    /// Layers of each of several devices, if only llama.cpp's own split does not fit.
    pub tensor_split: Option<Vec<u64>>,
    /// Largest context in tokens that fits.
    pub context: Option<u64>,
    /// Widest cache type for K and V that fits.
    pub cache_type: Option<&'static str>,
    /// Widest quantization that fits.
    pub quant: Option<&'static str>,
    /// Experts in RAM.
    pub cpu_experts: Option<Moved>,
    /// Whole layers in RAM.
    pub gpu_layers: Option<Moved>,
    /// All experts and whole layers in RAM, if the experts alone do not suffice.
    #[serde(skip)]
    pub both: Option<Settings>,
}

/// Option that moves experts or whole layers to RAM, and the resulting bytes there.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// Value of the option: for experts, the number of layers whose experts are in RAM (`--n-cpu-moe`); for whole
    /// layers, the number that stays on the GPUs, counting the output as one more (`-ngl`).
    pub layers: u64,
    /// Layers of each of several devices with this change.
    pub tensor_split: Option<Vec<u64>>,
    /// Bytes of weights, cache and buffers in RAM.
    pub host_bytes: u64,
    /// Bytes of weights and cache in RAM.
    #[serde(skip)]
    pub held: Bytes,
    /// Settings with this change.
    #[serde(skip)]
    pub settings: Settings,
}

impl Remedies {
    /// Finds changes with which all GPUs have enough memory, even if the driver uses its maximum. `narrower`
    /// are the quantizations to try, largest first.
    ///
    /// # Errors
    /// If [`check`](crate::estimator::check) refuses the settings.
    pub fn find(
        planner: &mut Planner<'_>,
        settings: &Settings,
        available: &Available,
        narrower: &[Quantization],
    ) -> Result<Remedies, NotCovered> {
        let can_move = planner.has_own_memory(settings);
        let tensor_split = match settings.tensor_split.len() {
            0 | 1 => None,
            _ => first_split(planner, available, [(0, settings.clone())].into_iter())?,
        };
        let by_experts = match settings.experts {
            ExpertPlacement::WithLayer if can_move => experts_in_ram(planner, settings, available)?,
            _ => None,
        };
        let by_layers = match settings.gpu_layers {
            None if can_move => layers_in_ram(planner, settings, available)?,
            _ => None,
        };
        let has_experts = planner.model().experts.is_some();
        let both = match (&by_experts, &by_layers) {
            (None, Some(_)) if has_experts && settings.tensor_split.len() > 1 => {
                let experts = ExpertPlacement::FirstLayersOnCpu(planner.model().layers.len() as u64);
                layers_in_ram(planner, &Settings { experts, ..settings.clone() }, available)?
            }
            _ => None,
        };
        let cpu_experts = by_experts.map(|(layers, attempt)| Moved::new(planner, attempt, layers));
        let gpu_layers = by_layers.map(|(layers, attempt)| Moved::new(planner, attempt, layers));
        Ok(Remedies {
            tensor_split: tensor_split.map(|(_, found)| found.tensor_split),
            context: largest_context(planner, settings, available)?,
            cache_type: narrower_cache(planner, settings, available).map(CacheType::name),
            quant: best_quantization(planner, settings, available, narrower)?.map(Quantization::name),
            cpu_experts: cpu_experts.transpose()?,
            gpu_layers: gpu_layers.transpose()?,
            both: both.map(|(_, attempt)| attempt),
        })
    }

    /// Returns settings that run the model without changing quantization or context: another split, else
    /// experts in RAM, which costs less speed than whole layers, unless they need more than 5/4 of the RAM
    /// that whole layers do.
    pub fn plan(&self, settings: &Settings) -> Option<Settings> {
        if let Some(shares) = &self.tensor_split {
            return Some(Settings { tensor_split: shares.clone(), ..settings.clone() });
        }
        let moved = match (&self.cpu_experts, &self.gpu_layers) {
            (Some(few), Some(whole)) if few.held.0 / 5 > whole.held.0 / 4 => whole,
            (Some(few), _) => few,
            (None, Some(_)) if self.both.is_some() => return self.both.clone(),
            (None, Some(whole)) => whole,
            (None, None) => return None,
        };
        Some(moved.settings.clone())
    }
}

impl Moved {
    fn new(planner: &mut Planner<'_>, attempt: Settings, layers: u64) -> Result<Moved, NotCovered> {
        let need = planner.estimate(&attempt)?;
        let host = need.device(Device::Host).expect("there is always a host");
        Ok(Moved {
            layers,
            tensor_split: Some(attempt.tensor_split.clone()).filter(|split| split.len() > 1),
            host_bytes: host.total().0,
            held: host.weights.bytes + host.cache.bytes,
            settings: attempt,
        })
    }
}

/// Finds the fewest first layers whose experts are in RAM, and the settings with them.
fn experts_in_ram(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<(u64, Settings)>, NotCovered> {
    let with = |layers| {
        (layers, Settings { experts: ExpertPlacement::FirstLayersOnCpu(layers), ..settings.clone() })
    };
    let layers = planner.model().layers.len() as u64;
    match settings.tensor_split.len() {
        0 | 1 => Ok(fewest_cpu_experts(planner, settings, available)?.map(with)),
        _ if planner.model().experts.is_none() => Ok(None),
        _ => first_split(planner, available, (1..=layers).map(with)),
    }
}

/// Finds the most layers on the devices, at least one, and the settings with them.
fn layers_in_ram(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<(u64, Settings)>, NotCovered> {
    let with = |layers| (layers, Settings { gpu_layers: Some(layers), ..settings.clone() });
    let layers = planner.model().layers.len() as u64;
    match settings.tensor_split.len() {
        0 | 1 => Ok(most_gpu_layers(planner, settings, available)?.filter(|layers| *layers > 0).map(with)),
        _ => first_split(planner, available, (1..=layers).rev().map(with)),
    }
}

/// Returns the widest narrower cache type for which stock builds have a kernel.
fn narrower_cache(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Option<CacheType> {
    let now = settings.cache_type_k.max(settings.cache_type_v);
    [CacheType::Q8_0, CacheType::Q4_0].into_iter().filter(|kind| *kind > now).find(|kind| {
        let attempt = Settings { cache_type_k: *kind, cache_type_v: *kind, ..settings.clone() };
        planner.planned_totals(&attempt).is_ok_and(|needs| available.holds(&needs))
    })
}
