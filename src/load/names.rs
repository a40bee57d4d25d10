//! Paths that not every file system, host and reader can bear.

use std::collections::BTreeMap;

use crate::site::is_device;

/// Longest path below the root of a site, in bytes: beside a folder of some length, Windows takes 260.
const LONGEST_PATH: usize = 180;
/// Most folders in each other.
const DEEPEST: usize = 8;

/// What is wrong with a path, and what to do.
pub(super) type BadName = (String, String);

/// The paths of a site so far, without regard to case, as some file systems keep them.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeMap<String, String>,
}

impl Names {
    /// Looks at the path of one more file. Of a page only its folders: `bad-slug` and `duplicate-slug` know its name.
    pub fn look(&mut self, path: &str) -> Option<BadName> {
        let is_page = path.starts_with("content/") && path.ends_with(".md");
        let judged = if is_page { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { path };
        too_long(path).or_else(|| odd_part(judged)).or_else(|| {
            let other = self.taken.insert(path.to_lowercase(), path.to_string()).filter(|_| !is_page)?;
            let message = format!("`{path}` and `{other}` differ only in case");
            Some((message, "rename one of them".into()))
        })
    }
}

/// That a path is too long or too deep, and what to do.
fn too_long(path: &str) -> Option<BadName> {
    let folders = path.matches('/').count();
    if path.len() > LONGEST_PATH {
        let help = format!("at most {LONGEST_PATH} are allowed; shorten the folder names");
        return Some((format!("path of {} bytes", path.len()), help));
    }
    (folders > DEEPEST).then(|| {
        (format!("path with {folders} folders"), format!("at most {DEEPEST} nested folders are allowed"))
    })
}

/// The first part of a path that some system cannot bear, and what to do.
fn odd_part(path: &str) -> Option<BadName> {
    let (part, why) = path.split('/').find_map(|part| Some((part, why(part)?)))?;
    Some((format!("`{}` {why}", shown(part)), "use letters from a to z, digits, `-`, `_` and dots".into()))
}

/// Why a name cannot stand on every file system, if so.
fn why(name: &str) -> Option<&'static str> {
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

/// A name that a terminal and a report can bear.
pub(super) fn shown(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii() && !c.is_ascii_control() { c } else { '?' })
        .take(LONGEST_PATH)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_refuses_are_told() {
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
            assert!(why(name).is_some(), "{name:?}");
        }
        for name in ["a.png", "Logo@2x.png", "llama-3.1_8b", "console", "a (1).png"] {
            assert_eq!(why(name), None, "{name:?}");
        }
    }

    #[test]
    fn paths_have_limits() {
        assert_eq!(too_long("content/guides/a.md"), None);
        assert!(too_long(&format!("static/{}", "a/".repeat(9))).is_some());
        assert!(too_long(&format!("static/{}", "a".repeat(200))).is_some());
    }
}
