//! Options of `kbgen fit` that llama.cpp and vLLM have too, under their names.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// Options of llama.cpp.
#[derive(Debug, Args)]
#[command(next_help_heading = "llama.cpp")]
pub(crate) struct LlamaOptions {
    /// Build of llama.cpp, by number or date, such as b9000 or 2026-05 [default: the current one]
    #[arg(long, value_name = "BUILD")]
    pub build: Option<String>,
    /// Layers of each device, or their shares, such as 3,1 [default: by free memory]
    #[arg(long, value_name = "N,N")]
    pub tensor_split: Option<String>,
    /// How several devices share the model
    #[arg(long, value_enum, default_value_t = SplitMode::Layer)]
    pub split_mode: SplitMode,
    /// Maximum number of tokens per call [default: 2048; Ollama: 512]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub batch_size: Option<String>,
    /// Maximum number of tokens computed at once [default: 512]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub ubatch_size: Option<String>,
    /// Flash attention
    #[arg(long, value_enum, default_value_t = Switch::Auto)]
    pub flash_attn: Switch,
    /// Keep the KV cache in RAM
    #[arg(long)]
    pub no_kv_offload: bool,
    /// Type of the K cache [default: that of --kv-type]
    #[arg(long, value_name = "T")]
    pub cache_type_k: Option<String>,
    /// Type of the V cache [default: that of --kv-type]
    #[arg(long, value_name = "T")]
    pub cache_type_v: Option<String>,
    /// Keep all tokens in the caches of sliding-window layers
    #[arg(long)]
    pub swa_full: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitMode {
    /// Layers
    Layer,
    /// Rows of the weights, which builds since July 2026 do not support on CUDA; not covered
    Row,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// On where the device can
    Auto,
    /// On
    On,
    /// Off
    Off,
}

/// Options of vLLM.
#[derive(Debug, Args)]
#[command(next_help_heading = "vLLM")]
pub(crate) struct VllmOptions {
    /// Type of the checkpoint: BF16, F16, FP8, AWQ or GPTQ [default: the largest that fits]
    #[arg(long, value_name = "T")]
    pub weight_type: Option<String>,
    /// Type of the cache [default: fp8 with --kv-type q8_0 or smaller, else auto]
    #[arg(long, value_enum)]
    pub kv_cache_dtype: Option<CacheDtype>,
    /// Share of the GPU memory that vLLM uses
    #[arg(long, value_name = "SHARE", default_value = "0.92", allow_hyphen_values = true)]
    pub gpu_memory_utilization: String,
    /// GPUs that share each layer [default: all devices]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub tensor_parallel_size: Option<String>,
}

/// Files that llama.cpp loads beside the model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files beside the model")]
pub(crate) struct FileOptions {
    /// Projector for images or audio, a GGUF file; with --fetch, an address
    #[arg(long, value_name = "FILE")]
    pub mmproj: Option<String>,
    /// LoRA adapter, a GGUF file; repeatable; with --fetch, an address
    #[arg(long, value_name = "FILE")]
    pub lora: Vec<String>,
    /// Draft model for speculative decoding, a GGUF file; with --fetch, an address
    #[arg(long, value_name = "FILE", visible_alias = "model-draft")]
    pub draft: Option<String>,
}

impl FileOptions {
    /// Returns all files.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.mmproj.iter().chain(&self.lora).chain(&self.draft)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheDtype {
    /// That of the weights before quantization
    Auto,
    /// One byte a value
    Fp8,
}

/// Short options of llama.cpp that clap cannot parse, because they have several letters.
const SHORT: [(&str, &str); 14] = [
    ("-md", "--draft"),
    ("-ts", "--tensor-split"),
    ("-sm", "--split-mode"),
    ("-ub", "--ubatch-size"),
    ("-fa", "--flash-attn"),
    ("-nkvo", "--no-kv-offload"),
    ("-ctk", "--cache-type-k"),
    ("-ctv", "--cache-type-v"),
    ("-ngl", "--layers"),
    ("-np", "--slots"),
    ("-ncmoe", "--n-cpu-moe"),
    ("-cmoe", "--cpu-moe"),
    ("-b", "--batch-size"),
    ("-c", "--ctx"),
];

/// Replaces the short options of llama.cpp in the arguments of `kbgen fit`.
pub(crate) fn with_long_names(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.into_iter().collect();
    // Arguments after `--` are those of another command.
    let end = all.iter().position(|argument| argument == "--").unwrap_or(all.len());
    let command = all[..end].iter().skip(1).position(|argument| argument == "fit");
    let Some(command) = command else { return all };
    for argument in &mut all[command + 2..end] {
        if let Some((_, long)) = SHORT.iter().find(|(short, _)| *argument == **short) {
            *argument = OsString::from(long);
        }
    }
    all
}
