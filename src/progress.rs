//! Progress of a build: its stage, and the pages in work. It knows no clock.

use std::fmt;

/// A stage of a build, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Files come from the disk.
    Read,
    /// Front matter and Markdown become typed pages.
    Parse,
    /// Links get their targets.
    Link,
    /// Signatures become the index, and their samples are looked up in it.
    Signatures,
    /// Everything is judged.
    Check,
    /// Memory is reckoned for models.
    Fit,
    /// Bodies become HTML, their code colored.
    Prose,
    /// What several pages show is gathered.
    Gather,
    /// Templates become pages, and each is written.
    Pages,
    /// Files for machines are made and written: data, search, feeds.
    Data,
    /// Pictures of shared pages are drawn.
    Pictures,
    /// The new tree takes the place of the old one.
    Publish,
}

impl Stage {
    /// Its name, as people read it.
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

/// Whoever waits for a build.
pub trait BuildProgress: fmt::Debug + Sync {
    /// A stage begins, and the one before it has ended; it reports so many pages.
    fn start_stage(&self, stage: Stage, pages: usize);

    /// A page is taken in hand, on the thread that will also tell its end. `path` is its source or its output.
    fn start_page(&self, path: &str);

    /// The page that this thread took in hand is done.
    fn finish_page(&self, path: &str);
}

/// Nobody waits.
#[derive(Debug)]
pub struct NoProgress;

impl BuildProgress for NoProgress {
    fn start_stage(&self, _stage: Stage, _pages: usize) {}
    fn start_page(&self, _path: &str) {}
    fn finish_page(&self, _path: &str) {}
}
