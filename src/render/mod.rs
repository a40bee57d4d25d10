//! Renders a checked site to files.
//!
//! 1. `assets` collects static files with content hashes in their names, and translates scripts.
//! 2. `prose` renders bodies to HTML with relative links.
//! 3. `views` computes the data of each template, `templates` renders it, `translate` provides the function `t`.
//! 4. `feed`, `sitemap`, `opensearch`, `hosting`, `data`, `badges`, `fit_files`, `model_summary`, `model_names`,
//!    `model_files`, `device_list`, `search` and `schemas` make files for programs; `parts` divides large ones.
//!
//! `social` draws share pictures, on request. `bundle` renders the same views to one page, on request.

mod address;
mod assets;
mod badges;
mod bundle;
mod data;
mod device_list;
mod diagnose;
mod feed;
mod fit_files;
mod hosting;
mod json_ld;
mod model_files;
mod model_names;
mod model_summary;
mod not_covered;
mod opensearch;
mod parts;
mod prose;
mod provenance;
mod schemas;
mod search;
mod sitemap;
mod social;
mod templates;
mod translate;
mod views;
mod xml;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;
use kbgen_signature::similar_pages;
use rayon::prelude::*;

use serde::Serialize;

use crate::config::Config;
use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::{CompiledSignatures, LazySignatures};
use crate::engine::{self, Engine};
use crate::facts::{Fact, Fingerprint, Name, Table};
use crate::files::{Outputs, Sink, SourceId, Sources};
use crate::pack::Pack;
use crate::progress::{BuildProgress, Stage};
use crate::render::assets::Assets;
use crate::render::prose::Prose;
use crate::render::views::{Query, RenderContext};
use crate::site::{FitTable, Links, ProseFigure, Site};

pub use bundle::BUNDLE_MARK;
pub use templates::TEMPLATE_ERROR;

/// All rules of this module.
pub const RULES: &[Rule] = &[TEMPLATE_ERROR];

/// Audience of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Audience {
    /// Readers of the published site.
    World,
    /// The author of a local preview: pages reload automatically.
    Author,
}

/// Inputs of rendering.
#[derive(Debug, Clone, Copy)]
pub struct RenderInputs<'s> {
    /// Templates, static files, translations.
    pub sources: &'s Sources,
    /// Settings.
    pub config: &'s Fact<Config>,
    /// Pages.
    pub site: &'s Site,
    /// Resolved links.
    pub links: &'s Links,
    /// Compiled signatures.
    pub signatures: &'s LazySignatures,
    /// Memory figures of the models.
    pub fits: &'s Fact<Arc<FitTable>>,
    /// Figures of calls in prose, by file of the page and offset of the call in its body.
    pub figures: &'s Table<String, BTreeMap<usize, ProseFigure>>,
    /// Today's date, for staleness.
    pub today: &'s Fact<Date>,
    /// Audience of the pages.
    pub audience: &'s Fact<Audience>,
    /// Engine with results of earlier builds.
    pub engine: &'s Engine,
    /// Receives progress.
    pub progress: &'s dyn BuildProgress,
}

impl<'s> RenderInputs<'s> {
    /// Returns the compiled signatures of all pages.
    fn compiled(&self) -> &'s CompiledSignatures {
        self.signatures.of(self.site, self.sources, self.engine)
    }
}

/// Data that all pages share: names of static files, summaries of bodies, the index of the fit tables, and similar
/// errors.
#[derive(Debug)]
pub struct SharedData {
    assets: Fact<Assets>,
    prose: Prose,
    fit_index: Fact<serde_json::Value>,
    similar_errors: Table<String, Vec<String>>,
}

impl SharedData {
    /// Computes the shared data.
    ///
    /// # Errors
    /// Every text of a script that cannot be translated.
    pub fn new(inputs: &RenderInputs<'_>) -> Result<Self, Vec<Diagnostic>> {
        let assets = Assets::new(inputs.sources, inputs.config)?;
        let assets = Fact::new(Name::new("assets", ""), assets.fingerprint(), assets);
        inputs.engine.register(&assets);
        let prose = Prose::new(inputs, &assets);
        let fit_index = inputs.engine.query(engine::Kind::Gathered, "fit index", || {
            fit_files::index(inputs, &fit_files::tables(inputs)).to_string()
        });
        let says = Fingerprint::of([&fit_index]);
        let fit_index = serde_json::from_str(&fit_index).expect("it was written as JSON");
        let fit_index = Fact::new(Name::new("fit index", ""), says, fit_index);
        inputs.engine.register(&fit_index);
        let similar_errors: BTreeMap<String, Vec<String>> =
            inputs.engine.query(engine::Kind::Gathered, "look-alikes", || {
                let owned = |others: Vec<&str>| others.into_iter().map(str::to_string).collect();
                let alike = similar_pages(inputs.compiled().index.table()).into_iter();
                alike.map(|(page, others)| (page.to_string(), owned(others))).collect()
            });
        let similar_errors = Table::new("look-alikes", similar_errors, Clone::clone);
        inputs.engine.register(&similar_errors);
        Ok(Self { assets, prose, fit_index, similar_errors })
    }
}

