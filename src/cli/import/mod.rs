//! `kbgen import`: creates a knowledge base from a site of another generator.
//!
//! A reader for each generator returns an [`ImportedSite`](imported_site::ImportedSite); the other modules convert its
//! shortcodes, HTML, markup and links, and `site_writer` writes the new site.

mod html_tags;
mod hugo;
mod imported_site;
mod links;
mod markup;
mod mdbook;
mod page_header;
mod remaining_errors;
mod shortcodes;
mod site_writer;
mod source_tree;
mod traced_text;
mod zola;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::cli::arguments::import::{Generator, ImportOptions};
use crate::cli::import::imported_site::LossKind;
use crate::cli::import::source_tree::SourceTree;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::site::format_count;

pub(super) fn run(options: &ImportOptions, terminal: &Terminal) -> Result<Outcome> {
    check_target(&options.into)?;
    let tree = SourceTree::open(&options.dir)?;
    let mut site = match options.generator {
        Generator::Zola => zola::read(&tree)?,
        Generator::Mdbook => mdbook::read(&tree)?,
        Generator::Hugo => hugo::read(&tree)?,
    };
    if site.pages.is_empty() && site.losses.is_empty() {
        bail!("no pages in `{}`", options.dir.display());
    }
    let is_address = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    let with_slash = |url: String| format!("{}/", url.trim_end_matches('/'));
    site.url = options.url.clone().or(site.url).filter(is_address).map(with_slash);
    let Some(url) = site.url.clone().or(site.repository.clone().filter(is_address).map(with_slash)) else {
        bail!(
            "the settings of the site contain no URL; pass its address with `--url`, for the sources of its pages"
        );
    };
    for page in &mut site.pages {
        markup::convert(page, &mut site.losses);
    }
    let names = site_writer::names(&site.pages);
    let files = site_writer::file_names(&mut site);
    links::rewrite(&mut site, &names, &files, &url);
    let today = options.date.unwrap_or_else(environment::today);
    site_writer::write(&mut site, &names, &files, today, &options.into)?;
    let (found, sources) = remaining_errors::repair(&options.into, &mut site.losses)?;
    site.losses.sort();
    site.losses.dedup();
    for loss in &site.losses {
        terminal.print(format!("{}:{}: {}\n", loss.file, loss.line, loss.message));
    }
    let counted = |count: usize, name: &str| {
        format!("{} {name}{}", format_count(count as u64), if count == 1 { "" } else { "s" })
    };
    let (pages, files) = (counted(site.pages.len(), "page"), counted(files.len(), "file"));
    let into = options.into.display();
    terminal.message(format!(
        "imported {pages} and {files} into `{into}`; view them with `kbgen --root {into} serve`"
    ));
    let count = |kind| site.losses.iter().filter(|loss| loss.kind == kind).count();
    let counts: Vec<String> = LossKind::ALL
        .into_iter()
        .filter(|kind| count(*kind) > 0)
        .map(|kind| format!("{} {}", kind.name(), format_count(count(kind) as u64)))
        .collect();
    if !counts.is_empty() {
        terminal.message(format!("not imported unchanged: {}", counts.join(", ")));
    }
    if !found.is_empty() {
        terminal.print_findings(&found, &sources);
        terminal.message("the new site has errors; fix them before building it");
    }
    Ok(if count(LossKind::File) + found.len() > 0 { Outcome::Findings } else { Outcome::Success })
}

/// Rejects a target that exists and is not an empty folder.
fn check_target(folder: &Path) -> Result<()> {
    let shown = folder.display();
    match folder.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(data) if data.is_dir() => {
            let mut entries = fs::read_dir(folder).with_context(|| format!("cannot read `{shown}`"))?;
            match entries.next() {
                None => Ok(()),
                Some(_) => bail!("`{shown}` is not empty; choose a new folder"),
            }
        }
        Ok(_) => bail!("`{shown}` is not a folder; choose a new folder"),
    }
}
