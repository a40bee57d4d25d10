//! The devices of a request.

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::speed::SpeedClass;

use crate::cli::arguments::FitOptions;
use crate::site::kinds::DeviceData;
use crate::site::{Kind, Names, Site, gib};

/// Maximum value of `--memory`, in GiB.
const MAX_GIB: f64 = 65_536.0;

/// Maximum number of devices of the CUDA backend of ggml (`GGML_CUDA_MAX_DEVICES`).
const MAX_DEVICES: usize = 16;

/// A GPU, from its page or from `--memory` alone.
#[derive(Debug, Clone)]
pub(super) struct GpuDevice {
    pub name: String,
    /// Slug of its page, if it has one.
    pub slug: Option<String>,
    /// Nominal memory in bytes.
    pub memory: u64,
    /// Bytes visible to programs.
    pub visible: u64,
    /// Sizes in GiB that it is sold with, if none was selected.
    pub memory_options: Vec<f64>,
    /// Bytes used by other programs.
    pub other: u64,
    /// Whether the CUDA estimates apply.
    pub cuda: bool,
    /// Whether it shares system memory.
    pub unified: bool,
    /// Class and bandwidth in GB/s, if speeds were measured.
    pub speed: Option<(SpeedClass, f64)>,
    /// CUDA compute capability, such as 8.9.
    pub compute_capability: Option<f64>,
}

/// The devices in order. Empty if the request names none.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub cards: Vec<GpuDevice>,
}

impl Machine {
    /// Reads `--gpu`, `--memory` and `--other-memory`.
    ///
    /// # Errors
    /// For unknown devices and invalid sizes.
    pub fn new(site: &Site, options: &FitOptions) -> Result<Self> {
        let sizes: Vec<u64> =
            options.memory.iter().map(|written| bytes("--memory", written, 0.25)).collect::<Result<_>>()?;
        let mut cards = Vec::new();
        if options.gpu.len().max(sizes.len()) > MAX_DEVICES {
            bail!("llama.cpp uses at most {MAX_DEVICES} CUDA devices");
        }
        if !options.gpu.is_empty() && sizes.len() > 1 && sizes.len() != options.gpu.len() {
            bail!(
                "{} values of `--memory` but {} of `--gpu`; pass `--memory` once, or once for each device",
                sizes.len(),
                options.gpu.len()
            );
        }
        let names = Names::new(site, Kind::Hardware);
        for (place, gpu) in options.gpu.iter().enumerate() {
            let slug = resolve_slug(&names, Kind::Hardware, gpu)?;
            let page = site.devices.iter().find(|device| device.head.id.slug == slug);
            let page = page.expect("the name was found");
            let size = sizes.get(place).or(sizes.first()).copied();
            cards.push(GpuDevice::of(&page.head.title.value, slug, &page.data, size));
        }
        if cards.is_empty() {
            cards.extend(
                sizes.iter().map(|memory| GpuDevice::unnamed(*memory, site.visible_of_size(*memory))),
            );
        }
        if let Some(written) = &options.other_memory {
            let other = bytes("--other-memory", written, 0.0)?;
            let Some(first) = cards.first_mut() else {
                bail!("`--other-memory` needs a device; pass `--gpu HW` or `--memory GIB`");
            };
            if other >= first.visible {
                bail!("other programs cannot use {} of {}", gib(other), gib(first.visible));
            }
            first.other = other;
        }
        Ok(Self { cards })
    }

    /// Returns the default split of llama.cpp, which is proportional to free memory.
    pub fn split(&self) -> Vec<u64> {
        const MIB: u64 = 1 << 20;
        let free: Vec<u64> = self.cards.iter().map(|card| (card.memory - card.other) / MIB).collect();
        let common = free.iter().copied().reduce(greatest_common_divisor).unwrap_or(1).max(1);
        if free.is_empty() { vec![1] } else { free.iter().map(|share| share / common).collect() }
    }

    /// Returns whether compute buffers are modeled on every device.
    pub fn is_covered(&self) -> bool {
        self.cards.iter().all(|card| card.cuda)
    }

    /// Returns the bytes for buffers on each device after the driver's share.
    pub fn free(&self, driver: Bytes) -> Vec<Bytes> {
        let free = |card: &GpuDevice| Bytes(card.room().saturating_sub(driver.0));
        self.cards.iter().map(free).collect()
    }
}

impl GpuDevice {
    /// Returns the visible memory not used by other programs.
    pub fn room(&self) -> u64 {
        self.visible - self.other
    }

    /// Creates a device from its page and a selected memory size.
    fn of(name: &str, slug: String, data: &DeviceData, size: Option<u64>) -> Self {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let class = SpeedClass::of(data.vendor.name(), &text(&data.architecture), &text(&data.memory_type));
        Self {
            name: name.to_string(),
            slug: Some(slug),
            memory: size.unwrap_or_else(|| data.memory_bytes()),
            visible: data.visible_of(size.unwrap_or_else(|| data.memory_bytes())),
            memory_options: if size.is_none() { data.memory_options_gb.clone() } else { Vec::new() },
            other: 0,
            cuda: data.is_cuda(),
            unified: data.unified,
            speed: class.zip(data.bandwidth_gbps),
            compute_capability: data.compute_capability.as_deref().and_then(|text| text.parse().ok()),
        }
    }

    fn unnamed(memory: u64, visible: u64) -> Self {
        Self {
            name: "a CUDA GPU".to_string(),
            slug: None,
            memory,
            visible,
            memory_options: Vec::new(),
            other: 0,
            cuda: true,
            unified: false,
            speed: None,
            compute_capability: None,
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn bytes(flag: &str, written: &str, least: f64) -> Result<u64> {
    match written.trim().parse::<f64>() {
        Ok(size) if (least..=MAX_GIB).contains(&size) => Ok((size * 1_073_741_824.0) as u64),
        _ => bail!("invalid value `{flag} {written}`; expected {least} to {MAX_GIB} GiB"),
    }
}

/// Resolves a name to the slug of its page.
///
/// # Errors
/// If no page or several pages have the name.
pub(super) fn resolve_slug(names: &Names, kind: Kind, name: &str) -> Result<String> {
    names.resolve(name).slug(names, kind, name).map_err(|message| anyhow!(message))
}
