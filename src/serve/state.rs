//! What the builder hands to the server: the last good site, and what is wrong now.

use std::collections::btree_map;
use std::iter::Peekable;
use std::sync::Arc;

use serde::Serialize;

use crate::serve::site::{File, Site, short};
use crate::serve::styles::{self, Style};

/// The newest state; each build makes a new one.
#[derive(Debug)]
pub(crate) struct State {
    /// The last good site, if there ever was one.
    pub(crate) site: Option<Arc<Site>>,
    /// What is wrong, when the newest build failed.
    pub(crate) broken: Option<String>,
    step: Option<Step>,
}

/// A step from one version to the next.
#[derive(Debug)]
struct Step {
    from: String,
    /// The style sheets that changed, when nothing else did.
    styles: Vec<Style>,
    /// The files that changed, when they are few and no page is made of them without naming them.
    changed: Option<Vec<String>>,
}

/// What a page is told.
#[derive(Serialize)]
struct News<'a> {
    version: &'a str,
    /// The version that `styles` and `changed` lead from.
    from: Option<&'a str>,
    /// Style sheets to exchange instead of a reload.
    styles: &'a [Style],
    /// All files that changed: a page that is none of them and has loaded none of them stays. `None` when they are many.
    changed: Option<&'a [String]>,
    broken: Option<&'a str>,
}

impl State {
    /// The state that follows another, if there was one.
    pub(crate) fn new(site: Option<Arc<Site>>, broken: Option<String>, before: Option<&Self>) -> Self {
        let old = before.and_then(|before| before.site.as_ref());
        let step =
            old.zip(site.as_ref()).filter(|(old, new)| !Arc::ptr_eq(old, new)).map(|(old, new)| Step {
                from: old.version(),
                styles: styles::only_styles(old, new).unwrap_or_default(),
                changed: changed(old, new),
            });
        Self { site, broken, step }
    }

    /// Changes whenever a page has to be loaded again.
    pub(crate) fn version(&self) -> String {
        match (&self.site, &self.broken) {
            (Some(site), _) => site.version(),
            (None, plain) => short(blake3::hash(plain.as_deref().unwrap_or_default().as_bytes())),
        }
    }

    /// The state as one server-sent event (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
    pub(crate) fn news(&self) -> String {
        let news = News {
            version: &self.version(),
            from: self.step.as_ref().map(|step| step.from.as_str()),
            styles: self.step.as_ref().map_or(&[], |step| &step.styles),
            changed: self.step.as_ref().and_then(|step| step.changed.as_deref()),
            // Without any site the page itself is the text.
            broken: self.broken.as_deref().filter(|_| self.site.is_some()),
        };
        // JSON on one line: line breaks in the text are escaped.
        format!("event: state\ndata: {}\n\n", serde_json::to_string(&news).expect("plain data"))
    }
}

/// Most files that are named to a page.
const NAMED: usize = 64;

/// Paths of the files that differ between two sites; `None` when they are many, or shown at addresses that do not name
/// them.
fn changed(old: &Site, new: &Site) -> Option<Vec<String>> {
    let (mut olds, mut news) = (old.files.iter().peekable(), new.files.iter().peekable());
    let mut paths = Vec::new();
    // Both are in order: one walk along the two sees everything.
    while let Some(path) = next_path(&mut olds, &mut news) {
        let before = olds.next_if(|(old, _)| *old == path);
        let now = news.next_if(|(new, _)| *new == path);
        if before.map(|(_, file)| &file.tag) != now.map(|(_, file)| &file.tag) {
            if paths.len() == NAMED || path == "404.html" || path == "_headers" {
                return None;
            }
            paths.push(path.clone());
        }
    }
    Some(paths)
}

type Files<'s> = Peekable<btree_map::Iter<'s, String, File>>;

fn next_path<'s>(olds: &mut Files<'s>, news: &mut Files<'s>) -> Option<&'s String> {
    let old = olds.peek().map(|(path, _)| *path);
    old.into_iter().chain(news.peek().map(|(path, _)| *path)).min()
}
