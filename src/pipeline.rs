//! The whole build on one screen: load, link, check, fit, render. Only `emit` writes, and only afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;

use crate::check::{self, Hits, Subject};
use crate::config::Config;
use crate::diag::{self, Diagnostic, Rule, Severity};
use crate::diagnosis::LazySignatures;
use crate::engine::Engine;
use crate::escape::ColorChoice;
use crate::facts::{Fact, Fingerprint, Name, Table};
use crate::files::{Built as Files, Memory, Outputs, Rebuilt, Sink, SourceId, Sources};
use crate::link;
use crate::load::{self, Drafts};
use crate::render::{self, Audience};
use crate::site::{FitTable, Links, ProseFigure, Site};
use crate::watch::{Stage, Unwatched, Watch};
use crate::{config, fit, schema};

/// Options of a build.
#[derive(Debug, Clone)]
pub struct Order {
    /// Today; staleness and future dates are judged by it.
    pub today: Date,
    /// Whether drafts are part of the site.
    pub drafts: Drafts,
    /// Base address that takes the place of the one in `site.toml`.
    pub base_url: Option<String>,
    /// Whether the pages are for the world or for the person who writes them.
    pub audience: Audience,
    /// Engine with results of earlier builds; it changes only the time.
    pub engine: Arc<Engine>,
}

/// A site as it was understood, whether or not it is right.
#[derive(Debug)]
pub struct Draft {
    /// Its settings.
    pub config: Fact<Config>,
    /// Its pages.
    pub site: Site,
    /// Where their links lead.
    pub links: Links,
    /// Its signatures.
    pub signatures: LazySignatures,
    /// Memory figures of the models.
    pub fits: Fact<Arc<FitTable>>,
    /// Figures that prose calls for, by the file of a page and by the place of the call in its body.
    pub figures: Table<String, BTreeMap<usize, ProseFigure>>,
    /// Everything that is wrong with it, sorted.
    pub found: Vec<Diagnostic>,
    today: Fact<Date>,
    audience: Fact<Audience>,
}

/// Whether all files of a site were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// They were.
    Yes,
    /// A template has a fault; what was made is worth nothing.
    No,
}

/// Result of a build.
#[derive(Debug)]
pub struct Built {
    /// The site.
    pub draft: Draft,
    /// Its files without [`pictures`], unless an error stands in the way.
    pub outputs: Option<Outputs>,
}

/// Reads the sources, links and judges them, and computes the figures.
///
/// # Errors
/// When `order.base_url` is no address.
pub fn understand(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    order: &Order,
    watch: &dyn Watch,
) -> anyhow::Result<Draft> {
    let mut draft = read(sources, read_faults, order, watch)?;
    let found = judge(sources, &draft, order, check::site);
    draft.add(found, sources);
    Ok(draft)
}

/// As [`understand`], but each page is judged by itself.
fn read(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    order: &Order,
    watch: &dyn Watch,
) -> anyhow::Result<Draft> {
    let engine = &*order.engine;
    let (mut config, mut found) = Config::read(sources);
    if let Some(url) = &order.base_url {
        config.set_base_url(url)?;
    }
    engine.begin();
    let config = Fact::new(Name::new("config", ""), Fingerprint::of([format!("{config:?}")]), config);
    let says = Fingerprint::of([order.today.to_string()]);
    let today = Fact::new(Name::new("today", ""), says, order.today);
    let says = Fingerprint::of([format!("{:?}", order.audience)]);
    let audience = Fact::new(Name::new("audience", ""), says, order.audience);
    engine.tell(&config);
    engine.tell(&today);
    engine.tell(&audience);
    engine.tell(sources);
    found.extend(read_faults);
    let (site, faults) = load::pages_with(sources, order.drafts, engine, watch);
    found.extend(faults);
    found.extend(load::old_keys(&site, config.format.value == config::FORMAT, config.format.span));
    engine.tell(&site);
    watch.begin(Stage::Link, 0);
    let links = link::resolve(&site, sources, engine);
    watch.begin(Stage::Signatures, 0);
    let signatures = LazySignatures::new(&site, sources, engine);
    engine.tell(&signatures);
    watch.begin(Stage::Fit, 0);
    let (table, key) = engine.keyed("fit table", || {
        let (table, found) = fit::table(&site, engine);
        (Arc::new(table), found)
    });
    let fits = Fact::new(Name::new("fit table", ""), Fingerprint::of([key]), Arc::clone(&table.0));
    engine.tell(&fits);
    found.extend(table.1.iter().cloned());
    let figures = fit::prose_figures(&site, &fits, &mut found);
    let says = |figures: &BTreeMap<usize, ProseFigure>| -> Vec<_> {
        figures.iter().map(|(at, figure)| (*at, figure.value, figure.text.clone())).collect()
    };
    let figures = Table::new("figures", figures, says);
    engine.tell(&figures);
    watch.begin(Stage::Check, 0);
    let mut draft = Draft { config, site, links, signatures, fits, figures, found, today, audience };
    let found = judge(sources, &draft, order, check::pages);
    draft.add(found, sources);
    Ok(draft)
}

