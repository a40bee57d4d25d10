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

use std::collections::BTreeMap;

use rayon::prelude::*;

pub(super) use common::parameters;
pub(super) use device::fitting;
pub(super) use error::asks_for_memory;
pub(super) use model::by_parameters;
pub(super) use shelf::{Plate, Shelf, Wanted, with_frame};
pub(super) use usual::{CONTEXTS, RunsOn, runs_on, usual_quant};
pub(super) use wording::signature_text;

use crate::diag::Diagnostic;
use crate::files::{Key, Sink};
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

/// What error pages are made of, by their slugs.
pub(super) type Keys = BTreeMap<String, Key>;

/// Every HTML page.
pub(super) fn pages(
    shelf: &Shelf<'_>,
    engine: &Engine<'_>,
    sink: &dyn Sink,
) -> Result<Keys, Vec<Diagnostic>> {
    let makers: Vec<Maker> = vec![
        home::leaves,
        lists::leaves,
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
    with_errors(shelf, engine, leaves, sink)
}

/// These pages, and those of the errors that are wanted.
fn with_errors(
    shelf: &Shelf<'_>,
    engine: &Engine<'_>,
    leaves: impl ParallelIterator<Item = Leaf>,
    sink: &dyn Sink,
) -> Result<Keys, Vec<Diagnostic>> {
    let plain = leaves.map(|leaf| rendered(shelf, engine, leaf, sink).map(|()| None));
    let errors = error::drafts(shelf).map(|draft| {
        let (slug, path, key) = (draft.slug().to_string(), draft.path(), draft.key(shelf, engine.key()));
        let mut made = Ok(Some((slug, key)));
        let make = || bytes(shelf, engine, &draft.leaf(shelf)).map_err(|fault| made = Err(fault)).ok();
        sink.take_made(path, &key, Box::new(make));
        made
    });
    Ok(collected(plain.chain(errors))?.into_iter().flatten().collect())
}

/// The HTML pages of a few pages alone.
pub(super) fn few(
    shelf: &Shelf<'_>,
    engine: &Engine<'_>,
    few: &Site,
    sink: &dyn Sink,
) -> Result<Keys, Vec<Diagnostic>> {
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
    with_errors(shelf, engine, leaves, sink)
}

fn rendered(shelf: &Shelf<'_>, engine: &Engine<'_>, leaf: Leaf, sink: &dyn Sink) -> Result<(), Diagnostic> {
    bytes(shelf, engine, &leaf).map(|bytes| sink.take(file(&leaf.address), bytes))
}

fn bytes(shelf: &Shelf<'_>, engine: &Engine<'_>, leaf: &Leaf) -> Result<Vec<u8>, Diagnostic> {
    let (watch, path) = (shelf.order.watch, file(&leaf.address));
    watch.begin_page(&path);
    let page = engine.render(leaf.template, &leaf.view);
    watch.end_page(&path);
    page
}

/// What was made, or every distinct fault.
fn collected<T: Send>(
    made: impl ParallelIterator<Item = Result<T, Diagnostic>>,
) -> Result<Vec<T>, Vec<Diagnostic>> {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for one in made.collect::<Vec<_>>() {
        match one {
            Ok(one) => all.push(one),
            Err(fault) if faults.contains(&fault) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(all) } else { Err(faults) }
}

/// Pages that are read as text, and lists.
pub(super) fn texts(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let before: [Maker; 2] = [lists::leaves, models::leaves];
    let behind: [Maker; 3] = [guide::leaves, tool::leaves, glossary::leaves];
    let made = |make: Maker| make(shelf);
    let before = before.into_par_iter().flat_map(made);
    before.chain(error::leaves(shelf)).chain(behind.into_par_iter().flat_map(made)).collect()
}
