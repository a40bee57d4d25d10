//! Relative links, so that the same files work at `/`, at `/kb/` and from disk.

/// Returns the relative path from a page to the root of the site: `./`, `../`, `../../`.
pub(super) fn root(from: &str) -> String {
    match from.split('#').next().unwrap_or_default().matches('/').count() {
        0 => "./".to_string(),
        depth => "../".repeat(depth),
    }
}

/// Returns the file of an address; that of a folder is its `index.html`.
pub(super) fn file(address: &str) -> String {
    let (path, fragment) = match address.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment)),
        None => (address, None),
    };
    let file =
        if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path.to_string() };
    match fragment {
        Some(fragment) => format!("{file}#{fragment}"),
        None => file,
    }
}

/// Returns the link to an address from a page with this root. It names the file, which pages opened from disk need.
pub(super) fn href(root: &str, to: &str) -> String {
    format!("{root}{}", file(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_and_name_their_file() {
        assert_eq!(href(&root("errors/x/"), "guides/y/#z"), "../../guides/y/index.html#z");
        assert_eq!(href(&root(""), "errors/"), "./errors/index.html");
        assert_eq!(href(&root("errors/"), ""), "../index.html");
        assert_eq!(href(&root("a/"), "feed.xml"), "../feed.xml");
    }
}
