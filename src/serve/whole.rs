//! The thread of whole builds: it looks at all files, and builds when one of them changed.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::serve::look::Look;
use crate::serve::site::Site;
use crate::serve::{Changes, Rebuild, Retouch};

/// The thread. It ends when it is dropped and what it works on is done.
#[derive(Debug)]
pub(crate) struct Whole {
    orders: Option<Sender<BTreeSet<PathBuf>>>,
    thread: Option<JoinHandle<()>>,
}

/// What came of a build.
#[derive(Debug)]
pub(crate) struct Work {
    /// What it was made for.
    pub(crate) changes: Changes,
    /// The site, or as plain text what is wrong.
    pub(crate) came: Result<Good, String>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// A site that was built.
#[derive(Debug)]
pub(crate) struct Good {
    pub(crate) site: Site,
    pub(crate) retouch: Option<Retouch>,
}

impl Whole {
    /// Starts the thread; the first order is built in any case. `tell` hears what came of each order, and `None` when
    /// no file had changed.
    pub(crate) fn start(
        look: Look,
        mut rebuild: impl FnMut(&Changes) -> Rebuild + Send + 'static,
        tell: impl Fn(Option<Work>) + Send + 'static,
    ) -> Result<Self> {
        let (orders, inbox) = mpsc::channel::<BTreeSet<PathBuf>>();
        let work = move || {
            let mut seen = None;
            for sure in inbox {
                let now = look.look();
                let mut changes = Changes { paths: sure };
                if let Some(before) = &seen {
                    changes.paths.extend(look.changes(before, &now).paths);
                }
                let is_due = seen.is_none() || !changes.paths.is_empty();
                seen = Some(now);
                tell(is_due.then(|| build(changes, &mut rebuild)));
            }
        };
        let thread = thread::Builder::new().name("kbgen whole build".to_string()).spawn(work);
        Ok(Self { orders: Some(orders), thread: Some(thread.context("cannot start a thread")?) })
    }

    /// Looks, and builds if a file changed; `sure` are paths that did in any case.
    pub(crate) fn order(&self, sure: BTreeSet<PathBuf>) {
        if let Some(orders) = &self.orders {
            // The thread lives as long as this.
            let _ = orders.send(sure);
        }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn build(changes: Changes, rebuild: &mut impl FnMut(&Changes) -> Rebuild) -> Work {
    let started = Instant::now();
    // A defect of ours must not end the session of an author; what the closure caches is its own affair.
    let came = match catch_unwind(AssertUnwindSafe(|| rebuild(&changes))) {
        Ok(Rebuild::Site(outputs)) => Ok(Good { site: Site::new(&outputs), retouch: None }),
        Ok(Rebuild::Kept { outputs, retouch }) => {
            Ok(Good { site: Site::new(&outputs), retouch: Some(retouch) })
        }
        Ok(Rebuild::Broken { plain }) => Err(plain),
        Err(panic) => Err(format!("kbgen itself failed, which is a defect of kbgen: {}", words(&*panic))),
    };
    Work { changes, came, took: started.elapsed() }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
