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
use crate::files::{BuildFiles, MemorySink, Outputs, Sink, SourceId, Sources, UpdateSink};
use crate::link;
use crate::load::{self, Drafts};
use crate::progress::{BuildProgress, NoProgress, Stage};
use crate::render::{self, Audience};
use crate::site::{FitTable, Links, ProseFigure, Site};
use crate::{config, fit, schema};

/// Options of a build.
#[derive(Debug, Clone)]
pub struct SiteOptions {
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
pub struct Analysis {
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
    pub findings: Vec<Diagnostic>,
    today: Fact<Date>,
    audience: Fact<Audience>,
}

/// Whether all files of a site were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderStatus {
    /// They were.
    Complete,
    /// A template has a fault; what was made is worth nothing.
    Failed,
}

/// Result of a build.
#[derive(Debug)]
pub struct BuildResult {
    /// The site.
    pub analysis: Analysis,
    /// Its files without [`pictures`], unless an error stands in the way.
    pub outputs: Option<Outputs>,
}

/// Reads the sources, links and judges them, and computes the figures.
///
/// # Errors
/// When `options.base_url` is no address.
pub fn analyze(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
) -> anyhow::Result<Analysis> {
    let mut analysis = read(sources, read_faults, options, progress)?;
    let findings = run_checks(sources, &analysis, options, check::site);
    analysis.add(findings, sources);
    Ok(analysis)
}

/// As [`analyze`], but each page is judged by itself.
fn read(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
) -> anyhow::Result<Analysis> {
    let engine = &*options.engine;
    let (mut config, mut findings) = Config::read(sources);
    if let Some(url) = &options.base_url {
        config.set_base_url(url)?;
    }
    engine.begin();
    let config = Fact::new(Name::new("config", ""), Fingerprint::of([format!("{config:?}")]), config);
    let says = Fingerprint::of([options.today.to_string()]);
    let today = Fact::new(Name::new("today", ""), says, options.today);
    let says = Fingerprint::of([format!("{:?}", options.audience)]);
    let audience = Fact::new(Name::new("audience", ""), says, options.audience);
    engine.register(&config);
    engine.register(&today);
    engine.register(&audience);
    engine.register(sources);
    findings.extend(read_faults);
    let (site, faults) = load::pages_with(sources, options.drafts, engine, progress);
    findings.extend(faults);
    engine.register(&site);
    progress.start_stage(Stage::Link, 0);
    let links = link::resolve(&site, sources, engine);
    progress.start_stage(Stage::Signatures, 0);
    let signatures = LazySignatures::new(&site, sources, engine);
    engine.register(&signatures);
    progress.start_stage(Stage::Fit, 0);
    let (table, key) = engine.keyed("fit table", || {
        let (table, findings) = fit::table(&site, engine);
        (Arc::new(table), findings)
    });
    let fits = Fact::new(Name::new("fit table", ""), Fingerprint::of([key]), Arc::clone(&table.0));
    engine.register(&fits);
    findings.extend(table.1.iter().cloned());
    let figures = fit::prose_figures(&site, &fits, &mut findings);
    let says = |figures: &BTreeMap<usize, ProseFigure>| -> Vec<_> {
        figures.iter().map(|(at, figure)| (*at, figure.value, figure.text.clone())).collect()
    };
    let figures = Table::new("figures", figures, says);
    engine.register(&figures);
    progress.start_stage(Stage::Check, 0);
    let mut analysis = Analysis { config, site, links, signatures, fits, figures, findings, today, audience };
    let findings = run_checks(sources, &analysis, options, check::pages);
    analysis.add(findings, sources);
    Ok(analysis)
}

