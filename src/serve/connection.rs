//! Accepts connections and enforces limits of time, size and number.

use std::convert::Infallible;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::serve::address::Hosts;
use crate::serve::client_stream::{Activity, ClientStream};
use crate::serve::events;
use crate::serve::limits::{ConnectionLimiter, Limits};
use crate::serve::respond::{Reply, plain, respond};
use crate::serve::state::State;
use crate::serve::viewed::ViewedPages;

/// Maximum size of a request head, in bytes.
const HEAD_BYTES: usize = 32 * 1024;
/// Time for running responses to finish when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// Interval of the check for idle clients.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(500);

type Body = Either<Full<Bytes>, Channel<Bytes, Infallible>>;

/// Event that stops the server, besides the end of the builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownTrigger {
    /// No other event.
    BuilderStopped,
    /// Ctrl-C or SIGTERM.
    Signal,
}

/// State shared by all connections.
#[derive(Clone)]
struct Shared {
    states: watch::Receiver<Arc<State>>,
    stopping: watch::Receiver<()>,
    streams: Arc<Semaphore>,
    hosts: Arc<Hosts>,
    viewed: ViewedPages,
    limits: Limits,
}

/// Answers requests until the sender of `states` is dropped or a signal arrives.
///
/// # Errors
/// If the event loop cannot be created.
pub(crate) fn serve(
    listener: TcpListener,
    hosts: Hosts,
    limits: Limits,
    states: watch::Receiver<Arc<State>>,
    viewed: ViewedPages,
    trigger: ShutdownTrigger,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the server's event loop")?;
    let (running, stopping) = watch::channel(());
    let streams = Arc::new(Semaphore::new(limits.streams));
    let shared = Shared { states, stopping, streams, hosts: Arc::new(hosts), viewed, limits };
    let served = runtime.block_on(accept(listener, shared, running, trigger));
    runtime.shutdown_background();
    served
}

async fn accept(
    listener: TcpListener,
    shared: Shared,
    running: watch::Sender<()>,
    trigger: ShutdownTrigger,
) -> Result<()> {
    listener.set_nonblocking(true).context("cannot listen without blocking")?;
    let listener = tokio::net::TcpListener::from_std(listener).context("cannot listen")?;
    let mut states = shared.states.clone();
    let mut shutdown = pin!(shutdown(&mut states, trigger));
    let mut limiter = ConnectionLimiter::new(shared.limits);
    let mut connections = JoinSet::new();
    let mut idle_check = tokio::time::interval(IDLE_CHECK_INTERVAL);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            _ = idle_check.tick() => limiter.close_idle(),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let activity = limiter.activity();
                    let task = connections.spawn(handle_connection(stream, activity.clone(), shared.clone()));
                    limiter.admit(activity, task);
                }
                // Out of file handles, or the client is gone. Retry after a short delay.
                Err(_) => {
                    limiter.close_idlest();
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
        }
    }
    drop(listener);
    drop(running);
    let remaining = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, remaining).await;
    Ok(())
}

/// Completes when the builder is gone or a signal arrives.
async fn shutdown(states: &mut watch::Receiver<Arc<State>>, trigger: ShutdownTrigger) {
    let builder = async { while states.changed().await.is_ok() {} };
    match trigger {
        ShutdownTrigger::BuilderStopped => builder.await,
        ShutdownTrigger::Signal => tokio::select! {
            () = builder => {}
            () = signal() => {}
        },
    }
}

async fn signal() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    // Without signal handling, the system ends the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Serves one connection.
async fn handle_connection(stream: TcpStream, activity: Activity, shared: Shared) {
    let mut stopping = shared.stopping.clone();
    let head_timeout = shared.limits.head_timeout;
    let wire = ClientStream::new(stream, activity.clone());
    let service = service_fn(move |request| {
        let response = answer(request, &shared, &activity);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(2 * HEAD_BYTES)
        .serve_connection(TokioIo::new(wire), service);
    let mut connection = pin!(connection);
    // Connection errors are ignored.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

fn answer(request: Request<Incoming>, shared: &Shared, activity: &Activity) -> Response<Body> {
    let (request, _) = request.into_parts();
    let state = shared.states.borrow().clone();
    match respond(&request, &state, &shared.hosts) {
        Reply::Full(response) => {
            let path = request.uri.path();
            if response.status() == StatusCode::OK && path.ends_with('/') {
                shared.viewed.record(path.trim_start_matches('/'));
            }
            response.map(|bytes| Either::Left(Full::new(bytes)))
        }
        Reply::EventStream(headers) => {
            let Ok(permit) = shared.streams.clone().try_acquire_owned() else {
                return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many open pages.\n")
                    .map(|bytes| Either::Left(Full::new(bytes)));
            };
            activity.disable_timeout();
            let body = events::body(shared.states.clone(), shared.stopping.clone(), permit);
            let mut response = Response::new(Either::Right(body));
            *response.headers_mut() = headers;
            response
        }
    }
}
