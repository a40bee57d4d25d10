//! What clients may take: places, and time.

use std::time::{Duration, Instant};

use tokio::task::AbortHandle;

use crate::serve::wire::Progress;

/// How many connections there may be, and how long they may keep still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; a browser opens six. One more closes the one that kept still for longest.
    pub connections: usize,
    /// Event streams at a time, fewer than connections, so that pages can always be had.
    pub streams: usize,
    /// The time in which the head of a request must have come.
    pub head_time: Duration,
    /// The time in which some byte of an answer must go, for a reader who is slow.
    pub still_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            streams: 64,
            head_time: Duration::from_secs(10),
            still_time: Duration::from_secs(20),
        }
    }
}

/// The connections that are open.
#[derive(Debug)]
pub(crate) struct Seats {
    limits: Limits,
    began: Instant,
    taken: Vec<(Progress, AbortHandle)>,
}

impl Seats {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, began: Instant::now(), taken: Vec::new() }
    }

    /// What a new connection reports its progress to.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.began)
    }

    /// Gives a connection a seat. When there is none left, whoever kept still for longest leaves: who
    /// only sits there, or takes an answer in drops, must not keep a reader waiting.
    pub(crate) fn take(&mut self, progress: Progress, task: AbortHandle) {
        self.taken.retain(|(_, task)| !task.is_finished());
        if self.taken.len() >= self.limits.connections {
            self.free_one();
        }
        self.taken.push((progress, task));
    }

    /// Closes the connection that kept still for longest; never an event stream.
    pub(crate) fn free_one(&mut self) {
        let still =
            self.taken.iter().enumerate().filter_map(|(at, (progress, _))| Some((progress.last()?, at)));
        if let Some((_, at)) = still.min() {
            self.taken.remove(at).1.abort();
        }
    }

    /// Closes the connections whose client lets an answer lie.
    pub(crate) fn close_still(&mut self) {
        let now = self.began.elapsed();
        self.taken.retain(|(progress, task)| {
            let is_still = progress
                .last()
                .is_some_and(|last| now.saturating_sub(Duration::from_millis(last)) > self.limits.still_time);
            if is_still {
                task.abort();
            }
            !is_still && !task.is_finished()
        });
    }
}
