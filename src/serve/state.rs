//! State that the builder publishes to the server: the last good site and the current errors.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::serve::site::{File, Site, short};
use crate::serve::styles::{self, StyleChange};

/// Current state, replaced by each build.
#[derive(Debug)]
pub(crate) struct State {
    /// Last successfully built site.
    pub(crate) site: Option<Arc<Site>>,
    /// Errors of the last build, if it failed.
    pub(crate) broken: Option<String>,
    change: Option<VersionChange>,
}

/// Difference to the previous version.
#[derive(Debug)]
struct VersionChange {
    from: String,
    /// Changed style sheets, if nothing else changed.
    styles: Vec<StyleChange>,
    /// Changed files, if they are few and other pages do not depend on them.
    changed: Option<Vec<String>>,
}

/// Event sent to open pages.
#[derive(Serialize)]
struct ReloadEvent<'a> {
    version: &'a str,
    /// Version before `styles` and `changed`.
    from: Option<&'a str>,
    /// Style sheets to replace without a reload.
    styles: &'a [StyleChange],
    /// All changed files; a page reloads if it is or has loaded one of them. `None` if there are many.
    changed: Option<&'a [String]>,
    broken: Option<&'a str>,
}

impl State {
    /// Creates the state after `before`.
    pub(crate) fn new(site: Option<Arc<Site>>, broken: Option<String>, before: Option<&Self>) -> Self {
        let old = before.and_then(|before| before.site.as_ref());
        let pair = old.zip(site.as_ref()).filter(|(old, new)| !Arc::ptr_eq(old, new));
        let change = pair.map(|(old, new)| {
            let changed = changed(old, new);
            let has_styles = |paths: &Vec<String>| paths.iter().any(|path| path.ends_with(".css"));
            let may_be_styles = changed.as_ref().is_none_or(has_styles);
            let styles = if may_be_styles { styles::style_changes(old, new) } else { None };
            VersionChange { from: old.version(), styles: styles.unwrap_or_default(), changed }
        });
        Self { site, broken, change }
    }

    /// Returns a version that differs whenever pages must reload.
    pub(crate) fn version(&self) -> String {
        match (&self.site, &self.broken) {
            (Some(site), _) => site.version(),
            (None, plain) => short(blake3::hash(plain.as_deref().unwrap_or_default().as_bytes())),
        }
    }

    /// Formats the state as a server-sent event (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
    pub(crate) fn reload_event(&self) -> String {
        let reload_event = ReloadEvent {
            version: &self.version(),
            from: self.change.as_ref().map(|change| change.from.as_str()),
            styles: self.change.as_ref().map_or(&[], |change| &change.styles),
            changed: self.change.as_ref().and_then(|change| change.changed.as_deref()),
            // Without a site, every page shows the errors itself.
            broken: self.broken.as_deref().filter(|_| self.site.is_some()),
        };
        // JSON escapes line breaks, so the data is one line.
        format!("event: state\ndata: {}\n\n", serde_json::to_string(&reload_event).expect("plain data"))
    }
}

/// Maximum number of changed files in an event.
const MAX_NAMED_FILES: usize = 64;

/// Returns the paths of the files that differ between two sites, or `None` if there are many or one of them affects
/// every page.
fn changed(old: &Site, new: &Site) -> Option<Vec<String>> {
    let mut paths = BTreeSet::new();
    let mut add = |path: &String, before: Option<&File>, now: Option<&File>| {
        if before.map(|file| &file.tag) != now.map(|file| &file.tag) {
            paths.insert(path.clone());
        }
        paths.len() <= MAX_NAMED_FILES
    };
    if let Some(newer) = old.files.differing_overlays(&new.files) {
        newer.into_iter().all(|path| add(path, old.files.get(path), new.files.get(path)));
    } else {
        // Both iterators are sorted by path.
        let (mut olds, mut news) = (old.files.iter().peekable(), new.files.iter().peekable());
        while let Some(path) = olds.peek().into_iter().chain(news.peek()).map(|(path, _)| *path).min() {
            let before = olds.next_if(|(old, _)| *old == path).map(|(_, file)| file);
            let now = news.next_if(|(new, _)| *new == path).map(|(_, file)| file);
            if !add(path, before, now) {
                break;
            }
        }
    }
    let is_everywhere = ["404.html", "_headers"].into_iter().any(|path| paths.contains(path));
    (paths.len() <= MAX_NAMED_FILES && !is_everywhere).then(|| paths.into_iter().collect())
}
