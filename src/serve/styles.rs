//! Detects changes that affect only style sheets.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::serve::site::Site;

/// Paths of a changed style sheet before and after, which differ if the name contains a hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StyleChange {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// Returns the changed style sheets if all other files are the same apart from the names of style sheets.
pub(crate) fn style_changes(old: &Site, new: &Site) -> Option<Vec<StyleChange>> {
    let is_style = |path: &&String| path.ends_with(".css");
    let mut styles: Vec<StyleChange> = Vec::new();
    let mut gone: BTreeMap<String, &String> =
        (old.files.keys().filter(is_style).filter(|path| !new.files.contains_key(path)))
            .map(|path| (without_hash(path), path))
            .collect();
    for (path, file) in new.files.iter().filter(|(path, _)| is_style(path)) {
        match old.files.get(path) {
            Some(before) if before.tag == file.tag => {}
            Some(_) => styles.push(StyleChange { from: path.clone(), to: path.clone() }),
            None => {
                styles.push(StyleChange { from: gone.remove(&without_hash(path))?.clone(), to: path.clone() })
            }
        }
    }
    let others = |site: &Site| site.files.keys().filter(|path| !is_style(path)).count();
    if styles.is_empty() || !gone.is_empty() || others(old) != others(new) {
        return None;
    }
    for (path, file) in new.files.iter().filter(|(path, _)| !is_style(path)) {
        let before = old.files.get(path)?;
        if before.tag != file.tag && renamed(&before.bytes, &styles)? != file.bytes {
            return None;
        }
    }
    Some(styles)
}

/// Replaces the old file names of style sheets by the new ones.
fn renamed(text: &[u8], styles: &[StyleChange]) -> Option<String> {
    let mut text = std::str::from_utf8(text).ok()?.to_string();
    for style in styles.iter().filter(|style| style.from != style.to) {
        text = text.replace(file_name(&style.from), file_name(&style.to));
    }
    Some(text)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Removes the parts of a file name that look like a hash: eight or more hexadecimal digits.
fn without_hash(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_hash = |part: &&str| part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = name.split(['.', '-', '_']).filter(|part| !is_hash(part)).collect();
    format!("{folder}/{}", parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Outputs;

    fn site(files: &[(&str, &str)]) -> Site {
        let mut outputs = Outputs::default();
        for (path, text) in files {
            outputs.add(*path, *text);
        }
        Site::new(&outputs, None)
    }

    fn step(old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let styles = style_changes(&site(old), &site(new))?;
        Some(styles.into_iter().map(|style| (style.from, style.to)).collect())
    }

    #[test]
    fn a_style_sheet_may_change_in_place_or_with_its_hashed_name() {
        let old = [
            ("a.css", "1"),
            ("index.html", "x"),
            ("p/s.0123456789abcdef.css", "1"),
            ("q.html", "s.0123456789abcdef.css"),
        ];
        let mut new = old;
        new[0].1 = "2";
        assert_eq!(step(&old, &new), Some(vec![("a.css".into(), "a.css".into())]));
        new[2] = ("p/s.ffffffffffffffff.css", "2");
        new[3].1 = "s.ffffffffffffffff.css";
        assert_eq!(
            step(&old, &new).unwrap()[1],
            ("p/s.0123456789abcdef.css".into(), "p/s.ffffffffffffffff.css".into())
        );
        new[3].1 = "s.ffffffffffffffff.css and more";
        assert_eq!(step(&old, &new), None);
    }

    #[test]
    fn every_other_change_needs_a_reload() {
        let old = [("a.css", "1"), ("index.html", "x")];
        assert_eq!(step(&old, &old), None);
        assert_eq!(step(&old, &[("a.css", "2"), ("index.html", "y")]), None);
        assert_eq!(step(&old, &[("a.css", "2")]), None);
        assert_eq!(step(&old, &[("a.css", "2"), ("index.html", "x"), ("new.html", "")]), None);
        assert_eq!(step(&old, &[("a.css", "2"), ("b.css", ""), ("index.html", "x")]), None);
        assert_eq!(step(&old, &[("index.html", "x")]), None);
    }
}
