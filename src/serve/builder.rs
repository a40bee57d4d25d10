//! The thread that builds: first, and after every burst of changes.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use notify_debouncer_mini::DebounceEventResult;
use tokio::sync::watch;

use crate::serve::address::{self, Hosts};
use crate::serve::connection::{self, Ends};
use crate::serve::state::State;
use crate::serve::watch::{BURST, Watch};
use crate::serve::{Changes, Event, Open, Rebuild, ServeOptions, browser};

/// A burst is over when nothing happened for this long: longer than the events are held back.
const QUIET: Duration = Duration::from_millis(BURST.as_millis() as u64 * 3 / 2);
/// A burst that does not end is built in between.
const LONGEST_BURST: Duration = Duration::from_secs(2);
/// How often the files are looked at when the system tells of no events.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What the builder is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// Something happened to files, or the system lost count.
    Disk(DebounceEventResult),
    /// The browser did not start.
    BrowserFailed(String),
    /// End.
    Stop,
}

/// All that the building thread owns.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) options: ServeOptions,
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) ends: Ends,
    pub(crate) inbox: Sender<Message>,
    pub(crate) messages: Receiver<Message>,
    pub(crate) done: Sender<Result<()>>,
}

impl Builder {
    /// Builds, starts the server, and builds again until told to stop.
    pub(crate) fn run(self, mut rebuild: impl FnMut(&Changes) -> Rebuild, announce: impl Fn(Event)) {
        let Self { options, listener, address, ends, inbox, messages, done } = self;
        if options.port != 0 && address.port() != options.port {
            announce(Event::PortTaken { wanted: options.port, used: address.port() });
        }
        if !options.interface.is_loopback() {
            announce(Event::Exposed { interface: options.interface });
        }
        let disk = inbox.clone();
        let (mut watch, why) = Watch::start(&options, move |events| drop(disk.send(Message::Disk(events))));
        let looks_alone = why.is_some();
        if let Some(why) = why {
            announce(Event::WatchFailed { why });
        }
        let first = build(Changes::default(), None, &mut rebuild, &announce);
        let (states, receiver) = watch::channel(Arc::new(first));
        let hosts = Hosts { interface: options.interface, names: options.names };
        let served = done.clone();
        let server = thread::Builder::new().name("kbgen server".to_string()).spawn(move || {
            // Nobody may be left to hear it.
            let _ = served.send(connection::serve(listener, hosts, options.limits, receiver, ends));
        });
        let server = match server.context("cannot start a thread") {
            Ok(server) => server,
            Err(error) => return drop(done.send(Err(error))),
        };
        let url = address::url(address);
        announce(Event::Listening { url: url.clone() });
        if options.open == Open::Browser {
            open_browser(url, inbox);
        }
        let longest_wait = if looks_alone { LOOK_AGAIN } else { Duration::MAX };
        while let Some(events) = next_burst(&messages, longest_wait, &announce) {
            let changes = watch.changes(&events);
            if changes.paths.is_empty() {
                continue;
            }
            let before = states.borrow().clone();
            let state = build(changes, Some(&before), &mut rebuild, &announce);
            states.send_replace(Arc::new(state));
        }
        drop(states);
        let _ = server.join();
    }
}

/// One build, told of in an event.
fn build(
    changes: Changes,
    before: Option<&State>,
    rebuild: &mut impl FnMut(&Changes) -> Rebuild,
    announce: &impl Fn(Event),
) -> State {
    let started = Instant::now();
    // A defect of ours must not end the session of an author; what the closure caches is its own affair.
    let result = catch_unwind(AssertUnwindSafe(|| rebuild(&changes)));
    match result {
        Ok(Rebuild::Site(outputs)) => {
            let state = State::good(&outputs, before);
            announce(Event::Rebuilt { changes, files: outputs.len(), took: started.elapsed() });
            state
        }
        Ok(Rebuild::Broken { plain }) => {
            announce(Event::Broken { changes, plain: plain.clone() });
            State::broken(plain, before)
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            let plain = format!("kbgen itself failed, which is a defect of kbgen: {message}");
            announce(Event::Broken { changes, plain: plain.clone() });
            State::broken(plain, before)
        }
    }
}

/// Waits for a burst of events to end; the paths they name, or `None` when the server shall stop.
fn next_burst(
    messages: &Receiver<Message>,
    longest_wait: Duration,
    announce: &impl Fn(Event),
) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    let mut wait = longest_wait;
    let mut began = None;
    loop {
        match messages.recv_timeout(wait) {
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => return Some(paths),
            Ok(Message::BrowserFailed(why)) => announce(Event::BrowserFailed { why }),
            Ok(Message::Disk(events)) => {
                paths.extend(events.unwrap_or_default().into_iter().map(|event| event.path));
                let began = *began.get_or_insert_with(Instant::now);
                if began.elapsed() > LONGEST_BURST {
                    return Some(paths);
                }
                wait = QUIET;
            }
        }
    }
}

fn open_browser(url: String, inbox: Sender<Message>) {
    // The command may last as long as the browser does.
    let opened = thread::Builder::new().name("kbgen browser".to_string()).spawn({
        let inbox = inbox.clone();
        move || {
            if let Err(why) = browser::open(&url) {
                let _ = inbox.send(Message::BrowserFailed(why));
            }
        }
    });
    if let Err(error) = opened {
        let _ = inbox.send(Message::BrowserFailed(error.to_string()));
    }
}
