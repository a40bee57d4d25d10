//! Answers a request from the current state and rejects requests that browsers do not send.

use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_RANGES, ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HOST, HeaderMap,
    HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, LOCATION, ORIGIN, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use crate::serve::address::Hosts;
use crate::serve::headers::{self, media_type};
use crate::serve::pages;
use crate::serve::path::output_path;
use crate::serve::range::{RequestedRange, requested_range};
use crate::serve::site::{File, Site, short};
use crate::serve::state::State;

const EVENTS: &str = "/_kbgen/events";
const SCRIPT: &str = "/_kbgen/reload.js";
const STYLE: &str = "/_kbgen/overlay.css";

const HTML: &str = "text/html; charset=utf-8";

/// Response to a request.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A complete response.
    Full(Response<Bytes>),
    /// An event stream with these headers.
    EventStream(HeaderMap),
}

/// Answers a request.
pub(crate) fn respond(request: &Parts, state: &State, hosts: &Hosts) -> Reply {
    let host = match requested_host(request, hosts) {
        Ok(host) => host,
        Err(refusal) => return Reply::Full(refuse(refusal)),
    };
    if !matches!(request.method, Method::GET | Method::HEAD) {
        let mut response = refuse((StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD are allowed.\n"));
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Reply::Full(response);
    }
    if has_body(&request.headers) {
        return Reply::Full(refuse((StatusCode::BAD_REQUEST, "Request bodies are not allowed.\n")));
    }
    match request.uri.path() {
        EVENTS if !same_origin(&request.headers, host) => {
            Reply::Full(plain(StatusCode::FORBIDDEN, "Cross-origin requests are not allowed.\n"))
        }
        EVENTS if request.method == Method::GET => {
            let mut all = headers::common();
            all.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            Reply::EventStream(all)
        }
        SCRIPT => Reply::Full(generated(request, "reload.js", pages::script(&state.version()))),
        STYLE => Reply::Full(generated(request, "overlay.css", pages::STYLE.to_string())),
        path => Reply::Full(match &state.site {
            Some(site) => page(request, site, path),
            None => broken(state),
        }),
    }
}

/// Status and explanation.
type Refusal = (StatusCode, &'static str);

/// Returns the allowed host name of a request, from its `Host` header and its absolute target, if any.
fn requested_host<'a>(request: &'a Parts, hosts: &Hosts) -> Result<&'a str, Refusal> {
    let malformed = |what| Err((StatusCode::BAD_REQUEST, what));
    let foreign = "Unknown host name. Use localhost, or pass --allow-host.\n";
    let misdirected = Err((StatusCode::MISDIRECTED_REQUEST, foreign));
    let mut named = request.headers.get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return malformed("Expected one Host header.\n");
    };
    if !request.uri.path().starts_with('/') && matches!(request.method, Method::GET | Method::HEAD) {
        return malformed("Expected a path.\n");
    }
    let Some(host) = host.to_str().ok().filter(|host| hosts.allow(host)) else { return misdirected };
    match (request.uri.scheme_str(), request.uri.authority()) {
        (None | Some("http"), None) => Ok(host),
        (None | Some("http"), Some(target)) if hosts.allow(target.as_str()) => Ok(host),
        _ => misdirected,
    }
}

/// Returns whether the request has a body. Pages need none, and two servers in a row may disagree on where a body
/// ends.
fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(TRANSFER_ENCODING)
        || headers.get_all(CONTENT_LENGTH).iter().any(|length| length != "0")
}

/// Returns whether the request comes from a page of this server. Browsers send no `Origin` with same-origin requests,
/// so a missing one is decided by `Sec-Fetch-Site`. Clients that send neither are not browsers
/// (<https://www.w3.org/TR/fetch-metadata/>).
fn same_origin(headers: &HeaderMap, host: &str) -> bool {
    let is_ours = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        // A proxy may use https.
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        name.is_some_and(|name| name.eq_ignore_ascii_case(host))
    };
    if headers.contains_key(ORIGIN) {
        return headers.get_all(ORIGIN).iter().all(is_ours);
    }
    let mut sites = headers.get_all(HeaderName::from_static("sec-fetch-site")).iter();
    sites.all(|site| site == "same-origin" || site == "none")
}

/// Serves a file of the site, a redirect to a folder, or the 404 page.
fn page(request: &Parts, site: &Site, path: &str) -> Response<Bytes> {
    let Some(mut name) = output_path(path) else { return not_found(site) };
    if name.is_empty() || name.ends_with('/') {
        name.push_str("index.html");
    }
    if let Some(file) = site.files.get(&name) {
        return output(request, &name, file, &site.headers);
    }
    if site.files.contains_key(&format!("{name}/index.html")) {
        return to_folder(request, site);
    }
    not_found(site)
}

