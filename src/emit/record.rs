//! What each file of a published folder was made of: one whose key is the same, and that nobody touched, is not made again.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::files::Key;

/// What the text of a record begins with.
const FORMAT: &str = "kbgen published 1\n";

/// Files of a published folder by path, with the keys of what they were made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    files: HashMap<String, (Key, Stamp)>,
}

/// What changes when someone writes to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Bytes of the file.
    pub(crate) length: u64,
    /// Since 1970; what is older is nobody's.
    modified: Duration,
}

impl Stamp {
    /// That of a file as it is now; `None` if it is none, or a link.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Self { length: found.len(), modified })
    }
}

impl Record {
    /// The stamp of a file that was made from what this is the key of.
    pub(crate) fn stamp(&self, path: &str, key: &Key) -> Option<Stamp> {
        self.files.get(path).filter(|(made_of, _)| made_of == key).map(|(_, stamp)| *stamp)
    }

    /// Notes a file.
    pub(crate) fn add(&mut self, path: String, key: Key, stamp: Stamp) {
        self.files.insert(path, (key, stamp));
    }

    /// Reads what [`Record::text`] wrote; of anything else, as much as can be understood.
    pub fn read(text: &str) -> Self {
        let lines = text.strip_prefix(FORMAT).unwrap_or_default().lines();
        Self { files: lines.filter_map(line).collect() }
    }

    /// The record as text: a line a file, in the order of their paths.
    pub fn text(&self) -> String {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        let mut text = String::from(FORMAT);
        for (path, (key, stamp)) in files {
            let (seconds, nanoseconds) = (stamp.modified.as_secs(), stamp.modified.subsec_nanos());
            // Writing to memory never fails.
            let _ = writeln!(text, "{key} {} {seconds} {nanoseconds} {path}", stamp.length);
        }
        text
    }
}

fn line(line: &str) -> Option<(String, (Key, Stamp))> {
    let mut parts = line.splitn(5, ' ');
    let key = Key::parse(parts.next()?)?;
    let length = parts.next()?.parse().ok()?;
    let seconds = parts.next()?.parse().ok()?;
    let nanoseconds = parts.next()?.parse().ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
    let stamp = Stamp { length, modified: Duration::new(seconds, nanoseconds) };
    Some((parts.next()?.to_string(), (key, stamp)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = Record::default();
        let stamp = |length| Stamp { length, modified: Duration::new(1_790_000_000, 7) };
        record.add("errors/a b/index.html".into(), Key::of(["a"]), stamp(1));
        record.add("index.html".into(), Key::of(["b"]), stamp(2));
        record
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Record::read(&record().text()), record());
    }

    #[test]
    fn a_line_that_is_broken_is_left_out() {
        let text = record().text();
        for broken in [text.replace("1790000000", "-1"), text.replace(" 7 ", " 1000000000 ")] {
            assert_eq!(Record::read(&broken), Record::default());
        }
        assert_eq!(Record::read(&text[1..]), Record::default(), "of another form");
        for end in 0..text.len() {
            let read = Record::read(&text[..end]);
            for (path, made) in read.files {
                // A path that was cut is that of no file, or of one with another key.
                assert!(record().files.get(&path).is_none_or(|whole| *whole == made), "cut at {end}");
            }
        }
    }
}
