//! Writes `plans.json`: plans for random settings, compared with the scripts of the page.

use std::fs;
use std::path::Path;

use kbgen::load::{self, Drafts};
use kbgen::site::kinds::{DeviceData, ModelData, System};
use kbgen::site::{CACHE_TYPES, DeviceMemory, Page, SLOTS, Site, WINDOWS_DESKTOP};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::backend::{Backend, has_own_memory};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::Verdict;
use kbgen_estimate::plan::remedies::Remedies;
use kbgen_estimate::plan::search::{Available, fewest_cpu_experts, largest_context, most_gpu_layers};
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};
use serde_json::{Value, json};

use crate::draw::Draw;

const MODELS: usize = 30;
const DEVICES: usize = 40;
const ONE_DEVICE: u64 = 2000;
const SEVERAL_DEVICES: u64 = 500;

/// Model with the quantizations in its table.
struct Subject {
    slug: String,
    model: Architecture,
    quants: Vec<Quantization>,
}

fn subjects(site: &Site) -> Vec<Subject> {
    let has_page =
        |quant: &Quantization| site.quants.iter().any(|page| page.data.gguf_type.value.parse() == Ok(*quant));
    let with_page: Vec<Quantization> = Quantization::ALL.iter().copied().filter(has_page).collect();
    let subject = |page: &Page<ModelData>| {
        let model = kbgen::fit::architecture(&page.data.architecture).ok()??;
        let quants = kbgen::fit::candidates(&page.data, &with_page);
        let quants = quants.into_iter().filter(|quant| model.comes_in(*quant)).collect();
        Some(Subject { slug: page.head.id.slug.clone(), model, quants })
    };
    let all: Vec<Subject> = site.models.iter().filter_map(subject).collect();
    let step = all.len() / MODELS;
    all.into_iter().step_by(step).take(MODELS).collect()
}

/// Settings and free memory of each device, in the forms of the page and of the estimator.
fn case(
    draw: &mut Draw,
    subject: &Subject,
    pages: &[&Page<DeviceData>],
    several: bool,
) -> (Value, Settings, Vec<DeviceMemory>) {
    let layers = subject.model.layers.len() as u64;
    let quantization = draw.one_of(&subject.quants);
    let (key, value) = (draw.below(3) as usize, draw.below(3) as usize);
    let (slots, server) = (draw.one_of(&SLOTS), draw.below(3) > 0);
    let halvings = draw.below(8);
    let ctx = match draw.below(2) {
        0 => 1 + draw.below(subject.model.max_context >> halvings),
        _ => (1024 << halvings).min(subject.model.max_context),
    };
    let gpu_layers = (draw.below(3) > 0).then(|| draw.below(layers + 2));
    let experts = match subject.model.experts {
        Some(_) if draw.below(2) == 0 => 1 + draw.below(layers),
        _ => 0,
    };
    let shares: &[u64] =
        if several { draw.one_of(&[&[1, 1], &[2, 1], &[1, 1, 1], &[3, 1, 1, 2]]) } else { &[1] };
    let devices: Vec<(&Page<DeviceData>, u64)> = shares
        .iter()
        .map(|_| {
            let page = draw.one_of(pages);
            (page, draw.one_of(&page.data.memory_sizes()))
        })
        .collect();
    let systems = devices[0].0.data.systems();
    let system = draw.one_of(&[&[None], systems.iter().map(Some).collect::<Vec<_>>().as_slice()].concat());
    let has_system = |page: &Page<DeviceData>| system.is_none_or(|own| page.data.systems().contains(own));
    let system = system.filter(|_| devices.iter().all(|(page, _)| has_system(page)));
    let mut memory: Vec<DeviceMemory> =
        devices.iter().map(|(page, size)| memory_on(&page.data, *size, system)).collect();
    // with memory that is shared nothing goes to RAM, and no machine has two such devices
    let are_possible = !several || memory.iter().all(|memory| has_own_memory(memory.backends));
    if !are_possible {
        let visible = memory[0].visible.low.0;
        memory.fill(DeviceMemory::cuda(visible));
    }
    let is_shared = !has_own_memory(memory[0].backends);
    let (gpu_layers, experts) = if is_shared { (None, 0) } else { (gpu_layers, experts) };
    let settings = Settings {
        cache_type_k: CACHE_TYPES[key].parse().unwrap(),
        cache_type_v: CACHE_TYPES[value].parse().unwrap(),
        sequences: slots,
        cache_layout: CacheLayout::Unified,
        n_outputs: server.then_some(slots),
        gpu_layers,
        experts: if experts == 0 {
            ExpertPlacement::WithLayer
        } else {
            ExpertPlacement::FirstLayersOnCpu(experts)
        },
        tensor_split: shares.to_vec(),
        ..Settings::new(quantization, ctx)
    };
    let asked = json!({
        "model": subject.slug,
        "quant": quantization.name(),
        "setting": {
            "k": key, "v": value, "slots": slots, "server": server, "ctx": ctx, "shares": shares,
            "layers": gpu_layers, "experts": experts,
        },
        "rooms": memory.iter().map(|memory| [memory.visible.low.0, memory.visible.high.0]).collect::<Vec<_>>(),
        "backends": memory.iter().map(|memory| places(memory.backends)).collect::<Vec<_>>(),
        "devices": are_possible.then(|| devices.iter().map(named).collect::<Vec<_>>()),
        "os": system.map(|system| system.name()),
    });
    (asked, settings, memory)
}

