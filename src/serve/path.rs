//! From the path of a request to the path of an output.

use percent_encoding::percent_decode_str;

/// The output that a request path names: decoded once, without its leading slash.
///
/// `None` for every spelling that a plain name does not have: empty parts, `.` and `..`, names that begin with a
/// dot (but `.well-known`), backslashes, encoded slashes, control characters, bytes that are not UTF-8. Outputs
/// are looked up by their exact name, so that none of these could lead anywhere; they are refused all the same.
pub(crate) fn output_path(request_path: &str) -> Option<String> {
    let path = request_path.strip_prefix('/')?;
    let name = percent_decode_str(path).decode_utf8().ok()?;
    let is_plain = |part: &str| !part.is_empty() && (!part.starts_with('.') || part == ".well-known");
    // Only the last part may be empty: the address of a folder.
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
