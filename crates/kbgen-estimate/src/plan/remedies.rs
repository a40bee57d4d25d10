//! Single changes of the settings with which a model fits.

use serde::Serialize;

use crate::bytes::Bytes;
use crate::estimator::NotCovered;
use crate::placement::Device;
use crate::plan::search::{
    Available, best_quantization, fewest_cpu_experts, largest_context, most_gpu_layers,
};
use crate::planner::Planner;
use crate::quantization::{CacheType, Quantization};
use crate::settings::{ExpertPlacement, Settings};

/// Changes that make it fit, none where a change does not.
#[derive(Debug, Serialize)]
pub struct Remedies {
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

/// Number of moved layers, and the resulting bytes in RAM.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// `--n-cpu-moe`, or `-ngl`.
    pub layers: u64,
    /// Bytes of weights, cache and buffers in RAM.
    pub host_bytes: u64,
    /// Bytes of weights and cache in RAM.
    #[serde(skip)]
    pub held: Bytes,
}

impl Remedies {
    /// Finds changes with which all GPUs have enough memory at the driver's maximum. `narrower` are the quantizations
    /// to try, largest first, and `context` is the largest that fits.
    pub fn find(
        planner: &mut Planner<'_>,
        settings: &Settings,
        available: &Available,
        narrower: &[Quantization],
    ) -> Result<Remedies, NotCovered> {
        let by_experts = match settings.experts {
            ExpertPlacement::WithLayer => fewest_cpu_experts(planner, settings, available)?,
            _ => None,
        };
        let cpu_experts =
            by_experts.map(|layers| Moved::new(planner, &with_cpu_experts(settings, layers), layers));
        let by_layers = match settings.gpu_layers {
            // none at all is no way to use the device
            None => most_gpu_layers(planner, settings, available)?.filter(|layers| *layers > 0),
            Some(_) => None,
        };
        let gpu_layers =
            by_layers.map(|layers| Moved::new(planner, &with_gpu_layers(settings, layers), layers));
        Ok(Remedies {
            tensor_split: other_split(planner, settings, available)?,
            context: largest_context(planner, settings, available)?,
            cache_type: narrower_cache(planner, settings, available).map(CacheType::name),
            quant: best_quantization(planner, settings, available, narrower)?.map(Quantization::name),
            cpu_experts: cpu_experts.transpose()?,
            gpu_layers: gpu_layers.transpose()?,
        })
    }

    /// The settings that run this very quantization and context: another split, else experts
    /// in RAM, which costs less speed, unless they take more than 5/4 of the RAM that whole layers do.
    pub fn plan(&self, settings: &Settings) -> Option<Settings> {
        match (&self.tensor_split, &self.cpu_experts, &self.gpu_layers) {
            (Some(shares), _, _) => Some(Settings { tensor_split: shares.clone(), ..settings.clone() }),
            (_, Some(few), Some(whole)) if few.held.0 / 5 > whole.held.0 / 4 => {
                Some(with_gpu_layers(settings, whole.layers))
            }
            (_, Some(few), _) => Some(with_cpu_experts(settings, few.layers)),
            (_, None, Some(whole)) => Some(with_gpu_layers(settings, whole.layers)),
            (_, None, None) => None,
        }
    }
}

impl Moved {
    fn new(planner: &mut Planner<'_>, attempt: &Settings, layers: u64) -> Result<Moved, NotCovered> {
        let need = planner.estimate(attempt)?;
        let host = need.device(Device::Host).expect("there is always a host");
        Ok(Moved { layers, host_bytes: host.total().0, held: host.weights.bytes + host.cache.bytes })
    }
}

fn with_cpu_experts(settings: &Settings, layers: u64) -> Settings {
    Settings { experts: ExpertPlacement::FirstLayersOnCpu(layers), ..settings.clone() }
}

fn with_gpu_layers(settings: &Settings, layers: u64) -> Settings {
    Settings { gpu_layers: Some(layers), ..settings.clone() }
}

/// The widest narrower type that stock builds have a kernel for.
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

/// The first split over two devices that fits, layer by layer.
fn other_split(
    planner: &mut Planner<'_>,
    settings: &Settings,
    available: &Available,
) -> Result<Option<Vec<u64>>, NotCovered> {
    if settings.tensor_split.len() != 2 {
        return Ok(None);
    }
    let places = planner.model().layers.len() as u64 + 1;
    for first in 1..places {
        let tensor_split = vec![first, places - first];
        let attempt = Settings { tensor_split: tensor_split.clone(), ..settings.clone() };
        if available.holds(&planner.planned_totals(&attempt)?) {
            return Ok(Some(tensor_split));
        }
    }
    Ok(None)
}
