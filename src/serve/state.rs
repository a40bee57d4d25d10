//! What the builder hands to the server: the last good site, and what is wrong now.

use std::sync::Arc;

use serde::Serialize;

use crate::files::Outputs;
use crate::serve::site::{Site, short};
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

/// A step from one version to the next that changed nothing but style sheets.
#[derive(Debug)]
struct Step {
    from: String,
    styles: Vec<Style>,
}

/// What a page is told.
#[derive(Serialize)]
struct News<'a> {
    version: &'a str,
    /// The version that `styles` leads from.
    from: Option<&'a str>,
    /// Style sheets to exchange; when the page is not at `from`, or there are none, it reloads.
    styles: &'a [Style],
    broken: Option<&'a str>,
}

impl State {
    /// The state after a build that went well.
    pub(crate) fn good(outputs: &Outputs, before: Option<&Self>) -> Self {
        let site = Site::new(outputs);
        let step = before.and_then(|before| before.site.as_deref()).and_then(|old| {
            let styles = styles::only_styles(old, &site)?;
            Some(Step { from: old.version.clone(), styles })
        });
        Self { site: Some(Arc::new(site)), broken: None, step }
    }

    /// The state after a build that failed.
    pub(crate) fn broken(plain: String, before: Option<&Self>) -> Self {
        Self { site: before.and_then(|before| before.site.clone()), broken: Some(plain), step: None }
    }

    /// Changes whenever a page has to be loaded again.
    pub(crate) fn version(&self) -> String {
        match (&self.site, &self.broken) {
            (Some(site), _) => site.version.clone(),
            (None, plain) => short(blake3::hash(plain.as_deref().unwrap_or_default().as_bytes())),
        }
    }

    /// The state as one server-sent event (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
    pub(crate) fn news(&self) -> String {
        let news = News {
            version: &self.version(),
            from: self.step.as_ref().map(|step| step.from.as_str()),
            styles: self.step.as_ref().map_or(&[], |step| &step.styles),
            // Without any site the page itself is the text.
            broken: self.broken.as_deref().filter(|_| self.site.is_some()),
        };
        // JSON on one line: line breaks in the text are escaped.
        format!("event: state\ndata: {}\n\n", serde_json::to_string(&news).expect("plain data"))
    }
}
