//! HTTP requests by curl. The bytes and the time of a client are bounded, and a token is sent to the Hugging Face Hub
//! only.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use url::Url;

use crate::cli::curl;

/// Host that tokens are for.
const HUB: &str = "huggingface.co";
/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 5;
/// Maximum size of the status line and the headers of a response, in bytes.
const MAX_HEADERS: u64 = 64 * 1024;
/// Size of the first range of a file, in bytes. Each further one has four times the size.
const FIRST_RANGE: u64 = 1024 * 1024;
/// Maximum number of bytes that are read of a file. The longest known header, of a vocabulary of 262,144 tokens, has a tenth
/// of it.
const MAX_READ: u64 = 256 * 1024 * 1024;
/// Time for all requests of a client.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Makes requests. Redirects are followed here and not by curl, so that the token never reaches their hosts.
#[derive(Debug)]
pub(super) struct HttpClient {
    curl: OsString,
    token: Option<String>,
    end: Instant,
    time_limit: Duration,
}

impl HttpClient {
    /// Creates a client with the token in `HF_TOKEN`.
    ///
    /// # Errors
    /// If the token contains characters that no token has.
    pub fn from_environment() -> Result<Self> {
        let token = env::var("HF_TOKEN").unwrap_or_default();
        let token = Some(token.trim()).filter(|token| !token.is_empty());
        if token.is_some_and(|token| !token.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')) {
            bail!(
                "invalid HF_TOKEN: contains a character other than letters, digits and `_`; copy it again from https://{HUB}/settings/tokens"
            );
        }
        Ok(Self::new(token.map(str::to_string), TIME_LIMIT))
    }

    fn new(token: Option<String>, time_limit: Duration) -> Self {
        Self { curl: "curl".into(), token, end: Instant::now() + time_limit, time_limit }
    }

    /// Reads a whole file of at most `most` bytes.
    ///
    /// # Errors
    /// If the file cannot be read or is longer.
    pub fn read(&self, url: &Url, most: u64) -> Result<Vec<u8>> {
        let mut response = self.get(&mut url.clone(), "")?;
        let mut bytes = Vec::new();
        let read = (&mut response.body).take(most + 1).read_to_end(&mut bytes);
        read.with_context(|| shown(url))?;
        if bytes.len() as u64 > most {
            bail!("{}: longer than {most} bytes", shown(url));
        }
        response.finish(self.time_limit).with_context(|| shown(url))?;
        Ok(bytes)
    }

    /// Returns a reader of a file, which requests it range by range.
    pub fn reader(&self, url: &Url) -> RangeReader<'_> {
        RangeReader {
            client: self,
            at: url.clone(),
            response: None,
            position: 0,
            range_end: 0,
            size: FIRST_RANGE,
            is_last: false,
        }
    }

    /// Requests a URL, and replaces it by the target of its redirects.
    fn get(&self, url: &mut Url, range: &str) -> Result<Response> {
        let asked = shown(url);
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(url, range).with_context(|| format!("cannot fetch {asked}"))?;
            let target = match response.status {
                300..=399 => response.header("location").and_then(|target| url.join(target).ok()),
                _ => {
                    let is_token_sent = self.authorization(url).is_some();
                    return response.accepted(url, &asked, is_token_sent);
                }
            };
            let Some(target) = target else {
                bail!("{asked}: the server answers with an invalid redirect (HTTP {})", response.status);
            };
            let is_safe = target.scheme() == "https" || (target.scheme() == "http" && url.scheme() == "http");
            if !is_safe {
                bail!("{asked}: redirect to `{}:`, which is not secure", target.scheme());
            }
            *url = target;
        }
        bail!("{asked}: more than {MAX_REDIRECTS} redirects")
    }

    /// Returns the header line with the token, if a URL may receive it.
    fn authorization(&self, url: &Url) -> Option<String> {
        let is_hub = url.scheme() == "https" && url.host_str() == Some(HUB);
        let token = self.token.as_ref().filter(|_| is_hub)?;
        Some(format!("header = \"Authorization: Bearer {token}\"\n"))
    }

    /// Returns the configuration of curl for a request.
    fn configuration(&self, url: &Url, range: &str) -> String {
        let range = if range.is_empty() { String::new() } else { format!("range = \"{range}\"\n") };
        format!("{}{range}{}", curl::url_line(url), self.authorization(url).unwrap_or_default())
    }

    fn request(&self, url: &Url, range: &str) -> Result<Response> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            bail!(out_of_time(self.time_limit));
        }
        let max_time = format!("{:.3}", left.as_secs_f64());
        let options = [
            ["--include", "--suppress-connect-headers", "--connect-timeout", "15"].as_slice(),
            &["--max-time", &max_time, "--user-agent", concat!("kbgen/", env!("CARGO_PKG_VERSION"))],
        ];
        let mut child = curl::start(&self.curl, &options.concat(), &self.configuration(url, range))
            .context("`--fetch` needs the program `curl`")?;
        let stdout = child.stdout.take().expect("it is piped");
        let mut response = Response {
            child,
            body: BufReader::with_capacity(1 << 16, stdout),
            status: 0,
            headers: Vec::new(),
        };
        if !response.read_headers()? {
            response.finish(self.time_limit)?;
            bail!("the server sent no HTTP response");
        }
        Ok(response)
    }
}

