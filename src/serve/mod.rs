//! Shows a site while it is written: from memory, on this machine, reloaded when a file changes.
//!
//! Three threads: one schedules builds and gives those up that make no progress, one builds after every change, one answers
//! requests. What passes to the last is a state: the last good site and, when the newest build failed, what is wrong. The
//! server ends when the first does.

mod address;
mod browser;
mod build_runner;
mod builder;
mod client_stream;
mod connection;
mod events;
mod headers;
mod limits;
mod pages;
mod path;
mod range;
mod respond;
mod scheduler;
mod site;
mod snapshot;
mod state;
mod styles;
mod tracker;
mod viewed;
mod watch;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::files::Outputs;
use crate::serve::builder::{Builder, Message};
use crate::serve::connection::ShutdownTrigger;

pub use crate::serve::address::HostName;
pub use crate::serve::limits::Limits;
pub use crate::serve::tracker::{StallLimit, Tracker};

/// What to serve, where.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The address to listen on; anything but a loopback address shows the site to the network.
    pub interface: IpAddr,
    /// The port to listen on, or else the next free one; 0 takes any free port.
    pub port: u16,
    /// Names that requests may call the server by, besides `localhost` and addresses of this machine.
    pub names: Vec<HostName>,
    /// What clients may take.
    pub limits: Limits,
    /// How long a build may make no progress.
    pub stall_limit: StallLimit,
    /// The site's root; [`Changes`] name their paths from here.
    pub root: PathBuf,
    /// Files and folders whose changes rebuild the site, absolute or from the root; they need not exist.
    pub watch: Vec<PathBuf>,
    /// Folders whose changes do not count, such as an output folder, absolute or from the root.
    pub ignore: Vec<PathBuf>,
    /// Whether a browser is opened once the site is there.
    pub open: OpenBrowser,
}

/// Whether a browser is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenBrowser {
    /// Leaves the browser alone.
    No,
    /// The system's own one is.
    Yes,
}

/// What changed since the last build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files that were made, changed or removed, from the root. None for the first build, which reads everything.
    pub paths: BTreeSet<PathBuf>,
    /// Addresses from the root of the pages that browsers asked for last.
    pub viewed: BTreeSet<String>,
}

/// What a build came to.
#[derive(Debug)]
pub enum Rebuild {
    /// The files of the new site.
    Site(Outputs),
    /// There is no new site; the last good one stays, and every page shows this text over itself.
    Broken {
        /// What is wrong, as plain text.
        plain: String,
    },
}

/// What the caller may tell its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The site is there.
    Listening {
        /// Its address, to be opened in a browser.
        url: String,
    },
    /// Another program listens on the wanted port.
    PortTaken {
        /// The port that was asked for.
        wanted: u16,
        /// The free port that is used instead.
        used: u16,
    },
    /// The interface is not a loopback address: others in the network can read the site.
    Exposed {
        /// The address listened on.
        interface: IpAddr,
    },
    /// A build went well, the first one included.
    Rebuilt {
        /// What it was made for.
        changes: Changes,
        /// How many files the site has.
        files: usize,
        /// How long the build took.
        took: Duration,
    },
    /// The first files of a build are shown; the others follow.
    PartiallyRebuilt {
        /// Which files.
        changes: Changes,
        /// How many files of the site they changed.
        files: usize,
        /// How long it took.
        took: Duration,
    },
    /// A build failed, or a few files are wrong.
    Broken {
        /// What it was made for.
        changes: Changes,
        /// What is wrong, as plain text.
        plain: String,
    },
    /// The system does not report changes (a limit, a network disk); the files are looked at every second instead.
    WatchFailed {
        /// What the system says.
        why: String,
    },
    /// The browser did not start.
    BrowserFailed {
        /// What the system says.
        why: String,
    },
}

/// A server at work in the background. Dropped, it stops.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    inbox: Sender<Message>,
    done: Receiver<Result<()>>,
    builder: Option<JoinHandle<()>>,
}

/// Serves until Ctrl-C: builds, answers requests, and builds again whenever a watched file changes.
///
/// # Errors
/// When no port can be listened on.
pub fn run(
    options: ServeOptions,
    rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
    announce: impl Fn(Event) + Send + 'static,
) -> Result<()> {
    let running = launch(options, rebuild, announce, ShutdownTrigger::Signal)?;
    // The server reports its own end, so that a long build does not keep Ctrl-C waiting.
    running.done.recv().unwrap_or(Ok(()))
}

/// As `run`, but returns once the port is held; Ctrl-C is not looked at.
///
/// The first build goes on in the background: requests are answered after it, and so is [`Event::Listening`].
///
/// # Errors
/// When no port can be listened on.
pub fn start(
    options: ServeOptions,
    rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
    announce: impl Fn(Event) + Send + 'static,
) -> Result<Running> {
    launch(options, rebuild, announce, ShutdownTrigger::BuilderStopped)
}

fn launch(
    options: ServeOptions,
    rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
    announce: impl Fn(Event) + Send + 'static,
    trigger: ShutdownTrigger,
) -> Result<Running> {
    let root = std::fs::canonicalize(&options.root)
        .with_context(|| format!("cannot find the folder `{}`", options.root.display()))?;
    let listener = address::listen(options.interface, options.port)?;
    let address = listener.local_addr().context("cannot tell the port that was opened")?;
    let (inbox, messages) = mpsc::channel();
    let (done_sender, done) = mpsc::channel();
    let builder = Builder {
        options: ServeOptions { root, ..options },
        listener,
        address,
        trigger,
        inbox: inbox.clone(),
        messages,
        done: done_sender,
    };
    let builder = thread::Builder::new()
        .name("kbgen build".to_string())
        .spawn(move || builder.run(rebuild, announce))
        .context("cannot start a thread")?;
    Ok(Running { address, inbox, done, builder: Some(builder) })
}

impl Running {
    /// Stops after the build and the responses under way, and frees the port.
    ///
    /// # Errors
    /// When the server could not be run at all.
    pub fn stop(mut self) -> Result<()> {
        let _ = self.inbox.send(Message::Stop);
        if let Some(builder) = self.builder.take() {
            let _ = builder.join();
        }
        self.done.try_recv().unwrap_or(Ok(()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A builder that has ended already needs no word.
        let _ = self.inbox.send(Message::Stop);
    }
}
