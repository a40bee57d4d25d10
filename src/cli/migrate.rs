//! `kbgen migrate`: converts the pages of a site to the current format.

use anyhow::{Result, bail};

use crate::cli::arguments::Arguments;
use crate::cli::arguments::upkeep::MigrateOptions;
use crate::cli::rewrite::{self, Rewritten};
use crate::cli::terminal::{Terminal, counted};
use crate::cli::{Outcome, environment};
use crate::config::{Config, FORMAT};
use crate::diag::{Diagnostic, Severity};
use crate::files::Sources;
use crate::load::{self, MigratedPage};

pub(super) fn run(arguments: &Arguments, options: &MigrateOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, mut found) = load::read(&root)?;
    found.retain(|finding| finding.severity == Severity::Error);
    let (config, faults) = Config::read(&sources);
    found.extend(faults);
    let pages = load::migrate(&sources, config.format.value == FORMAT).unwrap_or_else(|faults| {
        found.extend(faults);
        Vec::new()
    });
    if !found.is_empty() {
        Diagnostic::sort(&mut found, &sources);
        terminal.print_findings(&found, &sources);
        terminal.message("no file changed");
        return Ok(Outcome::Findings);
    }
    let settings = settings(&sources, &config)?;
    // The settings come last: until then the site has the earlier format.
    let files: Vec<MigratedPage> = pages.into_iter().chain(settings).collect();
    if files.is_empty() {
        terminal.message(format!("all pages already have format {FORMAT}"));
        return Ok(Outcome::Success);
    }
    if !options.check {
        let rewritten = files.iter().map(|file| Rewritten {
            path: file.path.clone(),
            moved_from: None,
            old: sources.find(&file.path).map(|id| sources.get(id).text.to_string()),
            new: Some(file.text.clone()),
        });
        rewrite::write_all(&root, &rewritten.collect::<Vec<_>>())?;
    }
    for file in &files {
        terminal.print(format!("{}\n", file.path));
    }
    let count = counted(files.len(), "file");
    terminal.message(match options.check {
        true => format!("{count} would change to format {FORMAT}"),
        false => format!("{count} changed to format {FORMAT}"),
    });
    Ok(if options.check { Outcome::Findings } else { Outcome::Success })
}

/// Returns `site.toml` with the current format, unless it has it.
fn settings(sources: &Sources, config: &Config) -> Result<Option<MigratedPage>> {
    if config.format.value == FORMAT {
        return Ok(None);
    }
    let Some(file) = sources.find("site.toml") else { bail!("cannot read `site.toml`") };
    let source = sources.get(file);
    let mut text = source.text.to_string();
    let span = config.format.span;
    if span.start < span.end {
        text.replace_range(span.start..span.end, &FORMAT.to_string());
    } else {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        text.insert_str(start, &format!("format = {FORMAT}\n"));
    }
    Ok(Some(MigratedPage { path: source.path.clone(), text }))
}
