//! What happens when: pages that somebody edits are brought in after milliseconds, the whole site is built when it is
//! quiet, and what came of both becomes the state that is served.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::files::Outputs;
use crate::serve::builder::Message;
use crate::serve::look::Look;
use crate::serve::site::Site;
use crate::serve::state::State;
use crate::serve::tracker::StallLimit;
use crate::serve::watch::Watch;
use crate::serve::whole::{Good, Whole, Work};
use crate::serve::{Changes, Event, Retouch, Retouched};

/// A file is read when nothing happened for this long: an editor that writes one does so in several steps.
const SAVED: Duration = Duration::from_millis(4);
/// Files that are written without end are read in between.
const LONGEST_SAVE: Duration = Duration::from_millis(20);
/// The whole site is built when nothing happened for this long.
const QUIET: Duration = Duration::from_millis(75);
/// And for this long after a page was brought in: the browser that loads it again comes first.
const SHOWN: Duration = Duration::from_millis(250);
/// A burst that does not end is built in between.
const LONGEST_BURST: Duration = Duration::from_secs(2);
/// How often the files are looked at when the system tells of no events.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Most files that are brought in one by one; when a branch is changed, a whole build is as fast.
const FEW: usize = 8;

/// What the building thread works on.
pub(crate) struct Desk<'a> {
    look: Look,
    watch: Watch,
    whole: Whole,
    stall_limit: StallLimit,
    announce: &'a dyn Fn(Event),
    states: watch::Sender<Arc<State>>,
    retouch: Option<Retouch>,
    /// Paths that events named and that nobody has read yet.
    named: BTreeSet<PathBuf>,
    /// When those are to be read.
    read: Option<Time>,
    /// When the whole site is to be built.
    build: Option<Time>,
    is_building: bool,
    /// Files named since the build under way began.
    since: BTreeSet<PathBuf>,
    /// Files that were read since the last order, and changed whatever their time says.
    sure: BTreeSet<PathBuf>,
    /// Files changed since the last good build and not brought into it.
    missing: BTreeSet<PathBuf>,
    /// What is wrong with files that were not brought in.
    faults: BTreeMap<PathBuf, String>,
    /// What is wrong with the site, by the last whole build.
    fault: Option<String>,
}

