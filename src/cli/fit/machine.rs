//! The devices that a question is about.

use anyhow::{Result, anyhow, bail};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::speed::SpeedClass;

use crate::cli::arguments::FitOptions;
use crate::site::kinds::DeviceData;
use crate::site::{Kind, Names, Site, gib};

/// Largest memory that a device may be said to have, in GiB.
const MAX_GIB: f64 = 65_536.0;

/// Most devices that ggml's CUDA backend uses (`GGML_CUDA_MAX_DEVICES`).
const MAX_DEVICES: usize = 16;

/// A device.
#[derive(Debug, Clone)]
pub(super) struct GpuDevice {
    /// Its title.
    pub name: String,
    /// The name of its page; none for one that only `--memory` tells of.
    pub slug: Option<String>,
    /// Memory in bytes, as it is sold.
    pub memory: u64,
    /// The part of it that programs see.
    pub visible: u64,
    /// Sizes in GiB that it is sold with, if nobody said which.
    pub memory_options: Vec<f64>,
    /// What other programs hold of it.
    pub other: u64,
    /// Whether figures made for CUDA hold.
    pub cuda: bool,
    /// Whether it shares the memory of the system.
    pub unified: bool,
    /// Class and bandwidth (GB/s), where speeds were collected.
    pub speed: Option<(SpeedClass, f64)>,
    /// CUDA compute capability, such as 8.9.
    pub compute_capability: Option<f64>,
}

/// The devices, in order; none where only the need is asked for.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// Device by device.
    pub cards: Vec<GpuDevice>,
}

impl Machine {
    /// Reads `--gpu`, `--memory` and `--other-memory`.
    ///
    /// # Errors
    /// For a device without a page, and for sizes that cannot be.
    pub fn new(site: &Site, options: &FitOptions) -> Result<Self> {
        let sizes: Vec<u64> =
            options.memory.iter().map(|written| bytes("--memory", written, 0.25)).collect::<Result<_>>()?;
        let mut cards = Vec::new();
        if options.gpu.len().max(sizes.len()) > MAX_DEVICES {
            bail!("llama.cpp uses at most {MAX_DEVICES} CUDA devices");
        }
        if !options.gpu.is_empty() && sizes.len() > 1 && sizes.len() != options.gpu.len() {
            bail!(
                "`--memory` is given {} times and `--gpu` {}: give it once, or once for each device",
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
                bail!("`--other-memory` needs a device: name it with `--gpu HW` or `--memory GIB`");
            };
            if other >= first.visible {
                bail!("other programs cannot hold {} of {}", gib(other), gib(first.visible));
            }
            first.other = other;
        }
        Ok(Self { cards })
    }

    /// Shares of the layers as llama.cpp gives them by itself: by the memory that is free.
    pub fn split(&self) -> Vec<u64> {
        const MIB: u64 = 1 << 20;
        let free: Vec<u64> = self.cards.iter().map(|card| (card.memory - card.other) / MIB).collect();
        let common = free.iter().copied().reduce(greatest_common_divisor).unwrap_or(1).max(1);
        if free.is_empty() { vec![1] } else { free.iter().map(|share| share / common).collect() }
    }

    /// Whether buffers on every device are modeled.
    pub fn is_covered(&self) -> bool {
        self.cards.iter().all(|card| card.cuda)
    }

    /// What each device has for buffers once the driver has taken this much.
    pub fn free(&self, driver: Bytes) -> Vec<Bytes> {
        let free = |card: &GpuDevice| Bytes(card.room().saturating_sub(driver.0));
        self.cards.iter().map(free).collect()
    }
}

impl GpuDevice {
    /// The visible memory that other programs leave free.
    pub fn room(&self) -> u64 {
        self.visible - self.other
    }

    /// A device of the catalog, with the size of memory that was given for it.
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
        _ => bail!("`{flag} {written}` is not possible: it takes {least} to {MAX_GIB} GiB"),
    }
}

/// The slug of the page that a name stands for.
///
/// # Errors
/// When it stands for no page, or for several.
pub(super) fn resolve_slug(names: &Names, kind: Kind, name: &str) -> Result<String> {
    names.resolve(name).slug(names, kind, name).map_err(|message| anyhow!(message))
}
