//! Progress of a build: its stage, and the pages being processed. Independent of any clock.

use std::fmt;

/// Stages of a build, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Read files from disk.
    Read,
    /// Parse front matter and Markdown.
    Parse,
    /// Resolve links.
    Link,
    /// Compile signatures, and match their samples.
    Signatures,
    /// Run checks.
    Check,
    /// Compute the memory of models.
    Fit,
    /// Render bodies to HTML, and highlight code.
    Prose,
    /// Compute data that several pages share.
    Gather,
    /// Render templates, and write each page.
    Pages,
    /// Write files for programs: data, search, feeds.
    Data,
    /// Draw share pictures.
    Pictures,
    /// Replace the published site.
    Publish,
}

impl Stage {
    /// Returns the displayed name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Parse => "parse",
            Self::Link => "link",
            Self::Signatures => "signatures",
            Self::Check => "check",
            Self::Fit => "fit",
            Self::Prose => "prose",
            Self::Gather => "gather",
            Self::Pages => "pages",
            Self::Data => "data",
            Self::Pictures => "pictures",
            Self::Publish => "publish",
        }
    }
}

/// Receives the progress of a build.
pub trait BuildProgress: fmt::Debug + Sync {
    /// Starts a stage, which ends the previous one; `pages` is the number of pages that it will report.
    fn start_stage(&self, stage: Stage, pages: usize);

    /// Starts a page on the current thread. `path` is its source or its output.
    fn start_page(&self, path: &str);

    /// Finishes the page that this thread started.
    fn finish_page(&self, path: &str);
}

/// Ignores all progress.
#[derive(Debug)]
pub struct NoProgress;

impl BuildProgress for NoProgress {
    fn start_stage(&self, _stage: Stage, _pages: usize) {}
    fn start_page(&self, _path: &str) {}
    fn finish_page(&self, _path: &str) {}
}
