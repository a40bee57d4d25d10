//! A checked site becomes files in memory.
//!
//! 1. `assets` names every static file after its content and makes one style sheet; `scripts` puts texts into scripts,
//! 2. `prose` turns bodies into HTML with links relative to their page,
//! 3. `views` give each template what it may see, `templates` renders it, `say` puts in its texts,
//! 4. `feed`, `sitemap`, `opensearch`, `hosting`, `data`, `badges`, `fit_files`, `runs`, `cards`, `search` and `schemas`
//!    write the files for machines.
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
mod scripts;
mod search;
mod sitemap;
mod templates;
mod views;
mod xml;

use jiff::civil::Date;

use crate::config::Config;
use crate::diag::{Diagnostic, Rule};
use crate::diagnosis::Compiled;
use crate::files::{Outputs, Sources};
use crate::site::{FitTable, Links, Site};

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
    /// Their signatures.
    pub compiled: &'s Compiled,
    /// What models need.
    pub fits: &'s FitTable,
    /// Today, for staleness.
    pub today: Date,
    /// Whom for.
    pub audience: Audience,
}

/// All files of the site.
///
/// # Errors
/// Every distinct fault of a template, at its place in the template.
pub fn outputs(order: &Order<'_>) -> Result<Outputs, Vec<Diagnostic>> {
    let mut outputs = Outputs::default();
    let assets = assets::Assets::new(order.sources, &order.config.texts)?;
    let prose = prose::all(order, &assets);
    let tables = fit_files::tables(order);
    let shelf = views::Shelf::new(order, &assets, &prose, &tables);
    let engine = templates::Engine::new(order.sources, &assets, &order.config.texts)?;
    outputs.append(views::pages(&shelf, &engine)?);
    outputs.append(data::files(&shelf));
    outputs.append(diagnose::table(&shelf));
    outputs.append(tables);
    outputs.append(runs::file(&shelf));
    outputs.append(cards::file(&shelf));
    outputs.append(search::file(&shelf));
    outputs.append(schemas::files(order.config));
    outputs.append(badges::files(&shelf));
    outputs.append(feed::files(&shelf));
    outputs.append(sitemap::file(&shelf));
    outputs.append(opensearch::file(&shelf));
    outputs.append(hosting::files(&shelf));
    outputs.append(assets.into_outputs());
    Ok(outputs)
}

/// The whole knowledge base as one page.
///
/// # Errors
/// As [`outputs`].
pub fn bundle(order: &Order<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let assets = assets::Assets::new(order.sources, &order.config.texts)?;
    let prose = prose::all(order, &assets);
    let tables = fit_files::tables(order);
    let shelf = views::Shelf::new(order, &assets, &prose, &tables);
    bundle::page(&shelf, &templates::Engine::new(order.sources, &assets, &order.config.texts)?)
}
