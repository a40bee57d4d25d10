//! Estimated decoding speed, as a range with its inputs.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::settings::{ExpertPlacement, Settings};
use kbgen_estimate::speed::{CacheRead, SpeedKind};
use serde::Serialize;

use crate::cli::fit::request::FitRequest;

/// Tokens per second of one request. `reason` explains a missing estimate.
#[derive(Debug, Serialize)]
pub(super) struct Speed {
    /// Minimum and maximum with an empty context.
    pub empty_context: Option<[f64; 2]>,
    /// Minimum and maximum with a full context.
    pub full_context: Option<[f64; 2]>,
    /// Bytes of weights read per token.
    pub weight_bytes_read: u64,
    /// Fraction of the bandwidth that this class of devices reaches, in thousandths.
    pub share_of_bandwidth: Option<[u32; 2]>,
    /// Bandwidth in GB/s.
    pub bandwidth_gbps: Option<f64>,
    pub reason: Option<&'static str>,
}

/// Estimates the speed with these settings, where `weights` are the bytes of weights read per token.
pub(super) fn speed(
    request: &FitRequest<'_>,
    settings: &Settings,
    weights: Bytes,
    is_too_large: bool,
) -> Speed {
    let none = |reason| Speed {
        empty_context: None,
        full_context: None,
        weight_bytes_read: weights.0,
        share_of_bandwidth: None,
        bandwidth_gbps: None,
        reason: Some(reason),
    };
    let places = request.model.layers.len() as u64 + 1;
    let is_whole = settings.gpu_layers.is_none_or(|layers| layers >= places)
        && settings.experts == ExpertPlacement::WithLayer
        && !is_too_large;
    let card = match request.machine.cards.as_slice() {
        [] => return none("no device given"),
        _ if !is_whole => return none("not estimated for layers in RAM"),
        [card] if card.slug.is_none() => return none("the bandwidth is unknown without --gpu"),
        [card] => card,
        _ => return none("no measurements of several devices"),
    };
    let Some((class, bandwidth)) = card.speed else {
        return none("no measurements of this class of devices");
    };
    let Some(band) = class.band(SpeedKind::of(&request.model)) else {
        return none("no measurements of models with experts on this class of devices");
    };
    let read = CacheRead::of(&request.model);
    let at = |depth| {
        let cache = read.at(depth, settings.cache_type_k, settings.cache_type_v);
        let range = band.range(bandwidth, weights + cache);
        Some([(range.low * 100.0).floor() / 100.0, (range.high * 100.0).ceil() / 100.0])
    };
    Speed {
        empty_context: at(0),
        full_context: at(request.context),
        weight_bytes_read: weights.0,
        share_of_bandwidth: Some([band.low, band.high]),
        bandwidth_gbps: Some(bandwidth),
        reason: None,
    }
}
