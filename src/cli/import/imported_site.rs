//! A site of another generator, as its reader returns it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::civil::Date;

use crate::cli::import::source_tree::SourceTree;
use crate::cli::import::traced_text::TracedText;

/// A site of another generator.
#[derive(Debug, Default)]
pub(super) struct ImportedSite {
    /// Title of the site.
    pub title: String,
    /// Address of the published site.
    pub url: Option<String>,
    /// Address of its repository, for a site whose settings do not contain its own.
    pub repository: Option<String>,
    /// Language code.
    pub language: Option<String>,
    /// Pages, in the order of lists.
    pub pages: Vec<ImportedPage>,
    /// Files to copy, by path in the old site: the address of a static file, or the path next to a page.
    pub files: BTreeMap<String, PathBuf>,
    /// Parts that were not imported.
    pub losses: Vec<Loss>,
}

impl ImportedSite {
    /// Adds the files of a folder under their addresses.
    pub fn copy_folder(&mut self, tree: &SourceTree, folder: &str) {
        if !tree.has_folder(folder) {
            return;
        }
        for file in tree.files(folder, &mut self.losses) {
            let path = file.strip_prefix(folder).unwrap_or(&file).to_string();
            self.copy_file(tree, &file, path);
        }
    }

    /// Adds a file under a path of the new site.
    pub fn copy_file(&mut self, tree: &SourceTree, file: &str, path: String) {
        match tree.file(file) {
            Ok(real) => {
                self.files.insert(path, real);
            }
            Err(loss) => self.losses.push(loss),
        }
    }
}

/// Sorts pages, given by path with their weights, in the order of their sections.
pub(super) fn in_order(found: BTreeMap<String, (ImportedPage, i64)>) -> Vec<ImportedPage> {
    let weights: BTreeMap<String, i64> =
        found.iter().map(|(path, (_, weight))| (path.clone(), *weight)).collect();
    let mut pages: Vec<ImportedPage> = found.into_values().map(|(page, _)| page).collect();
    pages.sort_by_cached_key(|page| order(&page.path, &weights));
    pages
}

/// Returns the sort key of a page: the weights and names of its sections, then its own.
fn order(path: &str, weights: &BTreeMap<String, i64>) -> Vec<(i64, String)> {
    let weight = |path: &str| weights.get(path).copied().unwrap_or(i64::MAX);
    let mut key = Vec::new();
    for (at, _) in path.match_indices('/') {
        let folder = &path[..at];
        let section = format!("{folder}/_index.md");
        let index = if weights.contains_key(&section) { section } else { format!("{folder}/index.md") };
        key.push((weight(&index), folder.to_string()));
    }
    let is_index = path.ends_with("_index.md") || path.ends_with("/index.md");
    key.push(if is_index { (i64::MIN, String::new()) } else { (weight(path), path.to_string()) });
    key
}

/// A page of another generator.
#[derive(Debug, Default)]
pub(super) struct ImportedPage {
    /// Path of the file in the folder of the old site, for reports.
    pub file: String,
    /// Path of the file below the folder of pages; links name it.
    pub path: String,
    /// Old address without slashes at its ends; empty for the home page.
    pub address: String,
    /// Title.
    pub title: String,
    /// Summary, for a page without text.
    pub description: String,
    /// Date of the last change.
    pub date: Option<Date>,
    /// Whether the old site does not publish the page.
    pub draft: bool,
    /// Further old addresses.
    pub aliases: Vec<String>,
    /// Text.
    pub body: TracedText,
}

/// Kind of a part that was not imported, for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LossKind {
    /// A whole page or file.
    File,
    /// A shortcode or directive.
    Shortcode,
    /// HTML without a form in Markdown.
    Html,
    /// A link, an anchor or an image without a target.
    Link,
    /// Markup that pages do not support.
    Markup,
    /// An old address without a redirect.
    Address,
    /// Style sheets, scripts, HTML and fonts, which belong to the theme.
    Theme,
}

impl LossKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::File, Self::Shortcode, Self::Html, Self::Link, Self::Markup, Self::Address, Self::Theme];

    /// Returns the name in the summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "files",
            Self::Shortcode => "shortcodes",
            Self::Html => "HTML",
            Self::Link => "links",
            Self::Markup => "markup",
            Self::Address => "addresses",
            Self::Theme => "theme files",
        }
    }
}

/// A part that was not imported as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loss {
    /// File in the old site.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Kind, for counts.
    pub kind: LossKind,
    /// Fact, and result in the new site.
    pub message: String,
}

impl Loss {
    /// Creates a loss.
    pub fn new(file: &str, line: usize, kind: LossKind, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, kind, message: message.into() }
    }
}
