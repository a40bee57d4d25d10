//! Progress bar of a build, and the report of `--timings`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::host_limits::format_bytes;
use crate::progress::{BuildProgress, Stage};

/// Delay before the progress bar appears.
const BAR_DELAY: Duration = Duration::from_millis(500);

/// Number of slowest pages in the report.
const SLOWEST_PAGES: usize = 10;

/// Progress and timings of one build.
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
    /// Whether the bar is drawn.
    is_drawn: Once,
    /// Whether pages are timed.
    timed: bool,
    times: Mutex<Times>,
}

#[derive(Default)]
struct Times {
    stages: Vec<StageTime>,
    /// The running stage and its start times.
    current: Option<(Stage, Clocks)>,
    /// Start time of the page in work, by thread.
    pages: HashMap<ThreadId, Duration>,
    /// The slowest pages, slowest first.
    slowest: Vec<(Duration, Stage, String)>,
}

/// Wall and CPU time of a stage.
struct StageTime {
    stage: Stage,
    wall: Duration,
    cpu: Option<Duration>,
}

/// Wall and CPU clocks at one moment. Some systems have no CPU clock.
#[derive(Clone, Copy)]
struct Clocks {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Clocks {
    fn now() -> Self {
        Self { wall: Instant::now(), cpu: cpu(CpuScope::Process) }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Progress").finish_non_exhaustive()
    }
}

impl Progress {
    /// Starts the clocks, those of pages only if they are `timed`. The bar appears after [`BAR_DELAY`] if stderr is a terminal.
    pub fn new(timed: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        // Without color, so `NO_COLOR` needs no special case.
        if let Ok(style) = ProgressStyle::with_template("{msg:10} [{bar:40}] {pos} of {len}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { started: Instant::now(), bar, is_drawn: Once::new(), timed, times: Mutex::default() }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the bar, before other messages are printed.
    pub fn hide(&self) {
        self.bar.finish_and_clear();
    }

    /// Formats the report of `--timings`, line by line.
    pub fn report(&self) -> Vec<String> {
        let mut times = self.times();
        times.end_stage();
        let line = |name: &str, wall: Duration, cpu: Option<Duration>| {
            let cpu = cpu.map_or_else(|| "-".into(), |cpu| format!("{:.3} s", cpu.as_secs_f64()));
            format!("{name:12} {:>9.3} s {cpu:>11}", wall.as_secs_f64())
        };
        let mut lines = vec![format!("{:12} {:>11} {:>11}", "stage", "wall", "CPU")];
        lines.extend(times.stages.iter().map(|stage| line(stage.stage.name(), stage.wall, stage.cpu)));
        lines.push(line("total", self.started.elapsed(), cpu(CpuScope::Process)));
        lines.extend(peak_memory().map(|bytes| format!("peak memory {}", format_bytes(bytes))));
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
        if !self.timed {
            return;
        }
        self.times().pages.insert(thread::current().id(), cpu_or_wall(self.started));
    }

    fn finish_page(&self, path: &str) {
        if self.timed {
            let now = cpu_or_wall(self.started);
            let mut times = self.times();
            if let (Some(started), Some((stage, _))) =
                (times.pages.remove(&thread::current().id()), times.current)
            {
                times.note(now.saturating_sub(started), stage, path);
            }
        }
        if !self.is_drawn.is_completed() && self.started.elapsed() > BAR_DELAY {
            self.is_drawn.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
        self.bar.inc(1);
    }
}

impl Times {
    fn end_stage(&mut self) {
        let Some((stage, started)) = self.current.take() else { return };
        let now = Clocks::now();
        let cpu = now.cpu.zip(started.cpu).map(|(now, started)| now.saturating_sub(started));
        self.stages.push(StageTime { stage, wall: now.wall - started.wall, cpu });
    }

    fn note(&mut self, took: Duration, stage: Stage, path: &str) {
        if self.slowest.len() == SLOWEST_PAGES
            && self.slowest.last().is_some_and(|(least, ..)| *least >= took)
        {
            return;
        }
        let at = self.slowest.partition_point(|(slower, ..)| *slower >= took);
        self.slowest.insert(at, (took, stage, path.to_string()));
        self.slowest.truncate(SLOWEST_PAGES);
    }
}

/// Scope of a CPU clock.
#[derive(Clone, Copy)]
enum CpuScope {
    Process,
    Thread,
}

#[cfg(unix)]
fn cpu(scope: CpuScope) -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(match scope {
        CpuScope::Process => ClockId::ProcessCPUTime,
        CpuScope::Thread => ClockId::ThreadCPUTime,
    });
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn cpu(_whose: CpuScope) -> Option<Duration> {
    None
}

/// Returns the CPU time of this thread, or elapsed time if the system has no such clock.
fn cpu_or_wall(started: Instant) -> Duration {
    cpu(CpuScope::Thread).unwrap_or_else(|| started.elapsed())
}

/// Returns the peak resident memory of the process from `/proc`, if available.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
