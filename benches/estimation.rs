//! Time of estimates: all curves of the catalog, and CSV batches.
//!
//! `cargo bench --bench estimation` prints CPU seconds of one core for the fit tables of the whole
//! catalog (19 quantizations; each architecture once, as a build makes them), for the curves of
//! every model alone (nine pairs of cache types, 1, 2, 4 and 8 slots, all outputs or one a slot), and the rows a
//! second that `kbgen estimate` answers on one thread: with 20 times the same rows, and with
//! rows that are all different.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use kbgen::load::Drafts;
use kbgen::{fit, load};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::settings::{CacheLayout, Settings};

const HEADER: &str = "kind,catalogue_id,quant,ctx,kv_type,n_ubatch,n_seq,kv_unified,n_outputs,device\n";

/// Number of rows in each batch.
const ROWS: u64 = 100_000;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (sources, _) = load::read(root).unwrap();
    let (site, _) = load::pages(&sources, Drafts::Include);
    let models: Vec<(String, Architecture)> = site
        .models
        .iter()
        .filter_map(|page| {
            Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
        })
        .collect();
    tables(&models);
    curves(&models);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.csv");
    // Time before the first row.
    let idle = seconds(root, &file, HEADER);
    let different = rows(&models, ROWS);
    let repeated = rows(&models, ROWS / 20).repeat(20);
    for (name, body) in [("20 times the same rows", repeated), ("all rows different", different)] {
        let taken = seconds(root, &file, &format!("{HEADER}{body}")) - idle;
        println!("kbgen estimate, {name}: {:.0} rows a second on one thread", ROWS as f64 / taken);
    }
}

fn tables(models: &[(String, Architecture)]) {
    let mut distinct: Vec<&Architecture> = Vec::new();
    for (_, model) in models {
        if !distinct.contains(&model) {
            distinct.push(model);
        }
    }
    let start = Instant::now();
    let covered = distinct.iter().filter(|model| fit::figures(model, Quantization::ALL).is_ok()).count();
    let taken = start.elapsed().as_secs_f64();
    println!("fit tables of {covered} architectures ({} models): {taken:.3} s on one core", models.len());
}

fn curves(models: &[(String, Architecture)]) {
    let kinds = [CacheType::F16, CacheType::Q8_0, CacheType::Q4_0];
    let mut grid = Vec::new();
    for slots in [1, 2, 4, 8] {
        for outputs in [None, Some(slots)] {
            for (key, value) in kinds.iter().flat_map(|key| kinds.map(|value| (*key, value))) {
                let mut settings = Settings::new(Quantization::Q4_K_M, 1);
                (settings.cache_type_k, settings.cache_type_v) = (key, value);
                (settings.sequences, settings.n_outputs) = (slots, outputs);
                settings.cache_layout = CacheLayout::Unified;
                grid.push(settings);
            }
        }
    }
    let start = Instant::now();
    let (mut drawn, mut pieces, mut replays) = (0, 0, 0);
    for (_, model) in models {
        let mut planner = Planner::new(model);
        for curve in grid.iter().filter_map(|settings| planner.compute(settings).ok()) {
            drawn += 1;
            pieces += curve[0].len();
        }
        replays += planner.replays();
    }
    let taken = start.elapsed().as_secs_f64();
    println!(
        "all curves of {} models: {taken:.3} s on one core ({drawn} curves, {pieces} pieces, {replays} replays)",
        models.len()
    );
}

/// Generates distinct rows.
fn rows(models: &[(String, Architecture)], count: u64) -> String {
    let mut rows = String::new();
    for row in 0..count {
        let (id, model) = &models[(row % models.len() as u64) as usize];
        let round = row / models.len() as u64;
        let pick = |choices: &[&'static str], step: u64| choices[(round / step) as usize % choices.len()];
        let context = 256 + (round * 7919) % (model.max_context - 255);
        let kv = pick(&["f16", "q8_0", "q4_0", "q8_0/q4_0"], 1);
        let (batch, slots) = (pick(&["512", "256", "1024", "2048"], 2), pick(&["1", "4", "2", "8"], 3));
        let kind = pick(&["total", "compute_bytes", "kv_bytes"], 1);
        let quant = pick(&["Q4_K_M", "Q8_0", "Q5_K_M", "IQ4_XS", "Q3_K_M"], 1);
        let outputs = pick(&["", slots], 5);
        writeln!(rows, "{kind},{id},{quant},{context},{kv},{batch},{slots},1,{outputs},gpu0").unwrap();
    }
    rows
}

/// Measures the seconds for a batch on one thread.
fn seconds(root: &Path, file: &Path, batch: &str) -> f64 {
    fs::write(file, batch).unwrap();
    let start = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_kbgen"))
        .arg("--root")
        .arg(root)
        .arg("estimate")
        .arg(file)
        .env("RAYON_NUM_THREADS", "1")
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    start.elapsed().as_secs_f64()
}
