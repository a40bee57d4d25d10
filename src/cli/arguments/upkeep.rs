//! Options of the commands that keep a knowledge base up to date.

use std::path::PathBuf;

use clap::Args;
use jiff::civil::Date;

use crate::cli::arguments::{CacheOptions, OutputFormat, values};

#[derive(Debug, Args)]
pub(crate) struct StaleOptions {
    /// Also list pages with findings of `kbgen verify --format json`, before all others
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Also list pages that become due within this many days
    #[arg(long, value_name = "DAYS", default_value_t = 0, value_parser = values::days::<i64>)]
    pub within: i64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
    /// Date to compare with [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct MineOptions {
    /// Folder with the source of a program
    pub source: PathBuf,
    /// Repository of the program; also list signatures from there that the source no longer prints
    #[arg(long, value_name = "OWNER/NAME", value_parser = values::repository)]
    pub repo: Option<String>,
    /// Number of messages to print
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = values::count)]
    pub top: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// Tool: the name of its file in `content/tools/`, or the name of a program with --command
    pub tool: String,
    #[command(flatten)]
    pub evidence: VerifyEvidence,
    /// Run the commands that start with these words, instead of the `commands` of the tool; for programs without a tool page
    #[arg(long = "command", value_name = "WORDS", requires = "run")]
    pub commands: Vec<String>,
    /// Version of the program; write it into `verified_with` or `runs` of the pages without findings
    #[arg(long, value_name = "VERSION")]
    pub record: Option<String>,
    /// Date of the run [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date, requires = "run")]
    pub date: Option<Date>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
}

/// Evidence that pages are compared with.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct VerifyEvidence {
    /// Compare messages, options and variables with the source in this folder: an unpacked release, wheel or crate
    #[arg(long, value_name = "DIR")]
    pub source: Option<PathBuf>,
    /// Pass the commands of code blocks to this program, which runs them: one JSON array of words per line of its input.
    /// For each, it prints one line: empty, or why the command was rejected. If it fails, nothing is recorded
    #[arg(long, value_name = "RUNNER")]
    pub run: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LinksOptions {
    /// Days before a working link is checked again
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = values::days::<u32>)]
    pub fresh: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
    /// Date to compare with [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
    #[command(flatten)]
    pub cache: CacheOptions,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateOptions {
    /// List the files that would change without changing them; exits with 1 if there are any
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MvOptions {
    /// Page: its file, such as content/guides/start.md
    pub old: PathBuf,
    /// New file, or an existing folder; the page keeps its kind
    pub new: PathBuf,
    /// Print the changes without making them
    #[arg(long)]
    pub dry_run: bool,
}
