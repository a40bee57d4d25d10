//! Whole builds and their stages, on a corpus of any size.
//!
//! Without arguments it builds 1,000 pages a few times and prints the median of each stage. `docs/development.md` has
//! the other commands, `docs/performance.md` the results.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

#[expect(dead_code, reason = "another benchmark writes the corpus for other programs")]
mod corpus;
mod measure;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use corpus::{Code, Corpus, Layout};
use kbgen::emit::{OutputTarget, Permission, StagedOutput};
use kbgen::engine::Engine;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use kbgen::progress::{BuildProgress, Stage};
use kbgen::render::Audience;
use measure::{Cost, folder, median, run};

const HELP: &str = "stages [PAGES]                     what each stage takes
growth PAGES...                    processor time and memory of whole builds, by size
write repeated|distinct|plain PAGES FOLDER";

/// Number of runs of each command; the median is printed.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => stages(1000),
        ["stages", pages] => stages(pages.parse().unwrap()),
        ["growth", ref pages @ ..] => {
            growth(&pages.iter().map(|pages| pages.parse().unwrap()).collect::<Vec<_>>())
        }
        ["write", code, pages, folder] => {
            let code = match code {
                "distinct" => Code::Distinct,
                "plain" => Code::Plain,
                _ => Code::Repeated,
            };
            let corpus = Corpus { pages: pages.parse().unwrap(), code };
            corpus::write(corpus, Layout::Kbgen, Path::new(folder)).unwrap();
        }
        _ => println!("{HELP}"),
    }
}

fn written(pages: usize, name: &str) -> PathBuf {
    let folder = folder(name);
    corpus::write(Corpus { pages, code: Code::Repeated }, Layout::Kbgen, &folder).unwrap();
    folder
}

/// Start time of each stage.
#[derive(Debug, Default)]
struct Clock(Mutex<Vec<(Stage, Instant, f64)>>);

impl BuildProgress for Clock {
    fn start_stage(&self, stage: Stage, _pages: usize) {
        self.0.lock().unwrap().push((stage, Instant::now(), cpu_seconds()));
    }
    fn start_page(&self, _path: &str) {}
    fn finish_page(&self, _path: &str) {}
}

#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Not measured.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    f64::NAN
}

fn stages(pages: usize) {
    let root = written(pages, "stages");
    let options = SiteOptions {
        today: "2026-11-22".parse().unwrap(),
        drafts: Drafts::Exclude,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    };
    let mut rounds: Vec<Vec<(Stage, f64, f64)>> = Vec::new();
    for _ in 0..ROUNDS {
        let out = folder("stages-out");
        let clock = Clock::default();
        clock.start_stage(Stage::Read, 0);
        let (sources, faults) = load::read(&root).unwrap();
        let mut analysis = pipeline::analyze(&sources, faults, &options, &clock).unwrap();
        assert!(analysis.findings.is_empty(), "the corpus has no faults");
        let target = OutputTarget { folder: &out, sources: &[], permission: Permission::OnlyOurs };
        let output = StagedOutput::begin(&target).unwrap();
        pipeline::render(&sources, &mut analysis, &options, &clock, &output);
        clock.start_stage(Stage::Publish, 0);
        output.finish().unwrap();
        let (end, end_processor) = (Instant::now(), cpu_seconds());
        let begun = clock.0.into_inner().unwrap();
        let ends = begun.iter().skip(1).map(|(_, wall, processor)| (*wall, *processor));
        let laps = begun.iter().zip(ends.chain([(end, end_processor)]));
        rounds.push(
            laps.map(|((stage, wall, processor), (wall_end, processor_end))| {
                (*stage, (wall_end - *wall).as_secs_f64(), processor_end - processor)
            })
            .collect(),
        );
    }
    println!(
        "{pages} pages, median of {ROUNDS} builds\n\n| stage | wall ms | CPU ms |\n| --- | ---: | ---: |"
    );
    for at in 0..rounds[0].len() {
        let of =
            |pick: fn(&(Stage, f64, f64)) -> f64| median(rounds.iter().map(|laps| pick(&laps[at])).collect());
        println!(
            "| {} | {:.1} | {:.1} |",
            rounds[0][at].0.name(),
            of(|lap| lap.1) * 1e3,
            of(|lap| lap.2) * 1e3
        );
    }
}

/// Runs a clean build of kbgen that fills the cache.
fn clean(root: &Path) -> Cost {
    let out = folder("clean-out");
    let cache = folder("clean-cache");
    let words = [
        env!("CARGO_BIN_EXE_kbgen"),
        "build",
        "--root",
        root.to_str().unwrap(),
        "--date",
        "2026-11-22",
        "--output-dir",
        out.to_str().unwrap(),
        "--cache-dir",
        cache.to_str().unwrap(),
    ];
    let cost = run(&words, root);
    fs::remove_dir_all(out).unwrap();
    cost
}

fn growth(sizes: &[usize]) {
    println!("| pages | CPU s | CPU ms a page | peak MiB |\n| ---: | ---: | ---: | ---: |");
    for pages in sizes {
        let root = written(*pages, "growth");
        let rounds = if *pages > 20_000 { 1 } else { 3 };
        let costs: Vec<Cost> = (0..rounds).map(|_| clean(&root)).collect();
        let processor = median(costs.iter().map(|cost| cost.cpu_seconds).collect());
        let memory = median(costs.iter().map(|cost| cost.memory_mib).collect());
        println!("| {pages} | {processor:.2} | {:.3} | {memory:.0} |", processor * 1e3 / *pages as f64);
        fs::remove_dir_all(root).unwrap();
    }
}
