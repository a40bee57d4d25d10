//! How fast a model would decode, as a range with its basis.

use kbgen_estimate::settings::{ExpertPlacement, Settings};
use kbgen_estimate::speed::{CacheRead, SpeedKind, weight_bytes_read};
use serde::Serialize;

use crate::cli::fit::request::FitRequest;

/// Tokens per second of one request; `reason` says why there are none.
#[derive(Debug, Serialize)]
pub(super) struct Speed {
    /// With nothing in the context: the least and the most.
    pub empty_context: Option<[f64; 2]>,
    /// With the whole context filled.
    pub full_context: Option<[f64; 2]>,
    /// Bytes of weights that a token reads.
    pub weight_bytes_read: u64,
    /// Shares of the bandwidth that this class of devices reaches, in thousandths.
    pub share_of_bandwidth: Option<[u32; 2]>,
    /// Bandwidth in GB/s.
    pub bandwidth_gbps: Option<f64>,
    pub reason: Option<&'static str>,
}

/// The range for these settings.
pub(super) fn speed(request: &FitRequest<'_>, settings: &Settings, is_too_large: bool) -> Speed {
    let weights = weight_bytes_read(&request.model, settings.quantization);
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
        [] => return none("no device was named"),
        _ if !is_whole => return none("nothing is said while a part runs from RAM"),
        [card] if card.slug.is_none() => return none("a named device has a bandwidth"),
        [card] => card,
        _ => return none("no speeds were collected for several devices"),
    };
    let Some((class, bandwidth)) = card.speed else {
        return none("no speeds were collected for devices of this kind");
    };
    let Some(band) = class.band(SpeedKind::of(&request.model)) else {
        return none("no speeds of models with experts were collected for devices of this kind");
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
