//! Reported speeds on the pages of devices, compared with the published ranges.
//!
//! The rates of a class are fitted to its reports: the pair that has most of them in its range, and of equals the one
//! with the smallest error. Reports of the same model on the same device share their weight. To score a report, the
//! rates are fitted again without all reports of its device, and without all of its model.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::OnceLock;

use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::kinds::Benchmark;
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::settings::{ExpertPlacement, Settings};
use kbgen_estimate::speed::{CacheRead, DecodeRate, RAM_GBPS, SPREAD, SpeedClass, TokenReads, Unmeasured};
use serde_json::Value;

use crate::expect::{self, repository};

/// No range is wider than 2.3 to 1.
const _: () = assert!(SPREAD * SPREAD <= 2_300_000);
/// Shares of the bandwidth that are tried, in thousandths.
const SHARES: std::ops::RangeInclusive<u32> = 15..=50;
const SHARE_STEP: u32 = 20;
/// Times per layer that are tried, in microseconds.
const LAYER_US: [u32; 15] = [0, 2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226];

/// A reported speed with the figures that its range follows from.
struct Report {
    class: SpeedClass,
    has_experts: bool,
    is_partly_in_ram: bool,
    device: String,
    model: String,
    layers: usize,
    bandwidth: f64,
    reads: TokenReads,
    speed: f64,
}

/// Reports of one row of the table.
struct Group {
    devices: &'static str,
    models: &'static str,
    reports: Vec<usize>,
    seen: usize,
    unseen_device: Option<(usize, usize)>,
    unseen_model: Option<(usize, usize)>,
}

fn settings(report: &Benchmark) -> Option<Settings> {
    let quant = report.like.as_ref().unwrap_or(&report.quant).parse().ok()?;
    let mut settings = Settings::new(quant, 4096);
    settings.cache_type_k = report.cache_type()?;
    settings.cache_type_v = report.cache_type()?;
    settings.gpu_layers = report.gpu_layers.map(|layers| layers as u64);
    if let Some(count) = report.cpu_experts {
        settings.experts = ExpertPlacement::FirstLayersOnCpu(count as u64);
    }
    Some(settings)
}

/// Returns what a token reads, scaled to the size of the file that was used.
fn reads(model: &Architecture, report: &Benchmark, settings: &Settings) -> TokenReads {
    let mut planner = Planner::new(model);
    let file = planner.file_bytes(settings.quantization).0 as f64;
    let scale = report.file_gib.map_or(1.0, |size| size * f64::from(1 << 30) / file);
    let weights = planner.weights_read(settings);
    let scaled = |bytes: Bytes| Bytes((bytes.0 as f64 * scale) as u64);
    let depth = report.context.map_or(64, |tokens| tokens as u64);
    TokenReads { device: scaled(weights.device), host: scaled(weights.host) }
        + CacheRead::of(model).placed(model, settings, depth)
}

/// Returns the reports that are compared with a range.
fn reports() -> &'static [Report] {
    static READ: OnceLock<Vec<Report>> = OnceLock::new();
    READ.get_or_init(read)
}

fn read() -> Vec<Report> {
    let (sources, _) = load::read(&repository("")).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let mut all = Vec::new();
    for device in &site.devices {
        let Ok(class) = device.data.speed_class() else { continue };
        let Some(bandwidth) = device.data.bandwidth_gbps else { continue };
        for report in &device.data.benchmarks {
            if report.is_prompt() || report.unscored.is_some() {
                continue;
            }
            let page = site.models.iter().find(|model| model.head.id.slug == report.model.value).unwrap();
            let model = page.data.architecture.fields.build().unwrap();
            let settings = settings(report).unwrap_or_else(|| panic!("{} {report:?}", device.head.id.slug));
            all.push(Report {
                class,
                has_experts: model.experts.is_some(),
                is_partly_in_ram: report.is_partly_in_ram(),
                device: device.head.id.slug.clone(),
                model: report.model.value.clone(),
                layers: model.layers.len(),
                bandwidth,
                reads: reads(&model, report, &settings),
                speed: report.tokens_per_s,
            });
        }
    }
    all
}

/// Returns the distance of a report from the middle of its range, as a logarithm.
fn distance(report: &Report, rate: DecodeRate, ram_gbps: u32) -> f64 {
    // A change of the RAM's bandwidth is one of the bytes in RAM.
    let host = report.reads.host.0 as f64 * f64::from(RAM_GBPS) / f64::from(ram_gbps);
    let reads = TokenReads { host: Bytes(host as u64), ..report.reads };
    let range = rate.range(report.bandwidth, report.layers, reads);
    (report.speed / (range.low * range.high).sqrt()).ln().abs()
}

fn is_inside(report: &Report, rate: DecodeRate, ram_gbps: u32) -> bool {
    distance(report, rate, ram_gbps) <= (f64::from(SPREAD) / 1000.0).ln()
}

