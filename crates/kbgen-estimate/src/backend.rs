//! Backends of llama.cpp, and how their memory differs from that of CUDA.
//!
//! The replay follows CUDA. Other backends build the same graph, but size some tensors differently, so their compute
//! buffers lie in a band around the replay. The bands hold every load in `tests/data/real_loads.csv`.

use crate::build::Build;
use crate::bytes::Bytes;
use crate::estimator::BytesRange;
use crate::quantization::CacheType;
use crate::settings::{Pipelining, Settings};

const MIB: u64 = 1 << 20;

/// Backend and kind of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// CUDA on a GPU with its own memory.
    Cuda,
    /// CUDA on a chip that shares its memory with the system (GB10, Jetson).
    CudaShared,
    /// ROCm: the CUDA sources, compiled with HIP.
    Rocm,
    /// Vulkan.
    Vulkan,
    /// Metal.
    Metal,
    /// SYCL.
    Sycl,
}

/// Part of the model file that uses device memory in addition to the weights on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileShare {
    /// None.
    None,
    /// Whole file, which is mapped into device memory.
    Mapped,
    /// Up to the whole file: host weights are in the same memory, but the system can evict them.
    Shared,
}

/// Differences of a backend from the CUDA replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Range of the compute buffer, in thousandths of the replayed one.
    pub compute: [u64; 2],
    /// Bytes added to the upper bound of the compute buffer.
    pub extra: u64,
    /// Whether flash attention keeps an f16 copy of a quantized cache in the compute buffer.
    pub widens_cache: bool,
    /// First builds whose devices keep copies of their inputs for pipeline parallelism; `None` if no builds
    /// do.
    pub pipelined_since: Option<Build>,
    /// Share of the model file in device memory.
    pub file: FileShare,
    /// Memory used in addition to the buffers by the driver, the context and, on shared memory, the system.
    pub driver: BytesRange,
}

impl Backend {
    /// All backends.
    pub const ALL: &'static [Backend] =
        &[Backend::Cuda, Backend::CudaShared, Backend::Rocm, Backend::Vulkan, Backend::Metal, Backend::Sycl];

    /// Returns the name used in log lines and options.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cuda | Backend::CudaShared => "CUDA",
            Backend::Rocm => "ROCm",
            Backend::Vulkan => "Vulkan",
            Backend::Metal => "Metal",
            Backend::Sycl => "SYCL",
        }
    }

    /// Returns the differences from the CUDA replay.
    ///
    /// Memory outside the buffers, from logs of llama.cpp ("unaccounted"): 309 to 749 MiB with CUDA, 253 to
    /// 492 MiB with ROCm, 0 to 495 MiB with Metal, up to 1,190 MiB with Vulkan. On a GB10 with nothing
    /// loaded, the system used 3,166 MiB.
    pub fn profile(self) -> Profile {
        let driver = |low: u64, high: u64| BytesRange { low: Bytes(low * MIB), high: Bytes(high * MIB) };
        let cuda = Profile {
            compute: [1000, 1000],
            extra: 0,
            widens_cache: true,
            pipelined_since: Some(Build::Earliest),
            file: FileShare::None,
            driver: driver(309, 749),
        };
        match self {
            Backend::Cuda => cuda,
            Backend::CudaShared => Profile { file: FileShare::Shared, driver: driver(309, 3915), ..cuda },
            Backend::Rocm => Profile { compute: [990, 1010], driver: driver(250, 749), ..cuda },
            Backend::Vulkan => Profile {
                compute: [800, 1200],
                widens_cache: false,
                // It has events since December 2025 (https://github.com/ggml-org/llama.cpp/pull/18302).
                pipelined_since: Some(Build::February2026),
                driver: driver(0, 1190),
                ..cuda
            },
            Backend::Metal => Profile {
                compute: [900, 1100],
                extra: 32 * MIB,
                widens_cache: false,
                pipelined_since: None,
                file: FileShare::Mapped,
                driver: driver(0, 512),
            },
            Backend::Sycl => {
                Profile { compute: [800, 1200], widens_cache: false, driver: driver(0, 1190), ..cuda }
            }
        }
    }
}

impl Profile {
    /// Returns the settings whose replay is closest to this backend.
    pub fn settings(&self, settings: &Settings) -> Settings {
        let mut own = settings.clone();
        if !self.widens_cache {
            own.cache_type_k = CacheType::F16;
            own.cache_type_v = CacheType::F16;
        }
        if self.pipelined_since.is_none_or(|first| own.build < first) {
            own.pipelining = Pipelining::Off;
        }
        own
    }

    /// Returns the band of a compute buffer that is replayed with [`Profile::settings`].
    pub fn compute(&self, replayed: Bytes) -> BytesRange {
        let extra = if replayed == Bytes(0) { 0 } else { self.extra };
        BytesRange {
            low: Bytes(replayed.0 * self.compute[0] / 1000),
            high: Bytes((replayed.0 * self.compute[1]).div_ceil(1000) + extra),
        }
    }

    /// Returns the weights in device memory, of which `placed` are on the device.
    pub fn weights(&self, placed: Bytes, file: Bytes) -> BytesRange {
        match self.file {
            FileShare::None => BytesRange { low: placed, high: placed },
            FileShare::Mapped | FileShare::Shared => BytesRange { low: placed, high: placed.max(file) },
        }
    }

    /// Returns the weights in device memory if this is the only device, with all layers and experts on it.
    pub fn all_weights(&self, placed: Bytes, file: Bytes) -> BytesRange {
        match self.file {
            FileShare::Mapped => BytesRange { low: placed.max(file), high: placed.max(file) },
            FileShare::None | FileShare::Shared => self.weights(placed, file),
        }
    }
}

/// Returns the driver's memory on a device that is used with any of these backends.
pub fn driver_range(backends: &[Backend]) -> BytesRange {
    let ranges = backends.iter().map(|backend| backend.profile().driver);
    ranges.reduce(BytesRange::hull).unwrap_or_else(|| Backend::Cuda.profile().driver)
}

/// Returns whether moving layers to RAM frees device memory.
pub fn has_own_memory(backends: &[Backend]) -> bool {
    backends.iter().all(|backend| backend.profile().file == FileShare::None)
}