impl<'a> Desk<'a> {
    /// Has the site built for the first time; `None` when told to stop meanwhile.
    pub(crate) fn open(
        look: Look,
        watch: Watch,
        whole: Whole,
        stall_limit: StallLimit,
        messages: &Receiver<Message>,
        announce: &'a dyn Fn(Event),
    ) -> Option<(Self, watch::Receiver<Arc<State>>)> {
        let (states, receiver) = watch::channel(Arc::new(State::new(None, None, None)));
        let mut desk = Self {
            look,
            watch,
            whole,
            stall_limit,
            announce,
            states,
            retouch: None,
            named: BTreeSet::new(),
            read: None,
            build: None,
            is_building: true,
            since: BTreeSet::new(),
            sure: BTreeSet::new(),
            missing: BTreeSet::new(),
            faults: BTreeMap::new(),
            fault: None,
        };
        desk.whole.order(BTreeSet::new());
        while desk.is_building {
            match messages.recv_timeout(until(desk.whole.due()).unwrap_or(Duration::MAX)) {
                Ok(message) => desk.hear(message)?,
                Err(RecvTimeoutError::Timeout) => desk.give_up_stalled(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        Some((desk, receiver))
    }

    /// Works until told to stop.
    pub(crate) fn work(&mut self, messages: &Receiver<Message>) {
        loop {
            let build = self.build.filter(|_| !self.is_building);
            let times = [self.read, build].into_iter().flatten().map(|time| time.due);
            let due = times.chain(self.whole.due()).min();
            let look_again = if self.watch.is_blind() { LOOK_AGAIN } else { Duration::MAX };
            let wait = until(due).unwrap_or(look_again);
            match messages.recv_timeout(wait) {
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if due.is_none() => self.order(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(message) => {
                    if self.hear(message).is_none() {
                        return;
                    }
                }
            }
            self.give_up_stalled();
            if self.read.is_some_and(Time::is_due) {
                self.read();
            }
            if self.build.is_some_and(Time::is_due) {
                self.order();
            }
        }
    }

    /// Takes a message in; `None` when it is the last.
    fn hear(&mut self, message: Message) -> Option<()> {
        match message {
            Message::Stop => return None,
            Message::BrowserFailed(why) => (self.announce)(Event::BrowserFailed { why }),
            Message::Built(order, work) if self.whole.ends(order) => self.take(work),
            Message::Built(..) => {}
            Message::Disk(paths) => {
                self.named.extend(paths);
                self.read = Some(Time::later(self.read, SAVED, LONGEST_SAVE));
                self.build = Some(Time::later(self.build, QUIET, LONGEST_BURST));
            }
        }
        Some(())
    }

    /// Has the whole site built, unless it is being built: then the next time comes when that is done.
    fn order(&mut self) {
        if self.is_building {
            return;
        }
        self.is_building = true;
        self.build = None;
        self.since.clear();
        self.whole.order(std::mem::take(&mut self.sure));
    }

    /// Gives a build up that makes no progress; what changed meanwhile is built next.
    fn give_up_stalled(&mut self) {
        if let Some(stalled) = self.whole.abandon_stalled() {
            self.since.clear();
            self.take(Some(stalled));
        }
    }

    /// Reads the files that were named, and brings them in if they are few.
    fn read(&mut self) {
        self.read = None;
        let named = std::mem::take(&mut self.named);
        self.watch.follow_again(&named);
        let paths: BTreeSet<PathBuf> = named.iter().filter_map(|path| self.look.counted(path)).collect();
        self.since.extend(paths.iter().cloned());
        self.missing.extend(paths.iter().cloned());
        let started = Instant::now();
        let faults = self.faults.clone();
        let brought = self.bring_in(&paths);
        if brought.done.is_empty() && brought.wrong.is_empty() {
            return;
        }
        self.sure.extend(brought.done.iter().chain(&brought.wrong).cloned());
        if self.missing.is_empty() {
            self.fault = None;
        }
        let served = self.states.borrow().site.clone();
        self.publish(served.map(|site| brought.shown_on(site)));
        let files = brought.files.iter().map(Outputs::len).sum();
        if files > 0 {
            self.build = Some(Time::later(self.build, SHOWN, LONGEST_BURST));
            let changes = Changes { paths: brought.done };
            (self.announce)(Event::Retouched { changes, files, took: started.elapsed() });
        }
        if self.faults != faults
            && let Some(plain) = self.wrong().filter(|_| !brought.wrong.is_empty())
        {
            (self.announce)(Event::Broken { changes: Changes { paths: brought.wrong }, plain });
        }
    }

    /// Brings files into the last good build, if they are there and few.
    fn bring_in(&mut self, paths: &BTreeSet<PathBuf>) -> Brought {
        let mut brought = Brought::default();
        let files = paths.iter().filter(|path| self.look.is_file(path));
        let files: BTreeSet<PathBuf> = files.take(FEW + 1).cloned().collect();
        if files.is_empty() || files.len() > FEW {
            return brought;
        }
        // Together, since one may name what another one has now; if that does not go, each that does.
        let mut parts = vec![files.clone()];
        while let Some(part) = parts.pop() {
            match self.call(&part) {
                Retouched::Files(outputs) => {
                    self.missing.retain(|path| !part.contains(path));
                    self.faults.retain(|path, _| !part.contains(path));
                    brought.files.push(outputs);
                    brought.done.extend(part);
                }
                Retouched::Broken { plain } => {
                    self.faults.extend(part.iter().map(|path| (path.clone(), plain.clone())));
                    brought.wrong.extend(part);
                }
                Retouched::Beyond if part.len() > 1 => {
                    parts.extend(part.into_iter().map(|path| BTreeSet::from([path])));
                }
                Retouched::Beyond => {}
            }
        }
        brought
    }

    fn call(&mut self, paths: &BTreeSet<PathBuf>) -> Retouched {
        let Some(mut retouch) = self.retouch.take() else { return Retouched::Beyond };
        let (sender, answer) = mpsc::channel();
        let paths = paths.clone();
        let work = move || {
            // A defect of ours must not end the session of an author; what it has worked on is not touched again.
            if let Ok(retouched) = catch_unwind(AssertUnwindSafe(|| retouch.call(&paths))) {
                // Nobody may be left to hear it.
                let _ = sender.send((retouch, retouched));
            }
        };
        // Without an answer in time, the whole build that follows says what is wrong.
        if thread::Builder::new().name("kbgen edit".to_string()).spawn(work).is_err() {
            return Retouched::Beyond;
        }
        let Ok((retouch, retouched)) = answer.recv_timeout(self.stall_limit.of_edit()) else {
            return Retouched::Beyond;
        };
        self.retouch = Some(retouch);
        retouched
    }

    /// Takes over what came of a whole build. What changed meanwhile is brought in; another build is due then.
    fn take(&mut self, work: Option<Work>) {
        self.is_building = false;
        let since = std::mem::take(&mut self.since);
        let Some(Work { changes, came, took }) = work else { return };
        let served = self.states.borrow().site.clone();
        match came {
            Ok(Good { site, retouch }) => {
                self.retouch = retouch;
                self.fault = None;
                self.faults.retain(|path, _| since.contains(path));
                self.missing.clone_from(&since);
                let site = self.bring_in(&since).shown_on(Arc::new(site));
                let files = site.files.len();
                self.publish(Some(site));
                (self.announce)(Event::Rebuilt { changes, files, took });
            }
            Err(plain) => {
                self.missing.extend(changes.paths.iter().cloned());
                // What is wrong may have been mended since.
                if since.is_empty() || served.is_none() {
                    let is_told = self.wrong().as_ref() == Some(&plain) && !self.faults.is_empty();
                    self.faults.clear();
                    self.fault = Some(plain.clone());
                    self.publish(served);
                    if !is_told {
                        (self.announce)(Event::Broken { changes, plain });
                    }
                }
            }
        }
    }

    /// What is wrong now.
    fn wrong(&self) -> Option<String> {
        let faults: BTreeSet<&str> = self.faults.values().map(String::as_str).collect();
        if faults.is_empty() { self.fault.clone() } else { Some(faults.into_iter().collect()) }
    }

    /// Serves a site, and tells open pages, if anything differs.
    fn publish(&self, site: Option<Arc<Site>>) {
        let before = Arc::clone(&self.states.borrow());
        let state = State::new(site, self.wrong(), Some(&before));
        if state.version() != before.version() || state.broken != before.broken {
            self.states.send_replace(Arc::new(state));
        }
    }
}

/// How long it is to a point in time.
fn until(due: Option<Instant>) -> Option<Duration> {
    due.map(|due| due.saturating_duration_since(Instant::now()))
}

/// What came of bringing files in.
#[derive(Debug, Default)]
struct Brought {
    /// What to exchange in the site.
    files: Vec<Outputs>,
    /// Paths that were brought in.
    done: BTreeSet<PathBuf>,
    /// Paths of files that are wrong.
    wrong: BTreeSet<PathBuf>,
}

impl Brought {
    /// A site with this brought in.
    fn shown_on(&self, site: Arc<Site>) -> Arc<Site> {
        let files = self.files.iter().filter(|files| !files.is_empty());
        files.fold(site, |site, files| Arc::new(site.with(files)))
    }
}

/// When something is to be done.
#[derive(Debug, Clone, Copy)]
struct Time {
    due: Instant,
    began: Instant,
}

impl Time {
    /// This long from now, but not longer than `longest` after it was first wanted, and no sooner than before.
    fn later(before: Option<Self>, wait: Duration, longest: Duration) -> Self {
        let now = Instant::now();
        let began = before.map_or(now, |before| before.began);
        let due = before.map_or(now + wait, |before| before.due.max(now + wait));
        Self { due: due.min(began + longest), began }
    }

    fn is_due(self) -> bool {
        self.due <= Instant::now()
    }
}
