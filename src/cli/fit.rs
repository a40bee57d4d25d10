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
mod remote;
mod report;
mod repositories;
mod request;
mod settings;
mod speed;
mod tables;
mod vllm_options;

use anyhow::Result;

use crate::cli::arguments::{Arguments, FitOptions, OutputFormat};
use crate::cli::fit::request::FitRequest;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::load::{self, Drafts};

pub(super) fn run(arguments: &Arguments, options: &FitOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let sources = load::read_content(&root, |path| is_needed(path, options))?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let request = FitRequest::new(&site, options)?;
    let report = report::report(&site, &request)?;
    match options.format {
        OutputFormat::Json => terminal.print_json(&report),
        OutputFormat::Human => {
            terminal.print(human::describe(&report, request.quant.is_some()));
        }
    }
    Ok(Outcome::Success)
}

/// Returns whether a page is read: those of devices and quantizations, of models unless all are files, and of the errors
/// that a report names.
fn is_needed(path: &str, options: &FitOptions) -> bool {
    let has_names = || options.models.iter().any(|model| !model_file::is_file(model));
    match path.split('/').nth(1) {
        Some("hardware" | "quants") => true,
        Some("models") => has_names(),
        Some("errors") => error_page::SLUGS.iter().any(|slug| path.ends_with(&format!("/{slug}.md"))),
        _ => false,
    }
}
