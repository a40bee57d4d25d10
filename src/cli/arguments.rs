//! What may be typed; what it means is decided elsewhere.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::civil::Date;

use crate::serve::HostName;

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
    /// Build in memory, serve on this machine, reload when a file changes
    Serve(ServeOptions),
    /// Tell everything that is wrong with the content
    Check(CheckOptions),
    /// Write the file of a new page, ready to be filled in
    New(NewOptions),
    /// Find the page for an error or a whole log
    Diagnose(DiagnoseOptions),
    /// Print the page of an error
    Explain(ExplainOptions),
    /// Say whether a model runs, and what it needs
    Fit(FitOptions),
    /// Answer a batch of questions about memory, CSV in and CSV out
    Estimate(EstimateOptions),
    /// List pages that are due for another look
    Stale(StaleOptions),
    /// Ask for every web address that the content names, and tell which are gone
    Links(LinksOptions),
    /// Rewrite pages of an earlier format in the current one
    Migrate(MigrateOptions),
    /// Make a new, small knowledge base
    Init(InitOptions),
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
    /// Write the whole knowledge base as one HTML file too, with search and diagnosis, for machines without a network
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Take over a folder or a file that kbgen did not make; files of others in the folder stay
    #[arg(long)]
    pub force: bool,
    /// Write `.br` and `.gz` beside text files, for servers that send them as they are
    #[arg(long)]
    pub precompress: bool,
    /// Refuse the placeholder addresses of a new site.toml
    #[arg(long)]
    pub publish: bool,
    /// Say where the time went, stage by stage, and which pages took longest
    #[arg(long)]
    pub timings: bool,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Of commands that keep results.
#[derive(Debug, Args)]
pub(crate) struct CacheOptions {
    /// Work everything out anew: neither read nor write the cache
    #[arg(long)]
    pub no_cache: bool,
    /// Folder for the caches of all sites, outside this one; left out: the user's cache folder
    #[arg(long, value_name = "DIR", env = "KBGEN_CACHE_DIR", hide_env_values = true)]
    pub cache_dir: Option<PathBuf>,
}

/// Of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Port to listen on, or the next free one
    #[arg(short, long, value_name = "N", default_value_t = 1111)]
    pub port: u16,
    /// Address to listen on; anything but a loopback address shows the site to the network
    #[arg(short, long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub interface: IpAddr,
    /// Answer to this name too, besides localhost and addresses of this machine; may be given again
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<HostName>,
    /// Open a browser
    #[arg(long)]
    pub open: bool,
    /// Show drafts too
    #[arg(long)]
    pub drafts: bool,
    /// Today, for staleness; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Leave out findings that this revision of git has too, in files that did not change
    #[arg(long, value_name = "REV")]
    pub changed: Option<String>,
    /// Form of the findings
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub format: CheckFormat,
    /// Today, for dates to come; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
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

/// Of `new`.
#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// Kind of the page
    #[arg(value_enum)]
    pub kind: NewKind,
    /// Name of the page: small letters, digits, hyphens; for an error `category/slug` names its folder
    pub slug: String,
    /// Of an error: take the signature from this log
    #[arg(long, value_name = "FILE")]
    pub from_log: Option<PathBuf>,
    /// Today, for `verified`; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
}

/// Kinds of page that can be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    /// An error
    Error,
    /// A language model
    Model,
    /// A device
    Hardware,
    /// A guide
    Guide,
}

/// Forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// For a person
    Human,
    /// For a program
    Json,
}

/// Of `diagnose`.
#[derive(Debug, Args)]
pub(crate) struct DiagnoseOptions {
    /// The log; `-` or left out: standard input
    pub file: Option<PathBuf>,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = AnswerFormat::Human)]
    pub format: AnswerFormat,
    /// Most pages to name
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Name of the error
    pub slug: String,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Of `fit`.
#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    /// Name of the model, as in its page's address
    pub model: String,
    /// Quantization of the weights; left out: the widest that fits
    #[arg(long, value_name = "Q")]
    pub quant: Option<String>,
    /// Context in tokens, such as 32768 or 32k; left out: 8192
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub ctx: Option<String>,
    /// Type of the cache, or of K and V apart: f16, q8_0, q8_0/q4_0
    #[arg(long, value_name = "T", default_value = "f16")]
    pub kv_type: String,
    /// Device; given several times, the model is split over them
    #[arg(long, value_name = "HW")]
    pub gpu: Vec<String>,
    /// Memory of the device, where it is sold with several sizes or has no page; once for each device
    #[arg(long, value_name = "GIB", allow_hyphen_values = true)]
    pub memory: Vec<String>,
    /// Memory that other programs hold on the first device: a desktop takes up to 1.6 GiB
    #[arg(long, value_name = "GIB", allow_hyphen_values = true)]
    pub other_memory: Option<String>,
    /// Program that runs the model
    #[arg(long, value_enum, default_value_t = RunnerName::LlamaServer)]
    pub runner: RunnerName,
    /// Requests served side by side
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub slots: Option<String>,
    /// Layers on the GPU, the output counted as one; left out: all
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub layers: Option<String>,
    /// First layers whose experts stay in RAM
    #[arg(long, value_name = "N", conflicts_with = "cpu_moe", allow_hyphen_values = true)]
    pub n_cpu_moe: Option<String>,
    /// Experts of all layers stay in RAM
    #[arg(long)]
    pub cpu_moe: bool,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = AnswerFormat::Human)]
    pub format: AnswerFormat,
}

/// Programs that run llama.cpp's graph, each with its own idea of slots and logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunnerName {
    /// llama.cpp's server: the slots share one cache
    LlamaServer,
    /// Ollama, which starts llama-server with a cache for each slot
    Ollama,
    /// Programs that keep the logits of every token: builds before June 2026, and many bindings
    Library,
}

/// Of `estimate`.
#[derive(Debug, Args)]
pub(crate) struct EstimateOptions {
    /// The questions; `-` or left out: standard input
    pub file: Option<PathBuf>,
}

/// Of `stale`.
#[derive(Debug, Args)]
pub(crate) struct StaleOptions {
    /// Name pages too that will be overdue within so many days
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    pub within: i64,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = AnswerFormat::Human)]
    pub format: AnswerFormat,
    /// Today; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
}

/// Of `links`.
#[derive(Debug, Args)]
pub(crate) struct LinksOptions {
    /// Days for which an address that answered is not asked for again
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    pub fresh: u32,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = AnswerFormat::Human)]
    pub format: AnswerFormat,
    /// Today; left out: the clock's
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub date: Option<Date>,
    /// Options of the cache.
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Of `migrate`.
#[derive(Debug, Args)]
pub(crate) struct MigrateOptions {
    /// List the files that would change, and change none; exits with 1 if there are any
    #[arg(long)]
    pub check: bool,
}

/// Of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// Folder to make; it must not exist, or be empty
    pub dir: PathBuf,
}
