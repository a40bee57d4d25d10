//! Limits on connections and idle time of clients.

use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

use crate::serve::client_stream::Activity;

/// Limits of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections. A browser opens six. An additional connection closes the longest idle one.
    pub connections: usize,
    /// Maximum number of event streams, below `connections` so that pages remain available.
    pub streams: usize,
    /// Timeout for receiving a request head.
    pub head_timeout: Duration,
    /// Timeout without any transferred byte, for slow readers.
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

/// Open connections.
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

    /// Returns the activity tracker for a new connection.
    pub(crate) fn activity(&self) -> Activity {
        Activity::new(self.began)
    }

    /// Adds a connection. At the limit, the longest idle connection is closed, so that idle or slow clients do not
    /// block others.
    pub(crate) fn admit(&mut self, activity: Activity, task: AbortHandle) {
        self.open.retain(|(_, task)| !task.is_finished());
        if self.open.len() >= self.limits.connections {
            self.close_idlest();
        }
        self.open.push((activity, task));
    }

    /// Closes the longest idle connection that is not an event stream.
    pub(crate) fn close_idlest(&mut self) {
        let idle =
            self.open.iter().enumerate().filter_map(|(at, (activity, _))| Some((activity.last()?, at)));
        if let Some((_, at)) = idle.min() {
            self.open.remove(at).1.abort();
        }
    }

    /// Closes connections that exceed the idle timeout.
    pub(crate) fn close_idle(&mut self) {
        let now = self.began.elapsed();
        self.open.retain(|(activity, task)| {
            let is_idle = activity.last().is_some_and(|last| {
                now.saturating_sub(Duration::from_millis(last)) > self.limits.idle_timeout
            });
            if is_idle {
                task.abort();
            }
            !is_idle && !task.is_finished()
        });
    }
}
