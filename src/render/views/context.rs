//! Data that all views use, computed once per build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use jiff::civil::Date;
use minijinja::value::Value;

use crate::config::Alternate;
use crate::custom::Words;
use crate::facts::{Fact, Table};
use crate::i18n::Translations;
use crate::markdown::{Rendered, TocEntry};
use crate::render::address::{href, root};
use crate::render::assets::Assets;
use crate::render::data::alternate_path;
use crate::render::feed;
use crate::render::json_ld;
use crate::render::prose::{BodySummary, Prose};
use crate::render::social::Pictures;
use crate::render::templates::{SHAPE, view_value};
use crate::render::views::common::{
    self, BuildView, ErrorRow, LayoutContext, PageView, Ref, Step, VerifiedView,
};
use crate::render::views::defaults::{CardSize, RunsOn, card_sizes, runs_on};
use crate::render::views::entry::entries_of;
use crate::render::views::lists::ordered_guides;
use crate::render::views::shared_values::SharedValues;
use crate::render::views::vocabularies::word_label;
use crate::render::views::wording::signature_text;
use crate::render::{Audience, RenderInputs, SharedData};
use crate::site::kinds::{ErrorData, Evidence, ModelData};
use crate::site::{Head, Kind, Page, PageId, Site};

/// Maximum number of backlinks on a page.
const MAX_BACKLINKS: usize = 200;

/// Kind of the facts with the neighbors of pages.
const NEIGHBORS: &str = "neighbors";

/// Inputs of rendering with the data that views share.
pub(in crate::render) struct RenderContext<'s> {
    /// Inputs of the build.
    pub inputs: &'s RenderInputs<'s>,
    /// Static files.
    pub assets: &'s Fact<Assets>,
    /// Summaries of all bodies.
    pub prose: &'s Prose,
    /// Index of the fit tables, which several pages contain.
    pub fit_index: &'s Fact<serde_json::Value>,
    /// Slugs of errors with similar messages, by slug.
    pub similar_errors: &'s Table<String, Vec<String>>,
    /// Memory sizes of GPUs.
    pub card_sizes: Fact<Vec<CardSize>>,
    pictures: Pictures<'s>,
    by_category: Table<String, Vec<&'s Page<ErrorData>>>,
    by_tool: Table<String, Vec<&'s Page<ErrorData>>>,
    /// The previous and next page in the list of each page, by address.
    neighbors: Table<String, [Option<&'s PageId>; 2]>,
    /// The variable `site` by shape.
    sites: SharedValues,
    /// Links by relative address.
    links: SharedValues,
}

/// Metadata of a page, for its layout.
pub(in crate::render) struct PageMeta<'p> {
    /// Address relative to the root.
    pub address: &'p str,
    /// Name of the kind in templates.
    pub kind: &'static str,
    pub title: &'p str,
    /// Description in one sentence.
    pub description: String,
    /// Breadcrumbs from the home page, without this page.
    pub trail: Vec<(String, &'p str)>,
    /// Page data, for the edit link.
    pub head: Option<&'p Head>,
    /// Table of contents.
    pub toc: Vec<TocEntry>,
    /// Whether to exclude the page from search engines.
    pub noindex: bool,
}

impl<'p> PageMeta<'p> {
    /// Creates the metadata of a generated page.
    pub fn listing(address: &'p str, kind: &'static str, title: &'p str, description: &str) -> Self {
        Self {
            address,
            kind,
            title,
            description: description.to_string(),
            trail: Vec::new(),
            head: None,
            toc: Vec::new(),
            noindex: false,
        }
    }
}

