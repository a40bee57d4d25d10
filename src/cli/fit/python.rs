//! Estimates for Python programs on the same devices: vLLM, SGLang, Transformers, ExLlamaV3, MLX.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::backend::Backend;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::WeightType;
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::local::{exllamav3, mlx};
use kbgen_estimate::parameters::parameter_count;
use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::settings::Settings;
use kbgen_estimate::sglang::sglang;
use kbgen_estimate::transformers::{SequenceEstimate, transformers};
use kbgen_estimate::vllm::{PoolCache, PoolEstimate, PoolSettings, PoolVerdict, vllm};
use serde::Serialize;

use crate::cli::fit::request::{FitRequest, ModelSource};
use crate::cli::fit::verdict::FitVerdict;

/// Estimates of all programs. `reason` explains a missing estimate.
#[derive(Debug, Default, Serialize)]
pub(super) struct PythonEngines {
    pub vllm: Server,
    pub sglang: Server,
    pub transformers: Loader,
    pub exllamav3: Loader,
    pub mlx: Loader,
}

/// Estimate of a server that fills its share of the GPU memory with a pool for the cache.
#[derive(Debug, Default, Serialize)]
pub(super) struct Server {
    /// `fits`, `tight` or `no`.
    pub verdict: Option<FitVerdict>,
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

/// Estimate of a program that allocates what one sequence needs.
#[derive(Debug, Default, Serialize)]
pub(super) struct Loader {
    pub verdict: Option<FitVerdict>,
    pub weight_type: Option<&'static str>,
    pub weights_bytes: Option<u64>,
    pub cache_bytes: Option<[u64; 2]>,
    pub total_bytes: Option<[u64; 2]>,
    pub reason: Option<String>,
}

impl Server {
    fn not_covered(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }
}

impl Loader {
    fn not_covered(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// Judges an estimate against the memory of a device.
    fn new(kind: &'static str, need: &SequenceEstimate, room: Bytes) -> Self {
        let total = need.total();
        Self {
            verdict: Some(match room {
                room if total.high <= room => FitVerdict::Fits,
                room if total.low <= room => FitVerdict::Tight,
                _ => FitVerdict::No,
            }),
            weight_type: Some(kind),
            weights_bytes: Some(need.weights.0),
            cache_bytes: Some([need.cache.low.0, need.cache.high.0]),
            total_bytes: Some([total.low.0, total.high.0]),
            reason: None,
        }
    }
}

/// Weight types of the servers to try, largest first.
const WEIGHT_TYPES: [WeightType; 3] = [WeightType::Bf16, WeightType::Fp8, WeightType::Awq];
/// Bits per weight of EXL3 to try, largest first. With a whole number, all matrices have these bits.
const EXL3_BITS: [u8; 6] = [8, 6, 5, 4, 3, 2];
/// Weight types of MLX to try, largest first.
const MLX_TYPES: [WeightType; 4] =
    [WeightType::Bf16, WeightType::Mlx(8), WeightType::Mlx(6), WeightType::Mlx(4)];

/// Estimates all programs.
pub(super) fn python(request: &FitRequest<'_>, settings: &Settings) -> PythonEngines {
    let server = |program: ServerProgram| match not_covered(request) {
        Some(reason) => Server::not_covered(reason),
        None => server_answer(request, settings, program),
    };
    let cuda = |answer: &dyn Fn() -> Loader| match not_covered(request) {
        Some(reason) => Loader::not_covered(reason),
        None => answer(),
    };
    PythonEngines {
        vllm: server(ServerProgram::Vllm),
        sglang: server(ServerProgram::Sglang),
        transformers: cuda(&|| transformers_answer(request)),
        exllamav3: cuda(&|| exllamav3_answer(request, settings)),
        mlx: mlx_answer(request),
    }
}

fn not_covered(request: &FitRequest<'_>) -> Option<&'static str> {
    if matches!(request.source, ModelSource::File(_)) {
        Some("only llama.cpp and Ollama are estimated for a GGUF file")
    } else if request.machine.cards.is_empty() {
        Some("no device given")
    } else if !request.machine.is_cuda() {
        Some("only NVIDIA GPUs with dedicated memory are modeled")
    } else {
        None
    }
}

/// Returns the parameters of the checkpoint besides the text model, such as those of a vision tower.
fn further_parameters(request: &FitRequest<'_>) -> u64 {
    let text = parameter_count(&request.model).held;
    request.source.page().map_or(0, |page| page.data.further_parameters(text))
}

/// Server with a pool for its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerProgram {
    Vllm,
    Sglang,
}

impl ServerProgram {
    /// Lowest CUDA compute capability, and why a GPU is refused.
    fn capability(self) -> (f64, &'static str) {
        match self {
            Self::Vllm => (7.0, "vLLM needs compute capability 7.0 or higher"),
            Self::Sglang => (7.5, "SGLang needs compute capability 7.5 or higher"),
        }
    }

