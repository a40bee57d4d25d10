//! The files a site is made of, read once and kept in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::files::key::Key;
use crate::files::place::{Position, Span};

/// Names one source of a [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceId(u32);

/// A text file: where it lies, what it says, and where its lines begin.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path relative to the site's root, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Counted when a place is first asked for: most files have no findings.
    line_starts: OnceLock<Vec<usize>>,
    key: OnceLock<Key>,
}

impl Source {
    /// A source of this text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), line_starts: OnceLock::new(), key: OnceLock::new() }
    }

    /// The hash of its path and its text.
    pub fn key(&self) -> &Key {
        self.key.get_or_init(|| Key::of([self.path.as_bytes(), Key::of_text(&self.text).as_ref()]))
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
        })
    }

    /// Line and column of a byte; a byte beyond the end is the end.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.floor_char(byte.min(self.text.len()));
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= byte);
        let start = starts[line - 1];
        Position { line, column: self.text[start..byte].chars().count() + 1 }
    }

    fn floor_char(&self, mut byte: usize) -> usize {
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// A file that is carried as it is: an image, a style sheet, a script.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Path relative to the site's root, with `/` between its parts.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// All files of a site in memory, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: Vec<Source>,
    by_path: BTreeMap<String, SourceId>,
    unread: BTreeMap<String, SourceId>,
    shipped: BTreeSet<String>,
    assets: BTreeMap<String, Asset>,
}

impl Sources {
    /// Adds a text file; a path that is there already is replaced.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let source = Source::new(path, text);
        if let Some(id) = self.by_path.get(&source.path) {
            self.texts[id.0 as usize] = source;
            return *id;
        }
        let id = self.next_id();
        self.by_path.insert(source.path.clone(), id);
        self.texts.push(source);
        id
    }

    /// Gives a text file another text, and gives back what it was.
    pub fn replace(&mut self, id: SourceId, text: String) -> String {
        let source = &mut self.texts[id.0 as usize];
        let path = std::mem::take(&mut source.path);
        std::mem::replace(source, Source::new(path, text)).text
    }

    /// Marks the text files that are there as the theme's own: their paths are known, whatever takes their place.
    pub fn mark_shipped(&mut self) {
        self.shipped = self.by_path.keys().cloned().collect();
    }

    /// Whether the theme has a text file of this path.
    pub fn is_shipped(&self, path: &str) -> bool {
        self.shipped.contains(path)
    }

    /// Adds a file that is there and cannot be read, with as much of its text as findings may quote. It is not among the
    /// text files.
    pub fn add_unread(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = self.next_id();
        let source = Source::new(path, text);
        self.unread.insert(source.path.clone(), id);
        self.texts.push(source);
        id
    }

    /// Files under a folder (`content/`) that cannot be read, in the order of their paths.
    pub fn unread_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        self.unread
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, id)| (*id, self.get(*id)))
    }

    /// The file at a path that cannot be read.
    pub fn find_unread(&self, path: &str) -> Option<SourceId> {
        self.unread.get(path).copied()
    }

    /// Whether there is a file at a path, or in a folder that cannot be read, of which nothing is known.
    pub fn is_unread(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path]).any(|path| self.unread.contains_key(path))
    }

    fn next_id(&self) -> SourceId {
        SourceId(u32::try_from(self.texts.len()).expect("fewer than 2^32 files"))
    }

    /// Adds a file that is carried as it is.
    pub fn add_asset(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        let path = path.into();
        self.assets.insert(path.clone(), Asset { path, bytes });
    }

    /// The source of an id that this set gave out.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.texts[id.0 as usize]
    }

    /// The source at a path.
    pub fn find(&self, path: &str) -> Option<SourceId> {
        self.by_path.get(path).copied()
    }

    /// Text files under a folder (`content/`), in the order of their paths.
    pub fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        self.by_path
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, id)| (*id, self.get(*id)))
    }

    /// Carried files under a folder (`static/`), in the order of their paths.
    pub fn assets_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Asset> + 'a {
        self.assets
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, asset)| asset)
    }

    /// The carried file at a path.
    pub fn asset(&self, path: &str) -> Option<&Asset> {
        self.assets.get(path)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Whether a file or folder is hidden, or one that an editor writes beside the file that it saves. Vim tries with a file
/// `4913` whether a folder can be written to.
pub fn is_scratch(name: &str) -> bool {
    let ends = ["~", ".swp", ".swo", ".swx", "___jb_tmp___", "___jb_old___"];
    name.starts_with('.')
        || (name.starts_with('#') && name.ends_with('#'))
        || name == "4913"
        || ends.iter().any(|end| name.ends_with(end))
}

/// Width and height in pixels; none for what is no GIF, JPEG, PNG or WebP.
pub fn picture_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = imagesize::blob_size(bytes).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_count_from_the_top() {
        let source = Source::new("a.md", "äö\nxyz\n");
        assert_eq!(source.position(2), Position { line: 1, column: 2 });
        assert_eq!(source.position(5), Position { line: 2, column: 1 });
        assert_eq!(source.position(99), Position { line: 3, column: 1 });
    }
}
