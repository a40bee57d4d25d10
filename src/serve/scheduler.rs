//! Schedules builds: files that somebody edits are built after milliseconds, many files when it is quiet. What comes of a build
//! becomes the state that is served, its first files before the rest.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::serve::Event;
use crate::serve::build_runner::{BuildEvent, BuildResult, BuildRunner};
use crate::serve::builder::Message;
use crate::serve::site::Site;
use crate::serve::snapshot::WatchedFiles;
use crate::serve::state::State;
use crate::serve::watch::Watch;

/// A file is read when nothing happened for this long: an editor that writes one does so in several steps.
const EDIT_DEBOUNCE: Duration = Duration::from_millis(4);
/// Files that are written without end are read in between.
const MAX_EDIT_DELAY: Duration = Duration::from_millis(20);
/// Many files are read when nothing happened for this long, and all files are looked at.
const BATCH_DEBOUNCE: Duration = Duration::from_millis(75);
/// A burst that does not end is built in between.
const MAX_BATCH_DELAY: Duration = Duration::from_secs(2);
/// How often the files are looked at when the system tells of no events.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Most files that are read without looking at all others.
const MAX_EDITED_FILES: usize = 8;

/// State of the building thread.
pub(crate) struct Scheduler<'a> {
    look: WatchedFiles,
    watch: Watch,
    runner: BuildRunner,
    announce: &'a dyn Fn(Event),
    states: watch::Sender<Arc<State>>,
    /// Files that events named since the last build that came to an end began.
    named: BTreeSet<PathBuf>,
    /// Those of them that the build under way reads.
    ordered: BTreeSet<PathBuf>,
    /// When the next build is due.
    build: Option<Deadline>,
    /// Findings of the site, as plain text.
    fault: Option<String>,
}

impl<'a> Scheduler<'a> {
    /// Has the site built for the first time; `None` when told to stop meanwhile.
    pub(crate) fn open(
        look: WatchedFiles,
        watch: Watch,
        runner: BuildRunner,
        messages: &Receiver<Message>,
        announce: &'a dyn Fn(Event),
    ) -> Option<(Self, watch::Receiver<Arc<State>>)> {
        let (states, receiver) = watch::channel(Arc::new(State::new(None, None, None)));
        let (named, ordered) = (BTreeSet::new(), BTreeSet::new());
        let mut scheduler =
            Self { look, watch, runner, announce, states, named, ordered, build: None, fault: None };
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

    /// Works until told to stop.
    pub(crate) fn work(&mut self, messages: &Receiver<Message>) {
        loop {
            let due = self.build.map(|time| time.due).into_iter().chain(self.runner.due()).min();
            let look_again = if self.watch.is_polling() { POLL_INTERVAL } else { Duration::MAX };
            match messages.recv_timeout(until(due).unwrap_or(look_again)) {
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

    /// Takes a message in; `None` when it is the last.
    fn handle(&mut self, message: Message) -> Option<()> {
        match message {
            Message::Stop => return None,
            Message::BrowserFailed(why) => (self.announce)(Event::BrowserFailed { why }),
            Message::Build(id, BuildEvent::Partial { changes, files, took }) => {
                let served = self.states.borrow().site.clone();
                if let Some(site) = served.filter(|_| self.runner.is_last(id)) {
                    // Pages that are wrong by themselves are not shown.
                    self.fault = None;
                    self.publish(Some(Arc::new(site.with(&files))));
                    (self.announce)(Event::PartiallyRebuilt { changes, files: files.len(), took });
                }
            }
            Message::Build(id, BuildEvent::Done(work)) => {
                let is_wanted = self.runner.is_last(id);
                if self.runner.finish(id) {
                    let ordered = std::mem::take(&mut self.ordered);
                    match work {
                        // One that was ended too late is as good as any.
                        Some(work) => {
                            self.take(work);
                            // Events may have been lost.
                            let look = !ordered.is_empty();
                            self.build = self.build.or_else(|| {
                                look.then(|| Deadline::later(None, BATCH_DEBOUNCE, BATCH_DEBOUNCE))
                            });
                        }
                        None if !is_wanted => self.named.extend(ordered),
                        None => {}
                    }
                    self.schedule_named_files();
                }
            }
            Message::FilesChanged(paths) => {
                self.watch.resubscribe(&paths.iter().cloned().collect());
                let counted = paths.iter().filter_map(|path| self.look.counted(path));
                self.named.extend(counted);
                if self.named.is_empty() && !paths.is_empty() {
                    // None of them is part of the site.
                    return Some(());
                }
                // Who makes one file makes more.
                let is_edit =
                    (1..=MAX_EDITED_FILES).contains(&self.named.len()) && self.runner.knows_all(&self.named);
                let (wait, longest) =
                    if is_edit { (EDIT_DEBOUNCE, MAX_EDIT_DELAY) } else { (BATCH_DEBOUNCE, MAX_BATCH_DELAY) };
                self.build = Some(Deadline::later(self.build, wait, longest));
            }
        }
        Some(())
    }

    /// Has the site built. A build under way ends first, at its next report: what it has made stays known.
    fn start_build(&mut self) {
        if self.runner.is_running() {
            self.runner.cancel();
            self.build = None;
            return;
        }
        self.build = None;
        self.ordered = std::mem::take(&mut self.named);
        let is_few = self.ordered.len() <= MAX_EDITED_FILES;
        self.runner.start_build(if is_few { self.ordered.clone() } else { BTreeSet::new() });
    }

    /// Gives a build up that makes no progress; what changed meanwhile is built next.
    fn abandon_stalled_build(&mut self) {
        if let Some(stalled) = self.runner.abandon_stalled() {
            self.ordered.clear();
            self.take(stalled);
            self.schedule_named_files();
        }
    }

    /// Has files built at once that changed while a build was under way.
    fn schedule_named_files(&mut self) {
        if !self.named.is_empty() {
            self.build = Some(Deadline::later(None, Duration::ZERO, Duration::ZERO));
        }
    }

    /// Takes over what came of a build.
    fn take(&mut self, BuildResult { changes, outcome, took }: BuildResult) {
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
                self.publish(served);
                (self.announce)(Event::Broken { changes, plain });
            }
        }
    }

    /// Serves a site, and tells open pages, if anything differs.
    fn publish(&self, site: Option<Arc<Site>>) {
        let before = Arc::clone(&self.states.borrow());
        let state = State::new(site, self.fault.clone(), Some(&before));
        if state.version() != before.version() || state.broken != before.broken {
            self.states.send_replace(Arc::new(state));
        }
    }
}

/// How long it is to a point in time.
fn until(due: Option<Instant>) -> Option<Duration> {
    due.map(|due| due.saturating_duration_since(Instant::now()))
}

/// When something is to be done.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    due: Instant,
    began: Instant,
}

impl Deadline {
    /// This long from now, but not longer than `longest` after it was first wanted.
    fn later(before: Option<Self>, wait: Duration, longest: Duration) -> Self {
        let now = Instant::now();
        let began = before.map_or(now, |before| before.began);
        Self { due: (now + wait).min(began + longest), began }
    }

    fn is_due(self) -> bool {
        self.due <= Instant::now()
    }
}
