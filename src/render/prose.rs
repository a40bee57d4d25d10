//! Renders bodies to HTML, with links relative to the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::Kind;
use crate::facts::{Fact, Fingerprint, Table};
use crate::markdown::{self, Call, CallValue, Picture, RenderHooks, Rendered, TocEntry};
use crate::progress::Stage;
use crate::render::RenderInputs;
use crate::render::address::{href, root};
use crate::render::assets::Assets;
use crate::render::provenance::provenance;
use crate::render::views::description;
use crate::site::kinds::ToolData;
use crate::site::{self, Head, LinkTarget, Page};

/// Summaries of all bodies, by path of the file. Bodies are rendered on demand, since together they are larger than
/// everything else.
#[derive(Debug)]
pub(super) struct Prose {
    tools: Fact<BTreeMap<String, String>>,
    summaries: Table<String, Arc<(BodySummary, Fingerprint)>>,
}

/// Summary of a body, for other pages.
#[derive(Debug)]
pub(super) struct BodySummary {
    /// First sentences of the lead as plain text.
    pub description: String,
    /// Headings of levels 2 and 3.
    pub toc: Vec<TocEntry>,
}

impl Prose {
    /// Summarizes every body.
    pub fn new(inputs: &RenderInputs<'_>, assets: &Fact<Assets>) -> Self {
        let name = |tool: &Page<ToolData>| (tool.head.id.slug.clone(), tool.head.title.value.clone());
        let tools: BTreeMap<String, String> = inputs.site.tools.iter().map(name).collect();
        let tools = Fact::of("titles of tools", tools);
        inputs.engine.register(&tools);
        let heads: Vec<&Head> = inputs.site.heads().collect();
        inputs.progress.start_stage(Stage::Prose, heads.len());
        let read = |head: &&Head| {
            inputs.progress.start_page(&head.path);
            let summary =
                inputs.engine.value(&format!("prose {}", head.path), || read(inputs, assets, &tools, head));
            inputs.progress.finish_page(&head.path);
            (head.path.clone(), summary)
        };
        let summaries: Vec<_> = heads.par_iter().map(read).collect();
        let summaries = Table::new("prose", summaries, |summary| summary.1);
        inputs.engine.register(&summaries);
        Self { tools, summaries }
    }

    /// Returns the summary of a page's body.
    pub fn summary(&self, head: &Head) -> &BodySummary {
        &self.summaries.get(head.path.as_str()).expect("the page is one of the site").0
    }

    /// Renders the body of a page.
    pub fn body(&self, inputs: &RenderInputs<'_>, assets: &Fact<Assets>, head: &Head) -> Rendered {
        let place = PageHooks::new(inputs, assets, &self.tools, head);
        render(inputs.sources.text(head.body.span), head, &place)
    }
}

fn read(
    inputs: &RenderInputs<'_>,
    assets: &Fact<Assets>,
    tools: &Fact<BTreeMap<String, String>>,
    head: &Head,
) -> (BodySummary, Fingerprint) {
    let outline = &head.body.outline;
    let is_outlined = outline.calls.is_empty() && outline.links.iter().all(|link| !link.image);
    let (lead, toc) = if is_outlined {
        (outline.lead.clone(), outline.headings.iter().filter_map(TocEntry::of).collect())
    } else {
        rendered_summary(inputs, assets, tools, head)
    };
    let says = Fingerprint::of_data(&(&lead, &toc));
    (BodySummary { description: description(&lead), toc }, says)
}

/// Returns the lead and the table of contents of a body with estimator calls or images, which the outline has as source text.
fn rendered_summary(
    inputs: &RenderInputs<'_>,
    assets: &Fact<Assets>,
    tools: &Fact<BTreeMap<String, String>>,
    head: &Head,
) -> (String, Vec<TocEntry>) {
    inputs.engine.query(Kind::Prose, &head.path, || {
        let place = PageHooks::new(inputs, assets, tools, head);
        let rendered = render(inputs.sources.text(head.body.span), head, &PlainHooks(&place));
        (rendered.lead_text, rendered.toc)
    })
}

fn render(text: &str, head: &Head, pieces: &impl RenderHooks) -> Rendered {
    markdown::render_outlined(text, head.body.outline.headings.clone(), pieces)
}

/// Context of a body: the page that shows it.
struct PageHooks<'s> {
    inputs: &'s RenderInputs<'s>,
    assets: &'s Fact<Assets>,
    /// Titles of tools by slug, for labels of code blocks.
    tools: &'s Fact<BTreeMap<String, String>>,
    head: &'s Head,
    root: String,
    /// Targets by destination as written, which is unambiguous within a page.
    targets: BTreeMap<&'s str, &'s LinkTarget>,
}

