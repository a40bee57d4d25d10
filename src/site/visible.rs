//! Memory that programs can use on a device, which is less than its nominal size.
//!
//! The sizes in `visible` of a page were reported by programs. Without them, the worst case of similar devices is used,
//! so that no verdict is too optimistic; `docs/fit.md` lists the figures behind each fraction.

use kbgen_estimate::backend::{Backend, driver_range};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::BytesRange;
use kbgen_estimate::plan::Verdict;

use crate::site::Site;
use crate::site::kinds::{DeviceClass, DeviceData, System, Vendor, VisibleMemory};

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
/// Windows hides nothing of a GPU without ECC beyond the difference to the size as sold: 8150 of 8192 MiB (GeForce RTX
/// 5060).
const ON_WINDOWS: u64 = 994;
/// Memory in use on Windows before a model is loaded, up to 1.6 GiB: 769 to 1,615 MiB in eight of ten logs; 2,002 and
/// 2,852 MiB with other programs.
pub const WINDOWS_DESKTOP: u64 = 1_717_986_918;
/// Radeon: 16304 of 16384 MiB (RX 9070 XT).
const AMD: u64 = 995;
/// Arc: 15473 of 16384 MiB (A770).
const INTEL: u64 = 944;
/// Intel with shared memory on Linux: Vulkan reports three quarters of the RAM (`anv_compute_heap_size` in Mesa's
/// `src/intel/vulkan`), of which the kernel hides 2.3%. SYCL reported more: 80% of 67,131 of 68,719 MB (Iris Xe).
const INTEL_SHARED: u64 = 730;
/// Windows gives half of the RAM: 15.77 of 32 GiB (Arc 140V). Since driver 32.0.101.6974, it is 57% with Core Ultra
/// Series 2 and later.
const INTEL_SHARED_ON_WINDOWS: u64 = 490;
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
        self.visible_range(self.memory_bytes()).low.0
    }

    /// Returns the systems that the device runs with.
    pub fn systems(&self) -> &'static [System] {
        match (self.vendor, self.class) {
            (Vendor::Apple, _) => &[System::Macos15, System::Macos26],
            (Vendor::Nvidia, DeviceClass::Soc) => &[System::Linux],
            _ => &[System::Linux, System::Windows],
        }
    }

    /// Returns the systems that estimates assume if none is requested: Linux, and every macOS.
    pub fn default_systems(&self) -> &'static [System] {
        match self.vendor {
            Vendor::Apple => self.systems(),
            _ => &[System::Linux],
        }
    }

    /// Returns the memory that programs see by default of a variant with this many bytes.
    pub fn visible_range(&self, memory: u64) -> BytesRange {
        self.visible_on(self.default_systems(), memory)
    }

    /// Returns the memory that programs see on any of some systems, from the least to the most that the system gives, of
    /// a variant with this many bytes.
    pub fn visible_on(&self, systems: &[System], memory: u64) -> BytesRange {
        let ranges = systems.iter().map(|system| self.visible_with(*system, memory));
        let hull =
            |a: BytesRange, b: BytesRange| BytesRange { low: a.low.min(b.low), high: a.high.max(b.high) };
        ranges.reduce(hull).unwrap_or(BytesRange { low: Bytes(memory), high: Bytes(memory) })
    }

    /// Returns the report with the least memory on a system. The drivers of server GPUs hide the same on all.
    pub fn reported(&self, system: System, memory: u64) -> Option<&VisibleMemory> {
        let is_own = |report: &&VisibleMemory| {
            report.system.is_none_or(|own| own == system || self.is_for_servers())
                && (report.memory_gb.unwrap_or(self.memory_gb) * GIB as f64) as u64 == memory
        };
        self.visible.iter().filter(is_own).min_by_key(|report| report.mib)
    }

    /// Returns its memory at the size on its page.
    pub fn memory(&self) -> DeviceMemory {
        DeviceMemory::new(self.backends(), self.visible_range(self.memory_bytes()))
    }

    fn visible_with(&self, system: System, memory: u64) -> BytesRange {
        let reported = self.reported(system, memory).map(|report| report.mib.unsigned_abs() * MIB);
        let low = reported.unwrap_or_else(|| self.least_visible(system, memory)).min(memory);
        // GTT and the carve-out of the firmware can be raised to all of it
        let high = if self.vendor == Vendor::Amd && self.unified { memory } else { low };
        BytesRange { low: Bytes(low), high: Bytes(high) }
    }

    fn least_visible(&self, system: System, memory: u64) -> u64 {
        let thousandths = |share: u64| memory / 1000 * share;
        match self.vendor {
            Vendor::Apple if system == System::Macos26 => memory / 100 * share_since_macos_26(memory),
            // `iogpu.wired_limit_mb` raises it
            Vendor::Apple if memory <= 32 * GIB => memory / 3 * 2,
            Vendor::Apple => memory / 4 * 3,
            // half of the RAM by default on Linux; 63,720 of 131,072 MiB (Ryzen AI Max+ 395)
            Vendor::Amd if self.unified => thousandths(AMD_SHARED),
            Vendor::Amd => thousandths(AMD),
            Vendor::Intel if self.unified && system == System::Windows => {
                thousandths(INTEL_SHARED_ON_WINDOWS)
            }
            Vendor::Intel if self.unified => thousandths(INTEL_SHARED),
            Vendor::Intel => thousandths(INTEL),
            Vendor::Nvidia if self.unified => thousandths(NVIDIA_SHARED),
            Vendor::Nvidia if self.has_ecc() => thousandths(WITH_ECC),
            Vendor::Nvidia if system == System::Windows && !self.is_for_servers() => thousandths(ON_WINDOWS),
            Vendor::Nvidia => thousandths(WITHOUT_ECC).min(memory.saturating_sub(HIDDEN)),
        }
    }

    /// Returns whether the memory also holds the codes of its error correction.
    fn has_ecc(&self) -> bool {
        self.is_for_servers() && self.memory_type.as_deref().is_some_and(|kind| kind.starts_with("GDDR"))
    }

    /// Returns whether its driver on Windows is the one for servers, which hides as much as that on Linux.
    fn is_for_servers(&self) -> bool {
        let line = self.generation.as_deref().unwrap_or_default();
        line.starts_with("Server") || line.starts_with("Tesla")
    }
}

/// Returns the percentage of the memory that Metal may use since macOS 26: 12,124 of 16,384 MiB, 25,557 of 32,768,
/// 53,083 of 65,536 and 110,100 of 131,072 were seen.
fn share_since_macos_26(memory: u64) -> u64 {
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
        self.visible_of_size_on(System::Linux, memory)
    }

    /// Returns the same for a system.
    pub fn visible_of_size_on(&self, system: System, memory: u64) -> u64 {
        let of_size =
            self.devices.iter().filter(|page| page.data.is_cuda() && page.data.memory_bytes() == memory);
        let least = of_size.map(|page| page.data.visible_on(&[system], memory).low.0).min();
        least.unwrap_or(memory / 1000 * MIN_VISIBLE)
    }
}
