//! The whole build: load, link, check, fit, render. Only `emit` writes files, and only afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::civil::Date;

use crate::check::{self, CheckContext, SampleMatches};
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
    /// Today's date, for staleness and future dates.
    pub today: Date,
    /// Whether drafts are part of the site.
    pub drafts: Drafts,
    /// Base address that overrides the one in `site.toml`.
    pub base_url: Option<String>,
    /// Whether to render for the public or for a local author.
    pub audience: Audience,
    /// Engine with results of earlier builds; affects only the build time.
    pub engine: Arc<Engine>,
}

/// An analyzed site, with or without errors.
#[derive(Debug)]
pub struct Analysis {
    /// Settings of the site.
    pub config: Fact<Config>,
    /// All pages.
    pub site: Site,
    /// Resolved links.
    pub links: Links,
    /// Compiled signatures.
    pub signatures: LazySignatures,
    /// Memory figures of the models.
    pub fits: Fact<Arc<FitTable>>,
    /// Figures of calls in prose, by file of the page and offset of the call in its body.
    pub figures: Table<String, BTreeMap<usize, ProseFigure>>,
    /// All findings, sorted.
    pub findings: Vec<Diagnostic>,
    today: Fact<Date>,
    audience: Fact<Audience>,
}

/// Whether rendering succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenderStatus {
    /// All files were made.
    Complete,
    /// A template has an error; the files made so far must be discarded.
    Failed,
}

/// Result of a build.
#[derive(Debug)]
pub struct BuildResult {
    /// The analyzed site.
    pub analysis: Analysis,
    /// Output files without [`pictures`]; `None` if the site has errors.
    pub outputs: Option<Outputs>,
}

/// Parses and checks the sources, and computes the figures.
///
/// # Errors
/// If `options.base_url` is not an address.
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

/// As [`analyze`], but runs only the checks of single pages.
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
    let config = Fact::of("config", config);
    let today = Fact::of("today", options.today);
    let audience = Fact::of("audience", options.audience);
    engine.register(&config);
    engine.register(&today);
    engine.register(&audience);
    engine.register(sources);
    findings.extend(read_faults);
    let declared = Fact::of("declarations", config.declared.clone());
    engine.register(&declared);
    let published = (options.drafts, &today);
    let (mut site, faults) = load::pages_with(sources, published, &declared, engine, progress);
    findings.extend(faults);
    findings.extend(load::old_keys(&site, config.format.value == config::FORMAT, config.format.span));
    site.declared = Some(declared);
    engine.register(&site);
    findings.extend(check::menu(&site, &config.menu));
    findings.extend(check::menu(&site, &config.footer));
    findings.extend(check::categories(&site, &config.stale_by_category));
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

/// Runs checks and returns their findings.
fn run_checks(
    sources: &Sources,
    analysis: &Analysis,
    options: &SiteOptions,
    checks: fn(&CheckContext<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut known = None;
    if analysis.site.heads().any(|head| head.is_unread()) {
        known.insert(analysis.site.clone()).retain(|head| !head.is_unread());
    }
    checks(&CheckContext {
        sources,
        pages: known.as_ref().unwrap_or(&analysis.site),
        site: &analysis.site,
        links: &analysis.links,
        signatures: &analysis.signatures,
        sample_matches: &SampleMatches::default(),
        today: &analysis.today,
        engine: &options.engine,
    })
}

/// Builds a site in memory.
///
/// # Errors
/// If `options.base_url` is not an address.
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

/// Renders a site without errors; adds errors of templates to its findings.
pub fn render(
    sources: &Sources,
    analysis: &mut Analysis,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
    sink: &dyn Sink,
) -> RenderStatus {
    let result =
        render::files(&rendering(sources, analysis, options, progress), |_, _| false, sink, |_| true);
    let faults = result.err().unwrap_or_default();
    let status = if faults.is_empty() { RenderStatus::Complete } else { RenderStatus::Failed };
    analysis.add(faults, sources);
    status
}

/// Receives files before the build is complete.
pub struct Preview<'f> {
    /// Source files whose pages are rendered before all others.
    pub changed: &'f BTreeSet<SourceId>,
    /// Addresses of further pages that are rendered first: a browser shows them.
    pub viewed: &'f BTreeSet<String>,
    /// Is handed the files that are there.
    pub show: &'f dyn Fn(&BuildFiles),
}

impl fmt::Debug for Preview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Preview");
        text.field("changed", &self.changed).field("viewed", &self.viewed).finish_non_exhaustive()
    }
}

/// Files of a site after an update.
#[derive(Debug)]
pub struct UpdateResult {
    /// All files of the site.
    pub files: BuildFiles,
    /// Warnings as plain text.
    pub warnings: String,
}

/// Renders the files that differ from the previous build; returns `Err` with the findings as plain text. The changed
/// pages come first and are shown as soon as they are rendered, if they have no errors of their own.
///
/// # Errors
/// If `options.base_url` is not an address.
pub fn update(
    sources: &Sources,
    read_faults: Vec<Diagnostic>,
    options: &SiteOptions,
    progress: &dyn BuildProgress,
    before: &BuildFiles,
    first: &Preview<'_>,
) -> anyhow::Result<Result<UpdateResult, String>> {
    let mut analysis = read(sources, read_faults, options, progress)?;
    let sink = UpdateSink::new(before);
    let mut findings = Vec::new();
    if !analysis.has_errors() {
        let go_on = |milestone| {
            let has_first = !first.changed.is_empty() || !first.viewed.is_empty();
            if milestone == render::Milestone::Pages || has_first {
                sink.inspect(first.show);
            }
            if milestone == render::Milestone::First {
                progress.start_stage(Stage::Check, 0);
                findings.extend(run_checks(sources, &analysis, options, check::site));
            }
            !has_errors(&findings)
        };
        let is_first = |about: Option<SourceId>, address: &str| {
            about.is_some_and(|source| first.changed.contains(&source)) || first.viewed.contains(address)
        };
        let result = render::files(&rendering(sources, &analysis, options, progress), is_first, &sink, go_on);
        findings.extend(result.err().unwrap_or_default());
        analysis.add(findings, sources);
    }
    let text = if analysis.findings.is_empty() {
        String::new()
    } else {
        diag::human(&analysis.findings, sources, ColorChoice::Off)
    };
    Ok(match analysis.has_errors() {
        true => Err(text),
        false => Ok(UpdateResult { files: sink.finish(), warnings: text }),
    })
}

/// Draws the share pictures of a site without errors.
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

/// Renders the whole knowledge base as one page, for a site without errors.
///
/// # Errors
/// Every distinct error of a template.
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
    /// Returns whether errors prevent publication.
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

/// Returns all rules, sorted by code.
pub fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> =
        [config::RULES, schema::RULES, load::RULES, fit::RULES, render::RULES, check::MARKUP_RULES]
            .concat()
            .into_iter()
            .chain(check::rules())
            .collect();
    rules.sort_by_key(|rule| rule.code);
    // A rule that is checked in two places is listed once.
    rules.dedup_by_key(|rule| rule.code);
    rules
}
