//! Command-line options. The modules of the commands interpret them.

pub(crate) mod engines;
pub(crate) mod import;
pub(crate) mod upkeep;
mod values;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;
use jiff::civil::Date;
use serde::Serialize;

use crate::cli::arguments::engines::{FileOptions, LlamaOptions, VllmOptions};
use crate::cli::arguments::import::ImportOptions;
use crate::cli::arguments::upkeep::{
    LinksOptions, MigrateOptions, MineOptions, MvOptions, StaleOptions, VerifyOptions,
};
use crate::serve::HostName;

/// Generate an errors knowledge base from a folder of Markdown pages
#[derive(Debug, Parser)]
#[command(name = "kbgen", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Site folder, which contains site.toml [default: nearest parent folder that has one]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build the site into a folder
    Build(BuildOptions),
    /// Serve the site on this machine and reload pages when a file changes
    Serve(ServeOptions),
    /// Check the content and report all errors and warnings
    Check(CheckOptions),
    /// Create a page from a template
    New(NewOptions),
    /// Find the error pages that match a log, or the output of a command that fails
    Diagnose(DiagnoseOptions),
    /// Print an error page or a guide
    Explain(ExplainOptions),
    /// Estimate whether a model fits in GPU memory
    Fit(Box<FitOptions>),
    /// Estimate memory for many configurations, from CSV to CSV
    ///
    /// Required columns: `kind` (`model_bytes`, `kv_bytes`, `compute_bytes` or `total`), `catalogue_id` (a model), `quant`,
    /// and `device` (`file`, `host`, `gpu0` and so on, or `all`). Optional columns: `engine`, `ctx`, `kv_type`, `n_batch`,
    /// `n_ubatch`, `flash_attn`, `n_gpu_layers`, `n_seq`, `kv_unified`, `n_outputs`, `n_gpu`, `tensor_split`, `moe_cpu`,
    /// `kv_on_gpu`, `swa_full` and `build`. Each row returns with `estimate_bytes` and `status`.
    Estimate(EstimateOptions),
    /// List pages due for review
    Stale(StaleOptions),
    /// Check external links
    Links(LinksOptions),
    /// Serve diagnose, explain, fit and search to an assistant (MCP)
    Mcp(McpOptions),
    /// Move or rename a page, with the links and references to it
    Mv(MvOptions),
    /// Convert pages of an earlier format to the current one
    Migrate(MigrateOptions),
    /// List the error messages in a program's source that no signature matches
    Mine(MineOptions),
    /// Check options, environment variables and commands on pages against a program
    Verify(VerifyOptions),
    /// Create a knowledge base from a Zola, mdBook or Hugo site
    #[command(arg(hidden_root()))]
    Import(ImportOptions),
    /// Create a knowledge base
    #[command(arg(hidden_root()))]
    Init(InitOptions),
    /// Print a completion script for a shell
    #[command(arg(hidden_root()))]
    Completions(CompletionsOptions),
    /// Write man pages
    #[command(arg(hidden_root()))]
    Man(ManOptions),
}

/// Returns the `--root` of a command that reads no site: it is refused and not in the help.
fn hidden_root() -> Arg {
    Arg::new("root").long("root").value_name("DIR").value_parser(value_parser!(PathBuf)).hide(true)
}

#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// Output folder [default: `public` in the site folder]
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Base URL of the published site [default: `base_url` in site.toml]
    #[arg(short = 'u', long, value_name = "URL", env = "KBGEN_BASE_URL")]
    pub base_url: Option<String>,
    /// Include drafts
    #[arg(long)]
    pub drafts: bool,
    /// Date for staleness checks [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
    /// Also write the site as one HTML file with search and diagnosis, for offline use
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Write to a folder or file that kbgen did not create; other files in the folder are kept
    #[arg(long)]
    pub force: bool,
    /// Also write `.br` and `.gz` copies of text files
    #[arg(long)]
    pub precompress: bool,
    /// Fail if site.toml still contains placeholder URLs
    #[arg(long)]
    pub publish: bool,
    /// Print the time of each stage and the slowest pages
    #[arg(long)]
    pub timings: bool,
    #[command(flatten)]
    pub cache: CacheOptions,
}

