//! Options of vLLM in a request.

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::checkpoint::WeightType;
use kbgen_estimate::vllm::PoolCache;

use crate::cli::arguments::engines::{CacheDtype, VllmOptions};
use crate::cli::fit::request::count;

/// Validated options.
#[derive(Debug, Clone, Copy)]
pub(super) struct VllmRequest {
    /// Type of the checkpoint; none: the largest that fits.
    pub weights: Option<WeightType>,
    /// Width of the cache; none: by the cache type of llama.cpp.
    pub cache: Option<PoolCache>,
    /// Share of the memory in thousandths.
    pub utilization: u64,
    /// GPUs of tensor parallelism.
    pub cards: usize,
}

impl VllmRequest {
    /// Validates the options for a machine with `devices` devices.
    ///
    /// # Errors
    /// For the first invalid option.
    pub fn new(options: &VllmOptions, devices: usize) -> Result<Self> {
        let weights = match options.weight_type.as_deref() {
            None => None,
            Some(name) => Some(name.parse().map_err(|_| {
                let known: Vec<&str> = WeightType::SELECTABLE.iter().map(|kind| kind.name()).collect();
                anyhow!("no weight type `{name}`; expected one of {}", known.join(", "))
            })?),
        };
        let written = &options.gpu_memory_utilization;
        let utilization = match written.trim().parse::<f64>() {
            Ok(share) if (0.01..=1.0).contains(&share) => (share * 1000.0).round() as u64,
            _ => bail!("invalid value `--gpu-memory-utilization {written}`; expected 0.01 to 1"),
        };
        let most = devices.max(1) as u64;
        let cards = count("--tensor-parallel-size", options.tensor_parallel_size.as_deref(), 1, most)?;
        Ok(Self {
            weights,
            cache: options.kv_cache_dtype.map(|cache| match cache {
                CacheDtype::Auto => PoolCache::Auto,
                CacheDtype::Fp8 => PoolCache::Fp8,
            }),
            utilization,
            cards: cards.unwrap_or(most) as usize,
        })
    }
}
