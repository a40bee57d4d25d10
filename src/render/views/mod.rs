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
mod model;
mod model_facts;
mod models;
mod place;
mod quant;
mod shelf;
mod special;
mod tool;
mod usual;

use rayon::prelude::*;

pub(super) use common::parameters;
pub(super) use model::by_parameters;
pub(super) use shelf::{Plate, Shelf, signature_text, with_frame};
pub(super) use usual::{CONTEXTS, RunsOn, runs_on};

use crate::diag::Diagnostic;
use crate::files::Outputs;
use crate::render::address::file;
use crate::render::templates::Engine;

/// One page, ready for its template: address, name of the template, and what it sees.
pub(super) struct Leaf {
    /// Address relative to the root.
    pub address: String,
    /// Name of the template.
    pub template: &'static str,
    /// What the template sees.
    pub view: minijinja::value::Value,
}

/// Every HTML page.
pub(super) fn pages(shelf: &Shelf<'_>, engine: &Engine<'_>) -> Result<Outputs, Vec<Diagnostic>> {
    let makers: Vec<fn(&Shelf<'_>) -> Vec<Leaf>> = vec![
        home::leaves,
        error::leaves,
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
    let leaves: Vec<Leaf> = makers.into_par_iter().flat_map(|make| make(shelf)).collect();
    let rendered: Vec<_> = leaves
        .into_par_iter()
        .map(|leaf| engine.render(leaf.template, &leaf.view).map(|bytes| (file(&leaf.address), bytes)))
        .collect();
    let mut outputs = Outputs::default();
    let mut faults = Vec::new();
    for page in rendered {
        match page {
            Ok((path, bytes)) => outputs.add(path, bytes),
            Err(fault) if !faults.contains(&fault) => faults.push(fault),
            Err(_) => {}
        }
    }
    if faults.is_empty() { Ok(outputs) } else { Err(faults) }
}

/// Pages that are read as text, and lists.
pub(super) fn texts(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let makers: [fn(&Shelf<'_>) -> Vec<Leaf>; 6] =
        [lists::leaves, models::leaves, error::leaves, guide::leaves, tool::leaves, glossary::leaves];
    makers.into_par_iter().flat_map(|make| make(shelf)).collect()
}