/// Cache options of commands that store results between runs.
#[derive(Debug, Args)]
pub(crate) struct CacheOptions {
    /// Neither read nor write the cache
    #[arg(long)]
    pub no_cache: bool,
    /// Folder for the caches of all sites, outside this site [default: the user's cache folder]
    #[arg(long, value_name = "DIR", env = "KBGEN_CACHE_DIR", hide_env_values = true)]
    pub cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Port to listen on; if in use, the next free port
    #[arg(short, long, value_name = "N", default_value_t = 1111)]
    pub port: u16,
    /// Address to listen on; a non-loopback address exposes the site to the network
    #[arg(short, long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub interface: IpAddr,
    /// Additional host name to accept, besides localhost and addresses of this machine; repeatable
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<HostName>,
    /// Open the site in the browser
    #[arg(long)]
    pub open: bool,
    /// Include drafts
    #[arg(long)]
    pub drafts: bool,
    /// Date for staleness checks [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
    #[command(flatten)]
    pub cache: CacheOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    /// Report only findings that are new since this git revision or in files changed since
    #[arg(long, value_name = "REV")]
    pub changed: Option<String>,
    /// Make the edits of findings that have only one, and report the others
    #[arg(long, conflicts_with = "changed")]
    pub fix: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub format: CheckFormat,
    /// Date for checks of future dates [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
    #[command(flatten)]
    pub cache: CacheOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text with source lines
    Human,
    /// JSON array
    Json,
    /// GitHub workflow commands, which annotate pull requests
    Github,
    /// SARIF 2.1.0, for code-scanning services
    Sarif,
}

#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// Page kind
    #[arg(value_enum)]
    pub kind: NewKind,
    /// Page name: lowercase letters, digits, hyphens, underscores, dots; for an error, `CATEGORY/SLUG`
    pub slug: String,
    /// Derive the signature of an error from this log
    #[arg(long, value_name = "FILE")]
    pub from_log: Option<PathBuf>,
    /// Read the hyperparameters of a model from this GGUF file or checkpoint folder; with --fetch, from an address
    #[arg(long, value_name = "FILE", conflicts_with = "from_log")]
    pub from: Option<String>,
    /// Read hf:OWNER/NAME, hf:OWNER/NAME:FILE or a URL of --from from the network, by curl
    #[arg(long)]
    pub fetch: bool,
    /// Value of `verified` [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = values::date)]
    pub date: Option<Date>,
}

/// Page kinds with a template for `kbgen new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    /// Error
    Error,
    /// Language model
    Model,
    /// Device
    Hardware,
    /// Guide
    Guide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text
    Human,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DiagnoseOptions {
    /// Log file [default: standard input, also `-`]
    pub file: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
    /// Maximum number of pages to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::count)]
    pub top: usize,
    #[command(flatten)]
    pub cache: CacheOptions,
    /// Command to run; if it fails, its output is diagnosed, and kbgen exits with its code
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "file")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Error page, such as `cuda-out-of-memory`, or guide, such as `guides/choose-a-gpu`
    pub slug: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
}

#[derive(Debug, Args)]
pub(crate) struct McpOptions {
    #[command(flatten)]
    pub cache: CacheOptions,
}

