//! From the path of a request to the path of an output.

use percent_encoding::percent_decode_str;

/// The output that a request path names: decoded once, without its leading slash.
///
/// `None` for every spelling that a plain name does not have: empty parts, `.` and `..`, names that begin with a
/// dot (but `.well-known`), backslashes, encoded slashes, control characters, bytes that are not UTF-8. Outputs
/// are looked up by their exact name, so that none of these could lead anywhere; they are refused all the same.
pub(crate) fn output_path(request_path: &str) -> Option<String> {
    let path = request_path.strip_prefix('/')?;
    let (folders, name) = path.rsplit_once('/').map_or(("", path), |(folders, name)| (folders, name));
    let mut parts = Vec::new();
    if path.contains('/') {
        for part in folders.split('/') {
            parts.push(name_of(part)?);
        }
    }
    // Only the last part may be empty: the address of a folder.
    parts.push(if name.is_empty() { String::new() } else { name_of(name)? });
    Some(parts.join("/"))
}

fn name_of(part: &str) -> Option<String> {
    let name = percent_decode_str(part).decode_utf8().ok()?;
    let is_plain = !name.is_empty()
        && (!name.starts_with('.') || name == ".well-known")
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control);
    is_plain.then(|| name.into_owned())
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