impl<'s> RenderContext<'s> {
    /// Computes the data.
    pub fn new(inputs: &'s RenderInputs<'s>, shared: &'s SharedData) -> Self {
        let mut errors: Vec<&Page<ErrorData>> = inputs.site.errors.iter().collect();
        errors.sort_by_cached_key(|error| error.head.title.value.to_lowercase());
        let mut by_category: BTreeMap<String, Vec<&Page<ErrorData>>> = BTreeMap::new();
        let mut by_tool: BTreeMap<String, Vec<&Page<ErrorData>>> = BTreeMap::new();
        for error in errors {
            by_category.entry(error.data.category.clone()).or_default().push(error);
            let tools: BTreeSet<&str> = error.data.tools.iter().map(|slug| slug.value.as_str()).collect();
            tools.into_iter().for_each(|tool| by_tool.entry(tool.to_string()).or_default().push(error));
        }
        let mut lists: Vec<Vec<&Head>> =
            by_category.values().map(|errors| heads(errors.iter().copied())).collect();
        let slug = |error: &&'s Page<ErrorData>| error.head.id.slug.as_str();
        let slugs = |errors: &Vec<&'s Page<ErrorData>>| errors.iter().map(slug).collect::<Vec<_>>();
        let by_category = Table::new("errors of category", by_category, slugs);
        let by_tool = Table::new("errors of tool", by_tool, slugs);
        inputs.engine.register(&by_category);
        inputs.engine.register(&by_tool);
        let card_sizes = Fact::of("card sizes", card_sizes(inputs.site));
        inputs.engine.register(&card_sizes);
        let mut cx = Self {
            inputs,
            assets: &shared.assets,
            prose: &shared.prose,
            fit_index: &shared.fit_index,
            similar_errors: &shared.similar_errors,
            card_sizes,
            pictures: Pictures::new(inputs),
            by_category,
            by_tool,
            neighbors: Table::new(NEIGHBORS, [], |ids| *ids),
            sites: SharedValues::default(),
            links: SharedValues::default(),
        };
        let site = inputs.site;
        lists.extend([heads(ordered_guides(&cx)), heads(&*site.tools), heads(&*site.models)]);
        lists.extend([heads(&*site.devices), heads(&*site.quants)]);
        let collections = site.collections().iter();
        lists.extend(collections.map(|collection| heads(entries_of(&cx, &collection.name.value))));
        let neighbors = lists.iter().flat_map(|heads| {
            let id = |at: Option<usize>| at.and_then(|at| heads.get(at)).map(|head| &head.id);
            let ids = move |(at, head): (usize, &&'s Head)| {
                (head.id.address(), [id(at.checked_sub(1)), id(Some(at + 1))])
            };
            heads.iter().enumerate().map(ids)
        });
        cx.neighbors = Table::new(NEIGHBORS, neighbors, |ids| *ids);
        inputs.engine.register(&cx.neighbors);
        cx
    }

    /// Returns the previous and next page in the list of a page; of an error, in its category.
    fn neighbors(&self, address: &str) -> [Option<&'s Head>; 2] {
        let ids = self.neighbors.get(address).copied().unwrap_or_default();
        ids.map(|id| self.head(id?))
    }

    /// Translates a text of the interface.
    pub fn tr(&self, english: &'static str) -> &'s str {
        self.texts().tr(english)
    }

    /// Translates a text and fills its placeholders.
    pub fn fill(&self, english: &'static str, values: &[(&str, &dyn Display)]) -> String {
        self.texts().fill(english, values)
    }

    /// Returns the translations.
    pub fn texts(&self) -> &'s Translations {
        &self.inputs.config.texts
    }

