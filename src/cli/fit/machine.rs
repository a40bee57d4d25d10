//! The devices of a request.

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use kbgen_estimate::backend::{Backend, driver_range};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::{BytesRange, Estimate};
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::search::Available;
use kbgen_estimate::speed::{SpeedClass, Unmeasured};
use serde::Serialize;

use crate::cli::arguments::{FitOptions, OsName};
use crate::site::kinds::{DeviceData, System, Vendor};
use crate::site::{Kind, NamedPage, Names, Resolved, Site, WINDOWS_DESKTOP, gib};

const GIB: f64 = 1_073_741_824.0;

/// Maximum value of `--memory`, in GiB.
const MAX_GIB: f64 = 65_536.0;

/// Maximum number of devices of the CUDA backend of ggml (`GGML_CUDA_MAX_DEVICES`).
const MAX_DEVICES: usize = 16;

/// Bytes of a shared memory that are left to the system and other programs, unless programs see more.
const LEFT_TO_SYSTEM: u64 = 4 << 30;

/// Need of a model of which a part is in RAM, where GPU and RAM are the same memory.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct SharedMemory {
    /// Least that both parts need together.
    pub need_bytes: u64,
    /// Part of the memory that the system leaves.
    pub room_bytes: u64,
}

impl SharedMemory {
    /// Returns whether both parts fit.
    pub fn suffices(self) -> bool {
        self.need_bytes <= self.room_bytes
    }

    /// Describes the need as a sentence.
    pub fn in_words(self) -> String {
        let [need, room] = [self.need_bytes, self.room_bytes].map(gib);
        format!(
            "GPU and RAM are the same memory: both parts together need {need} of the {room} that the system leaves."
        )
    }
}

