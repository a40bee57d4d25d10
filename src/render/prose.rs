//! Bodies as HTML, with links relative to the page that shows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::files::Span;
use crate::markdown::{self, Call, Figure, Picture, Pieces, Rendered};
use crate::render::Order;
use crate::render::address::{href, root};
use crate::render::assets::Assets;
use crate::render::basis::basis;
use crate::site::kinds::ToolData;
use crate::site::{Head, Kind, Page, PageId, Site, Target};
use crate::store::{self, Key};
use crate::watch::Stage;

/// Rendered bodies by page.
pub(super) type Prose = BTreeMap<PageId, Rendered>;

/// Renders every body.
pub(super) fn all(order: &Order<'_>, assets: &Assets) -> Prose {
    let shared = Shared::new(order);
    let heads: Vec<&Head> = order.site.heads().collect();
    order.watch.begin(Stage::Prose, heads.len());
    heads
        .into_par_iter()
        .map(|head| {
            order.watch.begin_page();
            let body = body(order, assets, &shared, head);
            order.watch.end_page(&head.path);
            (head.id.clone(), body)
        })
        .collect()
}

/// Renders the bodies of a few pages anew, one after the other: who edits a page is not to wait for a pool of threads that
/// may be busy with the whole site.
pub(super) fn renew(prose: &mut Prose, order: &Order<'_>, assets: &Assets, few: &Site) {
    let shared = Shared::new(order);
    for head in few.heads() {
        prose.insert(head.id.clone(), body(order, assets, &shared, head));
    }
}

fn body(order: &Order<'_>, assets: &Assets, shared: &Shared, head: &Head) -> Rendered {
    let text = order.sources.text(head.body.span);
    let place = Place::new(order, assets, shared, head);
    let headings = || head.body.outline.headings.clone();
    let make = || markdown::render_outlined(text, headings(), &place);
    order.store.get_or(store::Kind::Prose, || place.key(text), make)
}

/// What all bodies may speak of.
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
pub(super) struct Place<'s> {
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

    /// The key of the rendered text: all that [`markdown::render`] sees, so every answer that [`Pieces`] may give.
    fn key(&self, text: &str) -> Key {
        let outline = &self.head.body.outline;
        let mut parts = vec![text.to_string()];
        parts.extend(outline.links.iter().map(|link| match link.image {
            true => format!("{:?}", self.picture(&link.destination)),
            false => self.href(&link.destination),
        }));
        parts.extend(outline.calls.iter().map(|call| format!("{:?}", self.figure(call))));
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

impl Pieces for Place<'_> {
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

    fn figure(&self, call: &Call) -> Option<Figure> {
        let place: Span = self.head.body.span.part(call.range.start, call.range.end);
        let figure = self.order.fits.prose.get(&place)?;
        Some(Figure {
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

impl Pieces for Line<'_> {
    fn href(&self, destination: &str) -> String {
        match self.order.links.lines.get(&(self.page.clone(), destination.to_string())) {
            Some(target) => lead(self.root, target, self.assets),
            None => destination.to_string(),
        }
    }

    fn figure(&self, _call: &Call) -> Option<Figure> {
        None
    }
}
