//! Runs each build on its own thread. A build without progress is abandoned with its threads, since a thread cannot be
//! stopped from outside.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::files::Outputs;
use crate::serve::snapshot::{WatchSnapshot, WatchedFiles};
use crate::serve::tracker::{StallLimit, Tracker};
use crate::serve::viewed::ViewedPages;
use crate::serve::{Changes, Rebuild};

/// Number of a build. A result with another number comes from an abandoned build.
pub(crate) type BuildId = u64;

type RebuildFn = dyn Fn(&Changes, &Tracker) -> Rebuild + Send + Sync;

/// Inputs of builds, shared by their threads.
struct BuildContext {
    files: WatchedFiles,
    viewed: ViewedPages,
    rebuild: Box<RebuildFn>,
    report: Box<dyn Fn(BuildId, BuildEvent) + Send + Sync>,
    last: Mutex<LastBuild>,
}

/// Files as of the last completed build, and the changes that cancelled builds have read since.
#[derive(Default)]
struct LastBuild {
    snapshot: Option<WatchSnapshot>,
    /// Paths that must be read again, even if a change was undone: the first files of a cancelled build are published.
    unfinished: BTreeSet<PathBuf>,
}

/// Runs builds, one at a time.
pub(crate) struct BuildRunner {
    context: Arc<BuildContext>,
    limit: StallLimit,
    last: BuildId,
    running: Option<Running>,
    /// Thread pool shared by builds. An abandoned build keeps its pool.
    pool: Option<Arc<ThreadPool>>,
}

/// Running build.
struct Running {
    tracker: Arc<Tracker>,
    began: Instant,
    /// Disconnects when the thread ends.
    ended: Receiver<()>,
    /// Time of the last observed progress, and the number of reports then.
    last_progress: Instant,
    reports: u64,
}

/// Event of a build.
#[derive(Debug)]
pub(crate) enum BuildEvent {
    /// The first files are rendered.
    Partial {
        /// Changes that triggered the build.
        changes: Changes,
        files: Outputs,
        /// Time since the start of the build.
        took: Duration,
    },
    /// The build has ended. `None` if no file had changed or the build was cancelled.
    Done(Option<BuildResult>),
}

/// Result of a build.
#[derive(Debug)]
pub(crate) struct BuildResult {
    /// Changes that triggered the build.
    pub(crate) changes: Changes,
    /// Files of the site, or the error as plain text.
    pub(crate) outcome: Result<Outputs, String>,
    /// Duration of the build.
    pub(crate) took: Duration,
}

impl fmt::Debug for BuildRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildRunner").field("last", &self.last).finish_non_exhaustive()
    }
}

impl BuildRunner {
    /// Creates a runner. Its first build runs even if no file changed. `report` receives the events of all builds.
    pub(crate) fn new(
        files: WatchedFiles,
        viewed: ViewedPages,
        limit: StallLimit,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        report: impl Fn(BuildId, BuildEvent) + Send + Sync + 'static,
    ) -> Self {
        let (rebuild, report) = (Box::new(rebuild), Box::new(report));
        let context = Arc::new(BuildContext { files, viewed, rebuild, report, last: Mutex::default() });
        Self { context, limit, last: 0, running: None, pool: None }
    }

    /// Starts a build if a file changed. Checks only the files in `named`, or all files if `named` is empty or
    /// contains anything but existing files.
    pub(crate) fn start_build(&mut self, named: BTreeSet<PathBuf>) {
        self.last += 1;
        let (id, context, began) = (self.last, Arc::clone(&self.context), Instant::now());
        if self.pool.is_none() {
            // Without its own pool, a build uses the global one.
            self.pool = rayon::ThreadPoolBuilder::new().build().ok().map(Arc::new);
        }
        let changes = Arc::new(Mutex::new(Changes::default()));
        let (first, trigger) = (Arc::clone(&self.context), Arc::clone(&changes));
        let tracker = Arc::new(Tracker::new(move |files| {
            let changes = trigger.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (first.report)(id, BuildEvent::Partial { changes, files, took: began.elapsed() });
        }));
        let (pool, watch) = (self.pool.clone(), Arc::clone(&tracker));
        let (alive, ended) = mpsc::channel();
        let task = move || {
            let _alive = alive;
            let build = || context.build_if_changed(&named, &changes, &watch);
            let result = match pool {
                Some(pool) => pool.install(build),
                None => build(),
            };
            (context.report)(id, BuildEvent::Done(result));
        };
        if let Err(error) = thread::Builder::new().name("kbgen build".to_string()).spawn(task) {
            let outcome = Err(format!("cannot start a thread: {error}"));
            let result = BuildResult { changes: Changes::default(), outcome, took: Duration::ZERO };
            (self.context.report)(id, BuildEvent::Done(Some(result)));
        }
        self.running = Some(Running { tracker, began, ended, last_progress: began, reports: 0 });
    }

