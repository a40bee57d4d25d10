//! Server-sent events that keep open pages up to date.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::serve::state::State;

/// Interval of comments, which detect closed connections.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Reconnection delay of browsers.
const RETRY: &str = "retry: 1000\n\n";

/// Returns a body that sends the state now and after every build, until the page or the server is gone.
pub(crate) fn body(
    states: watch::Receiver<Arc<State>>,
    stopping: watch::Receiver<()>,
    permit: OwnedSemaphorePermit,
) -> Channel<Bytes, Infallible> {
    let (sender, channel) = Channel::new(4);
    tokio::spawn(async move {
        // A closed page ends the stream, which is not an error.
        let _ = stream_events(sender, states, stopping).await;
        drop(permit);
    });
    channel
}

async fn stream_events(
    mut client: Sender<Bytes, Infallible>,
    mut states: watch::Receiver<Arc<State>>,
    mut stopping: watch::Receiver<()>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    client.send_data(Bytes::from_static(RETRY.as_bytes())).await?;
    loop {
        let event = states.borrow_and_update().reload_event();
        client.send_data(event.into()).await?;
        loop {
            tokio::select! {
                changed = states.changed() => { changed?; break; }
                _ = stopping.changed() => return Ok(()),
                () = tokio::time::sleep(HEARTBEAT) => client.send_data(Bytes::from_static(b":\n\n")).await?,
            }
        }
    }
}
