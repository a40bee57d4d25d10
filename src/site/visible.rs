//! Memory that programs can use on a device, which is less than its nominal size.
//!
//! A page's `visible_mib` is measured. Without it, the worst case of similar devices is used, so that no verdict is
//! too optimistic; `docs/fit.md` lists the figures behind each fraction.

use kbgen_estimate::backend::{Backend, driver_range};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::BytesRange;
use kbgen_estimate::plan::Verdict;

use crate::site::Site;
use crate::site::kinds::{DeviceData, Vendor};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Lowest measured fraction of a CUDA GPU, in thousandths: 3712 of 4096 MiB (GeForce GTX 1650).
pub const MIN_VISIBLE: u64 = 906;

/// Memory that CUDA on Linux reserves on a GPU without ECC: at least 559 of 16384 MiB (GeForce RTX 5060 Ti), and 2.2
/// % of larger ones.
const HIDDEN: u64 = 560 * MIB;
const WITHOUT_ECC: u64 = 978;
/// Server GPUs with GDDR memory store ECC in it: 14909 of 16384 MiB (Tesla T4).
const WITH_ECC: u64 = 910;
/// Ryzen with shared memory: 63720 of 131072 MiB.
const AMD_SHARED: u64 = 486;
/// Radeon: 16304 of 16384 MiB (RX 9070 XT).
const AMD: u64 = 995;
/// Arc: 15473 of 16384 MiB (A770).
const INTEL: u64 = 944;
/// NVIDIA chips with shared memory: 7607 of 8192 MiB (Jetson Orin Nano).
const NVIDIA_SHARED: u64 = 928;

/// Memory of a device, and how it is used.
#[derive(Debug, Clone, Copy)]
pub struct DeviceMemory {
    /// Backends that a verdict has to hold for.
    pub backends: &'static [Backend],
    /// Memory used beside the buffers.
    pub driver: BytesRange,
    /// Memory that programs see, by settings of the system.
    pub visible: BytesRange,
}

impl DeviceMemory {
    /// Creates the memory of a device.
    pub fn new(backends: &'static [Backend], visible: BytesRange) -> Self {
        Self { backends, driver: driver_range(backends), visible }
    }

    /// Creates the memory of a CUDA GPU of which programs see this many bytes.
    pub fn cuda(visible: u64) -> Self {
        Self::new(&[Backend::Cuda], BytesRange { low: Bytes(visible), high: Bytes(visible) })
    }

    /// Returns the verdict on buffers of this size.
    pub fn verdict(&self, needed: BytesRange) -> Verdict {
        Verdict::of_ranges(needed, self.driver, self.visible)
    }
}

impl DeviceData {
    /// Returns the memory that programs can use by default, in bytes; at most the nominal size.
    pub fn visible_bytes(&self) -> u64 {
        self.visible_of(self.memory_bytes())
    }

    /// The same for a variant with this many bytes of memory.
    pub fn visible_of(&self, memory: u64) -> u64 {
        let measured = self.visible_mib.filter(|_| memory == self.memory_bytes());
        measured.map_or_else(|| self.least_visible(memory), |mib| mib.unsigned_abs() * MIB).min(memory)
    }

    /// Memory that programs see of a variant with this many bytes, from the least to the most that the system gives.
    pub fn visible_range(&self, memory: u64) -> BytesRange {
        let low = self.visible_of(memory);
        let most = match self.vendor {
            // the default of macOS since 26
            Vendor::Apple => memory / 100 * shares_since_macos_26(memory),
            // GTT and the carve-out of the firmware can be raised to all of it
            Vendor::Amd if self.unified => memory,
            _ => low,
        };
        BytesRange { low: Bytes(low), high: Bytes(most.max(low)) }
    }

    /// Returns its memory at the size on its page.
    pub fn memory(&self) -> DeviceMemory {
        DeviceMemory::new(self.backends(), self.visible_range(self.memory_bytes()))
    }

    fn least_visible(&self, memory: u64) -> u64 {
        let thousandths = |share: u64| memory / 1000 * share;
        let line = self.generation.as_deref().unwrap_or_default();
        let is_gddr = self.memory_type.as_deref().is_some_and(|kind| kind.starts_with("GDDR"));
        match self.vendor {
            // Default limit of macOS before version 26; `iogpu.wired_limit_mb` raises it.
            Vendor::Apple if memory <= 32 * GIB => memory / 3 * 2,
            Vendor::Apple => memory / 4 * 3,
            // half of the RAM by default on Linux; 63,720 of 131,072 MiB (Ryzen AI Max+ 395)
            Vendor::Amd if self.unified => thousandths(AMD_SHARED),
            Vendor::Amd => thousandths(AMD),
            Vendor::Intel => thousandths(INTEL),
            Vendor::Nvidia if self.unified => thousandths(NVIDIA_SHARED),
            Vendor::Nvidia if is_gddr && (line.starts_with("Server") || line.starts_with("Tesla")) => {
                thousandths(WITH_ECC)
            }
            Vendor::Nvidia => thousandths(WITHOUT_ECC).min(memory.saturating_sub(HIDDEN)),
        }
    }
}

/// Returns the percentage of the memory that Metal may use since macOS 26: 12,124 of 16,384 MiB, 25,557 of 32,768,
/// 53,083 of 65,536 and 110,100 of 131,072 were seen.
fn shares_since_macos_26(memory: u64) -> u64 {
    match memory / GIB {
        0..=24 => 74,
        25..=48 => 78,
        49..=64 => 81,
        _ => 84,
    }
}

impl Site {
    /// Returns the memory that programs can use on any CUDA GPU with this many bytes: the minimum over the catalog's
    /// GPUs of that size, else [`MIN_VISIBLE`].
    pub fn visible_of_size(&self, memory: u64) -> u64 {
        let of_size =
            self.devices.iter().filter(|page| page.data.is_cuda() && page.data.memory_bytes() == memory);
        of_size.map(|page| page.data.visible_bytes()).min().unwrap_or(memory / 1000 * MIN_VISIBLE)
    }
}