/// A GPU, from its page or from `--memory` alone.
#[derive(Debug, Clone)]
pub(super) struct GpuDevice {
    pub name: String,
    /// Slug of its page, if it has one.
    pub slug: Option<String>,
    /// Nominal memory in bytes.
    pub memory: u64,
    /// System that the verdict holds for.
    pub system: OsName,
    /// Program and log that reported the visible memory; none for the worst case of similar devices.
    pub visible_source: Option<String>,
    /// Bytes visible to programs with the default settings of the system.
    pub visible: u64,
    /// The most bytes that the system can make visible.
    pub most_visible: u64,
    /// Sizes in GiB that it is sold with, if none was selected.
    pub memory_options: Vec<f64>,
    /// Bytes used by other programs.
    pub other: u64,
    /// Bytes that the desktop uses at most, unless `other` is given.
    pub desktop: u64,
    /// Backends that the verdict has to hold for.
    pub backends: &'static [Backend],
    /// Whether it shares system memory.
    pub unified: bool,
    /// Class of its decode speed and bandwidth in GB/s; `None` for a device without a page.
    pub speed: Option<(Result<SpeedClass, Unmeasured>, Option<f64>)>,
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
            let size = sizes.get(place).or(sizes.first()).copied();
            let named = device(&names, gpu, size)?;
            let slug = named.slug;
            let page = site.devices.iter().find(|device| device.head.id.slug == slug);
            let page = page.expect("the name was found");
            let size = size.or(named.memory_gb.map(|size| (size * GIB) as u64));
            let system = system_of(options.os, &page.head.title.value, &page.data)?;
            cards.push(GpuDevice::of(&page.head.title.value, slug, &page.data, size, system));
        }
        if cards.is_empty() && !sizes.is_empty() {
            let (name, system) = match options.os {
                None | Some(OsName::Linux) => (OsName::Linux, System::Linux),
                Some(OsName::Windows) => (OsName::Windows, System::Windows),
                _ => bail!("`--os` is linux or windows for a CUDA GPU; for Apple, pass `--gpu HW`"),
            };
            let visible = |memory| site.visible_of_size_on(system, memory);
            cards.extend(sizes.iter().map(|memory| GpuDevice::unnamed(*memory, name, visible(*memory))));
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
        } else if options.os == Some(OsName::Windows) {
            for card in cards.iter_mut().filter(|card| !card.unified) {
                card.desktop = WINDOWS_DESKTOP.min(card.visible);
            }
        }
        Ok(Self { cards })
    }

    /// Counts bytes on the first device as used by other programs.
    ///
    /// # Errors
    /// If the device does not have them.
    pub fn reserve(&mut self, bytes: u64) -> Result<()> {
        let Some(first) = self.cards.first_mut() else { return Ok(()) };
        let free = first.room().low.0;
        if bytes > 0 && bytes >= free {
            bail!("what runs beside the model needs {} of {}", gib(bytes), gib(free));
        }
        first.other += bytes;
        Ok(())
    }

    /// Returns the default split of llama.cpp, which is proportional to free memory.
    pub fn split(&self) -> Vec<u64> {
        const MIB: u64 = 1 << 20;
        let free: Vec<u64> = self.cards.iter().map(|card| (card.memory - card.other) / MIB).collect();
        let common = free.iter().copied().reduce(greatest_common_divisor).unwrap_or(1).max(1);
        if free.is_empty() { vec![1] } else { free.iter().map(|share| share / common).collect() }
    }

    /// Returns whether all devices are CUDA GPUs with their own memory.
    pub fn is_cuda(&self) -> bool {
        self.cards.iter().all(GpuDevice::is_cuda)
    }

    /// Describes the band of the compute buffers; none on CUDA, where they are exact.
    pub fn basis(&self) -> Option<&'static str> {
        let has = |backend: &Backend| self.cards.iter().any(|card| card.backends.contains(backend));
        let text = match Backend::ALL.iter().rev().find(|backend| has(backend))? {
            Backend::Sycl => {
                "weights and cache exact; compute buffers of Vulkan within 20% of CUDA's in 8 logs, of SYCL in 2"
            }
            Backend::Metal => {
                "weights, with the whole file mapped, and cache exact; compute buffers within 10%, or 32 MiB more, of CUDA's in 6 Metal logs"
            }
            Backend::Vulkan | Backend::Rocm => {
                "weights and cache exact; compute buffers of ROCm equal CUDA's in 4 logs, of Vulkan within 20% in 8"
            }
            Backend::CudaShared => "buffers exact; the system uses the same memory, and its share is a range",
            Backend::Cuda => return None,
        };
        Some(text)
    }

    /// Returns what GPU and RAM need together if they are the same memory; `None` for devices with their own.
    pub fn shared(&self, need: &Estimate) -> Option<SharedMemory> {
        if self.cards.is_empty() || !self.cards.iter().all(|card| card.unified) {
            return None;
        }
        // With CUDA, what the system uses is part of the driver's range.
        let room = |card: &GpuDevice| match card.backends {
            [Backend::CudaShared] => card.visible,
            _ => card.visible.max(card.memory.saturating_sub(LEFT_TO_SYSTEM)),
        };
        let other: u64 = self.cards.iter().map(|card| card.other).sum();
        let host = need.device(Device::Host).expect("every estimate has a host");
        let devices = self.cards.iter().zip(&need.devices);
        let on_devices = devices.map(|(card, device)| device.total_range().low.0 + card.driver().low.0);
        Some(SharedMemory {
            need_bytes: on_devices.sum::<u64>() + host.weights.bytes.0 + host.cache.bytes.0,
            room_bytes: self.cards.iter().map(room).max().unwrap_or_default().saturating_sub(other),
        })
    }

    /// Returns the memory for buffers on each device, beside the most that the driver takes.
    pub fn available(&self) -> Available {
        let free = |card: &GpuDevice| Bytes(card.room().low.0.saturating_sub(card.driver().high.0));
        Available { gpus: self.cards.iter().map(free).collect() }
    }
}

impl GpuDevice {
    /// Returns the visible memory not used by other programs.
    pub fn room(&self) -> BytesRange {
        let low = self.visible.saturating_sub(self.other + self.desktop);
        BytesRange { low: Bytes(low), high: Bytes(self.most_visible.saturating_sub(self.other)) }
    }

