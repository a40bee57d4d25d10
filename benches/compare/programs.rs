//! Programs that are compared, and how each is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::Layout;

/// Generator to measure.
#[derive(Debug, Clone)]
pub struct Program {
    pub layout: Layout,
    pub name: &'static str,
    /// Path of the program.
    path: String,
    /// Version that the program reports.
    pub version: String,
}

impl Program {
    /// Returns kbgen and each program that an environment variable names (`HUGO`, `ZOLA`, `ELEVENTY`, `MDBOOK`).
    pub fn all() -> Vec<Self> {
        let other = |layout, name, variable| Some((layout, name, std::env::var(variable).ok()?));
        [
            Some((Layout::Kbgen, "kbgen", env!("CARGO_BIN_EXE_kbgen").to_string())),
            other(Layout::Hugo { all_files: false }, "Hugo", "HUGO"),
            other(Layout::Hugo { all_files: true }, "Hugo, same files", "HUGO"),
            other(Layout::Zola, "Zola", "ZOLA"),
            other(Layout::Eleventy, "Eleventy", "ELEVENTY"),
            other(Layout::MdBook, "mdBook", "MDBOOK"),
        ]
        .into_iter()
        .flatten()
        .map(|(layout, name, path)| {
            let flag = if matches!(layout, Layout::Hugo { .. }) { "version" } else { "--version" };
            let output = Command::new(&path).arg(flag).output().expect("the program runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let version = text.split_whitespace().find_map(|word| {
                let word = word.trim_start_matches('v');
                word.starts_with(|first: char| first.is_ascii_digit())
                    .then(|| word.split(['-', '+']).next())?
            });
            let version = version.unwrap_or("of unknown version").to_string();
            Self { layout, name, path, version }
        })
        .collect()
    }

    /// Returns the command that builds the site in the current folder into `output`.
    pub fn build(&self, output: &Path, cache: &Path) -> Vec<String> {
        let output = output.display().to_string();
        let cache = cache.display().to_string();
        let words: &[&str] = match self.layout {
            Layout::Kbgen => {
                &["build", "--date", "2026-11-22", "--output-dir", &output, "--cache-dir", &cache]
            }
            Layout::Hugo { .. } => &["--quiet", "--destination", &output],
            Layout::Zola => &["build", "--force", "--output-dir", &output],
            Layout::Eleventy => &["--quiet", "--output", &output],
            Layout::MdBook => &["build", "--dest-dir", &output],
        };
        self.command(words)
    }

    /// Returns the command that serves the site in the current folder.
    pub fn serve(&self, port: u16, cache: &Path) -> Vec<String> {
        let port = port.to_string();
        let cache = cache.display().to_string();
        let words: &[&str] = match self.layout {
            Layout::Kbgen => &["serve", "--port", &port, "--cache-dir", &cache],
            Layout::Hugo { .. } => &["server", "--quiet", "--port", &port],
            Layout::Zola => &["serve", "--fast", "--interface", "127.0.0.1", "--port", &port],
            Layout::Eleventy => &["--serve", "--incremental", "--quiet", "--port", &port],
            Layout::MdBook => &["serve", "--hostname", "127.0.0.1", "--port", &port],
        };
        self.command(words)
    }

    /// Returns the command that checks the site without building it, if the program has one.
    pub fn check(&self, cache: &Path) -> Option<Vec<String>> {
        let cache = cache.display().to_string();
        match self.layout {
            Layout::Kbgen => Some(self.command(&["check", "--cache-dir", &cache])),
            Layout::Zola => Some(self.command(&["check", "--skip-external-links"])),
            Layout::Hugo { .. } | Layout::Eleventy | Layout::MdBook => None,
        }
    }

    fn command(&self, words: &[&str]) -> Vec<String> {
        [&self.path as &str].iter().chain(words).map(|word| (*word).to_string()).collect()
    }

    /// Returns the source of an error page.
    pub fn page(&self, root: &Path, slug: &str) -> PathBuf {
        match self.layout {
            Layout::Kbgen => {
                let number: usize = slug.rsplit('-').next().and_then(|last| last.parse().ok()).unwrap_or(0);
                root.join(format!("content/errors/{}/{slug}.md", crate::corpus::category(number)))
            }
            Layout::MdBook => root.join(format!("src/errors/{slug}/index.md")),
            Layout::Hugo { .. } | Layout::Zola | Layout::Eleventy => {
                root.join(format!("content/errors/{slug}.md"))
            }
        }
    }

    /// Appends a text to the footer of all pages.
    pub fn edit_template(&self, root: &Path, text: &str) {
        let (file, mark) = match self.layout {
            Layout::Kbgen => ("templates/hooks/footer_end.html", ""),
            Layout::Hugo { .. } => ("layouts/_default/baseof.html", "</footer>"),
            Layout::Zola => ("templates/base.html", "</footer>"),
            Layout::Eleventy => ("templates/base.njk", "</footer>"),
            Layout::MdBook => ("theme/header.hbs", ""),
        };
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap_or(root)).expect("the folder can be made");
        let old = fs::read_to_string(&file).unwrap_or_default();
        let new = if mark.is_empty() { old + text } else { old.replace(mark, &format!("{text}{mark}")) };
        fs::write(file, new).expect("the template can be written");
    }
}
