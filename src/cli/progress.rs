//! What a build tells while it works, and where its time went: a bar on a terminal, `--timings` afterwards.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::host_limits::size;
use crate::progress::{BuildProgress, Stage};

/// A build that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Pages that are named as the slowest.
const SLOWEST: usize = 10;

/// Watches one build.
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
    times: Mutex<Times>,
}

#[derive(Default)]
struct Times {
    stages: Vec<Lap>,
    /// The stage that runs, and the clocks when it began.
    current: Option<(Stage, Clocks)>,
    /// For each thread that has a page in hand, its clock when it took it.
    pages: HashMap<ThreadId, Duration>,
    /// The slowest pages, the slowest first.
    slowest: Vec<(Duration, Stage, String)>,
}

/// What a stage took.
struct Lap {
    stage: Stage,
    wall: Duration,
    cpu: Option<Duration>,
}

/// Both clocks at one moment; not every system tells the time of its processors.
#[derive(Clone, Copy)]
struct Clocks {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Clocks {
    fn now() -> Self {
        Self { wall: Instant::now(), cpu: cpu(Whose::Process) }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Progress").finish_non_exhaustive()
    }
}

impl Progress {
    /// Begins to watch. The bar comes later, and only where stderr is a terminal.
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // Without color, so there is nothing to take away for `NO_COLOR`.
        if let Ok(style) = ProgressStyle::with_template("{msg:10} [{bar:40}] {pos} of {len} pages") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { started: Instant::now(), bar, times: Mutex::default() }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the bar away, before anything else is said.
    pub fn hide(&self) {
        self.bar.finish_and_clear();
    }

    /// Where the time went, line by line.
    pub fn report(&self) -> Vec<String> {
        let mut times = self.times();
        times.end_stage();
        let line = |name: &str, wall: Duration, cpu: Option<Duration>| {
            let cpu = cpu.map_or_else(|| "-".into(), |cpu| format!("{:.3} s", cpu.as_secs_f64()));
            format!("{name:12} {:>9.3} s {cpu:>11}", wall.as_secs_f64())
        };
        let mut lines = vec![format!("{:12} {:>11} {:>11}", "stage", "wall", "CPU")];
        lines.extend(times.stages.iter().map(|lap| line(lap.stage.name(), lap.wall, lap.cpu)));
        lines.push(line("in all", self.started.elapsed(), cpu(Whose::Process)));
        lines.extend(peak_memory().map(|bytes| format!("peak memory {}", size(bytes))));
        lines.push("slowest pages".to_string());
        lines.extend(times.slowest.iter().map(|(took, stage, path)| {
            format!("{:>9.1} ms  {:6} {path}", took.as_secs_f64() * 1000.0, stage.name())
        }));
        lines
    }
}

impl BuildProgress for Progress {
    fn start_stage(&self, stage: Stage, pages: usize) {
        let mut times = self.times();
        times.end_stage();
        times.current = Some((stage, Clocks::now()));
        self.bar.reset();
        self.bar.set_message(stage.name());
        self.bar.set_length(pages as u64);
    }

    fn start_page(&self, _path: &str) {
        self.times().pages.insert(thread::current().id(), cpu_or_wall(self.started));
    }

    fn finish_page(&self, path: &str) {
        let now = cpu_or_wall(self.started);
        let mut times = self.times();
        if let (Some(begun), Some((stage, _))) = (times.pages.remove(&thread::current().id()), times.current)
        {
            times.note(now.saturating_sub(begun), stage, path);
        }
        drop(times);
        if self.bar.is_hidden() && !self.bar.is_finished() && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }
}

impl Times {
    fn end_stage(&mut self) {
        let Some((stage, begun)) = self.current.take() else { return };
        let now = Clocks::now();
        let cpu = now.cpu.zip(begun.cpu).map(|(now, begun)| now.saturating_sub(begun));
        self.stages.push(Lap { stage, wall: now.wall - begun.wall, cpu });
    }

    fn note(&mut self, took: Duration, stage: Stage, path: &str) {
        if self.slowest.len() == SLOWEST && self.slowest.last().is_some_and(|(least, ..)| *least >= took) {
            return;
        }
        let at = self.slowest.partition_point(|(slower, ..)| *slower >= took);
        self.slowest.insert(at, (took, stage, path.to_string()));
        self.slowest.truncate(SLOWEST);
    }
}

/// Whose time is asked for.
#[derive(Clone, Copy)]
enum Whose {
    Process,
    Thread,
}

#[cfg(unix)]
fn cpu(whose: Whose) -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(match whose {
        Whose::Process => ClockId::ProcessCPUTime,
        Whose::Thread => ClockId::ThreadCPUTime,
    });
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn cpu(_whose: Whose) -> Option<Duration> {
    None
}

/// The time of this thread, in which others do not count; where no system tells it, the time that passed.
fn cpu_or_wall(started: Instant) -> Duration {
    cpu(Whose::Thread).unwrap_or_else(|| started.elapsed())
}

/// The most memory that this process ever held, where the system tells it in a file.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