/// Returns the findings of some checks.
fn judge(
    sources: &Sources,
    draft: &Draft,
    order: &Order,
    checks: fn(&Subject<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut known = None;
    if draft.site.heads().any(|head| head.is_unread()) {
        known.insert(draft.site.clone()).retain(|head| !head.is_unread());
    }
    checks(&Subject {
        sources,
        pages: known.as_ref().unwrap_or(&draft.site),
        site: &draft.site,
        links: &draft.links,
        signatures: &draft.signatures,
        hits: &Hits::default(),
        today: &draft.today,
        engine: &order.engine,
    })
}

/// The whole build, in memory.
///
/// # Errors
/// When `order.base_url` is no address.
pub fn build(sources: &Sources, read_faults: Vec<Diagnostic>, order: &Order) -> anyhow::Result<Built> {
    let mut draft = understand(sources, read_faults, order, &Unwatched)?;
    if draft.has_errors() {
        return Ok(Built { draft, outputs: None });
    }
    let memory = Memory::default();
    let whole = render(sources, &mut draft, order, &Unwatched, &memory);
    Ok(Built { draft, outputs: (whole == Whole::Yes).then(|| memory.into_outputs()) })
}

/// Makes the files of a site without errors; faults of templates join its findings.
pub fn render(
    sources: &Sources,
    draft: &mut Draft,
    order: &Order,
    watch: &dyn Watch,
    sink: &dyn Sink,
) -> Whole {
    let made = render::files(&rendering(sources, draft, order, watch), &BTreeSet::new(), sink, |_| true);
    let faults = made.err().unwrap_or_default();
    let whole = if faults.is_empty() { Whole::Yes } else { Whole::No };
    draft.add(faults, sources);
    whole
}

/// Receiver of files before the end of a build.
pub struct First<'f> {
    /// Files of pages that are judged and made before all others.
    pub changed: &'f BTreeSet<SourceId>,
    /// Is handed the files that are there.
    pub show: &'f dyn Fn(&Files),
}

impl fmt::Debug for First<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").field("changed", &self.changed).finish_non_exhaustive()
    }
}

/// Makes the files of a site that differ from those of the build before; `Err` has what is wrong as plain text. Those
/// of the changed pages are shown as soon as they are there and nothing is wrong with these pages by themselves.
///
/// # Errors
/// When `order.base_url` is no address.
pub fn update(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    order: &Order,
    watch: &dyn Watch,
    before: &Files,
    first: &First<'_>,
) -> anyhow::Result<Result<Files, String>> {
    let mut draft = read(sources, read_faults, order, watch)?;
    let sink = Rebuilt::new(before);
    let mut found = Vec::new();
    if !draft.has_errors() {
        let go_on = |made| {
            if made == render::Made::Pages || !first.changed.is_empty() {
                sink.so_far(first.show);
            }
            if made == render::Made::First {
                watch.begin(Stage::Check, 0);
                found.extend(judge(sources, &draft, order, check::site));
            }
            !has_errors(&found)
        };
        let made = render::files(&rendering(sources, &draft, order, watch), first.changed, &sink, go_on);
        found.extend(made.err().unwrap_or_default());
        draft.add(found, sources);
    }
    Ok(match draft.has_errors() {
        true => Err(diag::human(&draft.found, sources, ColorChoice::Off)),
        false => Ok(sink.finish()),
    })
}

/// Makes the pictures that the pages of a site without errors name for those who share them.
pub fn pictures(sources: &Sources, draft: &Draft, order: &Order, watch: &dyn Watch, sink: &dyn Sink) {
    watch.begin(Stage::Pictures, 0);
    render::pictures(&rendering(sources, draft, order, watch), sink);
}

/// The whole knowledge base as one page, of a site without errors.
///
/// # Errors
/// Every distinct fault of a template.
pub fn bundle(sources: &Sources, draft: &Draft, order: &Order) -> Result<Vec<u8>, Vec<Diagnostic>> {
    render::bundle(&rendering(sources, draft, order, &Unwatched))
}

fn rendering<'s>(
    sources: &'s Sources,
    draft: &'s Draft,
    order: &'s Order,
    watch: &'s dyn Watch,
) -> render::Order<'s> {
    render::Order {
        sources,
        config: &draft.config,
        site: &draft.site,
        links: &draft.links,
        signatures: &draft.signatures,
        fits: &draft.fits,
        figures: &draft.figures,
        today: &draft.today,
        audience: &draft.audience,
        engine: &order.engine,
        watch,
    }
}

impl Draft {
    /// Whether anything stands in the way of publication.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.found)
    }

    fn add(&mut self, found: Vec<Diagnostic>, sources: &Sources) {
        self.found.extend(found);
        Diagnostic::sort(&mut self.found, sources);
    }
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|finding| finding.severity == Severity::Error)
}

/// Every rule that a finding can name, sorted by code.
pub fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> =
        [config::RULES, schema::RULES, load::RULES, fit::RULES, render::RULES, check::MARKUP_RULES]
            .concat()
            .into_iter()
            .chain(check::ALL.iter().map(|check| check.rule))
            .collect();
    rules.sort_by_key(|rule| rule.code);
    // A rule that is judged in two places is still one.
    rules.dedup_by_key(|rule| rule.code);
    rules
}