    /// Returns whether all of these files existed at the last build.
    pub(crate) fn knows_all(&self, paths: &BTreeSet<PathBuf>) -> bool {
        let snapshot = &self.context.last().snapshot;
        snapshot.as_ref().is_some_and(|snapshot| self.context.files.contains_all(snapshot, paths))
    }

    /// Returns whether a build is running.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Returns whether a number is that of the running build and the build is not cancelled.
    pub(crate) fn is_last(&self, id: BuildId) -> bool {
        id == self.last && self.running.as_ref().is_some_and(|running| !running.tracker.is_cancelled())
    }

    /// Cancels the running build, which ends at its next progress report.
    pub(crate) fn cancel(&self) {
        if let Some(running) = &self.running {
            running.tracker.cancel();
        }
    }

    /// Ends the running build if the number is its own; returns whether it was.
    pub(crate) fn finish(&mut self, id: BuildId) -> bool {
        id == self.last && self.running.take().is_some()
    }

    /// Returns the time of the next stall check.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.running.as_ref().map(|running| running.last_progress + self.limit.of_build())
    }

    /// Abandons the running build if it made no progress within the limit, and returns the error to show.
    pub(crate) fn abandon_stalled(&mut self) -> Option<BuildResult> {
        let limit = self.limit.of_build();
        let running = self.running.as_mut().filter(|running| running.last_progress.elapsed() >= limit)?;
        let reports = running.tracker.reports();
        if std::mem::replace(&mut running.reports, reports) != reports {
            running.last_progress = Instant::now();
            return None;
        }
        running.tracker.cancel();
        let (outcome, took) = (Err(running.tracker.stall_message(limit)), running.began.elapsed());
        self.running = None;
        self.pool = None;
        Some(BuildResult { changes: Changes::default(), outcome, took })
    }
}

impl Drop for BuildRunner {
    /// Cancels the running build and waits for it, at most for the stall limit.
    fn drop(&mut self) {
        if let Some(Running { tracker, ended, .. }) = self.running.take() {
            tracker.cancel();
            let _ = ended.recv_timeout(self.limit.of_build());
        }
    }
}

impl BuildContext {
    fn last(&self) -> MutexGuard<'_, LastBuild> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn build_if_changed(
        &self,
        named: &BTreeSet<PathBuf>,
        trigger: &Mutex<Changes>,
        tracker: &Tracker,
    ) -> Option<BuildResult> {
        let before = self.last().snapshot.clone();
        let mut now = before.clone().unwrap_or_default();
        let quick = if named.is_empty() { None } else { self.files.changed(named, &mut now) };
        let mut changes = match (quick, &before) {
            (Some(changes), Some(_)) => changes,
            (_, before) => {
                now = self.files.take();
                before.as_ref().map_or_else(Changes::default, |before| self.files.changes(before, &now))
            }
        };
        if before.is_some() {
            changes.paths.extend(self.last().unfinished.iter().cloned());
            if changes.paths.is_empty() {
                return None;
            }
        }
        changes.viewed = self.viewed.addresses();
        *trigger.lock().unwrap_or_else(PoisonError::into_inner) = changes.clone();
        let result = self.build(changes, tracker);
        let mut last = self.last();
        if tracker.is_cancelled() {
            last.unfinished.extend(result.changes.paths);
            return None;
        }
        *last = LastBuild { snapshot: Some(now), unfinished: BTreeSet::new() };
        Some(result)
    }

    fn build(&self, changes: Changes, tracker: &Tracker) -> BuildResult {
        let started = Instant::now();
        // A bug in kbgen must not end the session.
        let outcome = match catch_unwind(AssertUnwindSafe(|| (self.rebuild)(&changes, tracker))) {
            Ok(Rebuild::Site(outputs)) => Ok(outputs),
            Ok(Rebuild::Broken { plain }) => Err(plain),
            Err(panic) => {
                Err(format!("internal error, please report this bug in kbgen: {}", panic_message(&*panic)))
            }
        };
        BuildResult { changes, outcome, took: started.elapsed() }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
