//! What each template may see: a type a page kind, made from borrowed parts of the site.

mod chart;
mod choose;
mod common;
mod compare;
mod cost;
mod device;
mod document;
mod error;
mod glossary;
mod guide;
mod home;
mod lists;
mod menu;
mod model;
mod model_facts;
mod models;
mod partial;
mod place;
mod quant;
mod shelf;
mod special;
mod tool;
mod usual;
mod wording;

use std::collections::BTreeSet;

use rayon::prelude::*;

pub(super) use common::{description, parameters};
pub(super) use device::fitting;
pub(super) use error::asks_for_memory;
pub(super) use model::by_parameters;
pub(super) use shelf::{Plate, Shelf, with_frame};
pub(super) use usual::{CONTEXTS, RunsOn, runs_on, usual_quant};
pub(super) use wording::signature_text;

use crate::diag::Diagnostic;
use crate::files::SourceId;
use crate::render::address::file;
use crate::render::data::{error_twins, twin};
use crate::render::templates::Engine;
use crate::site::Head;

/// One page, ready for its template: address, name of the template, and what it sees.
pub(super) struct Leaf {
    /// Address relative to the root.
    pub address: String,
    /// Name of the template.
    pub template: &'static str,
    /// What the template sees.
    pub view: minijinja::value::Value,
}

/// Makes pages that belong together.
type Maker = fn(&Shelf<'_>) -> Vec<Leaf>;

/// Makes the page that stands at a place in the list of its kind.
type PageMaker = fn(&Shelf<'_>, usize) -> Leaf;

/// Files that are made at once, and again when something that they show changed.
pub(super) struct Query<'q> {
    /// Its name, that of no other: of a page its address.
    pub name: String,
    /// The page that they are about, if it is one.
    pub about: Option<SourceId>,
    /// Makes them.
    pub make: Box<dyn Fn() -> Result<Files, Diagnostic> + Send + Sync + 'q>,
}

/// Paths and contents of files.
type Files = Vec<(String, Vec<u8>)>;

/// Every HTML page; those of errors, models and devices with their data.
pub(super) fn queries<'q>(shelf: &'q Shelf<'_>, engine: &'q Engine<'_>) -> Vec<Query<'q>> {
    let makers: [(&str, Maker); 17] = [
        ("", home::leaves),
        ("errors/", |shelf| vec![lists::errors(shelf)]),
        ("tools/", |shelf| vec![lists::tools(shelf)]),
        ("guides/", |shelf| vec![lists::guides(shelf)]),
        ("hardware/", |shelf| vec![lists::hardware(shelf)]),
        ("quants/", |shelf| vec![lists::quants(shelf)]),
        ("glossary/", glossary::leaves),
        ("models/", models::leaves),
        ("will-it-run/", |shelf| vec![special::calculator(shelf)]),
        ("diagnose/", |shelf| vec![special::diagnose(shelf)]),
        ("search/", |shelf| vec![special::search(shelf)]),
        ("changes/", |shelf| vec![special::changes(shelf)]),
        ("404", |shelf| vec![special::not_found(shelf)]),
        ("redirects", special::redirects),
        ("compare/", compare::leaves),
        ("choose-gpu/", choose::leaves),
        ("cost-vs-cloud/", cost::leaves),
    ];
    let site = shelf.site();
    let kinds: [(Vec<&Head>, PageMaker); 7] = [
        (site.categories.iter().map(|page| &page.head).collect(), lists::category),
        (site.tools.iter().map(|page| &page.head).collect(), tool::leaf),
        (site.guides.iter().map(|page| &page.head).collect(), guide::leaf),
        (site.models.iter().map(|page| &page.head).collect(), model::leaf),
        (site.devices.iter().map(|page| &page.head).collect(), device::leaf),
        (site.quants.iter().map(|page| &page.head).collect(), quant::leaf),
        (site.documents.iter().map(|page| &page.head).collect(), document::leaf),
    ];
    let lists = makers.into_iter().map(|(name, make)| Query {
        name: name.to_string(),
        about: None,
        make: Box::new(move || make(shelf).into_iter().map(|leaf| rendered(shelf, engine, leaf)).collect()),
    });
    let pages = kinds.into_iter().flat_map(|(heads, make)| {
        heads.into_iter().enumerate().map(move |(at, head)| Query {
            name: head.id.address(),
            about: Some(head.source),
            make: Box::new(move || {
                let page = rendered(shelf, engine, make(shelf, at))?;
                Ok([page].into_iter().chain(twin(shelf, head.id.kind, at)).collect())
            }),
        })
    });
    let errors = site.errors.iter().map(|error| Query {
        name: error.head.id.address(),
        about: Some(error.head.source),
        make: Box::new(move || {
            let page = rendered(shelf, engine, error::leaf(shelf, error))?;
            Ok([page].into_iter().chain(error_twins(shelf, error)).collect())
        }),
    });
    lists.chain(pages).chain(errors).collect()
}

fn rendered(shelf: &Shelf<'_>, engine: &Engine<'_>, leaf: Leaf) -> Result<(String, Vec<u8>), Diagnostic> {
    let bytes = bytes(shelf, engine, &leaf)?;
    Ok((file(&leaf.address), bytes))
}

fn bytes(shelf: &Shelf<'_>, engine: &Engine<'_>, leaf: &Leaf) -> Result<Vec<u8>, Diagnostic> {
    let (watch, path) = (shelf.order.watch, file(&leaf.address));
    watch.begin_page(&path);
    let page = engine.render(leaf.template, &leaf.view);
    watch.end_page(&path);
    page
}

/// Pages that are read as text, and lists.
pub(super) fn texts(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let site = shelf.site();
    let all = |make: PageMaker, count: usize| (0..count).into_par_iter().map(move |at| make(shelf, at));
    let lists: [Maker; 3] = [lists::leaves, models::leaves, glossary::leaves];
    let categories: BTreeSet<&str> = site.errors.iter().map(|error| error.data.category.as_str()).collect();
    let errors: Vec<_> = categories.into_iter().flat_map(|category| shelf.errors_of(category)).collect();
    let leaves = errors.into_par_iter().map(|error| error::leaf(shelf, error));
    leaves
        .chain(all(lists::category, site.categories.len()))
        .chain(all(guide::leaf, site.guides.len()))
        .chain(all(tool::leaf, site.tools.len()))
        .chain(lists.into_par_iter().flat_map(|make| make(shelf)))
        .collect()
}
