//! Estimates for vLLM and transformers on the same devices.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::WeightType;
use kbgen_estimate::parameters::parameter_count;
use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::Settings;
use kbgen_estimate::transformers::transformers;
use kbgen_estimate::vllm::{VllmCache, VllmSettings, VllmVerdict, vllm};
use serde::Serialize;

use crate::cli::fit::request::{FitRequest, ModelSource};

/// Estimates of both engines. `reason` explains a missing estimate.
#[derive(Debug, Serialize)]
pub(super) struct PythonEngines {
    pub vllm: Vllm,
    pub transformers: Transformers,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Vllm {
    /// `fits`, `tight` or `no`.
    pub verdict: Option<&'static str>,
    /// Largest weight type with which the cache holds the context.
    pub weight_type: Option<&'static str>,
    /// `auto` or `fp8`.
    pub cache_type: Option<&'static str>,
    /// Per GPU.
    pub weights_bytes: Option<u64>,
    pub pool_bytes: Option<[u64; 2]>,
    /// Largest context that certainly fits, and the largest that may fit.
    pub largest_context: Option<[u64; 2]>,
    pub reason: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Transformers {
    pub verdict: Option<&'static str>,
    pub weight_type: Option<&'static str>,
    pub weights_bytes: Option<u64>,
    pub cache_bytes: Option<[u64; 2]>,
    pub total_bytes: Option<[u64; 2]>,
    pub reason: Option<String>,
}

/// Weight types to try, largest first.
const WEIGHT_TYPES: [WeightType; 3] = [WeightType::Bf16, WeightType::Fp8, WeightType::Awq];
/// Estimates both engines.
pub(super) fn python(request: &FitRequest<'_>, settings: &Settings) -> PythonEngines {
    let reason = not_covered(request);
    let vllm = match &reason {
        Some(reason) => Vllm { reason: Some(reason.clone()), ..Vllm::default() },
        None => vllm_answer(request, settings),
    };
    let transformers = match &reason {
        Some(reason) => Transformers { reason: Some(reason.clone()), ..Transformers::default() },
        None => transformers_answer(request),
    };
    PythonEngines { vllm, transformers }
}

fn not_covered(request: &FitRequest<'_>) -> Option<String> {
    if matches!(request.source, ModelSource::File(_)) {
        return Some("only llama.cpp and Ollama are estimated for a GGUF file".to_string());
    }
    if request.machine.cards.is_empty() {
        Some("no device given".to_string())
    } else if !request.machine.is_cuda() {
        Some("only NVIDIA GPUs with dedicated memory are modeled".to_string())
    } else {
        None
    }
}

/// Returns the parameters of the checkpoint besides the text model, such as those of a vision tower.
fn further_parameters(request: &FitRequest<'_>) -> u64 {
    let text = parameter_count(&request.model).held;
    request.source.page().map_or(0, |page| page.data.further_parameters(text))
}

fn vllm_answer(request: &FitRequest<'_>, settings: &Settings) -> Vllm {
    let cards = &request.machine.cards[..request.vllm.cards.min(request.machine.cards.len())];
    if cards.iter().any(|card| card.compute_capability.is_some_and(|version| version < 7.0)) {
        let reason = "vLLM needs compute capability 7.0 or higher".to_string();
        return Vllm { reason: Some(reason), ..Vllm::default() };
    }
    let is_wide = settings.cache_type_k <= CacheType::Bf16;
    let usual = if is_wide { VllmCache::Auto } else { VllmCache::Fp8 };
    let cache = request.vllm.cache.unwrap_or(usual);
    let (weight_types, exact) = match &request.source {
        ModelSource::Checkpoint(found) => {
            match found.checkpoint.bytes_on_card(&request.model, cards.len() as u64) {
                Ok(bytes) => (vec![WeightType::Bf16], Some(Bytes(bytes))),
                Err(reason) => return Vllm { reason: Some(reason.0), ..Vllm::default() },
            }
        }
        _ if request.model.family.mxfp4_checkpoint => (vec![WeightType::Mxfp4Experts], None),
        _ => (request.vllm.weights.map_or(WEIGHT_TYPES.to_vec(), |kind| vec![kind]), None),
    };
    let memory = cards.iter().map(|card| card.room().low.0).min().unwrap_or(0);
    let mut last = Vllm::default();
    for weights in weight_types {
        let asked = VllmSettings {
            weights,
            cache,
            cards: cards.len() as u64,
            memory: Bytes(memory),
            utilization: request.vllm.utilization,
            exact_weights: exact,
            // It may be loaded in 16 bits on every card, or not at all.
            further: Bytes(2 * further_parameters(request)),
        };
        let need = match vllm(&request.model, &asked) {
            Ok(need) => need,
            Err(reason) => return Vllm { reason: Some(reason.0), ..Vllm::default() },
        };
        let verdict = match need.verdict(request.context) {
            VllmVerdict::Fits => "fits",
            VllmVerdict::Tight => "tight",
            VllmVerdict::TooLarge => "no",
        };
        last = Vllm {
            verdict: Some(verdict),
            weight_type: Some(if exact.is_some() { "as stored" } else { weights.name() }),
            cache_type: Some(if cache == VllmCache::Auto { "auto" } else { "fp8" }),
            weights_bytes: Some(need.weights.0),
            pool_bytes: Some([need.pool.low.0, need.pool.high.0]),
            largest_context: Some([need.context.0, need.context.1]),
            reason: None,
        };
        if verdict == "fits" {
            break;
        }
    }
    last
}

fn transformers_answer(request: &FitRequest<'_>) -> Transformers {
    let none = |reason: String| Transformers { reason: Some(reason), ..Transformers::default() };
    let [card] = request.machine.cards.as_slice() else {
        return none("several devices are not modeled".to_string());
    };
    if request.model.family.mxfp4_checkpoint {
        return none("the experts of the checkpoint are in MXFP4".to_string());
    }
    let further = further_parameters(request);
    if further > 0 {
        let further = further as f64 / 1e9;
        return none(format!("the checkpoint has {further:.1} billion parameters besides the text model"));
    }
    let mut need = match transformers(&request.model, WeightType::Bf16, request.context) {
        Ok(need) => need,
        Err(reason) => return none(reason.0),
    };
    let mut kind = WeightType::Bf16.name();
    if let ModelSource::Checkpoint(found) = &request.source {
        match found.checkpoint.bytes_on_card(&request.model, 1) {
            Ok(bytes) => need.weights = Bytes(bytes),
            Err(reason) => return none(reason.0),
        }
        need.activations.high = Bytes(need.weights.0 / 5);
        kind = "as stored";
    }
    let (total, room) = (need.total(), card.room().low);
    Transformers {
        verdict: Some(match room {
            room if total.high <= room => "fits",
            room if total.low <= room => "tight",
            _ => "no",
        }),
        weight_type: Some(kind),
        weights_bytes: Some(need.weights.0),
        cache_bytes: Some([need.cache.low.0, need.cache.high.0]),
        total_bytes: Some([total.low.0, total.high.0]),
        reason: None,
    }
}
