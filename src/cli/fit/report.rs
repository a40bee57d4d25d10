//! The report of `kbgen fit` as data: verdict, buffers by device, remedies, speed, other engines, commands.

use anyhow::{Result, anyhow};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::{DeviceEstimate, Estimate, Evidence, NotCovered};
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::Verdict;
use kbgen_estimate::plan::remedies::Remedies;
use kbgen_estimate::plan::search::largest_context;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{ExpertPlacement, Settings};
use serde::Serialize;

use crate::cli::arguments::{OsName, RunnerName};
use crate::cli::fit::additions::Addition;
use crate::cli::fit::commands::{Commands, commands};
use crate::cli::fit::error_page::{ErrorPage, error_page};
use crate::cli::fit::machine::{GpuDevice, SharedMemory};
use crate::cli::fit::python::{PythonEngines, python};
use crate::cli::fit::request::FitRequest;
use crate::cli::fit::settings::ReportedSettings;
use crate::cli::fit::speed::{Speed, speed};
use crate::cli::fit::verdict::FitVerdict;
use crate::site::{DEFAULT_QUANT, Site};

/// Report, as written for `--format json`.
#[derive(Debug, Serialize)]
pub(super) struct FitReport {
    pub model: ModelInfo,
    pub settings: ReportedSettings,
    /// `fits`, `tight`, `offload` (a part in RAM) or `no`; none without a device.
    pub verdict: Option<FitVerdict>,
    /// Bytes left on the fullest device at the driver's maximum; negative if memory is missing.
    pub margin_bytes: Option<i64>,
    /// Needs of the requested settings.
    pub devices: Vec<DeviceReport>,
    pub host: BufferSizes,
    /// Need of the devices and the RAM together, if a part is in RAM and they are the same memory.
    pub shared: Option<SharedMemory>,
    /// Files and models loaded beside the model, counted in `other_bytes` of the first device.
    pub additions: Vec<Addition>,
    /// Settings that run if the requested ones do not fit.
    pub plan: Option<Plan>,
    /// Largest context of one request at this quantization, in tokens.
    pub largest_context: Option<u64>,
    /// Largest quantization that fits at this context.
    pub best_quant: Option<String>,
    /// Changes that would make the model fit.
    pub remedies: Option<Remedies>,
    pub speed: Speed,
    /// Estimates for Python programs.
    pub other_engines: PythonEngines,
    pub commands: Commands,
    /// Page of the error that these settings would cause.
    pub error_page: Option<ErrorPage>,
    pub quantizations: Vec<QuantizationRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct ModelInfo {
    pub slug: String,
    pub title: String,
    /// Published model with the shape of this one, if the request named it.
    pub published: Option<&'static str>,
    pub layers: u64,
    pub max_context: u64,
}

/// Buffer sizes on one device.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct BufferSizes {
    pub weights_bytes: u64,
    pub cache_bytes: u64,
    /// Upper end of `compute_range_bytes`.
    pub compute_bytes: u64,
    /// Minimum and maximum.
    pub compute_range_bytes: [u64; 2],
    /// Upper end of `total_range_bytes`.
    pub total_bytes: u64,
    /// Minimum and maximum.
    pub total_range_bytes: [u64; 2],
    /// Whether the compute buffer is approximated by the planner instead of replayed.
    #[serde(skip)]
    pub is_planned: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct DeviceReport {
    pub name: String,
    pub slug: Option<String>,
    pub memory_bytes: u64,
    /// System, as named by `--os`.
    pub system: OsName,
    /// Program and log that reported `visible_bytes`; null for the worst case of similar devices.
    pub visible_source: Option<String>,
    /// Memory visible to programs.
    pub visible_bytes: u64,
    /// The most that the system can make visible.
    pub most_visible_bytes: u64,
    /// Backends that the verdict has to hold for.
    pub backends: Vec<&'static str>,
    pub other_bytes: u64,
    /// Memory that the desktop uses at most, unless `other_bytes` is given.
    pub desktop_bytes: u64,
    /// Sizes in GiB that the device is sold with, unless `--memory` selects one.
    pub memory_options_gib: Vec<f64>,
    /// Whether the memory is shared with the system, which limits the part for the GPU.
    pub unified: bool,
    #[serde(flatten)]
    pub parts: BufferSizes,
    /// Minimum and maximum.
    pub driver_bytes: [u64; 2],
    /// Free memory at the upper and lower ends of all ranges.
    pub free_bytes: [i64; 2],
    pub verdict: FitVerdict,
}

/// Settings that run on this machine, with layers in RAM or another split. `commands` use them.
#[derive(Debug, Serialize)]
pub(super) struct Plan {
    pub settings: ReportedSettings,
    pub devices: Vec<DeviceReport>,
    pub host: BufferSizes,
}

/// Needs of one quantization with all layers on the devices.
#[derive(Debug, Serialize)]
pub(super) struct QuantizationRow {
    pub quant: String,
    pub file_bytes: u64,
    pub weights_bytes: u64,
    pub cache_bytes: u64,
    pub compute_bytes: u64,
    pub total_bytes: u64,
    pub verdict: Option<FitVerdict>,
    pub largest_context: Option<u64>,
}

/// Estimates a request.
///
/// # Errors
/// If llama.cpp would reject the settings, or they are not modeled.
pub(super) fn report(site: &Site, request: &FitRequest<'_>) -> Result<FitReport> {
    let model = request.model_of_all_slots();
    let planner = request.source.planner(&model);
    let backends = request.machine.cards.iter().map(|card| card.backends).collect();
    let report = plan(site, request, &mut planner.on_backends(backends));
    report.map_err(|reason| anyhow!("{reason}"))
}

fn plan(site: &Site, request: &FitRequest<'_>, planner: &mut Planner<'_>) -> Result<FitReport, NotCovered> {
    let has_verdict = !request.machine.cards.is_empty();
    let rows = rows(request, planner, has_verdict)?;
    let settings = Settings { quantization: choose(request, &rows), ..request.settings.clone() };
    let need = planner.plan(&settings)?;
    let verdict = verdict(request, &settings, &need);
    let available = request.machine.available();
    let remedies = match verdict {
        _ if !has_room(request, &settings, &need) => None,
        Some(FitVerdict::No | FitVerdict::Tight) if has_verdict => {
            let quants = request.candidates.iter().copied();
            let narrower: Vec<Quantization> = quants.filter(|quant| *quant > settings.quantization).collect();
            let found = Remedies::find(planner, &settings, &available, &narrower)?;
            let context = found.context.map(|tokens| tokens / request.contexts());
            // Ollama has no setting for experts in RAM.
            let cpu_experts = found.cpu_experts.filter(|_| request.runner != RunnerName::Ollama);
            let mut has_room = |settings: &Settings| {
                planner.plan(settings).is_ok_and(|need| has_room(request, settings, &need))
            };
            Some(Remedies {
                context,
                cpu_experts: cpu_experts.filter(|moved| has_room(&moved.settings)),
                gpu_layers: found.gpu_layers.filter(|moved| has_room(&moved.settings)),
                both: found.both.filter(&mut has_room),
                ..found
            })
        }
        _ => None,
    };
    let changed = match verdict {
        Some(FitVerdict::No) => remedies.as_ref().and_then(|found| found.plan(&settings)),
        _ => None,
    };
    let changed_need = changed.as_ref().map(|changed| planner.plan(changed)).transpose()?;
    let plan = changed.as_ref().zip(changed_need.as_ref()).map(|(changed, need)| Plan {
        settings: ReportedSettings::new(request, changed, need),
        devices: devices(request, need),
        host: host(need),
    });
    let shared =
        shared(request, changed.as_ref().unwrap_or(&settings), changed_need.as_ref().unwrap_or(&need));
    let is_split = remedies.as_ref().is_some_and(|found| found.tensor_split.is_some());
    let verdict = if plan.is_some() && !is_split { Some(FitVerdict::Offload) } else { verdict };
    let typed = changed.unwrap_or_else(|| settings.clone());
    let devices = devices(request, &need);
    let other_engines = python(request, &settings);
    Ok(FitReport {
        model: ModelInfo {
            slug: request.source.slug(),
            title: request.source.title().to_string(),
            published: request.source.named().and_then(|named| named.same_shape).map(|model| model.name),
            layers: request.model.layers.len() as u64,
            max_context: request.model.max_context,
        },
        settings: ReportedSettings::new(request, &settings, &need),
        verdict,
        margin_bytes: devices.iter().map(|device| device.free_bytes[0]).min(),
        largest_context: if has_verdict { longest(request, planner, &settings)? } else { None },
        best_quant: rows
            .iter()
            .find(|row| row.verdict == Some(FitVerdict::Fits) && !request.candidates.is_empty())
            .map(|row| row.quant.clone()),
        remedies,
        speed: speed(request, planner, &typed, verdict != Some(FitVerdict::No)),
        commands: commands(
            request,
            &typed,
            &other_engines,
            if plan.is_some() { Some(FitVerdict::Offload) } else { verdict },
        ),
        other_engines,
        error_page: error_page(site, request, &need, verdict),
        host: host(&need),
        shared,
        additions: request.additions.clone(),
        devices,
        plan,
        quantizations: rows,
    })
}

fn host(need: &Estimate) -> BufferSizes {
    parts(need.device(Device::Host).expect("every estimate has a host"))
}

/// Returns the largest context of one slot.
fn longest(
    request: &FitRequest<'_>,
    planner: &mut Planner<'_>,
    settings: &Settings,
) -> Result<Option<u64>, NotCovered> {
    let longest = largest_context(planner, settings, &request.machine.available())?;
    Ok(longest.map(|tokens| tokens / request.contexts()))
}

fn rows(
    request: &FitRequest<'_>,
    planner: &mut Planner<'_>,
    has_verdict: bool,
) -> Result<Vec<QuantizationRow>, NotCovered> {
    let wanted = match request.quant {
        Some(quant) if !request.candidates.contains(&quant) => vec![quant],
        _ => request.candidates.clone(),
    };
    wanted.into_iter().map(|quant| row(request, planner, quant, has_verdict)).collect()
}

fn row(
    request: &FitRequest<'_>,
    planner: &mut Planner<'_>,
    quantization: Quantization,
    has_verdict: bool,
) -> Result<QuantizationRow, NotCovered> {
    let settings = Settings { quantization, ..request.settings.clone() };
    let need = planner.plan(&settings)?;
    let sum = |part: fn(&DeviceEstimate) -> Bytes| -> u64 {
        need.devices.iter().filter(|device| device.device != Device::Host).map(|device| part(device).0).sum()
    };
    Ok(QuantizationRow {
        quant: request.source.quant_name(quantization),
        file_bytes: planner.file_bytes(quantization).0,
        weights_bytes: sum(|device| device.weights.bytes),
        cache_bytes: sum(|device| device.cache.bytes),
        compute_bytes: sum(|device| device.compute.bytes),
        total_bytes: sum(DeviceEstimate::total),
        verdict: verdict(request, &settings, &need),
        largest_context: if has_verdict { longest(request, planner, &settings)? } else { None },
    })
}

/// Selects the requested quantization, or else the largest that fits or is tight, or else the default.
fn choose(request: &FitRequest<'_>, rows: &[QuantizationRow]) -> Quantization {
    let with = |verdict| rows.iter().find(|row| row.verdict == Some(verdict));
    let usual = rows.iter().find(|row| row.quant == DEFAULT_QUANT);
    let found = with(FitVerdict::Fits).or_else(|| with(FitVerdict::Tight)).or(usual).or(rows.first());
    let chosen = found.and_then(|row| row.quant.parse().ok());
    request.quant.or(chosen).unwrap_or(request.settings.quantization)
}

/// Returns the need of devices and RAM together, if a part is in RAM and they are the same memory.
fn shared(request: &FitRequest<'_>, settings: &Settings, need: &Estimate) -> Option<SharedMemory> {
    let is_split = settings.gpu_layers.is_some() || settings.experts != ExpertPlacement::WithLayer;
    request.machine.shared(need).filter(|_| is_split)
}

/// Returns whether a memory that GPU and RAM share has room for both parts.
fn has_room(request: &FitRequest<'_>, settings: &Settings, need: &Estimate) -> bool {
    shared(request, settings, need).is_none_or(SharedMemory::suffices)
}

/// Returns the verdict over all devices, which is that of the worst.
fn verdict(request: &FitRequest<'_>, settings: &Settings, need: &Estimate) -> Option<FitVerdict> {
    if !has_room(request, settings, need) {
        return Some(FitVerdict::No);
    }
    let cards = request.machine.cards.iter().zip(&need.devices);
    cards.map(|(card, device)| device_verdict(card, device)).max().map(FitVerdict::from)
}

fn device_verdict(card: &GpuDevice, device: &DeviceEstimate) -> Verdict {
    Verdict::of_ranges(device.total_range(), card.driver(), card.room())
}

fn parts(device: &DeviceEstimate) -> BufferSizes {
    let total = device.total_range();
    BufferSizes {
        weights_bytes: device.weights.bytes.0,
        cache_bytes: device.cache.bytes.0,
        compute_bytes: device.compute.bytes.0,
        compute_range_bytes: [device.compute.low.0, device.compute.bytes.0],
        total_bytes: total.high.0,
        total_range_bytes: [total.low.0, total.high.0],
        is_planned: device.compute.evidence == Evidence::Planned,
    }
}

fn devices(request: &FitRequest<'_>, need: &Estimate) -> Vec<DeviceReport> {
    let cards = request.machine.cards.iter().zip(&need.devices);
    let answers = cards.map(|(card, device)| {
        let parts = parts(device);
        let (driver, room) = (card.driver(), card.room());
        let least = room.low.0 as i64 - (parts.total_range_bytes[1] + driver.high.0) as i64;
        let most = room.high.0 as i64 - (parts.total_range_bytes[0] + driver.low.0) as i64;
        DeviceReport {
            name: card.name.clone(),
            slug: card.slug.clone(),
            memory_bytes: card.memory,
            system: card.system,
            visible_source: card.visible_source.clone(),
            visible_bytes: card.visible,
            most_visible_bytes: card.most_visible,
            backends: card.backends.iter().map(|backend| backend.name()).collect(),
            other_bytes: card.other,
            desktop_bytes: card.desktop,
            memory_options_gib: card.memory_options.clone(),
            unified: card.unified,
            verdict: device_verdict(card, device).into(),
            parts,
            driver_bytes: [driver.low.0, driver.high.0],
            free_bytes: [least, most],
        }
    });
    answers.collect()
}
