//! Answers one request from the state, and refuses what no reader's browser would ask.

use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CONTENT_TYPE, ETAG, HOST, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION, ORIGIN,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use crate::serve::address::Hosts;
use crate::serve::media::media_type;
use crate::serve::path::output_path;
use crate::serve::site::{File, Site, short};
use crate::serve::state::State;
use crate::serve::{headers, pages};

const EVENTS: &str = "/_kbgen/events";
const SCRIPT: &str = "/_kbgen/reload.js";
const STYLE: &str = "/_kbgen/overlay.css";

/// What a request gets.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A whole response.
    Whole(Response<Bytes>),
    /// A stream of events, after these headers.
    Events(HeaderMap),
}

/// The answer to a request.
pub(crate) fn respond(request: &Parts, state: &State, hosts: Hosts) -> Answer {
    let Some(host) = host(request, hosts) else {
        let text = "This server answers only to the names of this machine, such as localhost.\n";
        return Answer::Whole(plain(StatusCode::MISDIRECTED_REQUEST, text));
    };
    if !matches!(request.method, Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This server only shows pages.\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Answer::Whole(response);
    }
    match request.uri.path() {
        EVENTS if !same_origin(&request.headers, host) => {
            Answer::Whole(plain(StatusCode::FORBIDDEN, "Pages of other sites may not listen.\n"))
        }
        EVENTS if request.method == Method::GET => {
            let mut all = headers::common();
            all.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            Answer::Events(all)
        }
        SCRIPT => Answer::Whole(generated(request, "reload.js", pages::script(&state.version()))),
        STYLE => Answer::Whole(generated(request, "overlay.css", pages::STYLE.to_string())),
        path => Answer::Whole(match &state.site {
            Some(site) => page(request, site, path),
            None => broken(state),
        }),
    }
}

/// The one allowed name that the request calls us by, in its `Host` and in its target where that is absolute.
fn host(request: &Parts, hosts: Hosts) -> Option<&str> {
    let mut named = request.headers.get_all(HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else { return None };
    let host = host.to_str().ok().filter(|host| hosts.allow(host))?;
    match request.uri.authority() {
        Some(target) if !hosts.allow(target.as_str()) => None,
        _ => Some(host),
    }
}

/// Whether a page of ours asks. Browsers send no `Origin` with a page's requests to its own server, so that a
/// missing one is judged by `Sec-Fetch-Site`; what sends neither is no browser (<https://www.w3.org/TR/fetch-metadata/>).
fn same_origin(headers: &HeaderMap, host: &str) -> bool {
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        // A proxy in front may speak https.
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        return name.is_some_and(|name| name.eq_ignore_ascii_case(host));
    }
    match headers.get(HeaderName::from_static("sec-fetch-site")) {
        Some(site) => site == "same-origin" || site == "none",
        None => true,
    }
}

/// A file of the site, the redirect to a folder's address, or the site's page for what is not found.
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

/// Redirects to the same address with a slash. Relative and from `./`, so that it can never name another server.
fn to_folder(request: &Parts, site: &Site) -> Response<Bytes> {
    let path = request.uri.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let query = request.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let Ok(location) = HeaderValue::from_str(&format!("./{name}/{query}")) else { return not_found(site) };
    let mut response = plain(StatusCode::TEMPORARY_REDIRECT, "");
    response.headers_mut().insert(LOCATION, location);
    response
}

fn output(request: &Parts, name: &str, file: &File, of_site: &HeaderMap) -> Response<Bytes> {
    let known = matches(&request.headers, &file.tag);
    let bytes = if known { Bytes::new() } else { file.bytes.clone() };
    let mut response =
        bare(if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK }, bytes, of_site.clone());
    let headers = response.headers_mut();
    headers.insert(ETAG, file.tag.clone());
    if !known {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    }
    response
}

/// A file of the server's own.
fn generated(request: &Parts, name: &str, text: String) -> Response<Bytes> {
    let tag = format!("\"{}\"", short(blake3::hash(text.as_bytes())));
    let tag = HeaderValue::from_str(&tag).expect("a hash is plain text");
    output(request, name, &File { bytes: text.into(), tag }, &HeaderMap::new())
}

/// Whether the browser has this version already (RFC 9110, 13.1.2: tags are compared weakly).
fn matches(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

fn not_found(site: &Site) -> Response<Bytes> {
    let Some(file) = site.files.get("404.html") else {
        return plain(StatusCode::NOT_FOUND, "There is no such page.\n");
    };
    let mut response = bare(StatusCode::NOT_FOUND, file.bytes.clone(), site.headers.clone());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type("404.html")));
    response
}

/// The page that shows what is wrong while there is no site.
fn broken(state: &State) -> Response<Bytes> {
    let page = pages::broken_page(state.broken.as_deref().unwrap_or_default());
    let mut response = bare(StatusCode::SERVICE_UNAVAILABLE, page.into(), headers::own());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type("broken.html")));
    response
}

/// A short text to whoever looks at the response by hand.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    let mut response = bare(status, Bytes::from_static(text.as_bytes()), HeaderMap::new());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn bare(status: StatusCode, bytes: Bytes, mut all: HeaderMap) -> Response<Bytes> {
    // Ours last: the site cannot undo them.
    for (name, value) in headers::common() {
        all.insert(name.expect("each common header is there once"), value);
    }
    let mut response = Response::new(bytes);
    *response.status_mut() = status;
    *response.headers_mut() = all;
    response
}
