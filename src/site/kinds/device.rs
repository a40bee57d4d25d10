//! Data of hardware pages.

use jiff::civil::Date;
use kbgen_estimate::backend::Backend;
use kbgen_estimate::quantization::CacheType;
use kbgen_estimate::speed::{SpeedClass, Unmeasured};

use crate::files::Spanned;
use crate::schema::{Integer, List, Slug, record, words};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, PUBLISH_ON, SOURCES, TITLE};

words! {
    /// Manufacturer of a device.
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
    /// Class of a device.
    pub enum DeviceClass {
        /// A discrete GPU or accelerator with its own memory.
        Gpu = "gpu",
        /// An Apple chip with unified memory.
        Apple = "apple",
        /// Another chip whose GPU shares the system memory.
        Soc = "soc",
    }
}

words! {
    /// System whose programs see a part of the memory.
    pub enum System {
        /// Linux.
        Linux = "linux",
        /// Windows.
        Windows = "windows",
        /// macOS before version 26.
        Macos15 = "macos-15",
        /// macOS 26 and later.
        Macos26 = "macos-26",
    }
}

type Small = Integer<1, 100_000>;
type Tokens = Integer<1, 100_000_000>;

record! {
    /// Total memory that a program reported.
    #[derive(Debug, Clone)]
    pub struct VisibleMemory {
        /// Size in MiB.
        required mib: i64 as Integer<1, 100_000_000>,
        /// System of the report; omitted if the systems do not differ.
        optional system: Option<System>,
        /// Memory in GiB of the reported variant, if it is not `memory_gb`.
        optional memory_gb: Option<f64>,
        /// Program that reported the size, and the source.
        required source: String,
    }
}

record! {
    /// Front matter of a hardware page.
    #[derive(Debug, Clone)]
    pub struct DeviceData {
        shared TITLE,
        shared also_known_as: Vec<String> = ALSO_KNOWN_AS,
        /// Manufacturer.
        required vendor: Vendor,
        /// Class of the device.
        required class: DeviceClass,
        /// Name of the architecture.
        optional architecture: Option<String>,
        /// Name of the product line.
        optional generation: Option<String>,
        /// Memory in GiB as sold; for unified memory, the largest option.
        required memory_gb: f64,
        /// Available memory sizes, in GiB.
        optional memory_options_gb: Vec<f64>,
        /// Memory that programs see, as they reported it; the lowest of a system counts. If omitted, a worst case of
        /// similar devices is used.
        optional visible: Vec<VisibleMemory>,
        /// Whether GPU and system share the memory.
        required unified: bool,
        /// Type of memory, such as GDDR6X.
        optional memory_type: Option<String>,
        /// Width of the memory bus in bits.
        optional bus_bits: Option<i64> as Small,
        /// Memory bandwidth in GB/s; omitted unless a second source confirms it, which the pages then state.
        optional bandwidth_gbps: Option<f64>,
        /// Power limit in watts.
        optional tdp_w: Option<i64> as Small,
        /// Release date.
        optional released: Option<Date>,
        /// CUDA compute capability, in quotes: `"8.9"`.
        optional compute_capability: Option<String>,
        /// Reported speeds, shown in the list of benchmarks.
        optional benchmarks: Vec<Benchmark> as List<Benchmark, 0, 1000>,
        shared SOURCES,
        /// A note for readers of the figures.
        optional note: Option<String>,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}

record! {
    /// A reported speed.
    #[derive(Debug, Clone)]
    pub struct Benchmark {
        /// Slug of the model.
        required model: Spanned<String> as Slug,
        /// Quantization of the file, as in its name.
        required quant: String,
        /// Size of the file in GiB.
        optional file_gib: Option<f64>,
        /// Quantization of a `kbgen fit` that is nearest to that of the file; default: `quant`.
        optional like: Option<String>,
        /// Program and backend, such as `llama.cpp CUDA`.
        required engine: String,
        /// Build, version or date of the program.
        optional build: Option<String>,
        /// Test as reported, such as `tg128 @ d4096`; a name that starts with `pp` is prompt processing.
        required test: String,
        /// Speed.
        required tokens_per_s: f64,
        /// Tokens in the cache, on average; default: 64.
        optional context: Option<i64> as Tokens,
        /// Type of the cache; default: `f16`.
        optional cache_type: Option<String>,
        /// Number of first layers with their experts in RAM.
        optional cpu_experts: Option<i64> as Small,
        /// Layers on the GPU; default: all, with the output.
        optional gpu_layers: Option<i64> as Small,
        /// Why the speed is not compared with the range.
        optional unscored: Option<String>,
        /// Address of the report, or its description.
        required source: String,
        /// Whether a user submitted it to a public collection.
        optional submitted: bool,
        /// Machine and settings.
        optional note: Option<String>,
    }
}

impl Benchmark {
    /// Returns whether it is the speed of prompt processing.
    pub fn is_prompt(&self) -> bool {
        self.test.starts_with("pp")
    }

    /// Returns whether a part of the model was in RAM.
    pub fn is_partly_in_ram(&self) -> bool {
        self.cpu_experts.is_some() || self.gpu_layers.is_some()
    }

    /// Returns the type of the cache.
    pub fn cache_type(&self) -> Option<CacheType> {
        self.cache_type.as_deref().map_or(Some(CacheType::F16), |name| name.parse().ok())
    }
}

impl DeviceData {
    /// Returns the class whose decode speed it shares.
    ///
    /// # Errors
    /// If too few speeds were reported, or they differ too much.
    pub fn speed_class(&self) -> Result<SpeedClass, Unmeasured> {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        SpeedClass::of(self.vendor.name(), &text(&self.architecture), &text(&self.memory_type))
    }

    /// Returns the nominal memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        // Exact: sizes are multiples of 1/8 GiB.
        (self.memory_gb * 1_073_741_824.0) as u64
    }

    /// Returns the sizes in bytes that it is sold with, the smallest first.
    pub fn memory_sizes(&self) -> Vec<u64> {
        let options = self.memory_options_gb.iter().map(|size| (size * 1_073_741_824.0) as u64);
        let mut sizes: Vec<u64> = options.chain([self.memory_bytes()]).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Returns whether it is a CUDA GPU with its own memory.
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