/// Response whose body curl still writes.
struct Response {
    child: Child,
    body: BufReader<ChildStdout>,
    status: u16,
    /// Names in lowercase.
    headers: Vec<(String, String)>,
}

impl Response {
    /// Reads the headers of the final response. Returns whether there is one.
    fn read_headers(&mut self) -> Result<bool> {
        let mut input = (&mut self.body).take(MAX_HEADERS);
        loop {
            let mut line = Vec::new();
            input.read_until(b'\n', &mut line)?;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            match text.split_once(' ').filter(|(version, _)| version.starts_with("HTTP/")) {
                Some((_, rest)) if self.status == 0 => {
                    self.status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or_default();
                }
                // curl would wait for a reader of the rest.
                _ if input.limit() == 0 => bail!("the server sends endless headers"),
                _ if !line.ends_with(b"\n") => return Ok(false),
                // An interim response.
                _ if text.is_empty() && matches!(self.status, 100..=199) => self.status = 0,
                _ if text.is_empty() => return Ok(self.status > 0),
                _ => {
                    let (name, value) = text.split_once(':').unwrap_or((text, ""));
                    self.headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
                }
            }
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the response if it has a file.
    ///
    /// # Errors
    /// If the status is an error, or the body is a web page.
    fn accepted(self, url: &Url, asked: &str, is_token_sent: bool) -> Result<Self> {
        let is_hub = url.host_str() == Some(HUB);
        match self.status {
            200 | 206 if self.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) => {
                Err(anyhow!("{asked} is a web page and not a file; use the address of the download"))
            }
            200 | 206 | 416 => Ok(self),
            401 | 403 => Err(anyhow!(
                "no access to {asked} (HTTP {}){}",
                self.status,
                match (is_token_sent, is_hub) {
                    (true, _) => "; the token in HF_TOKEN does not have it",
                    (_, true) => ": it does not exist, is private or is gated; with access, set HF_TOKEN",
                    _ => "",
                }
            )),
            404 | 410 => Err(anyhow!("{asked} does not exist (HTTP {})", self.status)),
            429 => {
                let wait = self.header("retry-after").and_then(|seconds| seconds.parse::<u32>().ok());
                let wait = wait.map_or("later".to_string(), |seconds| format!("in {seconds} s"));
                Err(anyhow!("{asked}: too many requests (HTTP 429); try again {wait}"))
            }
            status => Err(anyhow!("{asked}: the server answers with HTTP {status}")),
        }
    }

    /// Waits for curl.
    ///
    /// # Errors
    /// If curl failed, with its message.
    fn finish(&mut self, time_limit: Duration) -> Result<()> {
        let status = self.child.wait().context("cannot wait for curl")?;
        let mut message = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            stderr.take(MAX_HEADERS).read_to_string(&mut message).ok();
        }
        match status.code() {
            Some(0) => Ok(()),
            // CURLE_OPERATION_TIMEDOUT, also of the connection
            Some(28) if !message.contains("onnect") => bail!(out_of_time(time_limit)),
            _ => bail!("{}", curl::reason(&message).unwrap_or("curl failed")),
        }
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        // It has often ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn out_of_time(limit: Duration) -> String {
    format!("not complete after {} s", limit.as_secs_f64())
}

/// Formats a URL without the password and the query, which may be secrets.
fn shown(url: &Url) -> String {
    let host = &url[url::Position::BeforeHost..url::Position::AfterPath];
    format!("{}://{host}", url.scheme())
}

/// Reader of a file on a server. Reads from a server that ignores ranges, too, as long as the reader wants more.
pub(super) struct RangeReader<'c> {
    client: &'c HttpClient,
    /// URL after redirects.
    at: Url,
    response: Option<Response>,
    /// Number of bytes read.
    position: u64,
    /// Position after the current range.
    range_end: u64,
    /// Size of the next range.
    size: u64,
    /// Whether the file ends with the current response.
    is_last: bool,
}

