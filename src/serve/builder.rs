//! Coordinating thread of the development server. It starts builds and connections, and receives their messages.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use anyhow::{Context, Result};

use crate::serve::address::{self, Hosts};
use crate::serve::build_runner::{BuildEvent, BuildId, BuildRunner};
use crate::serve::connection::{self, ShutdownTrigger};
use crate::serve::scheduler::Scheduler;
use crate::serve::snapshot::WatchedFiles;
use crate::serve::tracker::Tracker;
use crate::serve::viewed::ViewedPages;
use crate::serve::watch::Watch;
use crate::serve::{Changes, Event, OpenBrowser, Rebuild, ServeOptions, browser};

/// Message to the builder.
#[derive(Debug)]
pub(crate) enum Message {
    /// File-system event for these paths. Empty if the system lost events.
    FilesChanged(Vec<PathBuf>),
    /// Event of the build with this number.
    Build(BuildId, BuildEvent),
    /// The browser did not start.
    BrowserFailed(String),
    Stop,
}

/// State of the builder thread.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) options: ServeOptions,
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) trigger: ShutdownTrigger,
    pub(crate) inbox: Sender<Message>,
    pub(crate) messages: Receiver<Message>,
    pub(crate) done: Sender<Result<()>>,
}

impl Builder {
    /// Builds, starts the server, and rebuilds until it receives [`Message::Stop`].
    pub(crate) fn run(
        self,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        announce: impl Fn(Event),
    ) {
        let done = self.done.clone();
        if let Err(error) = self.serve(rebuild, announce) {
            // The receiver may be gone.
            let _ = done.send(Err(error));
        }
    }

    fn serve(
        self,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        announce: impl Fn(Event),
    ) -> Result<()> {
        let Self { options, listener, address, trigger, inbox, messages, done } = self;
        if options.port != 0 && address.port() != options.port {
            announce(Event::PortInUse { requested: options.port, used: address.port() });
        }
        if !options.interface.is_loopback() {
            announce(Event::Exposed { interface: options.interface });
        }
        let files = WatchedFiles::new(&options);
        let disk = inbox.clone();
        let (watch, why) = Watch::start(&files, move |paths| drop(disk.send(Message::FilesChanged(paths))));
        if let Some(why) = &why {
            announce(Event::WatchFailed { why: why.clone() });
        }
        let built = inbox.clone();
        let report = move |id, news| drop(built.send(Message::Build(id, news)));
        let viewed = ViewedPages::default();
        let runner =
            BuildRunner::new(files.clone(), viewed.clone(), options.stall_limit.clone(), rebuild, report);
        let Some((mut scheduler, receiver)) = Scheduler::open(files, watch, runner, &messages, &announce)
        else {
            return Ok(());
        };
        let hosts = Hosts { interface: options.interface, names: options.names };
        let server = thread::Builder::new().name("kbgen server".to_string()).spawn(move || {
            // The receiver may be gone.
            let _ = done.send(connection::serve(listener, hosts, options.limits, receiver, viewed, trigger));
        });
        let server = server.context("cannot start a thread")?;
        let url = address::url(address);
        announce(Event::Listening { url: url.clone() });
        if options.open == OpenBrowser::Yes {
            open_browser(url, inbox);
        }
        scheduler.run(&messages);
        // Dropping the sender of states ends the server.
        drop(scheduler);
        let _ = server.join();
        Ok(())
    }
}

fn open_browser(url: String, inbox: Sender<Message>) {
    // The command may run as long as the browser.
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
