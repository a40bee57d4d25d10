//! Writes `plans.json`: plans for random settings, compared with the scripts of the page.

use std::fs;
use std::path::Path;

use kbgen::load::{self, Drafts};
use kbgen::site::{CACHE_TYPES, SLOTS, Site};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::{NotCovered, driver_context};
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::Verdict;
use kbgen_estimate::plan::remedies::Remedies;
use kbgen_estimate::plan::search::{Available, fewest_cpu_experts, largest_context, most_gpu_layers};
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::Quantization;
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};
use serde_json::{Value, json};

const MODELS: usize = 30;
const DEVICES: usize = 20;
const ONE_DEVICE: u64 = 2000;
const SEVERAL_DEVICES: u64 = 500;

/// Deterministic pseudorandom numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

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
    let subject = |page: &kbgen::site::Page<kbgen::site::kinds::ModelData>| {
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
    rooms: &[(String, u64)],
    several: bool,
) -> (Value, Settings, Vec<u64>) {
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
    let devices: Vec<&(String, u64)> =
        shares.iter().map(|_| &rooms[draw.below(rooms.len() as u64) as usize]).collect();
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
        "rooms": devices.iter().map(|(_, room)| room).collect::<Vec<_>>(),
        "devices": devices.iter().map(|(slug, _)| slug).collect::<Vec<_>>(),
    });
    (asked, settings, devices.iter().map(|(_, room)| *room).collect())
}

/// Result of `kbgen fit`: with one device everything, with several the verdict.
fn answer(planner: &mut Planner<'_>, settings: &Settings, rooms: &[u64]) -> Result<Value, NotCovered> {
    let need = planner.plan(settings)?;
    let verdicts = need.devices.iter().zip(rooms).map(|(device, room)| Verdict::of(device.total().0, *room));
    let verdict = verdicts.max().unwrap();
    if rooms.len() > 1 {
        return Ok(json!({ "verdict": verdict.name() }));
    }
    let driver = driver_context(Device::Gpu(0)).unwrap();
    let available =
        Available { gpus: rooms.iter().map(|room| Bytes(room.saturating_sub(driver.high.0))).collect() };
    let (gpu, host) = (&need.devices[0], need.device(Device::Host).unwrap());
    let plan = match verdict {
        Verdict::No => Remedies::find(planner, settings, &available, &[])?.plan(settings),
        _ => None,
    };
    Ok(json!({
        "verdict": verdict.name(),
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
    let cuda: Vec<_> = site.devices.iter().filter(|page| page.data.is_cuda()).collect();
    let devices = cuda.iter().step_by(cuda.len() / DEVICES).take(DEVICES);
    let rooms: Vec<(String, u64)> =
        devices.map(|page| (page.head.id.slug.clone(), page.data.visible_bytes())).collect();
    assert_eq!((subjects.len(), rooms.len()), (MODELS, DEVICES));
    let mut draw = Draw(15);
    let mut planners: Vec<Planner<'_>> =
        subjects.iter().map(|subject| Planner::new(&subject.model)).collect();
    let mut cases = Vec::new();
    for number in 0..ONE_DEVICE + SEVERAL_DEVICES {
        let place = draw.below(MODELS as u64) as usize;
        let (mut asked, settings, rooms) = case(&mut draw, &subjects[place], &rooms, number >= ONE_DEVICE);
        // The page does not cover what the planner does not cover.
        asked["answer"] = answer(&mut planners[place], &settings, &rooms).unwrap_or(Value::Null);
        cases.push(asked);
    }
    let covered = cases.iter().filter(|case| !case["answer"].is_null()).count();
    assert!(covered > cases.len() * 9 / 10, "{covered} of {}", cases.len());
    let written = serde_json::to_string(&cases).unwrap();
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/plans.json"), written).unwrap();
}
