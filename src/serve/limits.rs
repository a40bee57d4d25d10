//! What clients may take: places, and time.

use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

use crate::serve::client_stream::Activity;

/// How many connections there may be, and how long they may keep still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; a browser opens six. One more closes the one that kept still for longest.
    pub connections: usize,
    /// Event streams at a time, fewer than connections, so that pages can always be had.
    pub streams: usize,
    /// The time in which the head of a request must have come.
    pub head_timeout: Duration,
    /// The time in which some byte of an answer must go, for a reader who is slow.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            streams: 64,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(20),
        }
    }
}

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct ConnectionLimiter {
    limits: Limits,
    began: Instant,
    open: Vec<(Activity, AbortHandle)>,
}

impl ConnectionLimiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, began: Instant::now(), open: Vec::new() }
    }

    /// What a new connection reports its progress to.
    pub(crate) fn activity(&self) -> Activity {
        Activity::new(self.began)
    }

    /// Gives a connection a seat. When there is none left, whoever kept still for longest leaves: who
    /// only sits there, or takes an answer in drops, must not keep a reader waiting.
    pub(crate) fn admit(&mut self, activity: Activity, task: AbortHandle) {
        self.open.retain(|(_, task)| !task.is_finished());
        if self.open.len() >= self.limits.connections {
            self.close_idlest();
        }
        self.open.push((activity, task));
    }

    /// Closes the connection that kept still for longest; never an event stream.
    pub(crate) fn close_idlest(&mut self) {
        let still =
            self.open.iter().enumerate().filter_map(|(at, (activity, _))| Some((activity.last()?, at)));
        if let Some((_, at)) = still.min() {
            self.open.remove(at).1.abort();
        }
    }

    /// Closes the connections whose client lets an answer lie.
    pub(crate) fn close_idle(&mut self) {
        let now = self.began.elapsed();
        self.open.retain(|(activity, task)| {
            let is_still = activity.last().is_some_and(|last| {
                now.saturating_sub(Duration::from_millis(last)) > self.limits.idle_timeout
            });
            if is_still {
                task.abort();
            }
            !is_still && !task.is_finished()
        });
    }
}
