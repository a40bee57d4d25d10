//! Bodies as HTML, with links relative to the page that shows them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::files::{Key, Span};
use crate::markdown::{self, Call, CallValue, Picture, RenderHooks, Rendered, TocEntry};
use crate::render::Order;
use crate::render::address::{href, root};
use crate::render::assets::Assets;
use crate::render::basis::basis;
use crate::site::kinds::ToolData;
use crate::site::{Head, Kind, Page, PageId, Site, Target};
use crate::store;
use crate::watch::Stage;

/// What is told of every body, by page; each is read when somebody first asks. The bodies themselves are rendered when
/// they are shown: together they are larger than all else.
#[derive(Debug)]
pub(super) struct Prose {
    shared: Shared,
    told: HashMap<PageId, OnceLock<Told>>,
}

/// What others show of a body.
#[derive(Debug)]
pub(super) struct Told {
    /// The first paragraph of the lead as plain text.
    pub lead: String,
    /// Headings of level 2 and 3, in order.
    pub toc: Vec<TocEntry>,
    /// The hash of all that the rendered body is made of.
    pub key: Key,
}

impl Prose {
    /// Before any body is read.
    pub fn new(order: &Order<'_>) -> Self {
        let told = order.site.heads().map(|head| (head.id.clone(), OnceLock::new())).collect();
        Self { shared: Shared::new(order), told }
    }

    /// Reads every body.
    pub fn read_all(&self, order: &Order<'_>, assets: &Assets) {
        let heads: Vec<&Head> = order.site.heads().collect();
        order.watch.begin(Stage::Prose, heads.len());
        heads.into_par_iter().for_each(|head| {
            order.watch.begin_page(&head.path);
            self.told(order, assets, head);
            order.watch.end_page(&head.path);
        });
    }

    /// Forgets what was read of a few pages that are others now.
    pub fn renew(&mut self, order: &Order<'_>, few: &Site) {
        self.shared = Shared::new(order);
        self.told.extend(few.heads().map(|head| (head.id.clone(), OnceLock::new())));
    }

    /// What is told of the body of a page.
    pub fn told(&self, order: &Order<'_>, assets: &Assets, head: &Head) -> &Told {
        let told = self.told.get(&head.id).expect("the page is one of the site");
        told.get_or_init(|| self.read(order, assets, head))
    }

    fn read(&self, order: &Order<'_>, assets: &Assets, head: &Head) -> Told {
        let text = order.sources.text(head.body.span);
        let place = Place::new(order, assets, &self.shared, head);
        let key = place.key(text);
        let make = || {
            let rendered = render(text, head, &Uncolored(&place));
            (rendered.lead_text, rendered.toc)
        };
        let (lead, toc) = order.store.get_or(store::Kind::Prose, || key, make);
        Told { lead, toc, key }
    }

    /// The body of a page as HTML.
    pub fn body(&self, order: &Order<'_>, assets: &Assets, head: &Head) -> Rendered {
        let place = Place::new(order, assets, &self.shared, head);
        render(order.sources.text(head.body.span), head, &place)
    }
}

fn render(text: &str, head: &Head, pieces: &impl RenderHooks) -> Rendered {
    markdown::render_outlined(text, head.body.outline.headings.clone(), pieces)
}

/// What all bodies may speak of.
#[derive(Debug)]
struct Shared {
    /// Titles of tools by slug, for labels of code blocks.
    tools: BTreeMap<String, String>,
    /// The key of all this, and of the texts of the site's language.
    key: Key,
}

impl Shared {
    fn new(order: &Order<'_>) -> Self {
        let name = |tool: &Page<ToolData>| (tool.head.id.slug.clone(), tool.head.title.value.clone());
        let tools = order.site.tools.iter().map(name).collect();
        let key = Key::of([format!("{tools:?}"), format!("{:?}", order.config.texts)]);
        Self { tools, key }
    }
}

/// What a body needs to know of the page that shows it.
struct Place<'s> {
    order: &'s Order<'s>,
    assets: &'s Assets,
    shared: &'s Shared,
    head: &'s Head,
    root: String,
    /// Targets by the destination as written: within one page it always means the same.
    targets: BTreeMap<&'s str, &'s Target>,
}

