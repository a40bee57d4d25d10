//! Records the keys of published files. A file with the same key that nobody modified is not rendered again.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use crate::files::Key;

/// Header of a record, followed by the hash of the rest: a record that lost a line would remove that file from the
/// folder.
const FORMAT: &str = "kbgen published 4 ";

/// Files of a published folder by the key of the query that made them.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// One line per file after a line with the key. Stored as text, since most of it is copied unchanged from build
    /// to build.
    lines: String,
    /// Byte range of the lines of each key.
    keys: HashMap<Key, Range<usize>>,
}

/// A file in the record.
#[derive(Debug, Clone)]
pub(crate) struct RecordedFile {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
}

/// Metadata that changes when a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Size in bytes.
    pub(crate) length: u64,
    /// Modification time since 1970; files older than that are never reused.
    pub(crate) modified: Duration,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

impl Eq for Record {}

impl Record {
    /// Creates a record of new files by key, and of the `kept` keys of the earlier record.
    pub(crate) fn new(files: BTreeMap<Key, Vec<RecordedFile>>, known: &Self, kept: &[Key]) -> Self {
        let mut parts: BTreeMap<Key, String> = BTreeMap::new();
        for key in kept {
            let lines = known.keys.get(key).map(|range| known.lines[range.clone()].to_string());
            parts.extend(lines.map(|lines| (*key, lines)));
        }
        for (key, mut files) in files {
            files.sort_unstable_by(|one, two| one.path.cmp(&two.path));
            let lines = parts.entry(key).or_default();
            files.iter().for_each(|file| file.write(lines));
        }
        let mut record = Self::default();
        for (key, part) in parts {
            record.lines.push_str(&format!("{KEY}{key}\n"));
            let start = record.lines.len();
            record.lines.push_str(&part);
            record.keys.insert(key, start..record.lines.len());
        }
        record
    }

    /// Returns all files of a key; `None` if the key is not recorded.
    pub(crate) fn files(&self, key: &Key) -> Option<Vec<(&str, Stamp)>> {
        self.lines[self.keys.get(key)?.clone()].lines().map(recorded).collect()
    }

    /// Parses the output of [`Record::text`]; anything else is an empty record.
    pub fn read(text: &str) -> Self {
        let rest = text.strip_prefix(FORMAT).and_then(|rest| rest.split_once('\n'));
        let whole = rest.filter(|(hash, lines)| Key::parse(hash) == Some(Key::of_text(lines)));
        whole.and_then(|(_, lines)| Self::of_lines(lines)).unwrap_or_default()
    }

    fn of_lines(lines: &str) -> Option<Self> {
        let mut keys = HashMap::new();
        let mut open: Option<(Key, usize)> = None;
        let mut at = 0;
        for line in lines.split_inclusive('\n') {
            let next = at + line.len();
            if let Some(key) = line.strip_prefix(KEY) {
                keys.extend(open.map(|(key, start)| (key, start..at)));
                open = Some((Key::parse(key.trim_end())?, next));
            }
            at = next;
        }
        keys.extend(open.map(|(key, start)| (key, start..at)));
        Some(Self { lines: lines.to_string(), keys })
    }

    /// Formats the record.
    pub fn text(&self) -> String {
        format!("{FORMAT}{}\n{}", Key::of_text(&self.lines), self.lines)
    }
}

/// Prefix of a line with a key.
const KEY: &str = "key ";

impl RecordedFile {
    fn write(&self, lines: &mut String) {
        let Stamp { length, modified } = self.stamp;
        let (seconds, nanoseconds) = (modified.as_secs(), modified.subsec_nanos());
        // Writing to memory never fails.
        let _ = writeln!(lines, "{length} {seconds} {nanoseconds} {}", self.path);
    }
}

fn recorded(line: &str) -> Option<(&str, Stamp)> {
    let mut parts = line.splitn(4, ' ');
    let length = parts.next()?.parse().ok()?;
    let seconds = parts.next()?.parse().ok()?;
    let nanoseconds = parts.next()?.parse().ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
    let stamp = Stamp { length, modified: Duration::new(seconds, nanoseconds) };
    Some((parts.next()?, stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::of([name])
    }

    fn file(path: &str, length: u64) -> RecordedFile {
        let stamp = Stamp { length, modified: Duration::new(1_790_000_000, 7) };
        RecordedFile { path: path.to_string(), stamp }
    }

    fn record() -> Record {
        let files = BTreeMap::from([
            (key("one"), vec![file("errors/a b/index.html", 1), file("errors/a b.md", 5)]),
            (key("two"), vec![file("errors/c.md", 7)]),
        ]);
        Record::new(files, &Record::default(), &[])
    }

    fn paths(record: &Record, name: &str) -> Option<Vec<String>> {
        Some(record.files(&key(name))?.into_iter().map(|(path, _)| path.to_string()).collect())
    }

    #[test]
    fn round_trips() {
        let read = Record::read(&record().text());
        assert_eq!(read, record());
        assert_eq!(paths(&read, "one").unwrap(), ["errors/a b.md", "errors/a b/index.html"]);
        assert_eq!(paths(&read, "two").unwrap(), ["errors/c.md"]);
        assert_eq!(paths(&read, "three"), None);
        assert_eq!(read.files(&key("two")).unwrap()[0].1.length, 7);
    }

    #[test]
    fn keeps_the_files_of_reused_keys() {
        let files = BTreeMap::from([(key("three"), vec![file("errors/d.md", 8)])]);
        let next = Record::new(files, &record(), &[key("one")]);
        assert_eq!(paths(&next, "one"), paths(&record(), "one"));
        assert_eq!(paths(&next, "two"), None, "it was not named");
        assert_eq!(Record::read(&next.text()), next);
    }

    #[test]
    fn ignores_damaged_records() {
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