/// Returns the memory of a device of a size on a system, as `kbgen fit --os`.
fn memory_on(device: &DeviceData, size: u64, system: Option<&System>) -> DeviceMemory {
    let mut visible = match system {
        Some(system) => device.visible_on(&[*system], size),
        None => device.visible_range(size),
    };
    if system == Some(&System::Windows) && !device.unified {
        visible.low = Bytes(visible.low.0 - WINDOWS_DESKTOP.min(visible.low.0));
    }
    DeviceMemory::new(device.backends(), visible)
}

/// Returns the name of a device in the address of the page, with its size if it is sold with several.
fn named((page, size): &(&Page<DeviceData>, u64)) -> String {
    let slug = &page.head.id.slug;
    match page.data.memory_sizes().len() {
        1 => slug.clone(),
        _ => format!("{slug}@{}", *size as f64 / 1_073_741_824.0),
    }
}

/// Positions of backends in the index of the page; none for CUDA.
fn places(backends: &[Backend]) -> Vec<usize> {
    let backends = backends.iter().filter(|backend| **backend != Backend::Cuda);
    backends.map(|backend| Backend::ALL.iter().position(|known| known == backend).unwrap()).collect()
}

/// Result of `kbgen fit`: with one device everything, with several the verdict.
fn answer(
    planner: &mut Planner<'_>,
    settings: &Settings,
    rooms: &[DeviceMemory],
) -> Result<Value, NotCovered> {
    let need = planner.plan(settings)?;
    let verdicts = need.devices.iter().zip(rooms).map(|(device, room)| room.verdict(device.total_range()));
    let verdict = verdicts.max().unwrap();
    if rooms.len() > 1 {
        return Ok(json!({ "verdict": verdict.name() }));
    }
    let free = |room: &DeviceMemory| Bytes(room.visible.low.0.saturating_sub(room.driver.high.0));
    let available = Available { gpus: rooms.iter().map(free).collect() };
    let (gpu, host) = (&need.devices[0], need.device(Device::Host).unwrap());
    let plan = match verdict {
        Verdict::No => Remedies::find(planner, settings, &available, &[])?.plan(settings),
        _ => None,
    };
    Ok(json!({
        "verdict": verdict.name(),
        "low": [gpu.weights.low.0, gpu.compute.low.0],
        "bytes": [gpu.weights.bytes.0, gpu.cache.bytes.0, gpu.compute.bytes.0, host.weights.bytes.0, host.cache.bytes.0],
        "largest": largest_context(planner, settings, &available)?.unwrap_or(0),
        "layers": most_gpu_layers(planner, settings, &available)?,
        "experts": match available.holds(&planner.planned_totals(&with_experts(settings, 0))?) {
            true => Some(0),
            false => fewest_cpu_experts(planner, settings, &available)?,
        },
        "plan": plan.map(|plan| match plan.experts {
            experts if experts == settings.experts => json!({ "layers": plan.gpu_layers }),
            ExpertPlacement::FirstLayersOnCpu(count) => json!({ "experts": count }),
            _ => Value::Null,
        }),
    }))
}

fn with_experts(settings: &Settings, count: u64) -> Settings {
    let experts =
        if count == 0 { ExpertPlacement::WithLayer } else { ExpertPlacement::FirstLayersOnCpu(count) };
    Settings { experts, ..settings.clone() }
}

#[test]
fn plans_at_random_settings_are_left_for_the_scripts_of_the_page() {
    let (sources, _) = load::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let subjects = subjects(&site);
    let devices = site.devices.iter().step_by(site.devices.len() / DEVICES).take(DEVICES);
    let devices: Vec<&Page<DeviceData>> = devices.collect();
    let has = |backend| devices.iter().any(|page| page.data.backends().contains(&backend));
    assert!(Backend::ALL.iter().all(|backend| has(*backend)), "not all backends are drawn");
    assert_eq!((subjects.len(), devices.len()), (MODELS, DEVICES));
    let mut draw = Draw(15);
    let mut planners: Vec<Planner<'_>> =
        subjects.iter().map(|subject| Planner::new(&subject.model)).collect();
    let mut cases = Vec::new();
    for number in 0..ONE_DEVICE + SEVERAL_DEVICES {
        let place = draw.below(MODELS as u64) as usize;
        let (mut asked, settings, rooms) = case(&mut draw, &subjects[place], &devices, number >= ONE_DEVICE);
        // The page does not cover what the planner does not cover.
        let backends = rooms.iter().map(|room| room.backends).collect();
        let mut planner = planners.remove(place).on_backends(backends);
        asked["answer"] = answer(&mut planner, &settings, &rooms).unwrap_or(Value::Null);
        planners.insert(place, planner);
        cases.push(asked);
    }
    let covered = cases.iter().filter(|case| !case["answer"].is_null()).count();
    assert!(covered > cases.len() * 9 / 10, "{covered} of {}", cases.len());
    let on = |os: &str| cases.iter().filter(|case| case["os"] == os).count();
    for os in ["linux", "windows", "macos-15", "macos-26"] {
        assert!(on(os) > 20, "{} on {os}", on(os));
    }
    let written = serde_json::to_string(&cases).unwrap();
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/plans.json"), written).unwrap();
}
