//! Development server: serves the site from memory and reloads pages when a file changes.
//!
//! Three threads: one schedules builds and abandons those without progress, one builds, one answers requests. The
//! server thread receives states: the last good site and the errors of the newest build. It ends with the scheduler.

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

/// Options of the server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address to listen on. A non-loopback address exposes the site to the network.
    pub interface: IpAddr,
    /// Port to listen on, or else the next free one; 0 selects any free port.
    pub port: u16,
    /// Host names that requests may use besides `localhost` and addresses of this machine.
    pub names: Vec<HostName>,
    /// Limits on connections.
    pub limits: Limits,
    /// Maximum time without progress of a build.
    pub stall_limit: StallLimit,
    /// Site root. Paths in [`Changes`] are relative to it.
    pub root: PathBuf,
    /// Files and folders to watch, absolute or relative to the root. They need not exist.
    pub watch: Vec<PathBuf>,
    /// Folders to ignore, such as the output folder, absolute or relative to the root.
    pub ignore: Vec<PathBuf>,
    /// Whether to open a browser after the first build.
    pub open: OpenBrowser,
}

/// Whether to open a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenBrowser {
    /// Opens no browser.
    No,
    /// Opens the default browser.
    Yes,
}

/// Changes since the last build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Paths of added, changed and removed files, relative to the root. Empty for the first build, which reads
    /// everything.
    pub paths: BTreeSet<PathBuf>,
    /// Addresses from the root of the pages that browsers asked for last.
    pub viewed: BTreeSet<String>,
}

/// Result of a build.
#[derive(Debug)]
pub enum Rebuild {
    /// Files of the new site.
    Site(Outputs),
    /// The build failed. The last good site remains, with this text shown on every page.
    Broken {
        /// Errors as plain text.
        plain: String,
    },
}

/// Content that is served after a failed build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The last successful build.
    LastBuild,
    /// Only the errors, since no build has succeeded.
    Errors,
}

/// Event to show to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The first build is complete and the server answers requests.
    Listening {
        /// URL to open in a browser.
        url: String,
    },
    /// The requested port is in use.
    PortInUse {
        /// Requested port.
        requested: u16,
        /// Free port used instead.
        used: u16,
    },
    /// The interface is not a loopback address, so others in the network can read the site.
    Exposed {
        /// Address that the server listens on.
        interface: IpAddr,
    },
    /// A build succeeded.
    Rebuilt {
        /// Changes that triggered the build.
        changes: Changes,
        /// Number of files in the site.
        files: usize,
        /// Duration of the build.
        took: Duration,
    },
    /// The first files of a build are published; the others follow.
    PartiallyRebuilt {
        /// Changes that triggered the build.
        changes: Changes,
        /// Number of published files.
        files: usize,
        /// Time since the start of the build.
        took: Duration,
    },
    /// A build failed.
    Broken {
        /// Changes that triggered the build.
        changes: Changes,
        /// Errors as plain text.
        plain: String,
        /// Content that is served instead.
        served: Served,
    },
    /// The system does not report file changes, for example on a network disk. The server polls every second instead.
    WatchFailed {
        /// Error of the system.
        why: String,
    },
    /// The browser did not start.
    BrowserFailed {
        /// Error of the system.
        why: String,
    },
}

/// Server running in the background. Stops on drop.
#[derive(Debug)]
pub struct Running {
    /// Address that the server listens on.
    pub address: SocketAddr,
    inbox: Sender<Message>,
    done: Receiver<Result<()>>,
    builder: Option<JoinHandle<()>>,
}

/// Serves until Ctrl-C: builds, answers requests, and builds again whenever a watched file changes.
///
/// # Errors
/// If no port is available.
pub fn run(
    options: ServeOptions,
    rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
    announce: impl Fn(Event) + Send + 'static,
) -> Result<()> {
    let running = launch(options, rebuild, announce, ShutdownTrigger::Signal)?;
    // The server thread reports its own end, so that Ctrl-C does not wait for a build.
    running.done.recv().unwrap_or(Ok(()))
}

/// Like `run`, but returns as soon as the port is open and ignores Ctrl-C.
///
/// The first build continues in the background. Requests are answered after it, when [`Event::Listening`] is
/// announced.
///
/// # Errors
/// If no port is available.
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
        .with_context(|| format!("cannot find folder `{}`", options.root.display()))?;
    let listener = address::listen(options.interface, options.port)?;
    let address = listener.local_addr().context("cannot determine the listening port")?;
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
        .name("kbgen serve".to_string())
        .spawn(move || builder.run(rebuild, announce))
        .context("cannot start a thread")?;
    Ok(Running { address, inbox, done, builder: Some(builder) })
}

impl Running {
    /// Stops after the running build and responses, and closes the port.
    ///
    /// # Errors
    /// If the server failed to start.
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
        // The builder may have ended already.
        let _ = self.inbox.send(Message::Stop);
    }
}
