//! Maps request paths to output paths.

use percent_encoding::percent_decode_str;

/// Returns the output path of a request: decoded once, without the leading slash.
///
/// Returns `None` for paths that no plain file name has: empty segments, `.` and `..`, names that start with a dot
/// (except `.well-known`), backslashes, encoded slashes, control characters, invalid UTF-8. Lookups use exact names,
/// so these could not match; they are rejected as a precaution.
pub(crate) fn output_path(request_path: &str) -> Option<String> {
    let path = request_path.strip_prefix('/')?;
    let name = percent_decode_str(path).decode_utf8().ok()?;
    let is_plain = |part: &str| !part.is_empty() && (!part.starts_with('.') || part == ".well-known");
    // Only the last segment may be empty, in the URL of a folder.
    let parts_are_plain = name.is_empty() || name.strip_suffix('/').unwrap_or(&name).split('/').all(is_plain);
    let has_encoded_slash = name.matches('/').count() > path.matches('/').count();
    let is_name =
        parts_are_plain && !has_encoded_slash && !name.contains('\\') && !name.contains(char::is_control);
    is_name.then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_once() {
        for (request, output) in [
            ("/", ""),
            ("/a.html", "a.html"),
            ("/a/", "a/"),
            ("/a/b%20c/%C3%A4.html", "a/b c/ä.html"),
            ("/a%252e", "a%2e"),
            ("/100%", "100%"),
            ("/.well-known/security.txt", ".well-known/security.txt"),
        ] {
            assert_eq!(output_path(request).as_deref(), Some(output), "{request}");
        }
    }

    #[test]
    fn spellings_of_other_places_are_refused() {
        for request in [
            "",
            "a",
            "*",
            "//",
            "//a/",
            "/a//b",
            "/../a",
            "/a/..",
            "/a/./b",
            "/%2e%2e/a",
            "/%2E./a",
            "/a%2fb",
            "/a%5Cb",
            "/a\\b",
            "/.git/config",
            "/.nojekyll",
            "/a%00",
            "/a%0a",
            "/%ff",
            "/a/.../b",
        ] {
            assert_eq!(output_path(request), None, "{request}");
        }
    }
}