impl<'s> PageHooks<'s> {
    fn new(
        inputs: &'s RenderInputs<'s>,
        assets: &'s Fact<Assets>,
        tools: &'s Fact<BTreeMap<String, String>>,
        head: &'s Head,
    ) -> Self {
        let known = inputs.links.of(head);
        let links = head.body.outline.links.iter();
        let targets =
            links.filter_map(|link| Some((link.destination.as_str(), known?.target(&link.range)?))).collect();
        Self { inputs, assets, tools, head, root: root(&shown_at(head)), targets }
    }
}

/// Returns the link to a target from a page with this root.
pub(super) fn target_href(root: &str, target: &LinkTarget, assets: &Assets) -> String {
    match target {
        LinkTarget::Page { page, anchor } => with_anchor(href(root, &page.address()), anchor.as_deref()),
        LinkTarget::Listing { address, anchor } => with_anchor(href(root, address), anchor.as_deref()),
        LinkTarget::Here { anchor } => format!("#{anchor}"),
        LinkTarget::File { path } => {
            assets.path(path).map_or_else(String::new, |output| format!("{root}{output}"))
        }
        LinkTarget::Elsewhere { url } => url.clone(),
    }
}

/// Returns the address of the page that shows a body: terms are all in the glossary.
fn shown_at(head: &Head) -> String {
    match head.id.kind {
        site::Kind::Term => "glossary/".into(),
        _ => head.id.address(),
    }
}

impl RenderHooks for PageHooks<'_> {
    fn href(&self, destination: &str) -> String {
        match self.targets.get(destination) {
            Some(target) => target_href(&self.root, target, self.assets),
            None => destination.to_string(),
        }
    }

    fn picture(&self, destination: &str) -> Picture {
        let size = match self.targets.get(destination) {
            Some(LinkTarget::File { path }) => self.assets.size(path),
            _ => None,
        };
        Picture { source: self.href(destination), size }
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        let figure = self.inputs.figures.get(self.head.path.as_str())?.get(&call.range.start)?;
        Some(CallValue {
            text: figure.text.clone(),
            value: figure.value.to_string(),
            title: provenance(self.inputs, &call.source).unwrap_or_default(),
        })
    }

    fn included_html(&self, call: &Call) -> Option<String> {
        // An included text includes no other one, so that there are no cycles.
        let head = self.inputs.site.included(call).filter(|_| self.head.id.kind != site::Kind::Include)?;
        let hooks = PageHooks {
            root: self.root.clone(),
            ..PageHooks::new(self.inputs, self.assets, self.tools, head)
        };
        Some(render(self.inputs.sources.text(head.body.span), head, &hooks).html())
    }

    fn tr(&self, english: &'static str) -> String {
        self.inputs.config.texts.tr(english).to_string()
    }

    fn tool_name(&self, slug: &str) -> String {
        self.tools.get(slug).cloned().unwrap_or_else(|| slug.to_string())
    }
}

/// Hooks without syntax highlighting, for summaries.
struct PlainHooks<'p>(&'p PageHooks<'p>);

impl RenderHooks for PlainHooks<'_> {
    fn href(&self, destination: &str) -> String {
        self.0.href(destination)
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        self.0.call_value(call)
    }

    fn included_html(&self, call: &Call) -> Option<String> {
        self.0.inputs.site.included(call).map(|_| String::new())
    }

    fn code(&self, _language: &str, _code: &str) -> String {
        String::new()
    }
}

fn with_anchor(href: String, anchor: Option<&str>) -> String {
    match anchor {
        Some(anchor) => format!("{href}#{anchor}"),
        None => href,
    }
}

/// Context of one-line Markdown in front matter.
pub(super) struct InlineHooks<'s> {
    /// Inputs of rendering.
    pub inputs: &'s RenderInputs<'s>,
    /// Static files.
    pub assets: &'s Fact<Assets>,
    /// Page with the front matter.
    pub page: &'s Head,
    /// Relative path from the page that shows it to the root.
    pub root: &'s str,
}

impl RenderHooks for InlineHooks<'_> {
    fn href(&self, destination: &str) -> String {
        match self.inputs.links.of(self.page).and_then(|links| links.lines.get(destination)) {
            Some(target) => target_href(self.root, target, self.assets),
            None => destination.to_string(),
        }
    }

    fn call_value(&self, _call: &Call) -> Option<CallValue> {
        None
    }
}
