//! Checks file names and paths for portability between file systems and hosts.

use std::collections::BTreeMap;

use crate::site::is_device;

/// Maximum length of a path below the root of a site, in bytes: Windows limits whole paths to 260.
const MAX_PATH_BYTES: usize = 180;
/// Maximum nesting of folders.
const MAX_DEPTH: usize = 8;

/// Message and help for an invalid path.
pub(super) type BadName = (String, String);

/// Paths seen so far, in lower case, since some file systems ignore case.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeMap<String, String>,
}

impl Names {
    /// Checks the path of a file. Of a page only its folders: `bad-slug` and `duplicate-slug` check its name.
    pub fn check(&mut self, path: &str) -> Option<BadName> {
        let is_page = path.starts_with("content/") && path.ends_with(".md");
        let judged = if is_page { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { path };
        too_long(path).or_else(|| odd_part(judged)).or_else(|| {
            let other = self.taken.insert(path.to_lowercase(), path.to_string()).filter(|_| !is_page)?;
            let message = format!("`{path}` and `{other}` differ only in case");
            Some((message, "rename one of them".into()))
        })
    }
}

/// Returns message and help for a path that is too long or too deep.
fn too_long(path: &str) -> Option<BadName> {
    let folders = path.matches('/').count();
    if path.len() > MAX_PATH_BYTES {
        let help = format!("at most {MAX_PATH_BYTES} are allowed; shorten the folder names");
        return Some((format!("path of {} bytes", path.len()), help));
    }
    (folders > MAX_DEPTH).then(|| {
        (format!("path with {folders} folders"), format!("at most {MAX_DEPTH} nested folders are allowed"))
    })
}

/// Returns message and help for the first component of a path that is not portable.
fn odd_part(path: &str) -> Option<BadName> {
    let (part, why) = path.split('/').find_map(|part| Some((part, portability_problem(part)?)))?;
    Some((
        format!("`{}` {why}", printable(part)),
        "use letters from a to z, digits, `-`, `_` and dots".into(),
    ))
}

/// Returns why a name is not portable, if so.
fn portability_problem(name: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_. @+~()[]=,".contains(c);
    if !name.is_ascii() {
        return Some("contains non-ASCII characters");
    }
    if !name.chars().all(is_plain) {
        return Some("contains a character not allowed in file names");
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Some("starts or ends with a character not allowed on Windows");
    }
    is_device(name).then_some("is a device name on Windows")
}

/// Returns a name that is safe to print.
pub(super) fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii() && !c.is_ascii_control() { c } else { '?' })
        .take(MAX_PATH_BYTES)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_names_that_are_not_portable() {
        for name in [
            "con",
            "Aux.png",
            "com1.tar.gz",
            "a.",
            "b ",
            "a:b",
            "a\nb",
            "a\"b",
            "größe.png",
            "a\u{202E}b",
            "a<b>",
        ] {
            assert!(portability_problem(name).is_some(), "{name:?}");
        }
        for name in ["a.png", "Logo@2x.png", "llama-3.1_8b", "console", "a (1).png"] {
            assert_eq!(portability_problem(name), None, "{name:?}");
        }
    }

    #[test]
    fn paths_have_limits() {
        assert_eq!(too_long("content/guides/a.md"), None);
        assert!(too_long(&format!("static/{}", "a/".repeat(9))).is_some());
        assert!(too_long(&format!("static/{}", "a".repeat(200))).is_some());
    }
}
