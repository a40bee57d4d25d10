//! Builds, each on a thread of its own. A build that makes no progress is abandoned with its threads, since no thread can be
//! ended from outside.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::files::Outputs;
use crate::serve::snapshot::{WatchSnapshot, WatchedFiles};
use crate::serve::tracker::{StallLimit, Tracker};
use crate::serve::viewed::ViewedPages;
use crate::serve::{Changes, Rebuild};

/// Number of an order; a result with another number is that of an abandoned build.
pub(crate) type BuildId = u64;

type RebuildFn = dyn Fn(&Changes, &Tracker) -> Rebuild + Send + Sync;

/// The inputs of builds, shared by all their threads.
struct BuildContext {
    look: WatchedFiles,
    viewed: ViewedPages,
    rebuild: Box<RebuildFn>,
    report: Box<dyn Fn(BuildId, BuildEvent) + Send + Sync>,
    /// The files as the last build found them.
    seen: Mutex<Option<WatchSnapshot>>,
}

/// Starts builds, one at a time.
pub(crate) struct BuildRunner {
    context: Arc<BuildContext>,
    limit: StallLimit,
    last: BuildId,
    running: Option<Running>,
    /// The threads that builds share; an abandoned build keeps them.
    pool: Option<Arc<ThreadPool>>,
}

/// A build under way.
struct Running {
    tracker: Arc<Tracker>,
    began: Instant,
    /// Nothing is sent: the thread drops the other end when it ends.
    ended: Receiver<()>,
    /// When progress was last seen, and how many reports there were then.
    moved: Instant,
    reports: u64,
}

/// Event of a build.
#[derive(Debug)]
pub(crate) enum BuildEvent {
    /// Its first files are there.
    Partial {
        /// Changes that it was made for.
        changes: Changes,
        /// The files.
        files: Outputs,
        /// How long they took.
        took: Duration,
    },
    /// It has ended. `None` when no file had changed, or nobody waits for it.
    Done(Option<BuildResult>),
}

/// Result of a build.
#[derive(Debug)]
pub(crate) struct BuildResult {
    /// Changes that it was made for.
    pub(crate) changes: Changes,
    /// The files of the site, or as plain text what is wrong.
    pub(crate) outcome: Result<Outputs, String>,
    /// How long it took.
    pub(crate) took: Duration,
}

impl fmt::Debug for BuildRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Whole").field("last", &self.last).finish_non_exhaustive()
    }
}

impl BuildRunner {
    /// Before the first order, which is built in any case. `report` hears what comes of each order.
    pub(crate) fn new(
        look: WatchedFiles,
        viewed: ViewedPages,
        limit: StallLimit,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        report: impl Fn(BuildId, BuildEvent) + Send + Sync + 'static,
    ) -> Self {
        let (rebuild, report) = (Box::new(rebuild), Box::new(report));
        let context = Arc::new(BuildContext { look, viewed, rebuild, report, seen: Mutex::default() });
        Self { context, limit, last: 0, running: None, pool: None }
    }

    /// Builds if a file changed: one of those `named`, or where nobody named one or they are not all plain files, any.
    pub(crate) fn start_build(&mut self, named: BTreeSet<PathBuf>) {
        self.last += 1;
        let (id, context, began) = (self.last, Arc::clone(&self.context), Instant::now());
        if self.pool.is_none() {
            // Without threads of its own a build uses those of the process.
            self.pool = rayon::ThreadPoolBuilder::new().build().ok().map(Arc::new);
        }
        let changes = Arc::new(Mutex::new(Changes::default()));
        let (first, made_for) = (Arc::clone(&self.context), Arc::clone(&changes));
        let tracker = Arc::new(Tracker::new(move |files| {
            let changes = made_for.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (first.report)(id, BuildEvent::Partial { changes, files, took: began.elapsed() });
        }));
        let (pool, watch) = (self.pool.clone(), Arc::clone(&tracker));
        let (alive, ended) = mpsc::channel();
        let work = move || {
            let _alive = alive;
            let build = || context.build_if_changed(&named, &changes, &watch);
            let work = match pool {
                Some(pool) => pool.install(build),
                None => build(),
            };
            (context.report)(id, BuildEvent::Done(work));
        };
        if let Err(error) = thread::Builder::new().name("kbgen build".to_string()).spawn(work) {
            let outcome = Err(format!("cannot start a thread: {error}"));
            let work = BuildResult { changes: Changes::default(), outcome, took: Duration::ZERO };
            (self.context.report)(id, BuildEvent::Done(Some(work)));
        }
        self.running = Some(Running { tracker, began, ended, moved: began, reports: 0 });
    }

