//! `kbgen fit`: estimates whether a model runs on a machine, and prints the commands to run it.

mod additions;
pub(super) mod checkpoint_dir;
mod commands;
mod error_page;
mod human;
mod layout;
mod llama_options;
mod machine;
pub(super) mod model_file;
mod python;
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

/// Folders of the pages that an estimate uses.
const FOLDERS: [&str; 3] = ["content/hardware/", "content/models/", "content/quants/"];

pub(super) fn run(arguments: &Arguments, options: &FitOptions, terminal: &Terminal) -> Result<Outcome> {
    let base = KnowledgeBase::find(arguments)?;
    base.announce(terminal);
    let site = pages(&base);
    let report = report::report(&site, &FitRequest::new(&site, options)?)?;
    match options.format {
        OutputFormat::Json => terminal.print_json(&base.answer(report)),
        OutputFormat::Human => {
            terminal.print(human::describe(&report, options.quant.is_some()));
        }
    }
    Ok(Outcome::Success)
}

/// Returns the pages that an estimate uses: those of models, devices, quantizations and the errors that it names.
pub(super) fn pages(base: &KnowledgeBase) -> Site {
    let is_used = |path: &str| match path.strip_prefix("content/errors/") {
        Some(error) => error_page::SLUGS.iter().any(|slug| error.ends_with(&format!("/{slug}.md"))),
        None => FOLDERS.iter().any(|folder| path.starts_with(folder)),
    };
    load::pages(&base.sources().only(is_used), Drafts::Include).0
}

/// Estimates a model; returns the report for JSON.
///
/// # Errors
/// For the first invalid option.
pub(super) fn estimate(site: &Site, options: &FitOptions) -> Result<impl Serialize + use<>> {
    report::report(site, &FitRequest::new(site, options)?)
}
