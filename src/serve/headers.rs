//! The headers of a response: those of every one, and those that the site asks its host for.

use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY_REPORT_ONLY, HeaderMap, HeaderName,
    HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// Headers of `_headers` that are followed; caching, types and cross-origin access are the server's own affair.
const FOLLOWED: [HeaderName; 7] = [
    CONTENT_SECURITY_POLICY,
    CONTENT_SECURITY_POLICY_REPORT_ONLY,
    REFERRER_POLICY,
    X_FRAME_OPTIONS,
    HeaderName::from_static("permissions-policy"),
    HeaderName::from_static("cross-origin-opener-policy"),
    HeaderName::from_static("cross-origin-embedder-policy"),
];

/// The policy of pages that the server writes itself.
const OWN_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every response.
pub(crate) fn common() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers
}

/// Headers of pages that are not the site's.
pub(crate) fn own() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(OWN_POLICY));
    headers
}

/// The followed headers in the `/*` block of a `_headers` file.
///
/// The format: a line with a path begins a block, its headers are indented, `#` begins a comment
/// (<https://developers.cloudflare.com/pages/configuration/headers/>,
/// <https://docs.netlify.com/manage/routing/headers/>).
pub(crate) fn of_site(text: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut for_all = false;
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            for_all = line.trim() == "/*";
            continue;
        }
        let Some((name, value)) = line.split_once(':').filter(|_| for_all) else { continue };
        let (Ok(name), Ok(value)) = (name.trim().parse::<HeaderName>(), HeaderValue::from_str(value.trim()))
        else {
            continue;
        };
        if FOLLOWED.contains(&name) {
            headers.append(name, value);
        }
    }
    headers
}

/// The `Content-Type` of an output; bytes of no known type are a download.
pub(crate) fn media_type(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or(name, |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "xml" => "application/xml",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "txt" | "_headers" | "_redirects" | "CNAME" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_for_all_pages_counts_and_only_safe_headers_of_it() {
        let headers = of_site(
            "# hosts\n/assets/*\n  Content-Security-Policy: none\n\n/*\n  Content-Security-Policy: default-src 'self'\n\
             \x20 # note\n  Access-Control-Allow-Origin: *\n  Cache-Control: max-age=9\n\tReferrer-Policy: no-referrer\n/x\n  X-Frame-Options: DENY\n",
        );
        let found: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(
            found,
            [("content-security-policy", "default-src 'self'"), ("referrer-policy", "no-referrer")]
        );
    }
}
