//! Settings of an estimate as data, with its accuracy.

use kbgen_estimate::estimator::{DeviceEstimate, Estimate, Evidence};
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, FlashAttention, Settings};
use serde::Serialize;

use crate::cli::arguments::RunnerName;
use crate::cli::fit::llama_options;
use crate::cli::fit::request::FitRequest;

/// Settings of an estimate.
#[derive(Debug, Serialize)]
pub(super) struct ReportedSettings {
    pub runner: &'static str,
    pub quant: String,
    /// Mixture in the name of the file or repository, whose weights are at most those of `quant`.
    pub mixture: Option<String>,
    pub context: u64,
    pub slots: u64,
    pub cache_type_k: &'static str,
    pub cache_type_v: &'static str,
    /// Layers on the GPUs, including the output layer.
    pub gpu_layers: u64,
    /// Number of first layers whose experts stay in RAM.
    pub cpu_expert_layers: u64,
    pub tensor_split: Vec<u64>,
    pub batch_size: u64,
    pub ubatch_size: u64,
    pub flash_attention: bool,
    pub cache_in_ram: bool,
    /// Period of llama.cpp builds.
    pub build: String,
    /// Settings that differ from the defaults, in words.
    #[serde(skip)]
    pub described: Vec<String>,
    /// Accuracy of weights, cache and compute buffer.
    pub evidence: &'static str,
}

impl ReportedSettings {
    /// Returns the settings, and the accuracy of an estimate with them.
    pub(super) fn new(request: &FitRequest<'_>, settings: &Settings, need: &Estimate) -> Self {
        let needs_kernel = |device: &DeviceEstimate| device.compute.evidence == Evidence::ReplayedWithKernel;
        let evidence = if request.source.unknown_architecture().is_some() {
            "weights exact; unknown architecture: the cache is at most that of a Llama of this size, compute buffers are 50% to 250% of its"
        } else if let Some(basis) = request.machine.basis() {
            basis
        } else if need.devices.iter().any(|device| device.compute.evidence == Evidence::Planned) {
            "weights and cache exact; some compute buffers approximate"
        } else if need.devices.iter().any(needs_kernel) {
            "exact, but stock builds lack the kernel for this pair of cache types"
        } else {
            "exact: replayed from llama.cpp"
        };
        let places = request.model.layers.len() as u64 + 1;
        Self {
            runner: match request.runner {
                RunnerName::LlamaServer => "llama-server",
                RunnerName::Ollama => "ollama",
                RunnerName::Library => "library",
            },
            quant: request.source.quant_name(settings.quantization),
            mixture: request.mixture(settings.quantization).map(str::to_string),
            context: request.context,
            slots: settings.sequences,
            cache_type_k: settings.cache_type_k.name(),
            cache_type_v: settings.cache_type_v.name(),
            gpu_layers: settings.gpu_layers.unwrap_or(places).min(places),
            cpu_expert_layers: match settings.experts {
                ExpertPlacement::WithLayer => 0,
                ExpertPlacement::FirstLayersOnCpu(layers) | ExpertPlacement::LastLayersOnCpu(layers) => {
                    layers
                }
                ExpertPlacement::Cpu => places - 1,
            },
            tensor_split: settings.tensor_split.clone(),
            batch_size: settings.n_batch,
            ubatch_size: settings.n_ubatch,
            flash_attention: settings.flash_attention == FlashAttention::On,
            cache_in_ram: settings.cache_placement == CachePlacement::Host,
            build: settings.build.to_string(),
            described: llama_options::described(settings),
            evidence,
        }
    }
}
