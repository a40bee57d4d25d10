//! Scheduler of the development server: edits are built within milliseconds, bursts of changes when idle. Results
//! become the served state, the first files before the rest.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::serve::build_runner::{BuildEvent, BuildResult, BuildRunner};
use crate::serve::builder::Message;
use crate::serve::site::Site;
use crate::serve::snapshot::WatchedFiles;
use crate::serve::state::State;
use crate::serve::watch::Watch;
use crate::serve::{Event, Served};

/// Debounce interval of an edit. Editors save a file in several steps.
const EDIT_DEBOUNCE: Duration = Duration::from_millis(4);
/// Maximum delay of an edit under continuous writes.
const MAX_EDIT_DELAY: Duration = Duration::from_millis(20);
/// Debounce interval of a burst of changes, after which all files are compared.
const BATCH_DEBOUNCE: Duration = Duration::from_millis(75);
/// Maximum delay of a burst.
const MAX_BATCH_DELAY: Duration = Duration::from_secs(2);
/// Interval of comparing all files if the system reports no events.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of changed files for a build that does not compare all files.
const MAX_EDITED_FILES: usize = 8;

/// Schedules builds and publishes their results.
pub(crate) struct Scheduler<'a> {
    files: WatchedFiles,
    watch: Watch,
    runner: BuildRunner,
    announce: &'a dyn Fn(Event),
    states: watch::Sender<Arc<State>>,
    /// Files named by events since the start of the last completed build.
    pending: BTreeSet<PathBuf>,
    /// Files that the running build reads.
    building: BTreeSet<PathBuf>,
    /// Due time of the next build.
    build: Option<Deadline>,
    /// Findings of the last build, as plain text.
    fault: Option<String>,
}