/// Returns the candidate with the most reports in its range, and of equals the one with the smallest error.
fn best<T: Copy>(
    reports: &[&Report],
    candidates: impl Iterator<Item = T>,
    distance: impl Fn(&Report, T) -> f64,
) -> Option<T> {
    let mut counts: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for report in reports {
        *counts.entry((&report.device, &report.model)).or_default() += 1.0;
    }
    let weights: Vec<f64> = reports
        .iter()
        .map(|report| 1.0 / counts[&(report.device.as_str(), report.model.as_str())].sqrt())
        .collect();
    let spread = (f64::from(SPREAD) / 1000.0).ln();
    let mut found: Option<(f64, f64, T)> = None;
    for candidate in candidates {
        let (mut inside, mut error) = (0.0, 0.0);
        for (report, weight) in reports.iter().zip(&weights) {
            let distance = distance(report, candidate);
            error += weight * distance.min(2.0 * spread);
            if distance <= spread {
                inside += weight;
            }
        }
        let is_better = found.is_none_or(|(most, least, _)| {
            inside > most + 1e-9 || ((inside - most).abs() <= 1e-9 && error < least - 1e-9)
        });
        if is_better {
            found = Some((inside, error, candidate));
        }
    }
    (reports.len() >= 3).then_some(found?.2)
}

/// Fits the rate of a class to reports of whole models.
fn fit(class: SpeedClass, reports: &[&Report]) -> Option<DecodeRate> {
    let own: Vec<&Report> =
        reports.iter().copied().filter(|report| report.class == class && !report.is_partly_in_ram).collect();
    let rates = LAYER_US.iter().flat_map(|layer_us| {
        SHARES.map(move |share| DecodeRate { share: share * SHARE_STEP, layer_us: *layer_us })
    });
    best(&own, rates, |report, rate| distance(report, rate, RAM_GBPS))
}

/// Fits the bandwidth of the RAM to reports with a part there.
fn fit_ram(reports: &[&Report], rates: impl Fn(SpeedClass) -> Option<DecodeRate>) -> Option<u32> {
    let own: Vec<&Report> = reports
        .iter()
        .copied()
        .filter(|report| report.is_partly_in_ram && rates(report.class).is_some())
        .collect();
    best(&own, 15..70, |report, ram| rates(report.class).map_or(9.0, |rate| distance(report, rate, ram)))
}

/// Returns which reports are in the ranges that were fitted without those with the same key; `None` if too few are
/// left.
fn unseen(reports: &[Report], key: impl Fn(&Report) -> &str) -> Vec<Option<bool>> {
    let keys: BTreeSet<&str> = reports.iter().map(&key).collect();
    let mut inside = vec![None; reports.len()];
    for left_out in keys {
        let rest: Vec<&Report> = reports.iter().filter(|report| key(report) != left_out).collect();
        let own = || reports.iter().filter(|report| key(report) == left_out);
        let is_split = own().any(|report| report.is_partly_in_ram);
        let is_needed = |class: &SpeedClass| {
            own().any(|report| report.class == *class)
                || (is_split
                    && reports.iter().any(|report| report.is_partly_in_ram && report.class == *class))
        };
        let rates: HashMap<SpeedClass, DecodeRate> = SpeedClass::ALL
            .iter()
            .filter(|class| is_needed(class))
            .filter_map(|class| Some((*class, fit(*class, &rest)?)))
            .collect();
        let rate = |class: SpeedClass| rates.get(&class).copied();
        let ram = if is_split { fit_ram(&rest, rate) } else { None };
        for (report, inside) in reports.iter().zip(&mut inside).filter(|(report, _)| key(report) == left_out)
        {
            let ram = if report.is_partly_in_ram { ram } else { Some(RAM_GBPS) };
            *inside = rate(report.class).zip(ram).map(|(rate, ram)| is_inside(report, rate, ram));
        }
    }
    inside
}

fn devices_of(class: SpeedClass) -> &'static str {
    match class {
        SpeedClass::NvidiaGddr => "NVIDIA, GDDR",
        SpeedClass::NvidiaLpddr => "NVIDIA GB10",
        SpeedClass::NvidiaHbm => "A100, H100",
        SpeedClass::AmdGddr => "AMD, GDDR6",
        SpeedClass::AmdLpddr => "Ryzen AI Max",
        SpeedClass::Apple => "Apple",
    }
}

fn groups() -> &'static [Group] {
    static SCORED: OnceLock<Vec<Group>> = OnceLock::new();
    SCORED.get_or_init(|| score(reports()))
}

