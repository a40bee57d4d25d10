//! The source files of a site, read once and kept in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::facts::{Fact, Facts, Fingerprint, Name, read};
use crate::files::key::Key;
use crate::files::span::{Position, Span};

/// Identifies a text file in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceId(u32);

/// A text file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path relative to the site's root, with `/` as the separator.
    pub path: String,
    /// The whole text.
    pub text: Fact<String>,
    /// Offsets of line starts, computed on first use: most files have no findings.
    line_starts: OnceLock<Vec<usize>>,
}

impl Source {
    /// Creates a source.
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

    /// Returns line and column of a byte offset; offsets beyond the end are clamped.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.floor_char(byte);
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= byte);
        let start = starts[line - 1];
        Position { line, column: self.text[start..byte].chars().count() + 1 }
    }

    /// Returns the start of the character at a byte offset; offsets beyond the end are clamped.
    pub fn floor_char(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// A binary or static file: an image, a style sheet, a script.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Path relative to the site's root, with `/` as the separator.
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Hash of the content.
    digest: Key,
}

/// All source files of a site, sorted by path.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: Vec<Source>,
    by_path: BTreeMap<String, SourceId>,
    unread: BTreeMap<String, SourceId>,
    shipped: BTreeSet<String>,
    assets: BTreeMap<String, Asset>,
    /// Ids of the files of an earlier reading. Files with the same path keep their ids, so that spans stay valid.
    earlier: BTreeMap<String, SourceId>,
}

/// Returns the name of the fact for the set of files and the content of assets.
fn files() -> Name {
    Name::new("files", "")
}

impl Facts for Sources {
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        let paths = |paths: &BTreeMap<String, SourceId>| paths.keys().cloned().collect::<Vec<_>>().join("\n");
        let assets = self.assets.values().flat_map(|asset| [asset.path.as_bytes(), asset.digest.as_ref()]);
        let texts = [
            paths(&self.by_path),
            paths(&self.unread),
            self.shipped.iter().map(|path| format!("{path}\n")).collect(),
        ];
        let texts = Fingerprint::of(texts).0.to_le_bytes();
        visit(files(), Fingerprint::of(assets.chain([texts.as_slice()])));
        self.by_path.values().for_each(|id| self.texts[id.0 as usize].text.visit(visit));
    }
}

impl Sources {
    /// Adds or replaces a text file.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let source = Source::new(path, text);
        let path = source.path.clone();
        let known = self.by_path.get(&path).copied();
        let id = self.put(known, source);
        self.by_path.insert(path, id);
        id
    }

    /// Creates an empty set that reuses the ids of an earlier reading.
    pub fn after(earlier: &Self) -> Self {
        let mut ids = earlier.earlier.clone();
        ids.extend(earlier.unread.iter().chain(&earlier.by_path).map(|(path, id)| (path.clone(), *id)));
        Self { texts: earlier.texts.clone(), earlier: ids, ..Self::default() }
    }

    /// Returns the text files whose paths satisfy a condition, under the same ids.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let by_path = self.by_path.iter().filter(|(path, _)| keep(path));
        let by_path = by_path.map(|(path, id)| (path.clone(), *id)).collect();
        Self { texts: self.texts.clone(), by_path, ..Self::default() }
    }

    /// Replaces the content of a text file.
    pub fn replace(&mut self, id: SourceId, text: String) {
        let source = &mut self.texts[id.0 as usize];
        *source = Source::new(std::mem::take(&mut source.path), text);
    }

    /// Changes the path of a text file, which keeps its id.
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(id) = self.by_path.remove(from) {
            let source = &mut self.texts[id.0 as usize];
            *source = Source::new(to, source.text.as_str());
            self.by_path.insert(to.to_string(), id);
        }
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

    /// Marks all current text files as part of the built-in theme, even if the site overrides them later.
    pub fn mark_shipped(&mut self) {
        self.shipped = self.by_path.keys().cloned().collect();
    }

    /// Returns whether the built-in theme has a text file with this path.
    pub fn is_shipped(&self, path: &str) -> bool {
        read(files());
        self.shipped.contains(path)
    }

    /// Adds an existing file that cannot be read, with as much text as findings may quote. It is not one of the text
    /// files.
    pub fn add_unread(&mut self, path: impl Into<String>, text: impl Into<String>) -> SourceId {
        let source = Source::new(path, text);
        let path = source.path.clone();
        let id = self.put(None, source);
        self.unread.insert(path, id);
        id
    }

    /// Iterates over the unreadable files below a folder (`content/`), sorted by path.
    pub fn unread_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        read(files());
        self.unread
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, id)| (*id, self.get(*id)))
    }

    /// Returns the unreadable file with this path.
    pub fn find_unread(&self, path: &str) -> Option<SourceId> {
        self.unread.get(path).copied()
    }

    /// Returns whether there is an unreadable file with this path, or an unreadable folder above it.
    pub fn is_unread(&self, path: &str) -> bool {
        read(files());
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.chain([path]).any(|path| self.unread.contains_key(path))
    }

    /// Adds a binary or static file.
    pub fn add_asset(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        let (path, digest) = (path.into(), Key::of([&bytes]));
        self.assets.insert(path.clone(), Asset { path, bytes, digest });
    }

    /// Returns the source of an id of this set.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.texts[id.0 as usize]
    }

    /// Returns the source with this path.
    pub fn find(&self, path: &str) -> Option<SourceId> {
        read(files());
        self.by_path.get(path).copied()
    }

    /// Iterates over the text files below a folder (`content/`), sorted by path.
    pub fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (SourceId, &'a Source)> + 'a {
        read(files());
        self.by_path
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, id)| (*id, self.get(*id)))
    }

    /// Iterates over the assets below a folder (`static/`), sorted by path.
    pub fn assets_under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Asset> + 'a {
        read(files());
        self.assets
            .range(folder.to_string()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(|(_, asset)| asset)
    }

    /// Returns the asset with this path.
    pub fn asset(&self, path: &str) -> Option<&Asset> {
        read(files());
        self.assets.get(path)
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source).text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Returns whether a file or folder is hidden or a temporary file of an editor. Vim creates the file `4913` to test
/// whether a folder is writable.
pub fn is_scratch(name: &str) -> bool {
    let ends = ["~", ".swp", ".swo", ".swx", "___jb_tmp___", "___jb_old___"];
    name.starts_with('.')
        || (name.starts_with('#') && name.ends_with('#'))
        || name == "4913"
        || ends.iter().any(|end| name.ends_with(end))
}

/// Returns width and height in pixels; `None` if the file is not a GIF, JPEG, PNG or WebP image.
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
