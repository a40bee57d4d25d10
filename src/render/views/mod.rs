//! The data of each template: one type per kind of page, borrowing from the site.

mod benchmarks;
mod builtin_pages;
mod chart;
mod choose;
mod common;
mod compare;
mod context;
mod cost;
mod defaults;
mod device;
mod device_models;
mod document;
mod entry;
mod error;
mod glossary;
mod guide;
mod home;
mod illustration;
mod lists;
mod machine;
mod menu;
mod model;
mod model_facts;
mod models;
mod partial;
mod quant;
mod shared_values;
mod tool;
mod verdicts;
mod vocabularies;
mod wording;

use std::borrow::Cow;
use std::collections::BTreeSet;

use rayon::prelude::*;

pub(super) use common::{description, parameters};
pub(super) use context::{PageMeta, RenderContext, with_layout};
pub(super) use defaults::{CONTEXTS, CardSize, RunsOn, card_sizes, default_quant, runs_on};
pub(super) use device::fitting;
pub(super) use entry::entries_of;
pub(super) use error::{FIRST_STEP, asks_for_memory};
pub(super) use lists::category_addresses;
pub(super) use model::by_parameters;
pub(super) use wording::signature_text;

use crate::diag::Diagnostic;
use crate::files::SourceId;
use crate::render::address::file;
use crate::render::data::{alternate, error_alternates};
use crate::render::templates::TemplateEngine;
use crate::site::{Head, LISTINGS, Site};

/// A page with the data of its template.
pub(super) struct TemplatePage {
    /// Address relative to the root.
    pub address: String,
    /// Name of the template.
    pub template: Cow<'static, str>,
    /// Variables of the template.
    pub view: minijinja::value::Value,
}

/// Makes pages that belong together.
type PagesBuilder = fn(&RenderContext<'_>) -> Vec<TemplatePage>;

/// Makes the page at an index in the list of its kind.
type PageBuilder = fn(&RenderContext<'_>, usize) -> TemplatePage;

/// Files that are rendered together, and again when something that they read changes.
pub(super) struct Query<'q> {
    /// Unique name.
    pub name: String,
    /// Source file of the page, if it is one.
    pub about: Option<SourceId>,
    /// Renders the files.
    pub make: Box<dyn Fn() -> Result<Files, Diagnostic> + Send + Sync + 'q>,
}

/// Paths and contents of files.
type Files = Vec<(String, Vec<u8>)>;

/// Returns the queries of all HTML pages, with the data files of errors, models and devices.
pub(super) fn queries<'q>(cx: &'q RenderContext<'_>, engine: &'q TemplateEngine<'_>) -> Vec<Query<'q>> {
    let builders: [(&str, PagesBuilder); 20] = [
        ("", home::build_pages),
        ("errors/", |cx| vec![lists::errors(cx)]),
        ("further category pages", lists::further_category_pages),
        ("tools/", |cx| vec![lists::tools(cx)]),
        ("guides/", |cx| vec![lists::guides(cx)]),
        ("hardware/", |cx| vec![lists::hardware(cx)]),
        ("quants/", |cx| vec![lists::quants(cx)]),
        ("glossary/", glossary::build_pages),
        ("models/", models::build_pages),
        ("will-it-run/", |cx| vec![builtin_pages::calculator(cx)]),
        ("diagnose/", |cx| vec![builtin_pages::diagnose(cx)]),
        ("search/", |cx| vec![builtin_pages::search(cx)]),
        ("changes/", |cx| vec![builtin_pages::changes(cx)]),
        ("404.html", |cx| vec![builtin_pages::not_found(cx)]),
        ("redirects", builtin_pages::redirects),
        ("compare/", compare::build_pages),
        ("benchmarks/", benchmarks::build_pages),
        ("choose-gpu/", choose::build_pages),
        ("cost-vs-cloud/", cost::build_pages),
        ("collections", entry::lists),
    ];
    let site = cx.site();
    let kinds: [(Vec<&Head>, PageBuilder); 8] = [
        (site.categories.iter().map(|page| &page.head).collect(), lists::category),
        (site.tools.iter().map(|page| &page.head).collect(), tool::build_page),
        (site.guides.iter().map(|page| &page.head).collect(), guide::build_page),
        (site.models.iter().map(|page| &page.head).collect(), model::build_page),
        (site.devices.iter().map(|page| &page.head).collect(), device::build_page),
        (site.quants.iter().map(|page| &page.head).collect(), quant::build_page),
        (site.documents.iter().map(|page| &page.head).collect(), document::build_page),
        (site.entries.iter().map(|page| &page.head).collect(), entry::build_page),
    ];
    let lists = builders.into_iter().filter(|(name, _)| !lacks(site, name)).map(|(name, make)| Query {
        name: name.to_string(),
        about: None,
        make: Box::new(move || make(cx).into_iter().map(|page| rendered(engine, &page)).collect()),
    });
    let pages = kinds.into_iter().flat_map(|(heads, make)| {
        heads.into_iter().enumerate().map(move |(at, head)| Query {
            name: head.id.address(),
            about: Some(head.source),
            make: Box::new(move || {
                let page = rendered(engine, &make(cx, at))?;
                Ok([page].into_iter().chain(alternate(cx, head.id.kind, at)).collect())
            }),
        })
    });
    let errors = site.errors.iter().map(|error| Query {
        name: error.head.id.address(),
        about: Some(error.head.source),
        make: Box::new(move || {
            let page = rendered(engine, &error::build_page(cx, error))?;
            Ok([page].into_iter().chain(error_alternates(cx, error)).collect())
        }),
    });
    lists.chain(pages).chain(errors).collect()
}

/// Returns whether a name is the address of a generated page that the site does not have.
fn lacks(site: &Site, name: &str) -> bool {
    LISTINGS.iter().any(|listing| listing.address == name)
        && site.listings().all(|listing| listing.address != name)
}

fn rendered(engine: &TemplateEngine<'_>, page: &TemplatePage) -> Result<(String, Vec<u8>), Diagnostic> {
    Ok((file(&page.address), engine.render(&page.template, &page.view)?))
}

/// Returns the pages for a bundle: articles and lists.
pub(super) fn texts(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let site = cx.site();
    let all = |make: PageBuilder, count: usize| (0..count).into_par_iter().map(move |at| make(cx, at));
    let lists: [PagesBuilder; 4] =
        [lists::build_pages, models::build_pages, glossary::build_pages, entry::lists];
    let categories: BTreeSet<&str> = site.errors.iter().map(|error| error.data.category.as_str()).collect();
    let errors: Vec<_> = categories.into_iter().flat_map(|category| cx.errors_of(category)).collect();
    let errors = errors.into_par_iter().map(|error| error::build_page(cx, error));
    errors
        .chain(all(lists::category, site.categories.len()))
        .chain(all(guide::build_page, site.guides.len()))
        .chain(all(tool::build_page, site.tools.len()))
        .chain(all(entry::build_page, site.entries.len()).map(|page| {
            // A site has no template of its own for the bundle.
            TemplatePage { template: "entry.html".into(), ..page }
        }))
        .chain(lists.into_par_iter().flat_map(|make| make(cx)))
        .filter(|page| !lacks(site, &page.address))
        .collect()
}
