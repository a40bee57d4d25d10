//! A checked site becomes files in memory.
//!
//! 1. `assets` names every static file after its content and makes one style sheet; texts of scripts are in the site's language,
//! 2. `prose` turns bodies into HTML with links relative to their page,
//! 3. `views` give each template what it may see, `templates` renders it, `say` puts in its texts,
//! 4. `feed`, `sitemap`, `opensearch`, `hosting`, `data`, `badges`, `fit_files`, `runs`, `cards`, `search` and `schemas`
//!    write the files for machines.
//!
//! `social` draws the pictures that services show of shared pages, apart from them.
//!
//! `bundle` makes one page of the same views, on request.

mod address;
mod assets;
mod badges;
mod basis;
mod bundle;
mod cards;
mod data;
mod diagnose;
mod feed;
mod fit_files;
mod hosting;
mod json_ld;
mod opensearch;
mod prose;
mod reasons;
mod runs;
mod say;
mod schemas;
mod search;
mod sitemap;
mod social;
mod templates;
mod views;
mod xml;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;
use kbgen_signature::similar_pages;
use rayon::prelude::*;

use crate::config::Config;
use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::{CompiledSignatures, LazySignatures};
use crate::engine::{self, Engine};
use crate::facts::{Fact, Fingerprint, Name, Table};
use crate::files::{Outputs, Sink, SourceId, Sources};
use crate::render::assets::Assets;
use crate::render::prose::Prose;
use crate::render::views::{Query, Shelf};
use crate::site::{FitTable, Links, ProseFigure, Site};
use crate::watch::{Stage, Watch};

pub use bundle::BUNDLE_MARK;
pub use templates::TEMPLATE_ERROR;

/// All rules of this module.
pub const RULES: &[Rule] = &[TEMPLATE_ERROR];

/// Whom pages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Readers of the published site.
    World,
    /// The person who writes it: pages reload by themselves.
    Author,
}

/// Inputs of rendering.
#[derive(Debug, Clone, Copy)]
pub struct Order<'s> {
    /// Templates, static files, texts.
    pub sources: &'s Sources,
    /// Settings.
    pub config: &'s Fact<Config>,
    /// Pages.
    pub site: &'s Site,
    /// Where their links lead.
    pub links: &'s Links,
    /// Their signatures.
    pub signatures: &'s LazySignatures,
    /// Memory figures of the models.
    pub fits: &'s Fact<Arc<FitTable>>,
    /// Figures that prose calls for, by the file of a page and by the place of the call in its body.
    pub figures: &'s Table<String, BTreeMap<usize, ProseFigure>>,
    /// Today, for staleness.
    pub today: &'s Fact<Date>,
    /// Whom for.
    pub audience: &'s Fact<Audience>,
    /// Engine with results of earlier builds.
    pub engine: &'s Engine,
    /// Who waits.
    pub watch: &'s dyn Watch,
}

impl<'s> Order<'s> {
    /// The signatures of all pages.
    fn compiled(&self) -> &'s CompiledSignatures {
        self.signatures.of(self.site, self.sources, self.engine)
    }
}

/// Data that all pages share: names of static files, what bodies say, the index of the fit tables,
/// look-alikes.
#[derive(Debug)]
pub struct Groundwork {
    assets: Fact<Assets>,
    prose: Prose,
    fit_index: Fact<serde_json::Value>,
    look_alikes: Table<String, Vec<String>>,
}

impl Groundwork {
    /// Makes it.
    ///
    /// # Errors
    /// Every text of a script that cannot be understood, at its place.
    pub fn new(order: &Order<'_>) -> Result<Self, Vec<Diagnostic>> {
        let assets = Assets::new(order.sources, &order.config.texts)?;
        let assets = Fact::new(Name::new("assets", ""), assets.says(), assets);
        order.engine.tell(&assets);
        let prose = Prose::new(order, &assets);
        let fit_index = order.engine.query(engine::Kind::Gathered, "fit index", || {
            fit_files::index(order, &fit_files::tables(order)).to_string()
        });
        let says = Fingerprint::of([&fit_index]);
        let fit_index = serde_json::from_str(&fit_index).expect("it was written as JSON");
        let fit_index = Fact::new(Name::new("fit index", ""), says, fit_index);
        order.engine.tell(&fit_index);
        let look_alikes: BTreeMap<String, Vec<String>> =
            order.engine.query(engine::Kind::Gathered, "look-alikes", || {
                let owned = |others: Vec<&str>| others.into_iter().map(str::to_string).collect();
                let alike = similar_pages(order.compiled().index.table()).into_iter();
                alike.map(|(page, others)| (page.to_string(), owned(others))).collect()
            });
        let look_alikes = Table::new("look-alikes", look_alikes, Clone::clone);
        order.engine.tell(&look_alikes);
        Ok(Self { assets, prose, fit_index, look_alikes })
    }
}

