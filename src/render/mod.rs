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
mod groups;
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

use jiff::civil::Date;
use kbgen_signature::similar_pages;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::Config;
use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::{CompiledSignatures, LazySignatures};
use crate::files::{Grouped, Key, Outputs, Sink, Sources};
use crate::render::assets::Assets;
use crate::render::groups::Groups;
use crate::render::prose::Prose;
use crate::render::views::{Shelf, Wanted};
use crate::site::{Digest, FitTable, Links, Site};
use crate::store::{self, Store};
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

/// What is to be rendered.
#[derive(Debug, Clone, Copy)]
pub struct Order<'s> {
    /// Templates, static files, texts.
    pub sources: &'s Sources,
    /// Settings.
    pub config: &'s Config,
    /// Pages.
    pub site: &'s Site,
    /// Where their links lead.
    pub links: &'s Links,
    /// What they are made of.
    pub digest: &'s Digest,
    /// Their signatures.
    pub signatures: &'s LazySignatures,
    /// What models need.
    pub fits: &'s FitTable,
    /// Today, for staleness.
    pub today: Date,
    /// Whom for.
    pub audience: Audience,
    /// What is known of earlier builds.
    pub store: &'s Store,
    /// Who waits.
    pub watch: &'s dyn Watch,
}

impl<'s> Order<'s> {
    /// The signatures of all pages.
    fn compiled(&self) -> &'s CompiledSignatures {
        self.signatures.of(self.site, self.sources)
    }

    /// What is gathered from all pages but from no body of an error; kept under a name as long as the world is the same.
    fn gathered<T: Serialize + DeserializeOwned>(&self, name: &str, make: impl FnOnce() -> T) -> T {
        let key = || Key::of([name.as_bytes(), self.digest.world.as_ref()]);
        self.store.get_or(store::Kind::Gathered, key, make)
    }
}

/// What all pages draw on and is made once: names of static files, bodies, the index of the fit tables, look-alikes.
#[derive(Debug)]
pub struct Groundwork {
    assets: Assets,
    prose: Prose,
    tables: Outputs,
    fit_index: serde_json::Value,
    look_alikes: BTreeMap<String, Vec<String>>,
}

impl Groundwork {
    /// Makes it.
    ///
    /// # Errors
    /// Every text of a script that cannot be understood, at its place.
    pub fn new(order: &Order<'_>) -> Result<Self, Vec<Diagnostic>> {
        let ground = Self::few(order)?;
        ground.prose.read_all(order, &ground.assets);
        Ok(ground)
    }

    /// As [`Groundwork::new`], for a few pages: a body is read when one of them shows something of it.
    fn few(order: &Order<'_>) -> Result<Self, Vec<Diagnostic>> {
        let assets = Assets::new(order.sources, &order.config.texts)?;
        let prose = Prose::new(order);
        let tables = fit_files::tables(order);
        let fit_index = fit_files::index(order, &tables);
        let owned = |others: Vec<&str>| others.into_iter().map(str::to_string).collect();
        let look_alikes = order.gathered("look-alikes", || {
            let alike = similar_pages(order.compiled().index.table()).into_iter();
            alike.map(|(page, others)| (page.to_string(), owned(others))).collect()
        });
        Ok(Self { assets, prose, tables, fit_index, look_alikes })
    }

    /// Forgets what it knows of a few pages that are others now.
    pub fn renew(&mut self, order: &Order<'_>, few: &Site) {
        self.prose.renew(order, few);
    }
}

/// Makes the files of a few pages alone: the pages and their twins as data. The rest of the site is left as it is.
///
/// # Errors
/// As [`files`].
pub fn few(
    order: &Order<'_>,
    ground: &Groundwork,
    few: &Site,
    sink: &dyn Sink,
) -> Result<(), Vec<Diagnostic>> {
    pages_and_twins(&Shelf::new(order, ground, Wanted::Few(few)), few, sink)
}

fn pages_and_twins(shelf: &Shelf<'_>, few: &Site, sink: &dyn Sink) -> Result<(), Vec<Diagnostic>> {
    let engine = templates::Engine::new(shelf.order.sources, shelf.assets, shelf.texts())?;
    let keys = views::few(shelf, &engine, few, sink)?;
    data::twins(shelf, few, &keys, sink);
    Ok(())
}

/// Makes the files of the site that the sink does not know to be there: those that differ in no more than the bodies of
/// errors, or else all.
///
/// # Errors
/// Every distinct fault of a template, at its place in the template; what was made until then is worth nothing.
pub fn files(order: &Order<'_>, sink: &dyn Sink) -> Result<(), Vec<Diagnostic>> {
    order.watch.begin(Stage::Gather, 0);
    let groups = Groups::new(order);
    let grouped = Grouped { sink, of: |path: &str| groups.of(path) };
    if !sink.take_group(&groups.rest) {
        return all(order, &Groundwork::new(order)?, &grouped);
    }
    hosting::files(order).give(sink);
    let errors = order.site.errors.par_iter();
    let unknown = errors.filter(|error| !sink.take_group(&groups.errors[&error.head.id.slug]));
    let few = Site { errors: unknown.cloned().collect(), ..Site::default() };
    let knows_bodies = sink.take_group(&groups.bodies);
    if few.errors.is_empty() && knows_bodies {
        return Ok(());
    }
    let ground = Groundwork::few(order)?;
    let shelf = Shelf::new(order, &ground, Wanted::Few(&few));
    order.watch.begin(Stage::Pages, few.errors.len());
    pages_and_twins(&shelf, &few, &grouped)?;
    order.watch.begin(Stage::Data, 0);
    if !knows_bodies {
        data::whole(&shelf, &grouped);
        diagnose::table(&shelf).give(&grouped);
    }
    Ok(())
}

/// Makes all files of the site.
///
/// # Errors
/// As [`files`].
pub fn all(order: &Order<'_>, ground: &Groundwork, sink: &dyn Sink) -> Result<(), Vec<Diagnostic>> {
    let shelf = Shelf::new(order, ground, Wanted::All);
    let engine = templates::Engine::new(order.sources, &ground.assets, &order.config.texts)?;
    let keys = views::pages(&shelf, &engine, sink)?;
    order.watch.begin(Stage::Data, 0);
    data::files(&shelf, &keys, sink);
    ground.tables.give(sink);
    let makers: [fn(&Shelf<'_>) -> Outputs; 8] = [
        diagnose::table,
        runs::file,
        cards::file,
        search::file,
        badges::files,
        feed::files,
        sitemap::file,
        opensearch::file,
    ];
    makers.par_iter().for_each(|make| make(&shelf).give(sink));
    hosting::files(order).give(sink);
    schemas::files(order.config).give(sink);
    ground.assets.outputs().give(sink);
    Ok(())
}

/// Makes the pictures that pages name for those who share them.
pub fn pictures(order: &Order<'_>, sink: &dyn Sink) {
    social::files(order, sink);
}

/// The whole knowledge base as one page.
///
/// # Errors
/// As [`outputs`].
pub fn bundle(order: &Order<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let ground = Groundwork::new(order)?;
    let shelf = Shelf::new(order, &ground, Wanted::All);
    bundle::page(&shelf, &templates::Engine::new(order.sources, &ground.assets, &order.config.texts)?)
}
