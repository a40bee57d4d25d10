//! `kbgen fit`: estimates whether a model runs on a machine, and prints the commands to run it.

mod additions;
pub(super) mod checkpoint_dir;
mod commands;
mod error_page;
mod further;
mod http;
mod human;
mod layout;
mod llama_options;
mod machine;
pub(super) mod model_file;
mod python;
mod python_commands;
pub(super) mod remote;
mod report;
mod repositories;
mod request;
mod settings;
mod speed;
mod tables;
mod vllm_options;

use anyhow::Result;
use serde::Serialize;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, FitOptions, OutputFormat};
use crate::cli::fit::request::FitRequest;
use crate::cli::knowledge_base::KnowledgeBase;
use crate::cli::terminal::Terminal;
use crate::load::{self, Drafts};
use crate::site::Site;

pub(super) fn run(arguments: &Arguments, options: &FitOptions, terminal: &Terminal) -> Result<Outcome> {
    let by_name = options.models.iter().any(|model| !model_file::is_file(model));
    let base = KnowledgeBase::find_pages(arguments, move |path| is_used(path, by_name))?;
    base.announce(terminal);
    let site = pages(&base, by_name);
    let report = report::report(&site, &FitRequest::new(&site, options)?)?;
    match options.format {
        OutputFormat::Json => terminal.print_json(&base.answer(report)),
        OutputFormat::Human => {
            terminal.print(human::describe(&report, options.quant.is_some()));
        }
    }
    Ok(Outcome::Success)
}

/// Returns whether an estimate uses a page: those of devices and quantizations, of models if `by_name`, and of the errors that
/// a report names.
fn is_used(path: &str, by_name: bool) -> bool {
    match path.split('/').nth(1) {
        Some("hardware" | "quants") => true,
        Some("models") => by_name,
        Some("errors") => error_page::SLUGS.iter().any(|slug| path.ends_with(&format!("/{slug}.md"))),
        _ => false,
    }
}

/// Returns the pages that estimates use; those of models only if `by_name`.
pub(super) fn pages(base: &KnowledgeBase, by_name: bool) -> Site {
    load::pages(&base.sources().only(|path| is_used(path, by_name)), Drafts::Include).0
}

/// Estimates a model; returns the report for JSON.
///
/// # Errors
/// For the first invalid option.
pub(super) fn estimate(site: &Site, options: &FitOptions) -> Result<impl Serialize + use<>> {
    report::report(site, &FitRequest::new(site, options)?)
}
