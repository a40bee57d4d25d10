//! Options of `kbgen import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::civil::Date;

use crate::cli::arguments::values;

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Generator of the site
    #[arg(value_enum)]
    pub generator: Generator,
    /// Folder of the site, which contains its settings
    pub dir: PathBuf,
    /// Folder to create; it must be empty or not exist
    #[arg(long, value_name = "NEW_SITE")]
    pub into: PathBuf,
    /// Address of the published site; each page names its old address as its source [default: from the settings]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Value of `verified` of pages without a date [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
}

/// Generators whose sites can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generator {
    /// Zola: config.toml, content/, templates/shortcodes/, static/
    Zola,
    /// mdBook: book.toml, src/SUMMARY.md
    Mdbook,
    /// Hugo: hugo.toml or another settings file, content/, static/
    Hugo,
}