/// How many files of a site are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone {
    /// The pages that come first.
    First,
    /// All pages.
    Pages,
}

/// Makes the files of a site that the sink cannot reuse: first some pages, then, if `go_on` returns `true`,
/// everything else.
///
/// # Errors
/// Every distinct error of a template; the files made so far must be discarded.
pub fn files(
    inputs: &RenderInputs<'_>,
    is_first: impl Fn(Option<SourceId>, &str) -> bool,
    sink: &dyn Sink,
    mut go_on: impl FnMut(Milestone) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    inputs.progress.start_stage(Stage::Gather, 0);
    let shared = SharedData::new(inputs)?;
    let engine = templates::TemplateEngine::new(inputs.sources, &shared.assets, &inputs.config.texts)?;
    inputs.engine.register(engine.fact());
    let cx = RenderContext::new(inputs, &shared);
    let queries = views::queries(&cx, &engine);
    inputs.progress.start_stage(Stage::Pages, queries.len());
    let (first, rest): (Vec<_>, Vec<_>) =
        queries.into_iter().partition(|query| is_first(query.about, &query.name));
    run_queries(inputs, &first, sink)?;
    if !go_on(Milestone::First) {
        return Ok(());
    }
    run_queries(inputs, &rest, sink)?;
    go_on(Milestone::Pages);
    let mut builders: Vec<(&str, DataBuilder)> = vec![
        ("diagnose.js", diagnose::tables),
        ("search.js", search::file),
        ("llms.txt", data::map),
        ("feeds", feed::files),
        ("sitemap.xml", sitemap::file),
        ("opensearch.xml", opensearch::file),
        ("static files", |cx| cx.assets.outputs()),
    ];
    if inputs.site.has(Some(Pack::Llm)) {
        builders.extend([
            ("models.json", data::models as DataBuilder),
            ("hardware.json", data::devices),
            ("fit tables", |cx| fit_files::tables(cx.inputs)),
            ("runs.js", model_summary::file),
            ("devices.js", device_list::file),
            ("model-names.js", model_names::file),
            ("gguf.js", model_files::file),
            ("badges", badges::files),
        ]);
    }
    let streamed: [(&str, StreamBuilder); 2] =
        [("llms-full.txt", data::whole), ("kb.json", data::everything)];
    let cx = &cx;
    let streamed = streamed.into_iter().map(|(name, make)| data_query(name, move || make(cx, sink)));
    let data = builders.into_iter().map(|(name, make)| data_query(name, move || make(cx)));
    let schemas = data_query("schemas", || schemas::files(inputs.config));
    let queries: Vec<_> = streamed.chain(data).chain([schemas]).collect();
    inputs.progress.start_stage(Stage::Data, queries.len());
    run_queries(inputs, &queries, sink)?;
    hosting::files(inputs).write_to(sink);
    Ok(())
}

/// Creates the query for files that belong to no page.
fn data_query<'q>(name: &str, make: impl Fn() -> Outputs + Sync + Send + 'q) -> Query<'q> {
    Query { name: name.to_string(), about: None, make: Box::new(move || Ok(make().into_files())) }
}

/// Makes data files that belong together.
type DataBuilder = fn(&RenderContext<'_>) -> Outputs;

/// Makes a data file in parts, the last of which is in the outputs.
type StreamBuilder = fn(&RenderContext<'_>, &dyn Sink) -> Outputs;

/// Runs queries in parallel.
fn run_queries(
    inputs: &RenderInputs<'_>,
    queries: &[Query<'_>],
    sink: &dyn Sink,
) -> Result<(), Vec<Diagnostic>> {
    let run = |query: &Query<'_>| {
        let make = || {
            let path = address::file(&query.name);
            inputs.progress.start_page(&path);
            let files = (query.make)();
            inputs.progress.finish_page(&path);
            files
        };
        inputs.engine.files(&query.name, sink, make)
    };
    unique_errors(queries.par_iter().map(run).collect()).map(drop)
}

/// Returns all values, or each distinct error.
fn unique_errors<T>(results: Vec<Result<T, Diagnostic>>) -> Result<Vec<T>, Vec<Diagnostic>> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) if !errors.contains(&error) => errors.push(error),
            Err(_) => {}
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// Draws the share pictures.
pub fn pictures(inputs: &RenderInputs<'_>, sink: &dyn Sink) {
    social::files(inputs, sink);
}

/// Renders the whole knowledge base to one page.
///
/// # Errors
/// As [`files`].
pub fn bundle(inputs: &RenderInputs<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let shared = SharedData::new(inputs)?;
    let cx = RenderContext::new(inputs, &shared);
    bundle::page(&cx, &templates::TemplateEngine::new(inputs.sources, &shared.assets, &inputs.config.texts)?)
}
