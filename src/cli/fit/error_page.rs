//! The page of the error that a model would end in.

use kbgen_estimate::estimator::Estimate;
use serde::Serialize;

use crate::cli::fit::report::driver;
use crate::cli::fit::request::FitRequest;
use crate::site::{Kind, PageId, Site};

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
    if !matches!(verdict, Some("no" | "tight" | "offload")) || !request.machine.is_covered() {
        return None;
    }
    let free = request.machine.free(driver().low);
    let mut full = need.devices.iter().zip(&free).filter(|(device, free)| device.total() > **free);
    let fails = match full.next() {
        Some((device, free)) if device.weights.bytes > *free => "llamacpp-cuda-buffer-alloc-failed",
        Some((device, free)) if device.weights.bytes + device.cache.bytes > *free => {
            "llamacpp-kv-cache-alloc-failed"
        }
        _ => "llamacpp-compute-buffer-failed",
    };
    let page = site.heads().find(|head| head.id == PageId::new(Kind::Error, fails))?;
    Some(ErrorPage { slug: fails, title: page.title.value.clone() })
}
