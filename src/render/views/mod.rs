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
mod map;
mod menu;
mod model;
mod model_facts;
mod models;
mod place;
mod quant;
mod ring;
mod shelf;
mod special;
mod tool;
mod usual;
mod wording;

use rayon::prelude::*;

pub(super) use common::parameters;
pub(super) use device::fitting;
pub(super) use model::by_parameters;
pub(super) use shelf::{Plate, Shelf, Wanted, with_frame};
pub(super) use usual::{CONTEXTS, RunsOn, runs_on};
pub(super) use wording::signature_text;

use crate::diag::Diagnostic;
use crate::files::Sink;
use crate::render::address::file;
use crate::render::templates::Engine;
use crate::site::{Kind, Site};
use crate::watch::Stage;

/// One page, ready for its template: address, name of the template, and what it sees.
pub(super) struct Leaf {
    /// Address relative to the root.
    pub address: String,
    /// Name of the template.
    pub template: &'static str,
    /// What the template sees.
    pub view: minijinja::value::Value,
}

/// Makes the pages of a kind.
type Maker = fn(&Shelf<'_>) -> Vec<Leaf>;

/// Every HTML page.
pub(super) fn pages(shelf: &Shelf<'_>, engine: &Engine<'_>, sink: &dyn Sink) -> Result<(), Vec<Diagnostic>> {
    let makers: Vec<Maker> = vec![
        home::leaves,
        lists::leaves,
        map::leaves,
        tool::leaves,
        guide::leaves,
        glossary::leaves,
        model::leaves,
        models::leaves,
        device::leaves,
        quant::leaves,
        document::leaves,
        special::leaves,
        compare::leaves,
        choose::leaves,
        cost::leaves,
    ];
    shelf.order.watch.begin(Stage::Pages, shelf.site().heads().count());
    // A view is larger than its page: each is gone when its page is there.
    let leaves = makers.into_par_iter().flat_map(|make| make(shelf));
    rendered(shelf, engine, leaves.chain(error::leaves(shelf)), sink)
}

/// The HTML pages of a few pages alone.
pub(super) fn few(
    shelf: &Shelf<'_>,
    engine: &Engine<'_>,
    few: &Site,
    sink: &dyn Sink,
) -> Result<(), Vec<Diagnostic>> {
    let makers: [(Kind, Maker); 8] = [
        (Kind::Category, lists::categories),
        (Kind::Tool, tool::leaves),
        (Kind::Guide, guide::leaves),
        (Kind::Term, glossary::leaves),
        (Kind::Model, model::leaves),
        (Kind::Hardware, device::leaves),
        (Kind::Quant, quant::leaves),
        (Kind::Document, document::leaves),
    ];
    let is_there = |kind| few.heads().any(|head| head.id.kind == kind);
    let wanted: Vec<_> = makers.into_iter().filter(|(kind, _)| is_there(*kind)).collect();
    let leaves = wanted.into_par_iter().flat_map(|(_, make)| make(shelf));
    rendered(shelf, engine, leaves.chain(error::leaves(shelf)), sink)
}

fn rendered(
    shelf: &Shelf<'_>,
    engine: &Engine<'_>,
    leaves: impl ParallelIterator<Item = Leaf>,
    sink: &dyn Sink,
) -> Result<(), Vec<Diagnostic>> {
    let watch = shelf.order.watch;
    let all: Vec<Diagnostic> = leaves
        .filter_map(|leaf| {
            watch.begin_page();
            let page = engine.render(leaf.template, &leaf.view);
            let path = file(&leaf.address);
            watch.end_page(&path);
            page.map(|bytes| sink.take(path, bytes)).err()
        })
        .collect();
    let mut faults = Vec::new();
    for fault in all {
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Pages that are read as text, and lists.
pub(super) fn texts(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let before: [Maker; 2] = [lists::leaves, models::leaves];
    let behind: [Maker; 3] = [guide::leaves, tool::leaves, glossary::leaves];
    let made = |make: Maker| make(shelf);
    let before = before.into_par_iter().flat_map(made);
    before.chain(error::leaves(shelf)).chain(behind.into_par_iter().flat_map(made)).collect()
}
