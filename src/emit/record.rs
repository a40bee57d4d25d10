//! What each file of a published folder was made of: one whose key is the same, and that nobody touched, is not made again.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::time::Duration;

use crate::files::Key;

/// What the text of a record begins with; then comes the hash of the rest: a group that lost a member would lose the
/// member's file.
const FORMAT: &str = "kbgen published 2 ";

/// Files of a published folder by path, with the keys of what they were made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    files: HashMap<String, (Option<Key>, Stamp)>,
    groups: HashMap<Key, BTreeSet<String>>,
}

/// What changes when someone writes to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Bytes of the file.
    pub(crate) length: u64,
    /// Since 1970; what is older is nobody's.
    pub(crate) modified: Duration,
}

impl Record {
    /// The stamp of a file that was made from what this is the key of.
    pub(crate) fn stamp(&self, path: &str, key: &Key) -> Option<Stamp> {
        self.files.get(path).filter(|(made_of, _)| made_of.as_ref() == Some(key)).map(|(_, stamp)| *stamp)
    }

    /// All files of a group, with what they were made of; none if the group is not known.
    pub(crate) fn group(&self, group: &Key) -> Option<Vec<(&str, Option<Key>, Stamp)>> {
        let paths = self.groups.get(group)?;
        paths
            .iter()
            .map(|path| self.files.get(path).map(|(key, stamp)| (path.as_str(), *key, *stamp)))
            .collect()
    }

    /// Notes a file, and its group.
    pub(crate) fn add(&mut self, path: String, key: Option<Key>, group: Option<Key>, stamp: Stamp) {
        if let Some(group) = group {
            self.groups.entry(group).or_default().insert(path.clone());
        }
        self.files.insert(path, (key, stamp));
    }

    /// Leaves a group out: not all of its files are noted.
    pub(crate) fn forget(&mut self, group: &Key) {
        self.groups.remove(group);
    }

    /// Reads what [`Record::text`] wrote; anything else is an empty record.
    pub fn read(text: &str) -> Self {
        let rest = text.strip_prefix(FORMAT).and_then(|rest| rest.split_once('\n'));
        let whole = rest.filter(|(hash, lines)| Key::parse(hash) == Some(Key::of([lines])));
        whole.and_then(|(_, lines)| Self::of_lines(lines)).unwrap_or_default()
    }

    fn of_lines(lines: &str) -> Option<Self> {
        let mut record = Self::default();
        let mut group = None;
        for line in lines.lines() {
            match line.strip_prefix(GROUP) {
                Some(key) => group = Some(Key::parse(key)?),
                None => {
                    let (path, key, stamp) = file(line)?;
                    record.add(path, key, group, stamp);
                }
            }
        }
        Some(record)
    }

    /// The record as text: a line a file, in the order of their paths, those of a group behind a line with its key.
    pub fn text(&self) -> String {
        let group_of: HashMap<&str, &Key> = self
            .groups
            .iter()
            .flat_map(|(key, paths)| paths.iter().map(move |path| (path.as_str(), key)))
            .collect();
        let mut files: Vec<_> =
            self.files.iter().map(|(path, made)| (group_of.get(path.as_str()), path, made)).collect();
        files.sort_unstable_by_key(|(group, path, _)| (*group, *path));
        let mut text = String::new();
        let mut last = None;
        for (group, path, (key, stamp)) in files {
            if let Some(key) = group.filter(|_| group != last) {
                // Writing to memory never fails.
                let _ = writeln!(text, "{GROUP}{key}");
            }
            last = group;
            let key = key.map_or_else(|| UNKNOWN.to_string(), |key| key.to_string());
            let (seconds, nanoseconds) = (stamp.modified.as_secs(), stamp.modified.subsec_nanos());
            let _ = writeln!(text, "{key} {} {seconds} {nanoseconds} {path}", stamp.length);
        }
        format!("{FORMAT}{}\n{text}", Key::of([&text]))
    }
}

/// What a line with the key of a group begins with.
const GROUP: &str = "group ";
/// In place of the key of a file that has none of its own.
const UNKNOWN: &str = "-";

fn file(line: &str) -> Option<(String, Option<Key>, Stamp)> {
    let mut parts = line.splitn(5, ' ');
    let key = match parts.next()? {
        UNKNOWN => None,
        key => Some(Key::parse(key)?),
    };
    let length = parts.next()?.parse().ok()?;
    let seconds = parts.next()?.parse().ok()?;
    let nanoseconds = parts.next()?.parse().ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
    let stamp = Stamp { length, modified: Duration::new(seconds, nanoseconds) };
    Some((parts.next()?.to_string(), key, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = Record::default();
        let stamp = |length| Stamp { length, modified: Duration::new(1_790_000_000, 7) };
        record.add("errors/a b/index.html".into(), Some(Key::of(["a"])), Some(Key::of(["group"])), stamp(1));
        record.add("errors/a b.md".into(), None, Some(Key::of(["group"])), stamp(5));
        record.add("index.html".into(), Some(Key::of(["b"])), None, stamp(2));
        record
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Record::read(&record().text());
        assert_eq!(read.files, record().files);
        let mut paths: Vec<&str> =
            read.group(&Key::of(["group"])).unwrap().into_iter().map(|(path, ..)| path).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["errors/a b.md", "errors/a b/index.html"]);
    }

    #[test]
    fn a_record_that_is_cut_or_changed_anywhere_is_empty() {
        let text = record().text();
        for at in 0..text.len() {
            assert_eq!(Record::read(&text[..at]), Record::default(), "cut at {at}");
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(Record::read(&changed), Record::default(), "changed at {at}");
        }
    }
}