#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    /// Model name, as in the URL of its page; a GGUF file: its path, its folder, or `-` for its first bytes on standard input; the folder of a Hugging Face checkpoint; with --fetch, an address. Further models run beside the first on the first device
    #[arg(value_name = "MODEL", required = true)]
    pub models: Vec<String>,
    /// Read the headers of hf:OWNER/NAME, hf:OWNER/NAME:FILE or a URL from the network, by curl
    #[arg(long)]
    pub fetch: bool,
    /// Quantization of the weights [default: that of the Ollama tag, otherwise the largest that fits]
    #[arg(long, value_name = "Q")]
    pub quant: Option<String>,
    /// Context size in tokens, such as 32768 or 32k [default: 8192]
    #[arg(long, value_name = "N", visible_alias = "ctx-size", allow_hyphen_values = true)]
    pub ctx: Option<String>,
    /// KV cache type, or separate types for K and V: f16, q8_0, q8_0/q4_0
    #[arg(long, value_name = "T", default_value = "f16")]
    pub kv_type: String,
    /// Device; repeat to split the model across devices
    #[arg(long, value_name = "HW")]
    pub gpu: Vec<String>,
    /// Memory of the device, if it is sold in several sizes or has no page; repeat for each device
    #[arg(long, value_name = "GIB", allow_hyphen_values = true)]
    pub memory: Vec<String>,
    /// Memory used by other programs on the first device; a desktop uses up to 1.6 GiB
    #[arg(long, value_name = "GIB", visible_alias = "remaining-for", allow_hyphen_values = true)]
    pub other_memory: Option<String>,
    /// System, which decides how much of the memory programs see [default: linux; macos for Apple]
    #[arg(long, value_enum)]
    pub os: Option<OsName>,
    /// Program that runs the model
    #[arg(long, value_enum, default_value_t = RunnerName::LlamaServer)]
    pub runner: RunnerName,
    /// Concurrent requests (slots)
    #[arg(long, value_name = "N", visible_alias = "parallel", allow_hyphen_values = true)]
    pub slots: Option<String>,
    /// Layers on the GPU, including the output layer [default: all]
    #[arg(long, value_name = "N", visible_aliases = ["n-gpu-layers", "gpu-layers"], allow_hyphen_values = true)]
    pub layers: Option<String>,
    /// Keep the experts of the first N layers in RAM
    #[arg(long, value_name = "N", conflicts_with = "cpu_moe", allow_hyphen_values = true)]
    pub n_cpu_moe: Option<String>,
    /// Keep the experts of all layers in RAM
    #[arg(long)]
    pub cpu_moe: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub files: FileOptions,
    #[command(flatten)]
    pub llama: LlamaOptions,
    #[command(flatten)]
    pub vllm: VllmOptions,
}

/// Systems by the memory that programs see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OsName {
    /// Linux
    Linux,
    /// Windows, where the desktop uses up to 1.6 GiB unless `--other-memory` is given
    Windows,
    /// macOS of any version
    Macos,
    /// macOS before version 26
    #[value(name = "macos-15")]
    #[serde(rename = "macos-15")]
    Macos15,
    /// macOS 26 and later
    #[value(name = "macos-26")]
    #[serde(rename = "macos-26")]
    Macos26,
}

/// Programs that run the llama.cpp graph. They allocate slots and logits differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunnerName {
    /// llama.cpp server; slots share one cache
    LlamaServer,
    /// Ollama, which starts llama-server with one cache per slot
    Ollama,
    /// Programs that keep the logits of every token: builds before June 2026, and many bindings
    Library,
}

#[derive(Debug, Args)]
pub(crate) struct EstimateOptions {
    /// CSV file [default: standard input, also `-`]
    pub file: Option<PathBuf>,
    /// Build of llama.cpp for rows without one, by number or date, such as b9000 or 2026-05 [default: the current one]
    #[arg(long, value_name = "BUILD")]
    pub build: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// Folder to create; it must be empty or not exist
    pub dir: PathBuf,
    /// Subject besides errors
    #[arg(long, value_enum, default_value_t = StarterPack::Llm, value_name = "PACK")]
    pub pack: StarterPack,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// Shell that reads the script
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// Folder for the pages, such as `~/.local/share/man/man1`
    pub dir: PathBuf,
}

/// Packs of a new knowledge base.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StarterPack {
    /// Errors only
    None,
    /// Language models: models, devices, quantizations, calculators
    Llm,
}

impl StarterPack {
    /// Returns the folder with the files of the pack.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Llm => "llm",
        }
    }
}