fn score(reports: &[Report]) -> Vec<Group> {
    let [by_device, by_model] =
        [unseen(reports, |report| &report.device), unseen(reports, |report| &report.model)];
    let group = |devices, models, belongs: &dyn Fn(&Report) -> bool| {
        let own: Vec<usize> = (0..reports.len()).filter(|at| belongs(&reports[*at])).collect();
        let score = |inside: &[Option<bool>]| {
            let known: Vec<bool> = own.iter().filter_map(|at| inside[*at]).collect();
            (!known.is_empty()).then(|| (known.iter().filter(|inside| **inside).count(), known.len()))
        };
        let seen =
            own.iter().filter(|at| is_inside(&reports[**at], reports[**at].class.rate(), RAM_GBPS)).count();
        Group {
            devices,
            models,
            seen,
            unseen_device: score(&by_device),
            unseen_model: score(&by_model),
            reports: own,
        }
    };
    let mut groups = Vec::new();
    for class in SpeedClass::ALL {
        for (has_experts, models) in [(false, "dense"), (true, "experts")] {
            let belongs = |report: &Report| {
                report.class == *class && report.has_experts == has_experts && !report.is_partly_in_ram
            };
            groups.push(group(devices_of(*class), models, &belongs));
        }
    }
    groups.push(group("GPUs with GDDR", "in part in RAM", &|report| report.is_partly_in_ram));
    groups.retain(|group| !group.reports.is_empty());
    groups
}

/// Returns the section of the methodology page up to its table.
pub fn section() -> String {
    let reports = reports();
    let groups = groups();
    let seen: usize = groups.iter().map(|group| group.seen).sum();
    let sum = |score: fn(&Group) -> Option<(usize, usize)>| {
        let scores = groups.iter().filter_map(score);
        scores.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    };
    let (by_device, by_model) = (sum(|group| group.unseen_device), sum(|group| group.unseen_model));
    let mut text = format!(
        "Of {} reported speeds, {seen} are inside the range that is shown. If all speeds of a device are left out when \
         the ranges are made, {} of {} are inside; if all speeds of a model are left out, {} of {}.\n\n\
         | devices | models | speeds | share | per layer | inside | unseen device | unseen model |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        reports.len(),
        by_device.0,
        by_device.1,
        by_model.0,
        by_model.1,
    );
    for group in groups {
        let score = |score: Option<(usize, usize)>| match score {
            Some((inside, of)) => format!("{inside} of {of}"),
            None => "–".to_string(),
        };
        let (share, layer) = match reports[group.reports[0]].is_partly_in_ram {
            true => (format!("{RAM_GBPS} GB/s"), "–".to_string()),
            false => {
                let rate = reports[group.reports[0]].class.rate();
                (format!("{}%", rate.share / 10), format!("{} µs", rate.layer_us))
            }
        };
        let (devices, models, seen) = (group.devices, group.models, group.seen);
        let (count, device, model) =
            (group.reports.len(), score(group.unseen_device), score(group.unseen_model));
        let _ = writeln!(
            text,
            "| {devices} | {models} | {count} | {share} | {layer} | {seen} | {device} | {model} |"
        );
    }
    text
}

#[test]
fn rates_are_those_of_the_reported_speeds() {
    let reports = reports();
    let all: Vec<&Report> = reports.iter().collect();
    for class in SpeedClass::ALL {
        assert_eq!(fit(*class, &all), Some(class.rate()), "{class:?}");
    }
    assert_eq!(fit_ram(&all, |class| Some(class.rate())), Some(RAM_GBPS));
}

#[test]
fn ranges_hold_for_devices_and_models_that_were_left_out() {
    let mut low = Vec::new();
    for group in groups() {
        for score in [Some((group.seen, group.reports.len())), group.unseen_device, group.unseen_model] {
            let Some((inside, of)) = score.filter(|(_, of)| *of >= 5) else { continue };
            if inside * 100 < of * 85 {
                low.push(format!("{} {}: {inside} of {of}", group.devices, group.models));
            }
        }
    }
    assert!(low.is_empty(), "{low:#?}");
}

/// Returns the speed that `kbgen fit` reports for Llama 3.1 8B on a device.
fn reported_speed(device: &str, arguments: &[&str]) -> Value {
    let mut command = expect::kbgen();
    command.arg("--root").arg(repository("")).args(["fit", "llama-3.1-8b-instruct", "--quant", "Q4_K_M"]);
    let output = command.args(["--gpu", device, "--format", "json"]).args(arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["speed"].clone()
}

#[test]
fn a_cache_in_ram_is_a_part_in_ram() {
    let [with_layers, in_ram] =
        [&[][..], &["--no-kv-offload"]].map(|options| reported_speed("rtx-4090", options));
    assert_eq!(with_layers["empty_context"], in_ram["empty_context"]);
    let slowest = |speed: &Value| speed["full_context"][0].as_f64().unwrap();
    assert!(slowest(&in_ram) < slowest(&with_layers), "{in_ram}");
    assert_eq!((&with_layers["ram_gbps"], &in_ram["ram_gbps"]), (&Value::Null, &Value::from(RAM_GBPS)));
    let reason = &reported_speed("apple-m2-max", &["--no-kv-offload"])["reason"];
    assert_eq!(*reason, Unmeasured::Ram.reason());
}
