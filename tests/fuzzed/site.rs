//! Small site with one fuzzed page, shared by the targets of pages and expressions.

use std::cell::RefCell;
use std::sync::Arc;

use jiff::civil::date;
use kbgen::diag::Diagnostic;
use kbgen::engine::Engine;
use kbgen::files::Sources;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use kbgen::progress::NoProgress;
use kbgen::render::Audience;

use super::place::repository;

/// Path of the fuzzed page. Other pages link to it.
const PAGE: &str = "content/errors/memory/card-full.md";

/// Returns the findings of the site with this page, and passes them with the sources to `look`.
pub fn with_page<T>(text: &str, look: impl FnOnce(&Sources, &[Diagnostic]) -> T) -> T {
    thread_local! {
        static SITE: RefCell<Sources> =
            RefCell::new(load::read(&repository("tests/golden/site")).expect("the site can be read").0);
        // Estimates of the model are computed once.
        static ENGINE: Arc<Engine> = Arc::default();
    }
    SITE.with_borrow_mut(|sources| {
        let page = sources.find(PAGE).expect("the site has the page");
        sources.replace(page, text.to_string());
        let analysis = pipeline::analyze(sources, Vec::new(), &options(ENGINE.with(Arc::clone)), &NoProgress)
            .expect("the address is left");
        look(sources, &analysis.findings)
    })
}

fn options(engine: Arc<Engine>) -> SiteOptions {
    SiteOptions {
        today: date(2026, 6, 30),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine,
    }
}
