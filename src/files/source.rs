//! The files a site is made of, read once and kept in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::facts::{Fact, Facts, Fingerprint, Name, read};
use crate::files::key::Key;
use crate::files::span::{Position, Span};

/// Names one source of a [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceId(u32);

/// A text file: where it lies, what it says, and where its lines begin.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path relative to the site's root, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: Fact<String>,
    /// Counted when a place is first asked for: most files have no findings.
    line_starts: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source of this text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let text = Fact::new(Name::new("text", &path), Fingerprint::of([&text]), text);
        Self { path, text, line_starts: OnceLock::new() }
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
    /// Its hash.
    digest: Key,
}

/// All files of a site in memory, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: Vec<Source>,
    by_path: BTreeMap<String, SourceId>,
    unread: BTreeMap<String, SourceId>,
    shipped: BTreeSet<String>,
    assets: BTreeMap<String, Asset>,
    /// The files of an earlier reading: those of the same path keep their ids, so that places in them stay true.
    earlier: BTreeMap<String, SourceId>,
}

/// Name of the fact which files there are, and what those say that are carried as they are.
fn files() -> Name {
    Name::new("files", "")
}

impl Facts for Sources {
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        let paths = |paths: &BTreeMap<String, SourceId>| paths.keys().cloned().collect::<Vec<_>>().join("\n");
        let assets = self.assets.values().flat_map(|asset| [asset.path.as_bytes(), asset.digest.as_ref()]);
        let texts = [paths(&self.by_path), paths(&self.unread), self.shipped.iter().cloned().collect()];
        let texts = Fingerprint::of(texts).0.to_le_bytes();
        visit(files(), Fingerprint::of(assets.chain([texts.as_slice()])));
        self.by_path.values().for_each(|id| self.texts[id.0 as usize].text.visit(visit));
    }
}

impl Sources {
    /// Adds a text file; a path that is there already is replaced.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let source = Source::new(path, text);
        let path = source.path.clone();
        let known = self.by_path.get(&path).copied();
        let id = self.put(known, source);
        self.by_path.insert(path, id);
        id
    }

    /// No files yet, but the ids of an earlier reading.
    pub fn after(earlier: &Self) -> Self {
        let mut ids = earlier.earlier.clone();
        ids.extend(earlier.unread.iter().chain(&earlier.by_path).map(|(path, id)| (path.clone(), *id)));
        Self { texts: earlier.texts.clone(), earlier: ids, ..Self::default() }
    }

    /// Gives a text file another text.
    pub fn replace(&mut self, id: SourceId, text: String) {
        let source = &mut self.texts[id.0 as usize];
        *source = Source::new(std::mem::take(&mut source.path), text);
    }

    fn put(&mut self, known: Option<SourceId>, source: Source) -> SourceId {
        match known.or_else(|| self.earlier.get(&source.path).copied()) {
            Some(id) => {
                self.texts[id.0 as usize] = source;
                id
            }
            None => {
                self.texts.push(source);
                SourceId(u32::try_from(self.texts.len() - 1).expect("fewer than 2^32 files"))
            }
        }
    }

    /// Marks the text files that are there as the theme's own: their paths are known, whatever takes their place.
    pub fn mark_shipped(&mut self) {
        self.shipped = self.by_path.keys().cloned().collect();
    }

    /// Whether the theme has a text file of this path.
    pub fn is_shipped(&self, path: &str) -> bool {
        read(files());
        self.shipped.contains(path)
    }

    /// Adds a file that is there and cannot be read, with as much of its text as findings may quote. It is not among the
    /// text files.
    pub fn add_unread(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let source = Source::new(path, text);
        let path = source.path.clone();
        let id = self.put(None, source);
        self.unread.insert(path, id);
        id
    }

    /// Files under a folder (`content/`) that cannot be read, in the order of their paths.
    pub fn unread_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        read(files());
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
        read(files());
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path]).any(|path| self.unread.contains_key(path))
    }

    /// Adds a file that is carried as it is.
    pub fn add_asset(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        let (path, digest) = (path.into(), Key::of([&bytes]));
        self.assets.insert(path.clone(), Asset { path, bytes, digest });
    }

    /// The source of an id that this set gave out.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.texts[id.0 as usize]
    }

    /// The source at a path.
    pub fn find(&self, path: &str) -> Option<SourceId> {
        read(files());
        self.by_path.get(path).copied()
    }

    /// Text files under a folder (`content/`), in the order of their paths.
    pub fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        read(files());
        self.by_path
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, id)| (*id, self.get(*id)))
    }

    /// Carried files under a folder (`static/`), in the order of their paths.
    pub fn assets_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Asset> + 'a {
        read(files());
        self.assets
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, asset)| asset)
    }

    /// The carried file at a path.
    pub fn asset(&self, path: &str) -> Option<&Asset> {
        read(files());
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
