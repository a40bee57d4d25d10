//! A device that runs models.

use jiff::civil::Date;

use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, SOURCES, TITLE};

const VENDORS: &[(&str, &str)] =
    &[("NVIDIA", "NVIDIA."), ("AMD", "AMD."), ("Apple", "Apple."), ("Intel", "Intel.")];

/// Who makes a device.
pub const VENDOR: Shape = Shape::Choice(VENDORS);

const CLASSES: &[(&str, &str)] = &[
    ("gpu", "A graphics card or accelerator with memory of its own."),
    ("apple", "An Apple chip with unified memory."),
    ("soc", "Another chip whose GPU shares the memory of the system."),
];

/// What sort of device it is.
pub const CLASS: Shape = Shape::Choice(CLASSES);

const SMALL: Shape = Shape::Integer { min: 1, max: 100_000 };

/// Front matter of a hardware page.
pub const FIELDS: &[Field] = &[
    TITLE,
    ALSO_KNOWN_AS,
    Field::required("vendor", VENDOR, "Who makes it."),
    Field::required("class", CLASS, "What sort of device it is."),
    Field::optional("architecture", Shape::Text, "Name of the architecture."),
    Field::optional("generation", Shape::Text, "Name of the product line."),
    Field::required(
        "memory_gb",
        Shape::Number,
        "Memory in GiB, as it is sold; of unified memory the largest option.",
    ),
    Field::optional("memory_options_gb", Shape::list(&Shape::Number), "Sizes it is sold with, in GiB."),
    Field::optional(
        "visible_mib",
        Shape::Integer { min: 1, max: 100_000_000 },
        "Memory that programs see, in MiB: the lowest figure that a driver is known to report; left out where none is, and a \
         worst case stands in.",
    ),
    Field::optional(
        "visible_source",
        Shape::Text,
        "Program and system that `visible_mib` was read from, and where.",
    ),
    Field::required("unified", Shape::Flag, "Whether GPU and system share the memory."),
    Field::optional("memory_type", Shape::Text, "Kind of memory, such as GDDR6X."),
    Field::optional("bus_bits", SMALL, "Width of the memory bus in bits."),
    Field::optional(
        "bandwidth_gbps",
        Shape::Number,
        "Memory bandwidth in GB/s; left out where no second source confirms it: the pages then say so.",
    ),
    Field::optional("tdp_w", SMALL, "Power limit in watts."),
    Field::optional("released", Shape::Date, "Day of the release."),
    Field::optional("compute_capability", Shape::Text, "CUDA compute capability, in quotes: `\"8.9\"`."),
    SOURCES,
    Field::optional("note", Shape::Text, "What a reader of these figures has to know."),
    ALIASES,
    DRAFT,
];

/// What a hardware page holds besides its head.
#[derive(Debug, Clone)]
pub struct DeviceData {
    /// Other names that it is looked up by.
    pub also_known_as: Vec<String>,
    /// Who makes it.
    pub vendor: String,
    /// `gpu`, `apple` or `soc`.
    pub class: String,
    /// Name of the architecture.
    pub architecture: Option<String>,
    /// Name of the product line.
    pub generation: Option<String>,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Sizes it is sold with, in GiB.
    pub memory_options_gib: Vec<f64>,
    /// Memory that programs see, in MiB, where it is known.
    pub visible_mib: Option<i64>,
    /// Where that was read.
    pub visible_source: Option<String>,
    /// Whether GPU and system share the memory.
    pub unified: bool,
    /// Kind of memory.
    pub memory_type: Option<String>,
    /// Width of the bus in bits.
    pub bus_bits: Option<i64>,
    /// Bandwidth in GB/s.
    pub bandwidth_gbps: Option<f64>,
    /// Power limit in watts.
    pub tdp_w: Option<i64>,
    /// Day of the release.
    pub released: Option<Date>,
    /// CUDA compute capability.
    pub compute_capability: Option<String>,
    /// What a reader of the figures has to know.
    pub note: Option<String>,
    /// What the page rests on.
    pub evidence: Evidence,
}

impl DeviceData {
    /// What the fields of a hardware page say.
    pub fn new(fields: &Fields) -> Self {
        let word = |name| fields.text(name).map(|placed| placed.value);
        Self {
            also_known_as: fields.texts("also_known_as").into_iter().map(|name| name.value).collect(),
            vendor: word("vendor").unwrap_or_default(),
            class: word("class").unwrap_or_default(),
            architecture: word("architecture"),
            generation: word("generation"),
            memory_gib: fields.number("memory_gb").map_or(0.0, |placed| placed.value),
            memory_options_gib: fields.numbers("memory_options_gb").into_iter().map(|n| n.value).collect(),
            visible_mib: fields.integer("visible_mib").map(|placed| placed.value),
            visible_source: word("visible_source"),
            unified: fields.flag("unified").is_some_and(|placed| placed.value),
            memory_type: word("memory_type"),
            bus_bits: fields.integer("bus_bits").map(|placed| placed.value),
            bandwidth_gbps: fields.number("bandwidth_gbps").map(|placed| placed.value),
            tdp_w: fields.integer("tdp_w").map(|placed| placed.value),
            released: fields.date("released").map(|placed| placed.value),
            compute_capability: word("compute_capability"),
            note: word("note"),
            evidence: Evidence::new(fields),
        }
    }

    /// Memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        // Sizes are multiples of an eighth of a GiB, so nothing is lost.
        (self.memory_gib * 1_073_741_824.0) as u64
    }

    /// Whether figures made for CUDA hold for it.
    pub fn is_cuda(&self) -> bool {
        self.vendor == "NVIDIA" && self.class == "gpu"
    }
}
