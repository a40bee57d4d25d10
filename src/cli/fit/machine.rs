//! The devices that a question is about.

use anyhow::{Result, bail};

use crate::cli::arguments::FitOptions;
use crate::diag::{least_far, nearest};
use crate::estimate::bytes::Bytes;
use crate::estimate::speed::SpeedClass;
use crate::site::kinds::DeviceData;
use crate::site::{Kind, Site, gib};

/// Largest memory that a device may be said to have, in GiB.
const MOST_GIB: f64 = 65_536.0;

/// Most devices that ggml's CUDA backend uses (`GGML_CUDA_MAX_DEVICES`).
const MOST_DEVICES: usize = 16;

/// A device.
#[derive(Debug, Clone)]
pub(super) struct Card {
    /// Its title.
    pub name: String,
    /// The name of its page; none for one that only `--memory` tells of.
    pub slug: Option<String>,
    /// Memory in bytes.
    pub memory: u64,
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
    pub cards: Vec<Card>,
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
        if options.gpu.len().max(sizes.len()) > MOST_DEVICES {
            bail!("llama.cpp uses at most {MOST_DEVICES} CUDA devices");
        }
        for gpu in &options.gpu {
            let slug = named(site, Kind::Hardware, gpu)?;
            let page = site.devices.iter().find(|device| device.head.id.slug == slug);
            let page = page.expect("the name was found");
            cards.push(Card::of(&page.head.title.value, slug, &page.data));
        }
        if cards.is_empty() {
            cards = sizes.iter().map(|memory| Card::unnamed(*memory)).collect();
        } else if sizes.len() == 1 || sizes.len() == cards.len() {
            for (card, memory) in cards.iter_mut().zip(sizes.iter().cycle()) {
                card.memory = *memory;
                card.memory_options.clear();
            }
        } else if !sizes.is_empty() {
            bail!(
                "`--memory` is given {} times and `--gpu` {}: give it once, or once for each device",
                sizes.len(),
                cards.len()
            );
        }
        if let Some(written) = &options.other_memory {
            let other = bytes("--other-memory", written, 0.0)?;
            let Some(first) = cards.first_mut() else {
                bail!("`--other-memory` needs a device: name it with `--gpu HW` or `--memory GIB`");
            };
            if other >= first.memory {
                bail!("other programs cannot hold {} of {}", gib(other), gib(first.memory));
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
        let free = |card: &Card| Bytes(card.memory.saturating_sub(card.other + driver.0));
        self.cards.iter().map(free).collect()
    }
}

impl Card {
    fn of(name: &str, slug: String, data: &DeviceData) -> Self {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let class = SpeedClass::of(&data.vendor, &text(&data.architecture), &text(&data.memory_type));
        Self {
            name: name.to_string(),
            slug: Some(slug),
            memory: data.memory_bytes(),
            memory_options: data.memory_options_gib.clone(),
            other: 0,
            cuda: data.is_cuda(),
            unified: data.unified,
            speed: class.zip(data.bandwidth_gbps),
            compute_capability: data.compute_capability.as_deref().and_then(|text| text.parse().ok()),
        }
    }

    fn unnamed(memory: u64) -> Self {
        Self {
            name: "a CUDA GPU".to_string(),
            slug: None,
            memory,
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
        Ok(size) if (least..=MOST_GIB).contains(&size) => Ok((size * 1_073_741_824.0) as u64),
        _ => bail!("`{flag} {written}` is not possible: it takes {least} to {MOST_GIB} GiB"),
    }
}

/// The slug that was meant; what stands before a dash may be left out where only one slug remains.
///
/// # Errors
/// When no page has this name, with the nearest that is there.
pub(super) fn named(site: &Site, kind: Kind, name: &str) -> Result<String> {
    let lower = name.to_lowercase();
    if let Some(slug) = site.slugs(kind).find(|slug| *slug == lower) {
        return Ok(slug.to_string());
    }
    let ending = format!("-{lower}");
    let mut without_maker = site.slugs(kind).filter(|slug| slug.ends_with(&ending));
    if let (Some(slug), None) = (without_maker.next(), without_maker.next()) {
        return Ok(slug.to_string());
    }
    let containing = site.slugs(kind).filter(|slug| slug.contains(&lower)).min_by_key(|slug| slug.len());
    match containing.or_else(|| nearest(&lower, site.slugs(kind))) {
        Some(near) => bail!("there is no {} `{name}`: did you mean `{near}`?", kind.name()),
        None => bail!(
            "there is no {} `{name}`: the pages under content/{}/ are all there are{}",
            kind.name(),
            kind.folder(),
            least_far(&lower, site.slugs(kind))
                .map_or_else(String::new, |slug| format!(", the nearest name is `{slug}`"))
        ),
    }
}
