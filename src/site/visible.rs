//! Memory that programs can use on a device, which is less than its nominal size.
//!
//! A page's `visible_mib` is measured. Without it, the worst case of similar devices is used, so that no verdict is
//! too optimistic; `docs/fit.md` lists the figures behind each fraction.

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
/// Radeon: 16304 of 16384 MiB (RX 9070 XT).
const AMD: u64 = 995;
/// Arc: 15473 of 16384 MiB (A770).
const INTEL: u64 = 944;
/// NVIDIA chips with shared memory: 7607 of 8192 MiB (Jetson Orin Nano).
const NVIDIA_SHARED: u64 = 928;

impl DeviceData {
    /// Returns the memory that programs can use, in bytes; at most the nominal size.
    pub fn visible_bytes(&self) -> u64 {
        self.visible_of(self.memory_bytes())
    }

    /// The same for a variant with this many bytes of memory.
    pub fn visible_of(&self, memory: u64) -> u64 {
        let measured = self.visible_mib.filter(|_| memory == self.memory_bytes());
        measured.map_or_else(|| self.least_visible(memory), |mib| mib.unsigned_abs() * MIB).min(memory)
    }

    fn least_visible(&self, memory: u64) -> u64 {
        let thousandths = |share: u64| memory / 1000 * share;
        let line = self.generation.as_deref().unwrap_or_default();
        let is_gddr = self.memory_type.as_deref().is_some_and(|kind| kind.starts_with("GDDR"));
        match self.vendor {
            // Default limit of macOS before version 26; `iogpu.wired_limit_mb` raises it.
            Vendor::Apple if memory <= 32 * GIB => memory / 3 * 2,
            Vendor::Apple => memory / 4 * 3,
            Vendor::Amd if self.unified => memory,
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

impl Site {
    /// Returns the memory that programs can use on any CUDA GPU with this many bytes: the minimum over the catalog's
    /// GPUs of that size, else [`MIN_VISIBLE`].
    pub fn visible_of_size(&self, memory: u64) -> u64 {
        let of_size =
            self.devices.iter().filter(|page| page.data.is_cuda() && page.data.memory_bytes() == memory);
        of_size.map(|page| page.data.visible_bytes()).min().unwrap_or(memory / 1000 * MIN_VISIBLE)
    }
}
