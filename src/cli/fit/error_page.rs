//! The page of the error that a model would end in.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::Estimate;
use serde::Serialize;

use crate::cli::fit::machine::GpuDevice;
use crate::cli::fit::request::FitRequest;
use crate::site::{Kind, PageId, Site};

/// Pages of the errors for weights, cache and compute buffers.
pub(super) const SLUGS: [&str; 3] =
    ["llamacpp-cuda-buffer-alloc-failed", "llamacpp-kv-cache-alloc-failed", "llamacpp-compute-buffer-failed"];

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
    verdict: Option<&str>,
) -> Option<ErrorPage> {
    if !matches!(verdict, Some("no" | "tight" | "offload")) || !request.machine.is_cuda() {
        return None;
    }
    let least_used = |card: &GpuDevice| Bytes(card.room().low.0.saturating_sub(card.driver().low.0));
    let free: Vec<Bytes> = request.machine.cards.iter().map(least_used).collect();
    let mut full = need.devices.iter().zip(&free).filter(|(device, free)| device.total() > **free);
    let [weights, cache, compute] = SLUGS;
    let fails = match full.next() {
        Some((device, free)) if device.weights.bytes > *free => weights,
        Some((device, free)) if device.weights.bytes + device.cache.bytes > *free => cache,
        _ => compute,
    };
    let page = site.heads().find(|head| head.id == PageId::new(Kind::Error, fails))?;
    Some(ErrorPage { slug: fails, title: page.title.value.clone() })
}
