//! Generated knowledge base of any size: the same pages for kbgen and other generators.
//!
//! A page depends on its number alone and links only to pages with smaller numbers, so a small corpus is the
//! beginning of a large one.

pub mod article;
pub mod bare;
mod blocks;
mod eleventy;
mod hugo;
mod kbgen;
mod mdbook;
mod words;
mod zola;

use std::fs;
use std::path::Path;

pub use blocks::Code;

/// Size and kind of a corpus.
#[derive(Debug, Clone, Copy)]
pub struct Corpus {
    /// Error pages.
    pub pages: usize,
    /// Code blocks.
    pub code: Code,
}

/// Generator that the corpus is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// With tools, categories and a guide.
    Kbgen,
    /// With `all_files`, also with JSON and Markdown versions of each page and of the whole site.
    Hugo {
        all_files: bool,
    },
    Zola,
    Eleventy,
    MdBook,
}

/// Guide that the pages link to, for generators with front matter.
const GUIDE: &str = "---\ntitle: Free the card\n---\n\nStop what else holds the card.\n";

/// Categories of the pages.
const CATEGORIES: usize = 24;

/// Programs that print the messages.
const TOOLS: [&str; 12] = [
    "vllm",
    "ollama",
    "llama-cpp",
    "transformers",
    "pytorch",
    "lm-studio",
    "koboldcpp",
    "exllama",
    "mlx",
    "sglang",
    "tgi",
    "jan",
];

/// Writes a corpus below `folder`, which must not exist yet.
pub fn write(corpus: Corpus, layout: Layout, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    match layout {
        Layout::Kbgen => kbgen::write(corpus, folder),
        Layout::Hugo { all_files } => hugo::write(corpus, all_files, folder),
        Layout::Zola => zola::write(corpus, folder),
        Layout::Eleventy => eleventy::write(corpus, folder),
        Layout::MdBook => mdbook::write(corpus, folder),
    }
}

/// Writes a file and the folders above it.
fn put(folder: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let file = folder.join(path);
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, text)
}

/// Returns the category of a page.
pub fn category(page: usize) -> String {
    format!("kind-{:02}", page % CATEGORIES)
}
