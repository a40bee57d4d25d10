//! A device that runs models.

use jiff::civil::Date;
use kbgen_estimate::backend::Backend;

use crate::schema::{Integer, record, words};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, SOURCES, TITLE};

words! {
    /// Who makes a device.
    pub enum Vendor {
        /// NVIDIA.
        Nvidia = "NVIDIA",
        /// AMD.
        Amd = "AMD",
        /// Apple.
        Apple = "Apple",
        /// Intel.
        Intel = "Intel",
    }
}

words! {
    /// What sort of device it is.
    pub enum DeviceClass {
        /// A graphics card or accelerator with memory of its own.
        Gpu = "gpu",
        /// An Apple chip with unified memory.
        Apple = "apple",
        /// Another chip whose GPU shares the memory of the system.
        Soc = "soc",
    }
}

type Small = Integer<1, 100_000>;

record! {
    /// What a hardware page holds besides its head.
    #[derive(Debug, Clone)]
    pub struct DeviceData {
        shared TITLE,
        shared also_known_as: Vec<String> = ALSO_KNOWN_AS,
        /// Who makes it.
        required vendor: Vendor,
        /// What sort of device it is.
        required class: DeviceClass,
        /// Name of the architecture.
        optional architecture: Option<String>,
        /// Name of the product line.
        optional generation: Option<String>,
        /// Memory in GiB, as it is sold; of unified memory the largest option.
        required memory_gb: f64,
        /// Sizes it is sold with, in GiB.
        optional memory_options_gb: Vec<f64>,
        /// Memory that programs see, in MiB: the lowest figure that a driver is known to report; left out where none is,
        /// and a worst case stands in.
        optional visible_mib: Option<i64> as Integer<1, 100_000_000>,
        /// Program and system that `visible_mib` was read from, and where.
        optional visible_source: Option<String>,
        /// Whether GPU and system share the memory.
        required unified: bool,
        /// Kind of memory, such as GDDR6X.
        optional memory_type: Option<String>,
        /// Width of the memory bus in bits.
        optional bus_bits: Option<i64> as Small,
        /// Memory bandwidth in GB/s; left out where no second source confirms it: the pages then say so.
        optional bandwidth_gbps: Option<f64>,
        /// Power limit in watts.
        optional tdp_w: Option<i64> as Small,
        /// Day of the release.
        optional released: Option<Date>,
        /// CUDA compute capability, in quotes: `"8.9"`.
        optional compute_capability: Option<String>,
        shared SOURCES,
        /// What a reader of these figures has to know.
        optional note: Option<String>,
        shared ALIASES,
        shared DRAFT,
        /// What the page rests on.
        apart evidence: Evidence = Evidence::of,
    }
}

impl DeviceData {
    /// Memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        // Sizes are multiples of an eighth of a GiB, so nothing is lost.
        (self.memory_gb * 1_073_741_824.0) as u64
    }

    /// Whether it is a CUDA GPU with its own memory.
    pub fn is_cuda(&self) -> bool {
        self.backends() == [Backend::Cuda]
    }

    /// Returns the backends of llama.cpp that it is used with: a verdict holds for each of them.
    pub fn backends(&self) -> &'static [Backend] {
        match self.vendor {
            Vendor::Nvidia if self.class == DeviceClass::Gpu => &[Backend::Cuda],
            Vendor::Nvidia => &[Backend::CudaShared],
            Vendor::Amd => &[Backend::Rocm, Backend::Vulkan],
            Vendor::Apple => &[Backend::Metal],
            Vendor::Intel => &[Backend::Sycl, Backend::Vulkan],
        }
    }
}
