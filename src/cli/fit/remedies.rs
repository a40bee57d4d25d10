//! What would fit where the settings do not, each change alone.

use anyhow::{Result, anyhow};
use kbgen_estimate::estimator::{NotCovered, estimate};
use kbgen_estimate::fitting::{Available, best_quantization, fewest_cpu_experts, most_gpu_layers};
use kbgen_estimate::placement::Device;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{ExpertPlacement, Settings};
use serde::Serialize;

use crate::cli::fit::question::Question;

/// Changes that make it fit, none where a change does not.
#[derive(Debug, Serialize)]
pub(super) struct Remedies {
    /// Shares of the layers for each of two devices, where only llama.cpp's own do not fit.
    pub tensor_split: Option<Vec<u64>>,
    /// Tokens of a shorter context.
    pub context: Option<u64>,
    /// The widest type for K and V.
    pub cache_type: Option<&'static str>,
    /// The widest quantization.
    pub quant: Option<&'static str>,
    /// Experts in RAM.
    pub cpu_experts: Option<Moved>,
    /// Whole layers in RAM.
    pub gpu_layers: Option<Moved>,
}

/// Layers that go to RAM or stay on the GPU, and what RAM holds then.
#[derive(Debug, Serialize)]
pub(super) struct Moved {
    /// `--n-cpu-moe`, or `-ngl`.
    pub layers: u64,
    /// Bytes of weights, cache and buffers in RAM.
    pub host_bytes: u64,
}

impl Remedies {
    /// The settings that run this very quantization and context: another split, else experts
    /// in RAM, which costs less speed, unless that takes much more RAM than whole layers do.
    pub fn plan(&self, settings: &Settings) -> Option<Settings> {
        let split = |shares: &Vec<u64>| Settings { tensor_split: shares.clone(), ..settings.clone() };
        let experts = |moved: &Moved| Settings {
            experts: ExpertPlacement::FirstLayersOnCpu(moved.layers),
            ..settings.clone()
        };
        let layers = |moved: &Moved| Settings { gpu_layers: Some(moved.layers), ..settings.clone() };
        match (&self.tensor_split, &self.cpu_experts, &self.gpu_layers) {
            (Some(shares), _, _) => Some(split(shares)),
            (_, Some(few), Some(whole)) if few.host_bytes / 5 > whole.host_bytes / 4 => Some(layers(whole)),
            (_, Some(few), _) => Some(experts(few)),
            (_, None, Some(whole)) => Some(layers(whole)),
            (_, None, None) => None,
        }
    }
}

/// Looks for changes with which every device holds its part, the driver at its most.
///
/// # Errors
/// When the settings are not modeled.
pub(super) fn remedies(
    question: &Question<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Remedies> {
    find(question, settings, available).map_err(|reason| anyhow!("{reason}"))
}

fn find(question: &Question<'_>, settings: &Settings, available: &Available) -> Result<Remedies, NotCovered> {
    let model = &question.model;
    let narrower: Vec<Quantization> =
        question.candidates.iter().copied().filter(|quant| *quant > settings.quantization).collect();
    let moved = |attempt: Settings, layers: u64| -> Result<Moved, NotCovered> {
        let need = estimate(model, &attempt)?;
        let host = need.device(Device::Host).expect("there is always a host");
        Ok(Moved { layers, host_bytes: host.total().0 })
    };
    let by_experts = match settings.experts {
        ExpertPlacement::WithLayer => fewest_cpu_experts(model, settings, available)?,
        _ => None,
    };
    let cpu_experts = by_experts.map(|layers| {
        moved(Settings { experts: ExpertPlacement::FirstLayersOnCpu(layers), ..settings.clone() }, layers)
    });
    let by_layers = match settings.gpu_layers {
        // none at all is no way to use the device
        None => most_gpu_layers(model, settings, available)?.filter(|layers| *layers > 0),
        Some(_) => None,
    };
    let gpu_layers =
        by_layers.map(|layers| moved(Settings { gpu_layers: Some(layers), ..settings.clone() }, layers));
    Ok(Remedies {
        tensor_split: split(question, settings, available)?,
        context: question.largest_context(settings, available)?,
        cache_type: cache_type(question, settings, available)?.map(CacheType::name),
        quant: best_quantization(model, settings, available, &narrower)?.map(Quantization::name),
        cpu_experts: cpu_experts.transpose()?,
        gpu_layers: gpu_layers.transpose()?,
    })
}

/// The widest narrower type that stock builds have a kernel for.
fn cache_type(
    question: &Question<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<CacheType>, NotCovered> {
    let now = settings.cache_type_k.max(settings.cache_type_v);
    for kind in [CacheType::Q8_0, CacheType::Q4_0].into_iter().filter(|kind| *kind > now) {
        let attempt = Settings { cache_type_k: kind, cache_type_v: kind, ..settings.clone() };
        if let Ok(need) = estimate(&question.model, &attempt)
            && available.holds(&need)
        {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// The first split over two devices that fits, layer by layer.
fn split(
    question: &Question<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<Vec<u64>>, NotCovered> {
    if settings.tensor_split.len() != 2 {
        return Ok(None);
    }
    let places = question.model.layers.len() as u64 + 1;
    let mut planner = Planner::new(&question.model);
    for first in 1..places {
        let tensor_split = vec![first, places - first];
        let attempt = Settings { tensor_split: tensor_split.clone(), ..settings.clone() };
        if available.holds(&planner.estimate(&attempt)?) {
            return Ok(Some(tensor_split));
        }
    }
    Ok(None)
}
