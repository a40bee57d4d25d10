//! What each file of a published folder was made of: one whose key is the same, and that nobody touched, is not made again.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use crate::files::Key;

/// What the text of a record begins with; then comes the hash of the rest: a group that lost a member would lose the
/// member's file.
const FORMAT: &str = "kbgen published 3 ";

/// Files of a published folder by path, with the keys of what they were made from.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// A line a file in the order of their paths; those of a group behind a line with its key. Most groups stay as they
    /// are from one build to the next, so they stay text.
    lines: String,
    /// Where the lines of each group are.
    groups: HashMap<Key, Range<usize>>,
    /// Files that have a key of their own; read when one is first asked for.
    keyed: OnceLock<HashMap<String, (Key, Stamp)>>,
}

/// A file, for the record.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    pub(crate) path: String,
    /// Of what it was made of, if it has one of its own.
    pub(crate) key: Option<Key>,
    pub(crate) stamp: Stamp,
}

/// What changes when someone writes to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Bytes of the file.
    pub(crate) length: u64,
    /// Since 1970; what is older is nobody's.
    pub(crate) modified: Duration,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

impl Eq for Record {}

impl Record {
    /// The record of these files, by group or without one, and of these groups of another record.
    pub(crate) fn new(mut files: BTreeMap<Option<Key>, Vec<Noted>>, known: &Self, kept: &[Key]) -> Self {
        let mut parts: BTreeMap<Option<Key>, String> = BTreeMap::new();
        for key in kept {
            let lines = known.groups.get(key).map(|range| known.lines[range.clone()].to_string());
            parts.extend(lines.map(|lines| (Some(*key), lines)));
        }
        for (group, files) in &mut files {
            files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
            let lines = parts.entry(*group).or_default();
            files.iter().for_each(|file| file.write(lines));
        }
        let mut record = Self::default();
        for (group, part) in parts {
            if let Some(key) = group {
                record.lines.push_str(GROUP);
                record.lines.push_str(&format!("{key}\n"));
            }
            let start = record.lines.len();
            record.lines.push_str(&part);
            record.groups.extend(group.map(|key| (key, start..record.lines.len())));
        }
        record
    }

    /// The stamp of a file that was made from what this is the key of.
    pub(crate) fn stamp(&self, path: &str, key: &Key) -> Option<Stamp> {
        let keyed = self.keyed.get_or_init(|| {
            let files = self.lines.lines().filter(|line| !line.starts_with(GROUP)).filter_map(noted);
            files.filter_map(|(path, key, stamp)| Some((path.to_string(), (key?, stamp)))).collect()
        });
        keyed.get(path).filter(|(made_of, _)| made_of == key).map(|(_, stamp)| *stamp)
    }

    /// All files of a group; none if the group is not known.
    pub(crate) fn group(&self, group: &Key) -> Option<Vec<(&str, Stamp)>> {
        let lines = self.lines[self.groups.get(group)?.clone()].lines();
        lines.map(|line| noted(line).map(|(path, _, stamp)| (path, stamp))).collect()
    }

    /// Reads what [`Record::text`] wrote; anything else is an empty record.
    pub fn read(text: &str) -> Self {
        let rest = text.strip_prefix(FORMAT).and_then(|rest| rest.split_once('\n'));
        let whole = rest.filter(|(hash, lines)| Key::parse(hash) == Some(Key::of_text(lines)));
        whole.and_then(|(_, lines)| Self::of_lines(lines)).unwrap_or_default()
    }

    fn of_lines(lines: &str) -> Option<Self> {
        let mut groups = HashMap::new();
        let mut open: Option<(Key, usize)> = None;
        let mut at = 0;
        for line in lines.split_inclusive('\n') {
            let next = at + line.len();
            if let Some(key) = line.strip_prefix(GROUP) {
                groups.extend(open.map(|(key, start)| (key, start..at)));
                open = Some((Key::parse(key.trim_end())?, next));
            }
            at = next;
        }
        groups.extend(open.map(|(key, start)| (key, start..at)));
        Some(Self { lines: lines.to_string(), groups, keyed: OnceLock::new() })
    }

    /// The record as text.
    pub fn text(&self) -> String {
        format!("{FORMAT}{}\n{}", Key::of_text(&self.lines), self.lines)
    }
}

/// What a line with the key of a group begins with.
const GROUP: &str = "group ";
/// In place of the key of a file that has none of its own.
const UNKNOWN: &str = "-";

impl Noted {
    fn write(&self, lines: &mut String) {
        let Stamp { length, modified } = self.stamp;
        let (seconds, nanoseconds) = (modified.as_secs(), modified.subsec_nanos());
        let key = self.key.map_or_else(|| UNKNOWN.to_string(), |key| key.to_string());
        // Writing to memory never fails.
        let _ = writeln!(lines, "{key} {length} {seconds} {nanoseconds} {}", self.path);
    }
}

fn noted(line: &str) -> Option<(&str, Option<Key>, Stamp)> {
    let mut parts = line.splitn(5, ' ');
    let key = match parts.next()? {
        UNKNOWN => None,
        key => Some(Key::parse(key)?),
    };
    let length = parts.next()?.parse().ok()?;
    let seconds = parts.next()?.parse().ok()?;
    let nanoseconds = parts.next()?.parse().ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
    let stamp = Stamp { length, modified: Duration::new(seconds, nanoseconds) };
    Some((parts.next()?, key, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::of([name])
    }

    fn file(path: &str, made_of: Option<&str>, length: u64) -> Noted {
        let stamp = Stamp { length, modified: Duration::new(1_790_000_000, 7) };
        Noted { path: path.to_string(), key: made_of.map(key), stamp }
    }

    fn record() -> Record {
        let files = BTreeMap::from([
            (None, vec![file("index.html", Some("b"), 2)]),
            (
                Some(key("one")),
                vec![file("errors/a b/index.html", Some("a"), 1), file("errors/a b.md", None, 5)],
            ),
            (Some(key("two")), vec![file("errors/c.md", None, 7)]),
        ]);
        Record::new(files, &Record::default(), &[])
    }

    fn paths(record: &Record, group: &str) -> Option<Vec<String>> {
        Some(record.group(&key(group))?.into_iter().map(|(path, _)| path.to_string()).collect())
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Record::read(&record().text());
        assert_eq!(read, record());
        assert_eq!(paths(&read, "one").unwrap(), ["errors/a b.md", "errors/a b/index.html"]);
        assert_eq!(paths(&read, "two").unwrap(), ["errors/c.md"]);
        assert_eq!(paths(&read, "three"), None);
        assert_eq!(read.stamp("errors/a b/index.html", &key("a")).map(|stamp| stamp.length), Some(1));
        assert_eq!(read.stamp("index.html", &key("a")), None, "made of something else");
    }

    #[test]
    fn a_group_that_stays_goes_over_as_it_is() {
        let files = BTreeMap::from([(Some(key("three")), vec![file("errors/d.md", None, 8)])]);
        let next = Record::new(files, &record(), &[key("one")]);
        assert_eq!(paths(&next, "one"), paths(&record(), "one"));
        assert_eq!(paths(&next, "two"), None, "it was not named");
        assert_eq!(Record::read(&next.text()), next);
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
