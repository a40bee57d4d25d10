//! Decode speeds that were reported, against the ranges that are published.
//!
//! `tests/data/speeds.csv` holds 75 reported speeds with their sources; its columns
//! `weight_bytes` and `cache_bytes` are what a token reads, counted apart from this program.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::speed::{Band, CacheRead, SpeedClass, SpeedKind, weight_bytes_read};

use crate::rows::{Row, models, number, rows};

/// Reported decode speeds.
const SPEEDS: &str = include_str!("../data/speeds.csv");

/// Every kind of model.
const KINDS: [SpeedKind; 3] = [SpeedKind::Dense, SpeedKind::Experts, SpeedKind::LatentExperts];

fn bytes(row: &Row, model: &Architecture) -> (Bytes, Bytes) {
    let quantization: Quantization = row["quant"].parse().unwrap();
    // On average, half of the tokens of a run are in the cache.
    let depth = number(row, "depth_tokens") + number(row, "generated") / 2;
    let cache = CacheRead::of(model).at(depth, CacheType::F16, CacheType::F16);
    (weight_bytes_read(model, quantization), cache)
}

fn class(row: &Row) -> SpeedClass {
    SpeedClass::of(&row["vendor"], &row["architecture"], &row["memory"]).unwrap()
}

#[test]
fn a_token_reads_the_weights_it_uses_and_the_cache_before_it() {
    let models = models();
    let mut seen = 0;
    for row in rows(SPEEDS).iter().filter(|row| !row["weight_bytes"].is_empty()) {
        let (weights, cache) = bytes(row, &models[&row["catalogue_id"]]);
        assert_eq!(weights, Bytes(number(row, "weight_bytes")), "{row:?}");
        assert_eq!(cache, Bytes(number(row, "cache_bytes")), "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, 30);
}

/// The reported speeds of a class of devices and a kind of model.
pub struct Reported {
    pub class: SpeedClass,
    pub kind: SpeedKind,
    pub band: Band,
    pub seen: usize,
    /// How many of them lie in the range.
    pub inside: usize,
}

/// Counts the reported speeds of every class and kind that has a band.
pub fn reported() -> Vec<Reported> {
    let models = models();
    let rows = rows(SPEEDS);
    let mut all = Vec::new();
    for class_asked in SpeedClass::ALL {
        for kind in KINDS {
            let Some(band) = class_asked.band(kind) else { continue };
            let of_both = |row: &&Row| {
                class(row) == *class_asked && SpeedKind::of(&models[&row["catalogue_id"]]) == kind
            };
            let rows: Vec<&Row> = rows.iter().filter(of_both).collect();
            let is_inside = |row: &&&Row| {
                let (weights, cache) = bytes(row, &models[&row["catalogue_id"]]);
                let range = band.range(row["bandwidth_gbps"].parse().unwrap(), weights + cache);
                (range.low..=range.high).contains(&row["tok_per_s"].parse().unwrap())
            };
            let inside = rows.iter().filter(is_inside).count();
            all.push(Reported { class: *class_asked, kind, band, seen: rows.len(), inside });
        }
    }
    all
}

#[test]
fn reported_speeds_lie_in_the_ranges() {
    let reported = reported();
    for Reported { class, kind, inside, seen, .. } in &reported {
        let name = format!("{} {}: {inside} of {seen}", class.name(), kind.name());
        assert!(inside * 10 >= seen * 9, "{name}");
    }
    let seen: usize = reported.iter().map(|reported| reported.seen).sum();
    assert_eq!(seen, rows(SPEEDS).len(), "every speed has a band");
}

#[test]
fn no_range_is_so_wide_that_it_says_nothing() {
    for class in SpeedClass::ALL {
        for kind in KINDS {
            let Some(band) = class.band(kind) else { continue };
            let range = band.range(1008.0, Bytes(4_617_396_480));
            assert!(range.high / range.low <= 2.3, "{} {}", class.name(), kind.name());
            assert!(band.high <= 1000, "no device is faster than its memory");
        }
    }
}

#[test]
fn a_device_that_nobody_measured_has_no_class() {
    assert_eq!(SpeedClass::of("NVIDIA", "Ada Lovelace", "GDDR6X"), Some(SpeedClass::NvidiaGddr));
    assert_eq!(SpeedClass::of("NVIDIA", "Blackwell 2.0", "LPDDR5X"), Some(SpeedClass::NvidiaLpddr));
    assert_eq!(SpeedClass::of("NVIDIA", "Hopper", "HBM3"), Some(SpeedClass::NvidiaHbm));
    assert_eq!(SpeedClass::of("Apple", "Apple8", "LPDDR5/5X"), Some(SpeedClass::Apple));
    for (vendor, architecture, memory) in [
        ("AMD", "RDNA 3.0", "GDDR6"),
        ("Intel", "Xe2", "GDDR6"),
        ("NVIDIA", "Volta", "HBM2"),
        ("NVIDIA", "Hopper", "HBM3e"),
        ("NVIDIA", "Maxwell 2.0", "GDDR5"),
        ("NVIDIA", "Ampere", "LPDDR5"),
    ] {
        assert_eq!(SpeedClass::of(vendor, architecture, memory), None, "{vendor} {architecture} {memory}");
    }
}

#[test]
fn a_quantized_cache_is_read_in_fewer_bytes_and_a_state_is_read_whole() {
    let models = models();
    let read = CacheRead::of(&models["llama-3.1-8b-instruct"]);
    assert_eq!(read.at(1000, CacheType::F16, CacheType::F16), Bytes(131_072_000));
    assert_eq!(
        read.at(1000, CacheType::Q8_0, CacheType::Q4_0),
        Bytes(65_536_000 * 34 / 64 + 65_536_000 * 18 / 64)
    );
    let state = CacheRead::of(&models["granite-4.0-h-tiny"]);
    assert!(state.at(0, CacheType::F16, CacheType::F16) > Bytes(0));
}