/// How far the files of a site are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Those of the pages that come first.
    First,
    /// All pages.
    Pages,
}

/// Makes the files of a site that differ from those the sink has: first those of the pages that `is_first` selects by source
/// and address, then, if `go_on` returns true, all others.
///
/// # Errors
/// Every distinct fault of a template, at its place in the template; what was made until then is worth nothing.
pub fn files(
    order: &Order<'_>,
    is_first: impl Fn(Option<SourceId>, &str) -> bool,
    sink: &dyn Sink,
    mut go_on: impl FnMut(Made) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    order.watch.begin(Stage::Gather, 0);
    let ground = Groundwork::new(order)?;
    let engine = templates::Engine::new(order.sources, &ground.assets, &order.config.texts)?;
    order.engine.tell(engine.fact());
    let shelf = Shelf::new(order, &ground);
    order.watch.begin(Stage::Pages, order.site.heads().count());
    let queries = views::queries(&shelf, &engine);
    let (first, rest): (Vec<_>, Vec<_>) =
        queries.into_iter().partition(|query| is_first(query.about, &query.name));
    all(order, &first, sink)?;
    if !go_on(Made::First) {
        return Ok(());
    }
    all(order, &rest, sink)?;
    go_on(Made::Pages);
    order.watch.begin(Stage::Data, 0);
    let makers: [(&str, DataMaker); 15] = [
        ("llms-full.txt", data::whole),
        ("kb.json", data::everything),
        ("diagnose.js", diagnose::table),
        ("search.js", search::file),
        ("llms.txt", data::map),
        ("models.json", data::models),
        ("hardware.json", data::devices),
        ("fit tables", |shelf| fit_files::tables(shelf.order)),
        ("runs.js", runs::file),
        ("cards.js", cards::file),
        ("badges", badges::files),
        ("feeds", feed::files),
        ("sitemap.xml", sitemap::file),
        ("opensearch.xml", opensearch::file),
        ("static files", |shelf| shelf.assets.outputs()),
    ];
    let data = makers.into_iter().map(|(name, make)| {
        let shelf = &shelf;
        let make = move || Ok(make(shelf).into_files());
        Query { name: name.to_string(), about: None, make: Box::new(make) }
    });
    let schemas = || Ok(schemas::files(order.config).into_files());
    let schemas = Query { name: "schemas".to_string(), about: None, make: Box::new(schemas) };
    all(order, &data.chain([schemas]).collect::<Vec<_>>(), sink)?;
    hosting::files(order).give(sink);
    Ok(())
}

/// Makes data files that belong together.
type DataMaker = fn(&Shelf<'_>) -> Outputs;

/// Runs queries.
fn all(order: &Order<'_>, queries: &[Query<'_>], sink: &dyn Sink) -> Result<(), Vec<Diagnostic>> {
    let run = |query: &Query<'_>| order.engine.files(&query.name, sink, &query.make).err();
    let mut faults = Vec::new();
    for fault in queries.par_iter().filter_map(run).collect::<Vec<_>>() {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Makes the pictures that pages name for those who share them.
pub fn pictures(order: &Order<'_>, sink: &dyn Sink) {
    social::files(order, sink);
}

/// The whole knowledge base as one page.
///
/// # Errors
/// As [`files`].
pub fn bundle(order: &Order<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let ground = Groundwork::new(order)?;
    let shelf = Shelf::new(order, &ground);
    bundle::page(&shelf, &templates::Engine::new(order.sources, &ground.assets, &order.config.texts)?)
}
