//! What the builder hands to the server: the last good site, and what is wrong now.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::serve::site::{File, Site, short};
use crate::serve::styles::{self, StyleChange};

/// The newest state; each build makes a new one.
#[derive(Debug)]
pub(crate) struct State {
    /// The last good site, if there ever was one.
    pub(crate) site: Option<Arc<Site>>,
    /// What is wrong, when the newest build failed.
    pub(crate) broken: Option<String>,
    change: Option<VersionChange>,
}

/// A step from one version to the next.
#[derive(Debug)]
struct VersionChange {
    from: String,
    /// The style sheets that changed, when nothing else did.
    styles: Vec<StyleChange>,
    /// The files that changed, when they are few and no page is made of them without naming them.
    changed: Option<Vec<String>>,
}

/// What a page is told.
#[derive(Serialize)]
struct ReloadEvent<'a> {
    version: &'a str,
    /// The version that `styles` and `changed` lead from.
    from: Option<&'a str>,
    /// Style sheets to exchange instead of a reload.
    styles: &'a [StyleChange],
    /// All files that changed: a page that is none of them and has loaded none of them stays. `None` when they are many.
    changed: Option<&'a [String]>,
    broken: Option<&'a str>,
}

impl State {
    /// The state that follows another, if there was one.
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

    /// Changes whenever a page has to be loaded again.
    pub(crate) fn version(&self) -> String {
        match (&self.site, &self.broken) {
            (Some(site), _) => site.version(),
            (None, plain) => short(blake3::hash(plain.as_deref().unwrap_or_default().as_bytes())),
        }
    }

    /// The state as one server-sent event (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
    pub(crate) fn reload_event(&self) -> String {
        let reload_event = ReloadEvent {
            version: &self.version(),
            from: self.change.as_ref().map(|change| change.from.as_str()),
            styles: self.change.as_ref().map_or(&[], |change| &change.styles),
            changed: self.change.as_ref().and_then(|change| change.changed.as_deref()),
            // Without any site the page itself is the text.
            broken: self.broken.as_deref().filter(|_| self.site.is_some()),
        };
        // JSON on one line: line breaks in the text are escaped.
        format!("event: state\ndata: {}\n\n", serde_json::to_string(&reload_event).expect("plain data"))
    }
}

/// Most files that are named to a page.
const MAX_NAMED_FILES: usize = 64;

/// Paths of the files that differ between two sites; `None` when they are many, or shown at addresses that do not name
/// them.
fn changed(old: &Site, new: &Site) -> Option<Vec<String>> {
    let mut paths = BTreeSet::new();
    let mut add = |path: &String, before: Option<&File>, now: Option<&File>| {
        if before.map(|file| &file.tag) != now.map(|file| &file.tag) {
            paths.insert(path.clone());
        }
        paths.len() <= MAX_NAMED_FILES
    };
    if let Some(newer) = old.files.over_one_build(&new.files) {
        newer.into_iter().all(|path| add(path, old.files.get(path), new.files.get(path)));
    } else {
        // Both are in order: one walk along the two sees everything.
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