    /// Whether all of these files were there at the last build.
    pub(crate) fn knows_all(&self, paths: &BTreeSet<PathBuf>) -> bool {
        let seen = self.context.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref().is_some_and(|seen| self.context.look.has(seen, paths))
    }

    /// Whether a build is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether an order is that of the build under way, and somebody waits for it.
    pub(crate) fn is_last(&self, id: BuildId) -> bool {
        id == self.last && self.running.as_ref().is_some_and(|running| !running.tracker.is_cancelled())
    }

    /// Ends the build under way at its next report.
    pub(crate) fn cancel(&self) {
        if let Some(running) = &self.running {
            running.tracker.cancel();
        }
    }

    /// Whether a result is that of the build under way, which ends with it.
    pub(crate) fn finish(&mut self, id: BuildId) -> bool {
        id == self.last && self.running.take().is_some()
    }

    /// When to look again whether the build under way makes progress.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.running.as_ref().map(|running| running.moved + self.limit.of_build())
    }

    /// Gives the build under way up if it is due and made no progress, and says so.
    pub(crate) fn abandon_stalled(&mut self) -> Option<BuildResult> {
        let limit = self.limit.of_build();
        let running = self.running.as_mut().filter(|running| running.moved.elapsed() >= limit)?;
        let reports = running.tracker.reports();
        if std::mem::replace(&mut running.reports, reports) != reports {
            running.moved = Instant::now();
            return None;
        }
        running.tracker.cancel();
        let (outcome, took) = (Err(running.tracker.stall(limit)), running.began.elapsed());
        self.running = None;
        self.pool = None;
        Some(BuildResult { changes: Changes::default(), outcome, took })
    }
}

impl Drop for BuildRunner {
    /// Waits for the build under way, which ends at its next report, unless it stalls.
    fn drop(&mut self) {
        if let Some(Running { tracker, ended, .. }) = self.running.take() {
            tracker.cancel();
            let _ = ended.recv_timeout(self.limit.of_build());
        }
    }
}

impl BuildContext {
    fn build_if_changed(
        &self,
        named: &BTreeSet<PathBuf>,
        made_for: &Mutex<Changes>,
        tracker: &Tracker,
    ) -> Option<BuildResult> {
        let seen = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen().clone();
        let mut now = before.clone().unwrap_or_default();
        let quick = if named.is_empty() { None } else { self.look.changed(named, &mut now) };
        let changes = match (quick, &before) {
            (Some(changes), Some(_)) => changes,
            (_, before) => {
                now = self.look.look();
                before.as_ref().map_or_else(Changes::default, |before| self.look.changes(before, &now))
            }
        };
        if before.is_some() && changes.paths.is_empty() {
            return None;
        }
        let changes = Changes { viewed: self.viewed.addresses(), ..changes };
        *made_for.lock().unwrap_or_else(PoisonError::into_inner) = changes.clone();
        let work = self.build(changes, tracker);
        // Nobody hears of a cancelled build, so the next one has to find the same changes.
        if tracker.is_cancelled() {
            return None;
        }
        *seen() = Some(now);
        Some(work)
    }

    fn build(&self, changes: Changes, tracker: &Tracker) -> BuildResult {
        let started = Instant::now();
        // A defect of ours must not end the session of an author; what the closure caches is its own affair.
        let outcome = match catch_unwind(AssertUnwindSafe(|| (self.rebuild)(&changes, tracker))) {
            Ok(Rebuild::Site(outputs)) => Ok(outputs),
            Ok(Rebuild::Broken { plain }) => Err(plain),
            Err(panic) => Err(format!("kbgen itself failed, which is a defect of kbgen: {}", words(&*panic))),
        };
        BuildResult { changes, outcome, took: started.elapsed() }
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