impl RangeReader<'_> {
    /// Requests the next range.
    fn request(&mut self) -> Result<()> {
        let end = (self.position + self.size).min(MAX_READ);
        if end == self.position {
            bail!("no complete header in the first {} MiB", MAX_READ >> 20);
        }
        let response = self.client.get(&mut self.at, &format!("{}-{}", self.position, end - 1))?;
        self.range_end = match response.status {
            206 => {
                let range = response.header("content-range").and_then(content_range);
                let is_next = |(start, after, _): &_| *start == self.position && *after > self.position;
                let Some((start, after, total)) = range.filter(is_next) else {
                    bail!("{}: the server sends another range than requested", shown(&self.at));
                };
                self.is_last = total.is_some_and(|total| after >= total);
                after.clamp(start, end)
            }
            200 if self.position == 0 => {
                self.is_last = true;
                MAX_READ
            }
            // The range begins behind the end of the file.
            416 => {
                self.is_last = true;
                self.position
            }
            _ => bail!("{}: the server does not support ranges", shown(&self.at)),
        };
        self.size = self.size.saturating_mul(4);
        self.response = Some(response);
        Ok(())
    }
}

impl Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(response) = &mut self.response {
                let left = self.range_end - self.position;
                let read = (&mut response.body).take(left).read(buffer)?;
                if read > 0 {
                    self.position += read as u64;
                    return Ok(read);
                }
                if left > 0 {
                    let finished = response.finish(self.client.time_limit);
                    finished.with_context(|| shown(&self.at)).map_err(reading)?;
                }
                if left > 0 || (self.is_last && self.position < MAX_READ) {
                    return Ok(0);
                }
                self.response = None;
            }
            self.request().map_err(reading)?;
        }
    }
}

fn reading(error: anyhow::Error) -> io::Error {
    io::Error::other(format!("{error:#}"))
}

/// Parses `bytes 0-99/1000`: start, position after the end, and size of the file if it is known.
fn content_range(value: &str) -> Option<(u64, u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, end) = range.split_once('-')?;
    Some((start.parse().ok()?, end.parse::<u64>().ok()?.checked_add(1)?, total.parse().ok()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_token_is_for_the_hub_only() {
        let client = HttpClient::new(Some("hf_secret".to_string()), TIME_LIMIT);
        let of = |url: &str| client.configuration(&Url::parse(url).unwrap(), "");
        assert!(of("https://huggingface.co/o/r").contains("Authorization: Bearer hf_secret"));
        for url in [
            "http://huggingface.co/o/r",
            "https://huggingface.co.example.com/",
            "https://cdn-lfs.huggingface.co/x",
            "https://hf.co/o/r",
            "https://huggingface.co@example.com/",
        ] {
            assert!(!of(url).contains("secret"), "{url}");
        }
        // No character of an address ends its string in the configuration.
        assert_eq!(
            of("https://example.com/a\"b\\c?d\"\\e"),
            "url = \"https://example.com/a%22b/c?d%22%5Ce\"\n"
        );
    }

    #[test]
    fn a_server_that_sends_nothing_ends_with_the_time_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}/m.gguf", listener.local_addr().unwrap())).unwrap();
        let client = HttpClient::new(None, Duration::from_millis(200));
        let message = format!("{:#}", client.read(&url, 10).unwrap_err());
        assert!(message.ends_with("not complete after 0.2 s"), "{message}");
        let message = client.reader(&url).read(&mut [0; 4]).unwrap_err().to_string();
        assert!(message.ends_with("not complete after 0.2 s"), "{message}");
    }
}
