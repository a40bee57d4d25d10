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
mod verdict;
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
    let is_used = if by_name { is_used } else { is_used_without_names };
    let base = KnowledgeBase::find_pages(arguments, is_used)?;
    base.announce(terminal);
    let site = pages(&base, is_used);
    let report = report::report(&site, &FitRequest::new(&site, options)?)?;
    match options.format {
        OutputFormat::Json => terminal.print_json(&base.answer(report)),
        OutputFormat::Human => {
            terminal.print(human::describe(&report, options.quant.is_some()));
        }
    }
    Ok(Outcome::Success)
}

/// Returns whether an estimate uses a page: those of devices, quantizations and models, and of the errors that a report
/// names.
pub(super) fn is_used(path: &str) -> bool {
    match path.split('/').nth(1) {
        Some("hardware" | "quants" | "models") => true,
        Some("errors") => error_page::SLUGS.iter().any(|slug| path.ends_with(&format!("/{slug}.md"))),
        _ => false,
    }
}

/// As [`is_used`], if no model is given by its name.
fn is_used_without_names(path: &str) -> bool {
    is_used(path) && !path.starts_with("content/models/")
}

/// Returns the pages that an estimate uses.
pub(super) fn pages(base: &KnowledgeBase, is_used: fn(&str) -> bool) -> Site {
    load::pages(&base.sources().only(is_used), Drafts::Include).0
}

/// Estimates a model; returns the report for JSON.
///
/// # Errors
/// For the first invalid option.
pub(super) fn estimate(site: &Site, options: &FitOptions) -> Result<impl Serialize + use<>> {
    report::report(site, &FitRequest::new(site, options)?)
}
