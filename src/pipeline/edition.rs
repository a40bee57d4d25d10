//! The last good build, kept, so that the page that somebody writes shows at once and the rest of the site a little later.
//!
//! An edit looks at its own pages alone. What it means for others (lists, pages that point here, the search, matches of
//! signatures) is for the next whole build to say, which also has the last word on what is wrong.

use std::collections::BTreeMap;

use crate::check::{self, Subject};
use crate::diag::{self, Diagnostic};
use crate::diagnosis::CompiledSignatures;
use crate::escape::ColorChoice;
use crate::files::{Memory, Outputs, SourceId, Sources};
use crate::pipeline::{Draft, Order, has_errors, rendering, understand};
use crate::render::{self, Groundwork};
use crate::site::{Head, Kind, Site};
use crate::watch::{Unwatched, Watch};
use crate::{fit, link, load};

/// A site without errors, with all that its pages are made of.
#[derive(Debug)]
pub struct Edition {
    sources: Sources,
    draft: Draft,
    ground: Groundwork,
    order: Order,
}

/// What came of a whole build that is to be kept.
#[derive(Debug)]
pub enum Made {
    /// A site and its files.
    Good(Box<Edition>, Outputs),
    /// An error stands in the way; as plain text, all that is wrong.
    Broken(String),
}

/// What came of an edit.
#[derive(Debug)]
pub enum Edited {
    /// The files of the edited pages; none when no page differs from what it was.
    Pages(Outputs),
    /// The pages are wrong, and the edition is as before; as plain text, what is wrong with them.
    Broken(String),
    /// It takes a whole build to say what this changes, and the edition is as before.
    Beyond,
}

impl Edition {
    /// Makes a whole site.
    ///
    /// # Errors
    /// When `order.base_url` is no address.
    pub fn make(
        sources: Sources,
        read_faults: Vec<Diagnostic>,
        order: &Order,
        watch: &dyn Watch,
    ) -> anyhow::Result<Made> {
        let mut draft = understand(&sources, read_faults, order, watch)?;
        let memory = Memory::default();
        let ground =
            if draft.has_errors() { None } else { Self::ground(&sources, &mut draft, order, watch, &memory) };
        Ok(match ground {
            Some(ground) => {
                let edition = Self { sources, draft, ground, order: order.clone() };
                Made::Good(Box::new(edition), memory.into_outputs())
            }
            None => Made::Broken(diag::human(&draft.found, &sources, ColorChoice::Off)),
        })
    }

    /// Makes all files, and keeps what they were made of.
    fn ground(
        sources: &Sources,
        draft: &mut Draft,
        order: &Order,
        watch: &dyn Watch,
        memory: &Memory,
    ) -> Option<Groundwork> {
        let rendering = rendering(sources, draft, order, watch);
        let made = Groundwork::new(&rendering).and_then(|ground| {
            render::all(&rendering, &ground, memory)?;
            Ok(ground)
        });
        draft.good(made, sources)
    }

    /// Gives files of pages new texts.
    pub fn edit(&mut self, texts: BTreeMap<String, String>) -> Edited {
        let mut changed = Vec::new();
        for (path, text) in texts {
            let Some(file) = self.sources.find(&path).filter(|file| self.head(*file).is_some()) else {
                return Edited::Beyond;
            };
            if self.sources.get(file).text != text {
                changed.push((file, text));
            }
        }
        let files: Vec<SourceId> = changed.iter().map(|(file, _)| *file).collect();
        let before = self.exchange(changed);
        let edited = self.take(&files, &before);
        if !matches!(edited, Edited::Pages(_)) {
            self.exchange(before);
            let (old, _) = load::few(&self.sources, &files, self.order.drafts);
            self.set(&old);
        }
        edited
    }

    /// The page that was read from a file.
    fn head(&self, file: SourceId) -> Option<&Head> {
        let path = &self.sources.get(file).path;
        self.draft.site.heads().find(|head| head.source == file && head.path == *path)
    }

    fn exchange(&mut self, texts: Vec<(SourceId, String)>) -> Vec<(SourceId, String)> {
        texts.into_iter().map(|(file, text)| (file, self.sources.replace(file, text))).collect()
    }

    /// Reads the pages of files that have a new text, puts them into the site and makes them.
    fn take(&mut self, files: &[SourceId], before: &[(SourceId, String)]) -> Edited {
        let (few, mut found) = load::few(&self.sources, files, self.order.drafts);
        if !before.iter().all(|(file, text)| self.can_take(&few, *file, text)) {
            return Edited::Beyond;
        }
        if has_errors(&found) {
            return self.broken(found);
        }
        found.extend(self.set(&few));
        found.extend(self.judge(&few));
        if has_errors(&found) {
            return self.broken(found);
        }
        let memory = Memory::default();
        match render::few(
            &rendering(&self.sources, &self.draft, &self.order, &Unwatched),
            &self.ground,
            &few,
            &memory,
        ) {
            Ok(()) => Edited::Pages(memory.into_outputs()),
            Err(faults) => self.broken(faults),
        }
    }

    /// Whether the new page of a file can stand where the old one, with the text `before`, stands now.
    fn can_take(&self, few: &Site, file: SourceId, before: &str) -> bool {
        let Some((old, new)) = self.head(file).zip(few.heads().find(|head| head.source == file)) else {
            return false;
        };
        // What is reckoned from the catalog stands on many pages, and takes its time.
        let is_catalog = matches!(old.id.kind, Kind::Model | Kind::Hardware | Kind::Quant);
        let front = before.get(old.front.start..old.front.end);
        old.id == new.id
            && old.draft == new.draft
            && (!is_catalog || front == Some(self.sources.text(new.front)))
    }

    /// Puts pages in the place of the old ones; what is wrong with their figures comes back.
    fn set(&mut self, few: &Site) -> Vec<Diagnostic> {
        let Draft { site, links, fits, .. } = &mut self.draft;
        let mut old = few.clone();
        site.exchange(&mut old);
        link::renew(links, &old, few, site, &self.sources);
        let found = fit::renew(fits, few, site);
        self.ground.renew(&rendering(&self.sources, &self.draft, &self.order, &Unwatched), few);
        found
    }

    fn judge(&self, few: &Site) -> Vec<Diagnostic> {
        let Draft { site, links, .. } = &self.draft;
        check::few(&Subject {
            sources: &self.sources,
            pages: few,
            site,
            links,
            compiled: &CompiledSignatures::for_pages(few, site, &self.sources),
            hits: &BTreeMap::new(),
            today: self.order.today,
            store: &self.order.store,
        })
    }

    fn broken(&self, mut found: Vec<Diagnostic>) -> Edited {
        Diagnostic::sort(&mut found, &self.sources);
        Edited::Broken(diag::human(&found, &self.sources, ColorChoice::Off))
    }
}