impl<'s> Place<'s> {
    fn new(order: &'s Order<'s>, assets: &'s Assets, shared: &'s Shared, head: &'s Head) -> Self {
        let targets = head
            .body
            .outline
            .links
            .iter()
            .filter_map(|link| {
                let span = head.body.span.part(link.range.start, link.range.end);
                Some((link.destination.as_str(), order.links.targets.get(&span)?))
            })
            .collect();
        Self { order, assets, shared, head, root: root(&shown_at(head)), targets }
    }

    /// The key of the rendered text: all that [`markdown::render`] sees, so every answer that [`RenderHooks`] may give.
    fn key(&self, text: &str) -> Key {
        let outline = &self.head.body.outline;
        let mut parts = vec![text.to_string()];
        parts.extend(outline.links.iter().map(|link| match link.image {
            true => format!("{:?}", self.picture(&link.destination)),
            false => self.href(&link.destination),
        }));
        parts.extend(outline.calls.iter().map(|call| format!("{:?}", self.call_value(call))));
        Key::of([self.shared.key, Key::of(parts)])
    }
}

/// A link to a target from a page with this root.
pub(super) fn lead(root: &str, target: &Target, assets: &Assets) -> String {
    match target {
        Target::Page { page, anchor } => with_anchor(href(root, &page.address()), anchor.as_deref()),
        Target::Listing { address, anchor } => with_anchor(href(root, address), anchor.as_deref()),
        Target::Here { anchor } => format!("#{anchor}"),
        Target::File { path } => {
            assets.path(path).map_or_else(String::new, |output| format!("{root}{output}"))
        }
        Target::Elsewhere { url } => url.clone(),
    }
}

/// The address of the page that shows a body: terms stand together in the glossary.
fn shown_at(head: &Head) -> String {
    match head.id.kind {
        Kind::Term => "glossary/".into(),
        _ => head.id.address(),
    }
}

impl RenderHooks for Place<'_> {
    fn href(&self, destination: &str) -> String {
        match self.targets.get(destination) {
            Some(target) => lead(&self.root, target, self.assets),
            None => destination.to_string(),
        }
    }

    fn picture(&self, destination: &str) -> Picture {
        let size = match self.targets.get(destination) {
            Some(Target::File { path }) => self.assets.size(path),
            _ => None,
        };
        Picture { source: self.href(destination), size }
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        let place: Span = self.head.body.span.part(call.range.start, call.range.end);
        let figure = self.order.fits.prose.get(&place)?;
        Some(CallValue {
            text: figure.text.clone(),
            value: figure.value.to_string(),
            title: basis(self.order, &call.source).unwrap_or_default(),
        })
    }

    fn say(&self, english: &'static str) -> String {
        self.order.config.texts.say(english).to_string()
    }

    fn code(&self, language: &str, code: &str) -> Arc<str> {
        let key = || Key::of([language, code]);
        let make = || markdown::highlight(language, code).to_string();
        self.order.store.get_or(store::Kind::Code, key, make).into()
    }

    fn tool_name(&self, slug: &str) -> String {
        self.shared.tools.get(slug).cloned().unwrap_or_else(|| slug.to_string())
    }
}

/// The same without colors, for those who only want to know what a body says.
struct Uncolored<'p>(&'p Place<'p>);

impl RenderHooks for Uncolored<'_> {
    fn href(&self, destination: &str) -> String {
        self.0.href(destination)
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        self.0.call_value(call)
    }

    fn code(&self, _language: &str, _code: &str) -> Arc<str> {
        "".into()
    }
}

fn with_anchor(href: String, anchor: Option<&str>) -> String {
    match anchor {
        Some(anchor) => format!("{href}#{anchor}"),
        None => href,
    }
}

/// One-line Markdown in the front matter of a page.
pub(super) struct Line<'s> {
    /// The build.
    pub order: &'s Order<'s>,
    /// Static files, for their names.
    pub assets: &'s Assets,
    /// The page.
    pub page: &'s PageId,
    /// The way from where it is shown to the root.
    pub root: &'s str,
}

impl RenderHooks for Line<'_> {
    fn href(&self, destination: &str) -> String {
        match self.order.links.lines.get(&(self.page.clone(), destination.to_string())) {
            Some(target) => lead(self.root, target, self.assets),
            None => destination.to_string(),
        }
    }

    fn call_value(&self, _call: &Call) -> Option<CallValue> {
        None
    }
}