    /// Returns the pages.
    pub fn site(&self) -> &'s Site {
        self.inputs.site
    }

    /// Renders the body of a page.
    pub fn body(&self, head: &Head) -> Rendered {
        self.prose.body(self.inputs, self.assets, head)
    }

    /// Returns the summary of the body of a page.
    pub fn summary(&self, head: &Head) -> &'s BodySummary {
        self.prose.summary(head)
    }

    /// Returns the table of contents of a page.
    pub fn toc(&self, head: &Head) -> Vec<TocEntry> {
        self.summary(head).toc.clone()
    }

    /// Returns a description of a page in one sentence.
    pub fn describe(&self, head: &Head) -> String {
        self.summary(head).description.clone()
    }

    /// Returns the head of a page.
    pub fn head(&self, id: &PageId) -> Option<&'s Head> {
        self.inputs.site.head(id)
    }

    /// Returns a link to a page as a [`Ref`], relative to a page with this root.
    pub fn reference(&self, root: &str, id: &PageId) -> Option<Value> {
        let href = href(root, &id.address());
        self.links.get(&href, || {
            let head = self.head(id)?;
            let (title, description) = (&head.title.value, &self.summary(head).description);
            Some(view_value(Ref { title, href: &href, description }))
        })
    }

    /// Returns links to pages of a kind; skips missing pages.
    pub fn references<'a>(
        &self,
        root: &str,
        kind: Kind,
        slugs: impl IntoIterator<Item = &'a str>,
    ) -> Vec<Value> {
        slugs.into_iter().filter_map(|slug| self.reference(root, &PageId::new(kind, slug))).collect()
    }

    /// Returns links to the first [`MAX_BACKLINKS`] pages that link to a page, except those in `named`.
    pub fn backlinks(&self, root: &str, id: &PageId, named: &[&str]) -> Vec<Value> {
        let from = self.inputs.links.backlinks.get(&id.address()).map(Vec::as_slice).unwrap_or_default();
        from.iter()
            .filter(|page| !(page.kind == Kind::Error && named.contains(&page.slug.as_str())))
            .filter_map(|page| self.reference(root, page))
            .take(MAX_BACKLINKS)
            .collect()
    }

    /// Returns when a page was last verified or changed, and the change if that is the later one.
    pub fn updated(&self, head: &Head) -> Option<(Date, Option<&'s str>)> {
        let verified = head.verified.as_ref().map(|date| date.value);
        let change = match head.id.kind {
            Kind::Error => self.site().error(&head.id.slug).and_then(|error| error.data.changes.first()),
            _ => None,
        };
        match change.filter(|change| verified.is_none_or(|day| change.date.value >= day)) {
            Some(change) => Some((change.date.value, Some(&change.what))),
            None => Some((verified?, None)),
        }
    }

    /// Returns when a page was verified.
    pub fn verified(&self, head: &Head, category: Option<&str>, evidence: &Evidence) -> Option<VerifiedView> {
        let days = self.inputs.config.stale_after(category);
        let date = head.verified.as_ref().map(|verified| verified.value);
        common::verified(date, days, **self.inputs.today, evidence)
    }

    /// Returns the layout of a page.
    pub fn layout(&self, mut meta: PageMeta<'_>) -> LayoutContext {
        let root = if meta.kind == "not-found" {
            self.inputs.config.base_path().to_string()
        } else {
            root(meta.address)
        };
        let config = self.inputs.config;
        meta.trail.retain(|(_, address)| !config.declared.omits(address));
        let step = |head: &Head| Step {
            title: head.title.value.clone(),
            href: Some(href(&root, &head.id.address())),
        };
        let canonical = format!("{}{}", config.base_url, meta.address);
        let json_ld = json_ld::page(self, &meta, &canonical);
        let alternate = |format: Alternate| {
            let head = meta.head?;
            let path = alternate_path(config, &head.id, format)?;
            Some(format!("{root}{path}"))
        };
        let [previous, next] = self.neighbors(meta.address);
        let own = (meta.title.to_string(), meta.address);
        let category = meta.trail.iter().chain(std::iter::once(&own));
        let mut category = category.filter(|(_, address)| address.starts_with("categories/"));
        let category_feed = category.next().map(|(title, address)| Step {
            title: title.clone(),
            href: Some(format!("{root}{}", feed::of_category(address))),
        });
        let shape = format!("{} {root} {}", meta.kind, self.menu_targets(meta.address));
        LayoutContext {
            site: self
                .sites
                .get(&shape, || Some(view_value(self.site_view(&root, meta.address))))
                .unwrap_or_default(),
            shape,
            page: PageView {
                kind: meta.kind,
                breadcrumbs: self.breadcrumbs(&root, &meta),
                edit_href: meta.head.and_then(|head| self.edit_href(head)),
                markdown_href: alternate(Alternate::Markdown),
                json_href: alternate(Alternate::Json),
                feed_href: format!("{root}feed.xml"),
                category_feed,
                search_href: format!("{root}opensearch.xml"),
                home_href: href(&root, ""),
                static_root: root.clone(),
                title: meta.title.to_string(),
                description: meta.description,
                canonical,
                noindex: meta.noindex,
                picture: self.pictures.of(meta.head, self.assets),
                json_ld,
                toc: meta.toc,
                previous: previous.map(step),
                next: next.map(step),
                root,
            },
            build: BuildView {
                live: **self.inputs.audience == Audience::Author,
                version: env!("CARGO_PKG_VERSION"),
                today: (**self.inputs.today).to_string(),
            },
        }
    }

    fn edit_href(&self, head: &Head) -> Option<String> {
        Some(self.inputs.config.repository.as_ref()?.edit_url(&head.path))
    }

    /// Returns errors for a list, relative to a page with this root.
    pub fn rows(&self, root: &str, errors: &[&Page<ErrorData>]) -> Vec<ErrorRow> {
        let severities = self.severities();
        errors.iter().map(|error| self.row(root, &severities, error)).collect()
    }

    fn row(&self, root: &str, severities: &Words, error: &Page<ErrorData>) -> ErrorRow {
        let verified = self.verified(&error.head, Some(&error.data.category), &error.data.evidence);
        let category = self.head(&PageId::new(Kind::Category, error.data.category.as_str()));
        ErrorRow {
            category: category.map(|head| head.title.value.clone()).unwrap_or_default(),
            title: error.head.title.value.clone(),
            href: href(root, &error.head.id.address()),
            description: self.describe(&error.head),
            harm: severities
                .iter()
                .rev()
                .position(|(word, _)| *word == error.data.severity)
                .unwrap_or_default(),
            severity_label: word_label(severities, &error.data.severity),
            severity: error.data.severity.clone(),
            kind: error.data.kind.name(),
            tools: self.tool_titles(error),
            platforms: error.data.platforms.clone(),
            verified_date: verified.as_ref().map(|verified| verified.date.clone()).unwrap_or_default(),
            overdue: verified.is_some_and(|verified| verified.overdue),
            signature: error.data.signatures.first().map(|signature| signature_text(signature.text())),
        }
    }

    /// Returns the smallest GPU for a model, if it is covered.
    pub fn runs_on(&self, model: &Page<ModelData>) -> Option<RunsOn<'_>> {
        runs_on(self.inputs, &self.card_sizes, model)
    }

    /// Returns the titles of the tools that print an error.
    pub fn tool_titles(&self, error: &Page<ErrorData>) -> Vec<String> {
        error
            .data
            .tools
            .iter()
            .filter_map(|slug| self.head(&PageId::new(Kind::Tool, slug.value.as_str())))
            .map(|head| head.title.value.clone())
            .collect()
    }

    /// Returns the errors of a category, sorted by title.
    pub fn errors_of(&self, category: &str) -> &[&'s Page<ErrorData>] {
        self.by_category.get(category).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the errors that a tool prints, sorted by title.
    pub fn errors_naming(&self, tool: &str) -> &[&'s Page<ErrorData>] {
        self.by_tool.get(tool).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns the heads of pages.
fn heads<'s, T: 's>(pages: impl IntoIterator<Item = &'s Page<T>>) -> Vec<&'s Head> {
    pages.into_iter().map(|page| &page.head).collect()
}

/// Combines a view with its layout to the variables of a template.
pub(in crate::render) fn with_layout(layout: LayoutContext, name: &'static str, view: Value) -> Value {
    let LayoutContext { site, shape, page, build } = layout;
    Value::from_pairs([
        ("site", site),
        (SHAPE, Value::from(shape)),
        ("page", view_value(page)),
        ("build", view_value(build)),
        (name, view),
    ])
}
