//! The stream of events that keeps an open page as new as the site.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::serve::state::State;

/// A comment is sent this often, so that a page that is gone without a word is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How soon a browser tries again after the server went away.
const RETRY: &str = "retry: 1000\n\n";

/// A body that tells the state now and after every build, until the page or the server goes away.
pub(crate) fn body(
    states: watch::Receiver<Arc<State>>,
    stopping: watch::Receiver<()>,
    permit: OwnedSemaphorePermit,
) -> Channel<Bytes, Infallible> {
    let (sender, channel) = Channel::new(4);
    tokio::spawn(async move {
        // A page that is gone ends the stream, which is no error.
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