    /// Returns the memory used beside the buffers.
    pub fn driver(&self) -> BytesRange {
        driver_range(self.backends)
    }

    /// Returns whether this is a CUDA GPU with its own memory.
    pub fn is_cuda(&self) -> bool {
        self.backends == [Backend::Cuda]
    }

    /// Creates a device from its page and a selected memory size.
    fn of(name: &str, slug: String, data: &DeviceData, size: Option<u64>, system: OsName) -> Self {
        let memory = size.unwrap_or_else(|| data.memory_bytes());
        let systems = systems(system);
        let visible = data.visible_on(systems, memory);
        let reported = systems.first().and_then(|system| data.reported(*system, memory));
        Self {
            name: name.to_string(),
            slug: Some(slug),
            memory,
            system,
            visible_source: reported.map(|report| report.source.clone()),
            visible: visible.low.0,
            most_visible: visible.high.0,
            memory_options: if size.is_none() { data.memory_options_gb.clone() } else { Vec::new() },
            other: 0,
            desktop: 0,
            backends: data.backends(),
            unified: data.unified,
            speed: Some((data.speed_class(), data.bandwidth_gbps)),
            compute_capability: data.compute_capability.as_deref().and_then(|text| text.parse().ok()),
        }
    }

    fn unnamed(memory: u64, system: OsName, visible: u64) -> Self {
        Self {
            name: "a CUDA GPU".to_string(),
            slug: None,
            memory,
            system,
            visible_source: None,
            visible,
            most_visible: visible,
            memory_options: Vec::new(),
            other: 0,
            desktop: 0,
            backends: &[Backend::Cuda],
            unified: false,
            speed: None,
            compute_capability: None,
        }
    }
}

/// Returns the requested system, or the default of a device.
///
/// # Errors
/// If the device does not run with the requested system.
fn system_of(asked: Option<OsName>, title: &str, data: &DeviceData) -> Result<OsName> {
    let default = if data.vendor == Vendor::Apple { OsName::Macos } else { OsName::Linux };
    let system = asked.unwrap_or(default);
    if !systems(system).iter().all(|own| data.systems().contains(own)) {
        let name = system.to_possible_value().expect("no system is hidden");
        bail!("`--os {}` does not apply to {title}", name.get_name());
    }
    Ok(system)
}

/// Returns the systems that a verdict has to hold for.
fn systems(system: OsName) -> &'static [System] {
    match system {
        OsName::Linux => &[System::Linux],
        OsName::Windows => &[System::Windows],
        OsName::Macos => &[System::Macos15, System::Macos26],
        OsName::Macos15 => &[System::Macos15],
        OsName::Macos26 => &[System::Macos26],
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn bytes(flag: &str, written: &str, least: f64) -> Result<u64> {
    match written.trim().parse::<f64>() {
        Ok(size) if (least..=MAX_GIB).contains(&size) => Ok((size * GIB) as u64),
        _ => bail!("invalid value `{flag} {written}`; expected {least} to {MAX_GIB} GiB"),
    }
}

/// Resolves the name of a device. If several have it, `--memory` may select one.
///
/// # Errors
/// If no page or several pages have the name.
fn device(names: &Names, name: &str, size: Option<u64>) -> Result<NamedPage> {
    let resolved = match (names.resolve(name), size) {
        (Resolved::Ambiguous(slugs), Some(size)) => {
            match names.of_size(slugs.clone(), Some(size as f64 / GIB)) {
                Resolved::Unknown(_) => Resolved::Ambiguous(slugs),
                selected => selected,
            }
        }
        (resolved, _) => resolved,
    };
    let is_unknown = matches!(resolved, Resolved::Unknown(_));
    resolved.only(Kind::Hardware, name).map_err(|message| match is_unknown {
        true => anyhow!("{message}; for another device, pass its memory without --gpu: --memory GIB"),
        false => anyhow!(message),
    })
}
