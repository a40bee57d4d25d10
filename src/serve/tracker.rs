//! Tracks one build from outside: pages in work, progress, cancellation.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::files::Outputs;
use crate::progress::{BuildProgress, Stage};

/// Maximum number of pages named in a stall message.
const MAX_NAMED_PAGES: usize = 3;

/// Progress of one build.
#[derive(Default)]
pub struct Tracker {
    state: Mutex<TrackerState>,
    /// Number of reports, to detect progress between two checks.
    reports: AtomicU64,
    is_cancelled: AtomicBool,
    show: Option<Box<dyn Fn(Outputs) + Send + Sync>>,
}

impl fmt::Debug for Tracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracker").field("state", &self.state).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct TrackerState {
    stage: Option<Stage>,
    /// Pages in work, in the order in which they were started.
    pages: Vec<String>,
}

/// Panic payload that ends a cancelled build.
struct Cancelled;

impl Tracker {
    /// Tracks a build whose first files are passed to `show`.
    pub(crate) fn new(show: impl Fn(Outputs) + Send + Sync + 'static) -> Self {
        Self { show: Some(Box::new(show)), ..Self::default() }
    }

    /// Publishes files of the new site before the others are rendered.
    pub fn show(&self, outputs: Outputs) {
        self.report();
        if let Some(show) = &self.show {
            show(outputs);
        }
    }

    /// Cancels the build, which ends at its next report.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the build is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn reports(&self) -> u64 {
        self.reports.load(Ordering::Relaxed)
    }

    /// Formats the error of a build that made no progress for `limit`.
    pub(crate) fn stall_message(&self, limit: Duration) -> String {
        let state = self.state();
        let pages: Vec<String> =
            state.pages.iter().take(MAX_NAMED_PAGES).map(|page| format!("`{page}`")).collect();
        let place = match (pages.is_empty(), state.stage) {
            (false, _) => format!(" while working on {}", pages.join(", ")),
            (true, Some(stage)) => format!(" in the stage `{}`", stage.name()),
            (true, None) => String::new(),
        };
        format!(
            "error: the build made no progress for {} s{place}\n  = help: undo the last change and report a bug in \
             kbgen; the next save starts a new build\n",
            limit.as_secs()
        )
    }

    fn state(&self) -> MutexGuard<'_, TrackerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) {
        if self.is_cancelled() {
            // Prints no panic message; the thread that started the build catches this.
            resume_unwind(Box::new(Cancelled));
        }
        self.reports.fetch_add(1, Ordering::Relaxed);
    }
}

impl BuildProgress for Tracker {
    fn start_stage(&self, stage: Stage, _pages: usize) {
        self.report();
        *self.state() = TrackerState { stage: Some(stage), pages: Vec::new() };
    }

    fn start_page(&self, path: &str) {
        self.report();
        self.state().pages.push(path.to_string());
    }

    fn finish_page(&self, path: &str) {
        self.reports.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        if let Some(at) = state.pages.iter().position(|page| page == path) {
            state.pages.remove(at);
        }
    }
}

/// Maximum time without progress before a build is abandoned. The function is called at each check.
#[derive(Clone)]
pub struct StallLimit(Arc<dyn Fn() -> Duration + Send + Sync>);

impl StallLimit {
    /// Uses the limit returned by `limit`.
    pub fn new(limit: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(limit))
    }

    /// Returns the current limit.
    pub(crate) fn of_build(&self) -> Duration {
        (self.0)()
    }
}

impl Default for StallLimit {
    /// 30 s. The longest stage without a report takes about 5 s at 100,000 pages (`docs/performance.md`).
    fn default() -> Self {
        Self::new(|| Duration::from_secs(30))
    }
}

impl fmt::Debug for StallLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StallLimit").field(&self.of_build()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_stall_names_the_pages_in_work_or_the_stage() {
        let tracker = Tracker::default();
        tracker.start_stage(Stage::Parse, 3);
        tracker.start_page("content/a.md");
        tracker.start_page("content/b.md");
        tracker.finish_page("content/a.md");
        let text = tracker.stall_message(Duration::from_secs(30));
        assert!(text.contains("no progress for 30 s while working on `content/b.md`\n"), "{text}");
        tracker.start_stage(Stage::Check, 0);
        assert!(tracker.stall_message(Duration::ZERO).contains("in the stage `check`"));
    }

    #[test]
    fn a_cancelled_build_ends_at_its_next_report() {
        let tracker = Tracker::default();
        tracker.start_page("content/a.md");
        tracker.cancel();
        tracker.finish_page("content/a.md");
        assert!(catch_unwind(AssertUnwindSafe(|| tracker.start_page("content/b.md"))).is_err());
    }
}
