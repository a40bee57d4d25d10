//! The page of the error that a model would end in.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::Estimate;
use serde::Serialize;

use crate::cli::fit::machine::GpuDevice;
use crate::cli::fit::request::FitRequest;
use crate::cli::fit::verdict::FitVerdict;
use crate::site::{Kind, PageId, Site};

const WEIGHTS: &str = "llamacpp-cuda-buffer-alloc-failed";
const CACHE: &str = "llamacpp-kv-cache-alloc-failed";
const COMPUTE: &str = "llamacpp-compute-buffer-failed";

/// Slugs of all error pages that a report can name.
pub(super) const SLUGS: [&str; 3] = [WEIGHTS, CACHE, COMPUTE];

/// Error page.
#[derive(Debug, Serialize)]
pub(super) struct ErrorPage {
    pub slug: &'static str,
    pub title: String,
}

/// Returns the page for the error of the first buffer that does not fit.
pub(super) fn error_page(
    site: &Site,
    request: &FitRequest<'_>,
    need: &Estimate,
    verdict: Option<FitVerdict>,
) -> Option<ErrorPage> {
    if verdict.is_none_or(|verdict| verdict == FitVerdict::Fits) || !request.machine.is_cuda() {
        return None;
    }
    let least_used = |card: &GpuDevice| Bytes(card.room().low.0.saturating_sub(card.driver().low.0));
    let free: Vec<Bytes> = request.machine.cards.iter().map(least_used).collect();
    let mut full = need.devices.iter().zip(&free).filter(|(device, free)| device.total() > **free);
    let fails = match full.next() {
        Some((device, free)) if device.weights.bytes > *free => WEIGHTS,
        Some((device, free)) if device.weights.bytes + device.cache.bytes > *free => CACHE,
        _ => COMPUTE,
    };
    let page = site.heads().find(|head| head.id == PageId::new(Kind::Error, fails))?;
    Some(ErrorPage { slug: fails, title: page.title.value.clone() })
}