impl<'a> Scheduler<'a> {
    /// Runs the first build. Returns `None` if stopped during the build.
    pub(crate) fn open(
        files: WatchedFiles,
        watch: Watch,
        runner: BuildRunner,
        messages: &Receiver<Message>,
        announce: &'a dyn Fn(Event),
    ) -> Option<(Self, watch::Receiver<Arc<State>>)> {
        let (states, receiver) = watch::channel(Arc::new(State::new(None, None, None)));
        let (pending, building) = (BTreeSet::new(), BTreeSet::new());
        let mut scheduler =
            Self { files, watch, runner, announce, states, pending, building, build: None, fault: None };
        scheduler.runner.start_build(BTreeSet::new());
        while scheduler.runner.is_running() {
            match messages.recv_timeout(until(scheduler.runner.due()).unwrap_or(Duration::MAX)) {
                Ok(message) => scheduler.handle(message)?,
                Err(RecvTimeoutError::Timeout) => scheduler.abandon_stalled_build(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        Some((scheduler, receiver))
    }

    /// Runs until it receives [`Message::Stop`].
    pub(crate) fn run(&mut self, messages: &Receiver<Message>) {
        loop {
            let due = self.build.map(|time| time.due).into_iter().chain(self.runner.due()).min();
            let timeout = if self.watch.is_polling() { POLL_INTERVAL } else { Duration::MAX };
            match messages.recv_timeout(until(due).unwrap_or(timeout)) {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if due.is_none() => self.start_build(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(message) => {
                    if self.handle(message).is_none() {
                        return;
                    }
                }
            }
            self.abandon_stalled_build();
            if self.build.is_some_and(Deadline::is_due) {
                self.start_build();
            }
        }
    }

    /// Handles a message. Returns `None` for [`Message::Stop`].
    fn handle(&mut self, message: Message) -> Option<()> {
        match message {
            Message::Stop => return None,
            Message::BrowserFailed(why) => (self.announce)(Event::BrowserFailed { why }),
            Message::Build(id, BuildEvent::Partial { changes, files, took }) => {
                let served = self.states.borrow().site.clone();
                if let Some(site) = served.filter(|_| self.runner.is_last(id)) {
                    // Pages with errors are not part of the files.
                    self.fault = None;
                    self.publish(Some(Arc::new(site.with(&files))));
                    (self.announce)(Event::PartiallyRebuilt { changes, files: files.len(), took });
                }
            }
            Message::Build(id, BuildEvent::Done(result)) => {
                let is_current = self.runner.is_last(id);
                if self.runner.finish(id) {
                    let building = std::mem::take(&mut self.building);
                    match result {
                        // A build that completed before it noticed its cancellation counts.
                        Some(result) => {
                            self.apply(result);
                            // Compare all files, since events may be lost.
                            let rescan = !building.is_empty();
                            self.build = self.build.or_else(|| {
                                rescan.then(|| Deadline::later(None, BATCH_DEBOUNCE, BATCH_DEBOUNCE))
                            });
                        }
                        None if !is_current => self.pending.extend(building),
                        None => {}
                    }
                    self.schedule_pending();
                }
            }
            Message::FilesChanged(paths) => {
                self.watch.resubscribe(&paths.iter().cloned().collect());
                let changed = paths.iter().filter_map(|path| self.files.watched_path(path));
                self.pending.extend(changed);
                if self.pending.is_empty() && !paths.is_empty() {
                    // None of the files is part of the site.
                    return Some(());
                }
                // New files usually come in groups.
                let is_edit = (1..=MAX_EDITED_FILES).contains(&self.pending.len())
                    && self.runner.knows_all(&self.pending);
                let (wait, longest) =
                    if is_edit { (EDIT_DEBOUNCE, MAX_EDIT_DELAY) } else { (BATCH_DEBOUNCE, MAX_BATCH_DELAY) };
                self.build = Some(Deadline::later(self.build, wait, longest));
            }
        }
        Some(())
    }

    /// Starts a build, or cancels the running one first. Its completed results stay cached.
    fn start_build(&mut self) {
        if self.runner.is_running() {
            self.runner.cancel();
            self.build = None;
            return;
        }
        self.build = None;
        self.building = std::mem::take(&mut self.pending);
        let is_few = self.building.len() <= MAX_EDITED_FILES;
        self.runner.start_build(if is_few { self.building.clone() } else { BTreeSet::new() });
    }

    /// Abandons a build without progress and schedules the changes since its start.
    fn abandon_stalled_build(&mut self) {
        if let Some(stalled) = self.runner.abandon_stalled() {
            self.building.clear();
            self.apply(stalled);
            self.schedule_pending();
        }
    }

    /// Schedules files that changed during a build.
    fn schedule_pending(&mut self) {
        if !self.pending.is_empty() {
            self.build = Some(Deadline::later(None, Duration::ZERO, Duration::ZERO));
        }
    }

    /// Publishes the result of a build.
    fn apply(&mut self, BuildResult { changes, outcome, took }: BuildResult) {
        let served = self.states.borrow().site.clone();
        match outcome {
            Ok(outputs) => {
                self.fault = None;
                let site = Site::new(&outputs, served.as_deref());
                let files = site.files.len();
                self.publish(Some(Arc::new(site)));
                (self.announce)(Event::Rebuilt { changes, files, took });
            }
            Err(plain) => {
                self.fault = Some(plain.clone());
                let served_instead = if served.is_some() { Served::LastBuild } else { Served::Errors };
                self.publish(served);
                (self.announce)(Event::Broken { changes, plain, served: served_instead });
            }
        }
    }

    /// Publishes a state if it differs from the current one.
    fn publish(&self, site: Option<Arc<Site>>) {
        let before = Arc::clone(&self.states.borrow());
        let state = State::new(site, self.fault.clone(), Some(&before));
        if state.version() != before.version() || state.broken != before.broken {
            self.states.send_replace(Arc::new(state));
        }
    }
}

/// Returns the time until an instant.
fn until(due: Option<Instant>) -> Option<Duration> {
    due.map(|due| due.saturating_duration_since(Instant::now()))
}

/// Debounced due time.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    due: Instant,
    began: Instant,
}

impl Deadline {
    /// Delays the due time by `wait`, at most to `longest` after the first request.
    fn later(before: Option<Self>, wait: Duration, longest: Duration) -> Self {
        let now = Instant::now();
        let began = before.map_or(now, |before| before.began);
        Self { due: (now + wait).min(began + longest), began }
    }

    fn is_due(self) -> bool {
        self.due <= Instant::now()
    }
}
