//! Options of llama.cpp in a request.

use anyhow::{Result, bail};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::build::Build;
use kbgen_estimate::settings::{CachePlacement, FlashAttention, Settings, WindowCache};

use crate::cli::arguments::RunnerName;
use crate::cli::arguments::engines::{LlamaOptions, SplitMode, Switch};
use crate::cli::estimate::parse_build;
use crate::cli::fit::request::{cache_type, count};
use crate::cli::terminal::counted;

/// Maximum of `--batch-size` and `--ubatch-size`.
const MAX_BATCH: u64 = 1 << 20;
/// Maximum of a share in `--tensor-split`.
const MAX_SHARE: u64 = 1 << 20;

/// Applies the options to settings for a program on `devices` devices.
///
/// # Errors
/// For the first invalid option, and for options that are not modeled.
pub(super) fn apply(
    options: &LlamaOptions,
    runner: RunnerName,
    devices: usize,
    settings: &mut Settings,
) -> Result<()> {
    if let Some(build) = &options.build {
        settings.build = parse_build(build)?;
        if runner == RunnerName::LlamaServer && !settings.build.limits_logits() {
            settings.n_outputs = None;
        }
    }
    if options.split_mode == SplitMode::Row {
        bail!(
            "`--split-mode row` is not covered: CUDA and ROCm have no split buffers since July 2026, so that llama.cpp \
             ends with `device CUDA0 does not support split buffers`; use `layer`"
        );
    }
    if let Some(written) = &options.tensor_split {
        settings.tensor_split = shares(written, devices)?;
    }
    if let Some(tokens) = count("--batch-size", options.batch_size.as_deref(), 1, MAX_BATCH)? {
        settings.n_batch = tokens;
    }
    if let Some(tokens) = count("--ubatch-size", options.ubatch_size.as_deref(), 1, MAX_BATCH)? {
        settings.n_ubatch = tokens;
        settings.n_batch = settings.n_batch.max(tokens);
    }
    if options.flash_attn == Switch::Off {
        settings.flash_attention = FlashAttention::Off;
    }
    if options.no_kv_offload {
        settings.cache_placement = CachePlacement::Host;
    }
    if options.swa_full {
        settings.window_cache = WindowCache::Full;
    }
    if let Some(name) = &options.cache_type_k {
        settings.cache_type_k = cache_type(name)?;
    }
    if let Some(name) = &options.cache_type_v {
        settings.cache_type_v = cache_type(name)?;
    }
    Ok(())
}

fn shares(written: &str, devices: usize) -> Result<Vec<u64>> {
    let parse = |share: &str| share.trim().parse::<u64>().ok().filter(|share| *share <= MAX_SHARE);
    let shares: Option<Vec<u64>> = written.split([',', '/']).map(parse).collect();
    let Some(shares) = shares.filter(|shares| shares.iter().any(|share| *share > 0)) else {
        bail!("invalid value `--tensor-split {written}`; expected whole numbers such as 3,1");
    };
    if shares.len() != devices.max(1) {
        let (shares, devices) = (counted(shares.len(), "share"), counted(devices.max(1), "device"));
        bail!("`--tensor-split {written}` has {shares} for {devices}");
    }
    Ok(shares)
}

/// Returns the options for llama-server, beside those that every command has.
pub(super) fn words(model: &Architecture, settings: &Settings) -> Vec<String> {
    let mut words = Vec::new();
    // Ollama's 512 needs the same memory as the default
    if !matches!(settings.n_batch, 512 | 2048) {
        words.push(format!("-b {}", settings.n_batch));
    }
    if settings.n_ubatch != 512 {
        words.push(format!("-ub {}", settings.n_ubatch));
    }
    // `on` would compute it in RAM where the GPU has no kernel
    words.push(format!("-fa {}", if model.fuses_attention(settings) { "on" } else { "off" }));
    if settings.cache_placement == CachePlacement::Host {
        words.push("-nkvo".to_string());
    }
    if settings.window_cache == WindowCache::Full {
        words.push("--swa-full".to_string());
    }
    words
}

/// Returns why Ollama cannot run these settings, if it cannot.
pub(super) fn no_ollama(settings: &Settings) -> Option<&'static str> {
    if settings.cache_placement == CachePlacement::Host {
        Some("no setting for a cache in RAM")
    } else if settings.window_cache == WindowCache::Full {
        Some("no setting for full sliding-window caches")
    } else {
        None
    }
}

/// Describes settings that differ from the defaults, for the heading.
pub(super) fn described(settings: &Settings) -> Vec<String> {
    let mut parts = Vec::new();
    if settings.n_ubatch != 512 {
        parts.push(format!("-ub {}", settings.n_ubatch));
    }
    if settings.flash_attention == FlashAttention::Off {
        parts.push("flash attention off".to_string());
    }
    if settings.cache_placement == CachePlacement::Host {
        parts.push("cache in RAM".to_string());
    }
    if settings.build != Build::default() {
        parts.push(format!("build of {}", settings.build));
    }
    parts
}
