//! Cost of processes.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// CPU time and peak memory of a process.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub cpu_seconds: f64,
    pub memory_mib: f64,
}

/// Returns an absent folder for measurements; `KBGEN_BENCH_DIR` selects its location, such as a memory disk.
pub fn folder(name: &str) -> PathBuf {
    let base =
        std::env::var_os("KBGEN_BENCH_DIR").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from);
    let folder = base.join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Runs a program in `directory` under GNU time. Prints its output and panics if it fails.
pub fn run(words: &[&str], directory: &Path) -> Cost {
    let report = folder("time.txt");
    let _ = fs::remove_file(&report);
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%U %S %M", "-o"])
        .arg(&report)
        .args(words)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("GNU time is installed");
    let shown = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{words:?} failed: {}", String::from_utf8_lossy(&shown));
    let text = fs::read_to_string(&report).expect("GNU time has written its report");
    let figures: Vec<f64> = text.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
    Cost { cpu_seconds: figures[0] + figures[1], memory_mib: figures[2] / 1024.0 }
}

pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
