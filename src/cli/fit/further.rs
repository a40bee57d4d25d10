//! Further models that run beside the requested one, each in a process of its own on the first device.

use anyhow::{Result, anyhow};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::estimator::check;
use kbgen_estimate::placement::Device;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, Settings};

use crate::cli::arguments::RunnerName;
use crate::cli::fit::additions::{Addition, AdditionKind};
use crate::cli::fit::commands::commands;
use crate::cli::fit::python::PythonEngines;
use crate::cli::fit::request::{FitRequest, ModelSource, candidates_of, quant_of};
use crate::cli::fit::verdict::FitVerdict;
use crate::site::{DEFAULT_QUANT, Site};

/// First port after the default one of llama-server.
const SECOND_PORT: usize = 8081;

/// Estimates a model with all layers on the first device and the settings of `first`, as far as its context allows.
/// `place` is its position after the first model, from 0.
///
/// # Errors
/// If the model is unknown or does not support the settings.
pub(super) fn further_model(
    site: &Site,
    source: ModelSource<'_>,
    first: &FitRequest<'_>,
    place: usize,
) -> Result<Addition> {
    let model = source.architecture()?;
    let candidates = candidates_of(site, &source, &model);
    let usual = candidates.iter().find(|quant| quant.name() == DEFAULT_QUANT).or(candidates.first()).copied();
    let named = source.named().map(quant_of).transpose()?.flatten();
    // the planner of a file ignores it
    let quantization = named.or(usual).unwrap_or(Quantization::F16);
    let context = first.context.min(model.max_context);
    let settings = Settings {
        quantization,
        context: context * first.contexts(),
        gpu_layers: None,
        experts: ExpertPlacement::WithLayer,
        tensor_split: vec![1],
        cache_placement: CachePlacement::WithLayer,
        ..first.settings.clone()
    };
    let title = source.title().to_string();
    check(&model, &settings).map_err(|reason| anyhow!("{title}: {}", reason.0))?;
    let mut machine = first.machine.clone();
    machine.cards.truncate(1);
    let (backends, driver_bytes) = match machine.cards.first() {
        Some(card) => (vec![card.backends], card.driver().high.0),
        None => (Vec::new(), 0),
    };
    let all_slots = Architecture { max_context: model.max_context * first.contexts(), ..model.clone() };
    let need = source.planner(&all_slots).on_backends(backends).plan(&settings);
    let need = need.map_err(|reason| anyhow!("{title}: {reason}"))?;
    let gpu = need.device(Device::Gpu(0)).expect("all layers are on one device");
    let quant = source.quant_name(quantization);
    let request = FitRequest {
        source,
        model,
        machine,
        runner: first.runner,
        context,
        settings,
        quant: Some(quantization),
        candidates: Vec::new(),
        additions: Vec::new(),
        vllm: first.vllm,
    };
    let all = commands(&request, &request.settings, &PythonEngines::default(), Some(FitVerdict::Fits));
    let command = match request.runner {
        RunnerName::Ollama => all.ollama_run.or(all.ollama.last().cloned()),
        _ => all.llama_cpp.first().map(|line| format!("{line} --port {}", SECOND_PORT + place)),
    };
    Ok(Addition {
        kind: AdditionKind::Model,
        file: format!("{title}, {quant}"),
        weights_bytes: gpu.weights.bytes.0,
        cache_bytes: gpu.cache.bytes.0,
        compute_bytes: gpu.compute.bytes.0,
        driver_bytes,
        command,
        urls: Vec::new(),
    })
}