/// Redirects to the same path with a slash. The location starts with `./`, so it cannot name another server.
fn to_folder(request: &Parts, site: &Site) -> Response<Bytes> {
    let path = request.uri.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let query = request.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let Ok(location) = HeaderValue::from_str(&format!("./{name}/{query}")) else { return not_found(site) };
    let mut response = plain(StatusCode::TEMPORARY_REDIRECT, "");
    response.headers_mut().insert(LOCATION, location);
    response
}

/// Serves a file according to the conditions of the request (RFC 9110, section 13.2.2).
fn output(request: &Parts, name: &str, file: &File, of_site: &HeaderMap) -> Response<Bytes> {
    let is = |header| tag_matches(&request.headers, header, &file.tag);
    if request.headers.contains_key(IF_MATCH) && !is(IF_MATCH) {
        return plain(StatusCode::PRECONDITION_FAILED, "The file has changed.\n");
    }
    let known = is(IF_NONE_MATCH);
    let requested = match request.method {
        Method::GET if !known => requested_range(&request.headers, &file.tag, file.bytes.len()),
        _ => RequestedRange::Full,
    };
    let (status, bytes, range) = match requested {
        RequestedRange::Full if known => (StatusCode::NOT_MODIFIED, Bytes::new(), None),
        RequestedRange::Full => (StatusCode::OK, file.bytes.clone(), None),
        RequestedRange::Bytes(range) => {
            let text = format!("bytes {}-{}/{}", range.start, range.end - 1, file.bytes.len());
            (StatusCode::PARTIAL_CONTENT, file.bytes.slice(range), Some(text))
        }
        RequestedRange::Unsatisfiable => {
            (StatusCode::RANGE_NOT_SATISFIABLE, Bytes::new(), Some(format!("bytes */{}", file.bytes.len())))
        }
    };
    let media_type = if known { None } else { Some(media_type(name)) };
    let mut response = bare(status, bytes, media_type, of_site.clone());
    let headers = response.headers_mut();
    headers.insert(ETAG, file.tag.clone());
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(range) = range {
        headers.insert(CONTENT_RANGE, HeaderValue::from_str(&range).expect("digits"));
    }
    response
}

/// Serves a generated file.
fn generated(request: &Parts, name: &str, text: String) -> Response<Bytes> {
    let tag = format!("\"{}\"", short(blake3::hash(text.as_bytes())));
    let tag = HeaderValue::from_str(&tag).expect("a hash is plain text");
    output(request, name, &File { bytes: text.into(), tag }, &HeaderMap::new())
}

/// Returns whether a header lists the tag or `*`. `If-None-Match` compares weakly (RFC 9110, section 13.1.2),
/// `If-Match` strongly.
fn tag_matches(headers: &HeaderMap, header: HeaderName, tag: &HeaderValue) -> bool {
    let weak = if header == IF_NONE_MATCH { "W/" } else { "" };
    let lists = headers.get_all(header).iter().filter_map(|list| list.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|one| one == "*" || one.strip_prefix(weak).unwrap_or(one).as_bytes() == tag.as_bytes())
}

fn not_found(site: &Site) -> Response<Bytes> {
    match site.files.get("404.html") {
        Some(file) => bare(StatusCode::NOT_FOUND, file.bytes.clone(), Some(HTML), site.headers.clone()),
        None => plain(StatusCode::NOT_FOUND, "Page not found.\n"),
    }
}

/// Serves the page shown before the first successful build.
fn broken(state: &State) -> Response<Bytes> {
    let page = pages::broken_page(state.broken.as_deref().unwrap_or_default());
    bare(StatusCode::SERVICE_UNAVAILABLE, page.into(), Some(HTML), headers::own_page())
}

/// Rejects a request and closes the connection, whose further bytes cannot be trusted.
fn refuse((status, why): Refusal) -> Response<Bytes> {
    let mut response = plain(status, why);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Returns a plain-text response.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    bare(status, Bytes::from_static(text.as_bytes()), Some("text/plain; charset=utf-8"), HeaderMap::new())
}

fn bare(
    status: StatusCode,
    bytes: Bytes,
    media_type: Option<&'static str>,
    mut all: HeaderMap,
) -> Response<Bytes> {
    // Added last, so that the site cannot override them.
    for (name, value) in headers::common() {
        all.insert(name.expect("each common header is there once"), value);
    }
    if let Some(media_type) = media_type {
        all.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    let mut response = Response::new(bytes);
    *response.status_mut() = status;
    *response.headers_mut() = all;
    response
}
