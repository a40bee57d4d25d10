//! Client socket with strict HTTP parsing and activity tracking.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Time of the last transferred bytes, in milliseconds since the server started.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    began: Instant,
    last: Arc<AtomicU64>,
}

impl Activity {
    /// Starts with a connection accepted now.
    pub(crate) fn new(began: Instant) -> Self {
        let activity = Self { began, last: Arc::default() };
        activity.record();
        activity
    }

    /// Returns the time of the last transfer, or `None` if the connection may be idle.
    pub(crate) fn last(&self) -> Option<u64> {
        Some(self.last.load(Ordering::Relaxed)).filter(|last| *last != u64::MAX)
    }

    /// Allows the connection to be idle from now on.
    pub(crate) fn disable_timeout(&self) {
        self.last.store(u64::MAX, Ordering::Relaxed);
    }

    fn record(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last.fetch_max(now, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct ClientStream {
    stream: TcpStream,
    activity: Activity,
    validator: HeadValidator,
}

impl ClientStream {
    pub(crate) fn new(stream: TcpStream, activity: Activity) -> Self {
        Self { stream, activity, validator: HeadValidator::default() }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let known = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.validator.validate(&mut buffer.filled_mut()[known..]);
        self.activity.record();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.activity.record();
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, parts))?;
        self.activity.record();
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Rejects requests that hyper accepts although RFC 9112 forbids them: lines that do not end in CR LF (a proxy may see
/// other lines), and request lines with a fragment or non-ASCII bytes.
///
/// An invalid byte becomes NUL, which no header may contain, so that hyper answers 400 and closes. Requests with a
/// body are rejected, so every byte belongs to a request head.
#[derive(Debug, Default)]
struct HeadValidator {
    /// Whether the last byte was CR.
    after_cr: bool,
    /// Bytes of the current line, without its end.
    length: usize,
    /// Whether the request line of this head is complete.
    past_request_line: bool,
}

impl HeadValidator {
    fn validate(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let fits = match *byte {
                b'\n' => self.after_cr,
                _ if self.after_cr => false,
                b'#' | 0x80.. => self.past_request_line,
                _ => true,
            };
            if !fits {
                *byte = 0;
            }
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        match byte {
            // An empty line ends the head, or is ignored before the request line.
            b'\n' => (self.past_request_line, self.length) = (self.length > 0, 0),
            b'\r' => {}
            _ => self.length += 1,
        }
        self.after_cr = byte == b'\r';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes that hyper receives.
    fn validated(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let mut validator = HeadValidator::default();
        // The split into reads must not matter.
        let (first, rest) = bytes.split_at_mut(text.len() / 2);
        validator.validate(first);
        validator.validate(rest);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn a_valid_head_is_unchanged() {
        for head in [
            "GET /a?b HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nNote: # ä\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ] {
            assert_eq!(validated(head), head);
        }
    }

    #[test]
    fn invalid_bytes_become_nul() {
        for (head, given) in [
            ("GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\0Host: a\r\n\r\n"),
            ("GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", "GET / HTTP/1.1\r\nA: b\r\0: d\r\n\r\n"),
            ("GET /#b HTTP/1.1\r\n\r\n", "GET /\0b HTTP/1.1\r\n\r\n"),
            ("GET /ä HTTP/1.1\r\n\r\n", "GET /\0\0 HTTP/1.1\r\n\r\n"),
            (
                "GET / HTTP/1.1\r\n\r\nGET /#b HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\n\r\nGET /\0b HTTP/1.1\r\n\r\n",
            ),
        ] {
            assert_eq!(validated(head), given);
        }
    }
}
