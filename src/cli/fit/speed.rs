//! Estimated decoding speed, as a range with its inputs.

use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use kbgen_estimate::speed::{CacheRead, DecodeRate, RAM_GBPS, TokenReads};
use serde::Serialize;

use crate::cli::fit::request::FitRequest;

/// Tokens per second of one request. `reason` explains a missing estimate.
#[derive(Debug, Default, Serialize)]
pub(super) struct Speed {
    /// Minimum and maximum with an empty context.
    pub empty_context: Option<[f64; 2]>,
    /// Minimum and maximum with a full context.
    pub full_context: Option<[f64; 2]>,
    /// Bytes of weights read per token, on the device and in RAM.
    pub weight_bytes_read: u64,
    /// Those of `weight_bytes_read` that are in RAM.
    pub host_bytes_read: u64,
    /// Fraction of the bandwidth that this class of devices reaches, in thousandths.
    pub share_of_bandwidth: Option<u32>,
    /// Time per layer in addition to reading it.
    pub layer_microseconds: Option<u32>,
    /// Bandwidth in GB/s.
    pub bandwidth_gbps: Option<f64>,
    /// Assumed bandwidth of the RAM in GB/s, if a part of the model or the cache is there.
    pub ram_gbps: Option<u32>,
    /// Whether the whole cache is in RAM.
    #[serde(skip)]
    pub is_cache_in_ram: bool,
    pub reason: Option<&'static str>,
}

/// Estimates the speed with these settings, which fit if `runs`.
pub(super) fn speed(
    request: &FitRequest<'_>,
    planner: &mut Planner<'_>,
    settings: &Settings,
    runs: bool,
) -> Speed {
    let weights = planner.weights_read(settings);
    let known = Speed {
        weight_bytes_read: weights.device.0 + weights.host.0,
        host_bytes_read: weights.host.0,
        ..Speed::default()
    };
    let (rate, bandwidth) = match rate(request, settings, runs) {
        Ok(found) => found,
        Err(reason) => return Speed { reason: Some(reason), ..known },
    };
    let is_cache_in_ram = settings.cache_placement == CachePlacement::Host;
    let model = &request.model;
    let read = CacheRead::of(model);
    let at = |depth| {
        let reads: TokenReads = weights + read.placed(model, settings, depth);
        let range = rate.range(bandwidth, model.layers.len(), reads);
        Some([(range.low * 100.0).floor() / 100.0, (range.high * 100.0).ceil() / 100.0])
    };
    Speed {
        empty_context: at(0),
        full_context: at(request.context),
        share_of_bandwidth: Some(rate.share),
        layer_microseconds: Some(rate.layer_us),
        bandwidth_gbps: Some(bandwidth),
        ram_gbps: (weights.host.0 > 0 || is_cache_in_ram).then_some(RAM_GBPS),
        is_cache_in_ram,
        ..known
    }
}

fn rate(
    request: &FitRequest<'_>,
    settings: &Settings,
    runs: bool,
) -> Result<(DecodeRate, f64), &'static str> {
    let places = request.model.layers.len() as u64 + 1;
    let is_partly_in_ram = settings.gpu_layers.is_some_and(|layers| layers < places)
        || settings.experts != ExpertPlacement::WithLayer
        || settings.cache_placement == CachePlacement::Host;
    let card = match request.machine.cards.as_slice() {
        [] => return Err("no device given"),
        [card] => card,
        _ => return Err("no measurements of several devices"),
    };
    if request.model.pooling.is_some() {
        return Err("an embedding model writes no text");
    }
    if !runs {
        return Err("the model does not fit");
    }
    if settings.gpu_layers == Some(0) {
        return Err("no measurements without layers on the GPU");
    }
    let (class, bandwidth) = card.speed.ok_or("the bandwidth is unknown without --gpu")?;
    let class = class.map_err(|missing| missing.reason())?;
    let bandwidth = bandwidth.ok_or("the bandwidth of the device is not confirmed")?;
    let experts = request.model.experts.as_ref().and_then(|_| class.unmeasured_with_experts());
    match experts.or_else(|| class.unmeasured_partly_in_ram().filter(|_| is_partly_in_ram)) {
        Some(missing) => Err(missing.reason()),
        None => Ok((class.rate(), bandwidth)),
    }
}
