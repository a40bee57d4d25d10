//! What may be typed; what it means is decided elsewhere.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::civil::Date;

/// Makes a fast, cross-linked site out of a folder of Markdown error pages.
#[derive(Debug, Parser)]
#[command(name = "kbgen", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Folder that holds site.toml; left out: the nearest parent that does
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build the site into a folder
    Build(BuildOptions),
    /// Tell everything that is wrong with the content
    Check(CheckOptions),
}

/// Of `build`.
#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// Folder to write to; left out: `public` beside site.toml
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Where the site will be published; left out: `base_url` of site.toml
    #[arg(short = 'u', long, value_name = "URL", env = "KBGEN_BASE_URL")]
    pub base_url: Option<String>,
    /// Publish drafts too
    #[arg(long)]
    pub drafts: bool,
    /// Today, for staleness; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
    /// Write even into a folder that kbgen did not make
    #[arg(long)]
    pub force: bool,
}

/// Of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Form of the findings
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub format: CheckFormat,
    /// Today, for dates to come; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
}

/// Forms of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For a person, with source lines
    Human,
    /// An array of objects
    Json,
    /// Annotations of a pull request on GitHub
    Github,
    /// SARIF 2.1.0, for code-scanning services
    Sarif,
}