/// Returns the findings of some checks.
fn run_checks(
    sources: &Sources,
    analysis: &Analysis,
    options: &SiteOptions,
    checks: fn(&Subject<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut known = None;
    if analysis.site.heads().any(|head| head.is_unread()) {
        known.insert(analysis.site.clone()).retain(|head| !head.is_unread());
    }
    checks(&Subject {
        sources,
        pages: known.as_ref().unwrap_or(&analysis.site),
        site: &analysis.site,
        links: &analysis.links,
        signatures: &analysis.signatures,
        hits: &Hits::default(),
        today: &analysis.today,
        engine: &options.engine,
    })
}

/// The whole build, in memory.
///
/// # Errors
/// When `options.base_url` is no address.
pub fn build(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    options: &SiteOptions,
) -> anyhow::Result<BuildResult> {
    let mut analysis = analyze(sources, read_faults, options, &NoProgress)?;
    if analysis.has_errors() {
        return Ok(BuildResult { analysis, outputs: None });
    }
    let memory = MemorySink::default();
    let status = render(sources, &mut analysis, options, &NoProgress, &memory);
    Ok(BuildResult { analysis, outputs: (status == RenderStatus::Complete).then(|| memory.into_outputs()) })
}

/// Makes the files of a site without errors; faults of templates join its findings.
pub fn render(
    sources: &Sources,
    analysis: &mut Analysis,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
    sink: &dyn Sink,
) -> RenderStatus {
    let result =
        render::files(&rendering(sources, analysis, options, progress), &BTreeSet::new(), sink, |_| true);
    let faults = result.err().unwrap_or_default();
    let status = if faults.is_empty() { RenderStatus::Complete } else { RenderStatus::Failed };
    analysis.add(faults, sources);
    status
}

/// Receiver of files before the end of a build.
pub struct Preview<'f> {
    /// Files of pages that are judged and made before all others.
    pub changed: &'f BTreeSet<SourceId>,
    /// Is handed the files that are there.
    pub show: &'f dyn Fn(&BuildFiles),
}

impl fmt::Debug for Preview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").field("changed", &self.changed).finish_non_exhaustive()
    }
}

/// Makes the files of a site that differ from those of the build before; `Err` has what is wrong as plain text. Those
/// of the changed pages are shown as soon as they are there and nothing is wrong with these pages by themselves.
///
/// # Errors
/// When `options.base_url` is no address.
pub fn update(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
    before: &BuildFiles,
    first: &Preview<'_>,
) -> anyhow::Result<Result<BuildFiles, String>> {
    let mut analysis = read(sources, read_faults, options, progress)?;
    let sink = UpdateSink::new(before);
    let mut findings = Vec::new();
    if !analysis.has_errors() {
        let go_on = |milestone| {
            if milestone == render::Milestone::Pages || !first.changed.is_empty() {
                sink.inspect(first.show);
            }
            if milestone == render::Milestone::First {
                progress.start_stage(Stage::Check, 0);
                findings.extend(run_checks(sources, &analysis, options, check::site));
            }
            !has_errors(&findings)
        };
        let result =
            render::files(&rendering(sources, &analysis, options, progress), first.changed, &sink, go_on);
        findings.extend(result.err().unwrap_or_default());
        analysis.add(findings, sources);
    }
    Ok(match analysis.has_errors() {
        true => Err(diag::human(&analysis.findings, sources, ColorChoice::Off)),
        false => Ok(sink.finish()),
    })
}

/// Makes the pictures that the pages of a site without errors name for those who share them.
pub fn pictures(
    sources: &Sources,
    analysis: &Analysis,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
    sink: &dyn Sink,
) {
    progress.start_stage(Stage::Pictures, 0);
    render::pictures(&rendering(sources, analysis, options, progress), sink);
}

/// The whole knowledge base as one page, of a site without errors.
///
/// # Errors
/// Every distinct fault of a template.
pub fn bundle(
    sources: &Sources,
    analysis: &Analysis,
    options: &SiteOptions,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    render::bundle(&rendering(sources, analysis, options, &NoProgress))
}

fn rendering<'s>(
    sources: &'s Sources,
    analysis: &'s Analysis,
    options: &'s SiteOptions,
    progress: &'s dyn BuildProgress,
) -> render::RenderInputs<'s> {
    render::RenderInputs {
        sources,
        config: &analysis.config,
        site: &analysis.site,
        links: &analysis.links,
        signatures: &analysis.signatures,
        fits: &analysis.fits,
        figures: &analysis.figures,
        today: &analysis.today,
        audience: &analysis.audience,
        engine: &options.engine,
        progress,
    }
}

impl Analysis {
    /// Whether anything stands in the way of publication.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.findings)
    }

    fn add(&mut self, findings: Vec<Diagnostic>, sources: &Sources) {
        self.findings.extend(findings);
        Diagnostic::sort(&mut self.findings, sources);
    }
}

fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
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