    fn estimate(self, model: &Architecture, settings: &PoolSettings) -> Result<PoolEstimate, NotCovered> {
        match self {
            Self::Vllm => vllm(model, settings),
            Self::Sglang => sglang(model, settings),
        }
    }
}

fn server_answer(request: &FitRequest<'_>, settings: &Settings, program: ServerProgram) -> Server {
    let cards = &request.machine.cards[..request.vllm.cards.min(request.machine.cards.len())];
    let (lowest, reason) = program.capability();
    if cards.iter().any(|card| card.compute_capability.is_some_and(|version| version < lowest)) {
        return Server::not_covered(reason);
    }
    let is_wide = settings.cache_type_k <= CacheType::Bf16;
    let usual = if is_wide { PoolCache::Auto } else { PoolCache::Fp8 };
    let cache = request.vllm.cache.unwrap_or(usual);
    let (weight_types, exact) = match &request.source {
        ModelSource::Checkpoint(found) => {
            match found.checkpoint.bytes_on_card(&request.model, cards.len() as u64) {
                Ok(bytes) => (vec![WeightType::Bf16], Some(Bytes(bytes))),
                Err(reason) => return Server::not_covered(reason.0),
            }
        }
        _ if request.model.family.mxfp4_checkpoint => (vec![WeightType::Mxfp4Experts], None),
        _ => (request.vllm.weights.map_or(WEIGHT_TYPES.to_vec(), |kind| vec![kind]), None),
    };
    let memory = cards.iter().map(|card| card.room().low.0).min().unwrap_or(0);
    let mut last = Server::default();
    for weights in weight_types {
        let asked = PoolSettings {
            weights,
            cache,
            cards: cards.len() as u64,
            memory: Bytes(memory),
            utilization: (program == ServerProgram::Vllm).then_some(request.vllm.utilization),
            exact_weights: exact,
            // It may be loaded in 16 bits on every card, or not at all.
            further: Bytes(2 * further_parameters(request)),
        };
        let need = match program.estimate(&request.model, &asked) {
            Ok(need) => need,
            Err(reason) => return Server::not_covered(reason.0),
        };
        let verdict = match need.verdict(request.context) {
            PoolVerdict::Fits => FitVerdict::Fits,
            PoolVerdict::Tight => FitVerdict::Tight,
            PoolVerdict::TooLarge => FitVerdict::No,
        };
        last = Server {
            verdict: Some(verdict),
            weight_type: Some(if exact.is_some() { "as stored" } else { weights.name() }),
            cache_type: Some(if cache == PoolCache::Auto { "auto" } else { "fp8" }),
            weights_bytes: Some(need.weights.0),
            pool_bytes: Some([need.pool.low.0, need.pool.high.0]),
            largest_context: Some([need.context.0, need.context.1]),
            reason: None,
        };
        if verdict == FitVerdict::Fits {
            break;
        }
    }
    last
}

/// Returns the first answer that fits, else the last.
fn first_that_fits(answers: impl IntoIterator<Item = Loader>) -> Loader {
    let mut last = Loader::default();
    for answer in answers {
        last = answer;
        if last.verdict == Some(FitVerdict::Fits) || last.reason.is_some() {
            break;
        }
    }
    last
}

fn exllamav3_answer(request: &FitRequest<'_>, settings: &Settings) -> Loader {
    let [card] = request.machine.cards.as_slice() else {
        return Loader::not_covered("several devices are not modeled");
    };
    if card.compute_capability.is_some_and(|version| version < 7.5) {
        return Loader::not_covered("GPUs below compute capability 7.5 are not modeled");
    }
    if matches!(request.source, ModelSource::Checkpoint(_)) {
        return Loader::not_covered("the checkpoint must be converted to EXL3 first");
    }
    let cache_bits = match settings.cache_type_k {
        CacheType::Q8_0 => 8,
        CacheType::Q5_0 | CacheType::Q5_1 => 5,
        CacheType::Q4_0 | CacheType::Q4_1 | CacheType::Iq4Nl => 4,
        _ => 16,
    };
    first_that_fits(EXL3_BITS.map(|bits| {
        match exllamav3(&request.model, bits, cache_bits, request.context) {
            Ok(need) => Loader::new(WeightType::Exl3(bits).name(), &need, card.room().low),
            Err(reason) => Loader::not_covered(reason.0),
        }
    }))
}

fn mlx_answer(request: &FitRequest<'_>) -> Loader {
    if matches!(request.source, ModelSource::File(_) | ModelSource::Checkpoint(_)) {
        return Loader::not_covered("only models of the catalog are modeled");
    }
    let [card] = request.machine.cards.as_slice() else {
        return Loader::not_covered("one device with Apple silicon is required");
    };
    if card.backends != [Backend::Metal] {
        return Loader::not_covered("only devices with Apple silicon are modeled");
    }
    let kinds = match request.model.family.mxfp4_checkpoint {
        true => vec![WeightType::Mxfp4Experts],
        false => MLX_TYPES.to_vec(),
    };
    first_that_fits(kinds.into_iter().map(|kind| match mlx(&request.model, kind, request.context) {
        Ok(need) => Loader::new(kind.name(), &need, card.room().low),
        Err(reason) => Loader::not_covered(reason.0),
    }))
}

fn transformers_answer(request: &FitRequest<'_>) -> Loader {
    let [card] = request.machine.cards.as_slice() else {
        return Loader::not_covered("several devices are not modeled");
    };
    if request.model.family.mxfp4_checkpoint {
        return Loader::not_covered("the experts of the checkpoint are in MXFP4");
    }
    let further = further_parameters(request);
    if further > 0 {
        let further = further as f64 / 1e9;
        return Loader::not_covered(format!(
            "the checkpoint has {further:.1} billion parameters besides the text model"
        ));
    }
    let mut need = match transformers(&request.model, WeightType::Bf16, request.context) {
        Ok(need) => need,
        Err(reason) => return Loader::not_covered(reason.0),
    };
    let mut kind = WeightType::Bf16.name();
    if let ModelSource::Checkpoint(found) = &request.source {
        match found.checkpoint.bytes_on_card(&request.model, 1) {
            Ok(bytes) => need.weights = Bytes(bytes),
            Err(reason) => return Loader::not_covered(reason.0),
        }
        need.activations.high = Bytes(need.weights.0 / 5);
        kind = "as stored";
    }
    Loader::new(kind, &need, card.room().low)
}
