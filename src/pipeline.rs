//! The whole build on one screen: load, link, check, fit, render. Only `emit` writes, and only afterwards.

mod edition;

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;

use crate::check::{self, Subject, Unknown};
use crate::config::Config;
use crate::diag::{Diagnostic, Rule, Severity};
use crate::diagnosis::{CompiledSignatures, LazySignatures};
use crate::files::{Memory, Outputs, Sink, Sources};
use crate::link;
use crate::load::{self, Drafts};
use crate::render::{self, Audience};
use crate::site::{Digest, FitTable, Links, Site};
use crate::store::Store;
use crate::watch::{Stage, Unwatched, Watch};
use crate::{config, fit, schema};

pub use edition::{Edited, Edition, Made};

/// What a build is asked for beside the sources.
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
    /// What is known of earlier builds; it changes nothing but the time.
    pub store: Arc<Store>,
}

/// A site as it was understood, whether or not it is right.
#[derive(Debug)]
pub struct Draft {
    /// Its settings.
    pub config: Config,
    /// Its pages.
    pub site: Site,
    /// Where their links lead.
    pub links: Links,
    /// What it is made of.
    pub digest: Digest,
    /// Its signatures.
    pub signatures: LazySignatures,
    /// What models need.
    pub fits: FitTable,
    /// Everything that is wrong with it, sorted.
    pub found: Vec<Diagnostic>,
}

/// Whether all files of a site were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// They were.
    Yes,
    /// A template has a fault; what was made is worth nothing.
    No,
}

/// What came of a build.
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
    let (mut config, mut found) = Config::read(sources);
    if let Some(url) = &order.base_url {
        config.set_base_url(url)?;
    }
    found.extend(read_faults);
    let (site, faults) = load::pages_kept(sources, order.drafts, &order.store, watch);
    found.extend(faults);
    watch.begin(Stage::Link, 0);
    let links = link::resolve(&site, sources);
    watch.begin(Stage::Signatures, 0);
    let digest = Digest::new(&site, sources);
    let unknown = Unknown::new(&site, sources, &digest, order.today, &order.store);
    let signatures = LazySignatures::default();
    let (few, mut hits) =
        (LazyCell::new(|| CompiledSignatures::new(&unknown.pages, sources)), BTreeMap::new());
    let compiled = if unknown.concerns_signatures() {
        let all = signatures.of(&site, sources);
        hits = check::sample_hits(&site, all, &order.store);
        all
    } else {
        &few
    };
    watch.begin(Stage::Check, 0);
    let subject = Subject {
        sources,
        pages: &unknown.pages,
        site: &site,
        links: &links,
        compiled,
        hits: &hits,
        today: order.today,
        store: &order.store,
    };
    found.extend(check::all(&subject, &unknown));
    watch.begin(Stage::Fit, 0);
    let (fits, faults) = fit::table(&site, &order.store);
    found.extend(faults);
    Diagnostic::sort(&mut found, sources);
    Ok(Draft { config, site, links, digest, signatures, fits, found })
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
    let made = render::files(&rendering(sources, draft, order, watch), sink);
    if draft.good(made, sources).is_some() { Whole::Yes } else { Whole::No }
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
        digest: &draft.digest,
        signatures: &draft.signatures,
        fits: &draft.fits,
        today: order.today,
        audience: order.audience,
        store: &order.store,
        watch,
    }
}

impl Draft {
    /// Whether anything stands in the way of publication.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.found)
    }

    /// What was made, unless there were faults: they join the findings.
    fn good<T>(&mut self, made: Result<T, Vec<Diagnostic>>, sources: &Sources) -> Option<T> {
        let faults = match made {
            Ok(made) => return Some(made),
            Err(faults) => faults,
        };
        self.found.extend(faults);
        Diagnostic::sort(&mut self.found, sources);
        None
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
