//! Bytes that a token reads, compared with figures that were counted independently of this program.

use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::file_bytes;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use kbgen_estimate::speed::{CacheRead, SpeedClass, TokenReads, Unmeasured, weights_read};

use crate::rows::{models, number, rows};

/// Bytes read per token, by model, quantization and tokens before.
const READS: &str = include_str!("../data/token_reads.csv");

#[test]
fn a_token_reads_the_weights_it_uses_and_the_cache_before_it() {
    let models = models();
    let rows = rows(READS);
    assert_eq!(rows.len(), 30);
    for row in rows {
        let model = &models[&row["catalogue_id"]];
        let settings = Settings::new(row["quant"].parse().unwrap(), 4096);
        // On average, half of the tokens of a run are in the cache.
        let depth = number(&row, "depth_tokens") + number(&row, "generated") / 2;
        let reads = TokenReads { device: Bytes(number(&row, "weight_bytes")), host: Bytes(0) };
        assert_eq!(weights_read(model, &settings), reads, "{row:?}");
        let cache = CacheRead::of(model).at(depth, CacheType::F16, CacheType::F16);
        assert_eq!(cache, Bytes(number(&row, "cache_bytes")), "{row:?}");
    }
}

#[test]
fn a_token_reads_one_row_of_the_embeddings_of_each_layer() {
    let models = models();
    for (slug, layers) in [("gemma-4-e2b-it", 35), ("gemma-4-e4b-it", 42)] {
        let model = &models[slug];
        // f16 tables of 256 values for each layer and each of 262,144 tokens
        let table = 2 * 256 * layers * 262_144;
        let rest = Bytes(file_bytes(model, Quantization::F16).0 - table);
        let reads = weights_read(model, &Settings::new(Quantization::F16, 4096));
        assert_eq!(reads, TokenReads { device: rest, host: Bytes(0) }, "{slug}");
    }
}

#[test]
fn layers_and_experts_in_ram_are_read_there() {
    let models = models();
    let model = &models["gpt-oss-20b"];
    let whole = Settings::new(Quantization::MXFP4, 4096);
    let all = weights_read(model, &whole).device;
    let mut last = 0;
    for count in 1..=24 {
        let experts = Settings { experts: ExpertPlacement::FirstLayersOnCpu(count), ..whole.clone() };
        let reads = weights_read(model, &experts);
        assert_eq!(reads.device + reads.host, all);
        assert!(reads.host.0 > last, "{count} layers");
        last = reads.host.0;
        let layers = Settings { gpu_layers: Some(25 - count), ..whole.clone() };
        assert!(weights_read(model, &layers).host > reads.host, "whole layers are more than their experts");
        let cache = CacheRead::of(model).placed(model, &layers, 4096);
        assert!(cache.host > Bytes(0) && cache.host.0 * 24 <= (cache.host + cache.device).0 * count);
    }
    let reads = weights_read(model, &Settings { gpu_layers: Some(0), ..whole });
    assert_eq!(reads, TokenReads { device: Bytes(0), host: all });
}

#[test]
fn a_cache_in_ram_is_read_there() {
    let models = models();
    let model = &models["llama-3.1-8b-instruct"];
    let cache = CacheRead::of(model);
    let all = cache.at(4096, CacheType::F16, CacheType::F16);
    for gpu_layers in [None, Some(10)] {
        let cache_placement = CachePlacement::Host;
        let settings = Settings { gpu_layers, cache_placement, ..Settings::new(Quantization::F16, 4096) };
        let reads = cache.placed(model, &settings, 4096);
        assert_eq!(reads, TokenReads { device: Bytes(0), host: all }, "{gpu_layers:?}");
    }
}

#[test]
fn a_slower_memory_or_a_part_in_ram_makes_every_model_slower() {
    for class in SpeedClass::ALL {
        let reads = TokenReads { device: Bytes(4_617_396_480), host: Bytes(0) };
        let range = class.rate().range(1008.0, 32, reads);
        assert!(range.high / range.low <= 2.3, "{class:?}");
        assert!(range.low > class.rate().range(504.0, 32, reads).low, "{class:?}");
        let reads = TokenReads { device: Bytes(4_000_000_000), host: Bytes(617_396_480) };
        assert!(range.low > class.rate().range(1008.0, 32, reads).low, "{class:?}");
    }
}

#[test]
fn a_device_without_measurements_has_no_class() {
    let of = SpeedClass::of;
    assert_eq!(of("NVIDIA", "Ada Lovelace", "GDDR6X"), Ok(SpeedClass::NvidiaGddr));
    assert_eq!(of("NVIDIA", "Blackwell 2.0", "LPDDR5X"), Ok(SpeedClass::NvidiaLpddr));
    assert_eq!(of("NVIDIA", "Hopper", "HBM3"), Ok(SpeedClass::NvidiaHbm));
    assert_eq!(of("Apple", "Apple8", "LPDDR5/5X"), Ok(SpeedClass::Apple));
    assert_eq!(of("AMD", "RDNA 3.0", "GDDR6"), Ok(SpeedClass::AmdGddr));
    assert_eq!(of("AMD", "RDNA 3.5", "LPDDR5X-8000"), Ok(SpeedClass::AmdLpddr));
    assert_eq!(of("Intel", "Xe2-HPG", "GDDR6"), Err(Unmeasured::Arc));
    for (vendor, architecture, memory) in [
        ("AMD", "CDNA 3.0", "HBM3"),
        ("AMD", "GCN 5.1", "HBM2"),
        ("NVIDIA", "Volta", "HBM2"),
        ("NVIDIA", "Hopper", "HBM3e"),
        ("NVIDIA", "Maxwell 2.0", "GDDR5"),
        ("NVIDIA", "Ampere", "LPDDR5"),
    ] {
        assert_eq!(
            of(vendor, architecture, memory),
            Err(Unmeasured::Class),
            "{vendor} {architecture} {memory}"
        );
    }
    assert_eq!(SpeedClass::NvidiaHbm.unmeasured_with_experts(), Some(Unmeasured::Experts));
    assert_eq!(SpeedClass::Apple.unmeasured_with_experts(), None);
    assert_eq!(SpeedClass::Apple.unmeasured_partly_in_ram(), Some(Unmeasured::Ram));
    assert_eq!(SpeedClass::NvidiaGddr.unmeasured_partly_in_ram(), None);
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
