//! The thread that keeps the site as new as its files: it starts the others and is told by all of them.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;

use anyhow::{Context, Result};

use crate::serve::address::{self, Hosts};
use crate::serve::connection::{self, Ends};
use crate::serve::desk::Desk;
use crate::serve::look::Look;
use crate::serve::tracker::Tracker;
use crate::serve::watch::Watch;
use crate::serve::whole::{News, Order, Whole};
use crate::serve::{Changes, Event, Open, Rebuild, ServeOptions, browser};

/// Message to the builder.
#[derive(Debug)]
pub(crate) enum Message {
    /// Something happened to the files at these paths; none when the system lost count.
    Disk(Vec<PathBuf>),
    /// Result of a requested build.
    Built(Order, News),
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
    pub(crate) fn run(
        self,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        announce: impl Fn(Event),
    ) {
        let done = self.done.clone();
        if let Err(error) = self.serve(rebuild, announce) {
            // Nobody may be left to hear it.
            let _ = done.send(Err(error));
        }
    }

    fn serve(
        self,
        rebuild: impl Fn(&Changes, &Tracker) -> Rebuild + Send + Sync + 'static,
        announce: impl Fn(Event),
    ) -> Result<()> {
        let Self { options, listener, address, ends, inbox, messages, done } = self;
        if options.port != 0 && address.port() != options.port {
            announce(Event::PortTaken { wanted: options.port, used: address.port() });
        }
        if !options.interface.is_loopback() {
            announce(Event::Exposed { interface: options.interface });
        }
        let look = Look::new(&options);
        let disk = inbox.clone();
        let (watch, why) = Watch::start(&look, move |paths| drop(disk.send(Message::Disk(paths))));
        if let Some(why) = &why {
            announce(Event::WatchFailed { why: why.clone() });
        }
        let built = inbox.clone();
        let tell = move |order, news| drop(built.send(Message::Built(order, news)));
        let whole = Whole::new(look.clone(), options.stall_limit.clone(), rebuild, tell);
        let Some((mut desk, receiver)) = Desk::open(look, watch, whole, &messages, &announce) else {
            return Ok(());
        };
        let hosts = Hosts { interface: options.interface, names: options.names };
        let server = thread::Builder::new().name("kbgen server".to_string()).spawn(move || {
            // Nobody may be left to hear it.
            let _ = done.send(connection::serve(listener, hosts, options.limits, receiver, ends));
        });
        let server = server.context("cannot start a thread")?;
        let url = address::url(address);
        announce(Event::Listening { url: url.clone() });
        if options.open == Open::Browser {
            open_browser(url, inbox);
        }
        desk.work(&messages);
        // The server ends when it has no more news to wait for.
        drop(desk);
        let _ = server.join();
        Ok(())
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
