//! Files that are no part of a site, by their names.

/// Whether a file or folder is hidden, or one that an editor writes beside the file that it saves. Vim tries with a file
/// `4913` whether a folder can be written to.
pub fn is_scratch(name: &str) -> bool {
    let ends = ["~", ".swp", ".swo", ".swx", "___jb_tmp___", "___jb_old___"];
    name.starts_with('.')
        || (name.starts_with('#') && name.ends_with('#'))
        || name == "4913"
        || ends.iter().any(|end| name.ends_with(end))
}
