//! Decode speed as a range, from the memory bandwidth of a device.
//!
//! A token needs every weight that it uses read once, and the cache of the tokens before it. The time of a token is the
//! bytes read divided by the bandwidth that the class of the device reaches, plus a fixed time per layer for starting
//! its operations, plus the bytes in RAM divided by the bandwidth of the RAM. The range is that speed divided and
//! multiplied by [`SPREAD`]. It holds for one device and one sequence at a time. Classes without a range, and why, are
//! in [`Unmeasured`].

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::cache::state_widths;
use crate::names::{Home, Name, WeightTensor};
use crate::quantization::{CacheType, TensorType};
use crate::settings::{CachePlacement, Settings};
use crate::weights::{tensor_bytes, typed_tensors};

/// Ratio of the ends of a range to its middle, in thousandths: the upper end is 2.2 times the lower one.
pub const SPREAD: u32 = 1483;

/// Bandwidth in GB/s at which a CPU reads weights in RAM, observed on desktop systems with two memory channels.
pub const RAM_GBPS: u32 = 30;

/// A class of devices with reported speeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpeedClass {
    /// NVIDIA GPUs with GDDR memory, from Pascal on.
    NvidiaGddr,
    /// NVIDIA chips that share LPDDR5X memory with the system; measured on the GB10.
    NvidiaLpddr,
    /// A100 and H100 and their variants with HBM2e or HBM3.
    NvidiaHbm,
    /// AMD GPUs with GDDR memory, from RDNA 2 on.
    AmdGddr,
    /// AMD chips that share LPDDR5X memory with the system; measured on the Ryzen AI Max+ 395.
    AmdLpddr,
    /// Apple chips.
    Apple,
}

/// Reason why there is no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unmeasured {
    /// Too few speeds of such devices were reported.
    Class,
    /// The reported speeds of such devices differ too much for a range.
    Arc,
    /// No speeds of models with experts were reported for such devices.
    Experts,
    /// No speeds with a part in RAM were reported for such devices.
    Ram,
}

/// Decode rate of a class of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecodeRate {
    /// Fraction of the memory bandwidth that is reached, in thousandths.
    pub share: u32,
    /// Time per layer in addition to reading it, in microseconds.
    pub layer_us: u32,
}

/// Tokens per second, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedRange {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Bytes read for a token, by location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TokenReads {
    /// On the device.
    pub device: Bytes,
    /// In RAM.
    pub host: Bytes,
}

impl SpeedClass {
    /// All classes.
    pub const ALL: &'static [SpeedClass] = &[
        SpeedClass::NvidiaGddr,
        SpeedClass::NvidiaLpddr,
        SpeedClass::NvidiaHbm,
        SpeedClass::AmdGddr,
        SpeedClass::AmdLpddr,
        SpeedClass::Apple,
    ];

    /// Returns the class of a device by manufacturer, architecture and type of memory, such as `NVIDIA`, `Ampere`,
    /// `HBM2e`.
    ///
    /// # Errors
    /// If too few speeds were reported, or they differ too much.
    pub fn of(vendor: &str, architecture: &str, memory: &str) -> Result<SpeedClass, Unmeasured> {
        let is_any = |old: &[&str]| old.iter().any(|old| architecture.starts_with(old));
        match (vendor, memory) {
            ("Apple", _) => Ok(SpeedClass::Apple),
            ("NVIDIA", "LPDDR5X") => Ok(SpeedClass::NvidiaLpddr),
            ("NVIDIA", "HBM2e" | "HBM3") if is_any(&["Ampere", "Hopper"]) => Ok(SpeedClass::NvidiaHbm),
            ("NVIDIA", memory) if memory.starts_with("GDDR") && !is_any(&["Kepler", "Maxwell"]) => {
                Ok(SpeedClass::NvidiaGddr)
            }
            ("AMD", memory) if memory.starts_with("GDDR6") && is_any(&["RDNA 2", "RDNA 3", "RDNA 4"]) => {
                Ok(SpeedClass::AmdGddr)
            }
            ("AMD", memory) if memory.starts_with("LPDDR5X") && is_any(&["RDNA 3.5"]) => {
                Ok(SpeedClass::AmdLpddr)
            }
            ("Intel", memory) if memory.starts_with("GDDR") => Err(Unmeasured::Arc),
            _ => Err(Unmeasured::Class),
        }
    }

    /// Returns the decode rate of the class. `tests/it/speeds.rs` of kbgen fits the figures to the benchmarks
    /// of the site and scores them on devices and models that were held out.
    pub fn rate(self) -> DecodeRate {
        let (share, layer_us) = match self {
            SpeedClass::NvidiaGddr => (920, 80),
            SpeedClass::NvidiaLpddr => (700, 80),
            SpeedClass::NvidiaHbm => (500, 80),
            SpeedClass::AmdGddr => (820, 113),
            SpeedClass::AmdLpddr => (680, 28),
            SpeedClass::Apple => (700, 113),
        };
        DecodeRate { share, layer_us }
    }

    /// Returns the reason why the speed of a model with experts is unknown, or `None`.
    pub fn unmeasured_with_experts(self) -> Option<Unmeasured> {
        (self == SpeedClass::NvidiaHbm).then_some(Unmeasured::Experts)
    }

    /// Returns the reason why the speed of a model that is partly in RAM is unknown, or `None`.
    pub fn unmeasured_partly_in_ram(self) -> Option<Unmeasured> {
        (!matches!(self, SpeedClass::NvidiaGddr | SpeedClass::AmdGddr)).then_some(Unmeasured::Ram)
    }
}

impl Unmeasured {
    /// All reasons, in the order of their discriminants.
    pub const ALL: [Unmeasured; 4] =
        [Unmeasured::Class, Unmeasured::Arc, Unmeasured::Experts, Unmeasured::Ram];

    /// Returns the reason as a phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Unmeasured::Class => "too few measurements of this class of devices",
            Unmeasured::Arc => "measurements of Intel Arc differ up to tenfold between backends and builds",
            Unmeasured::Experts => "no measurements of models with experts on this class of devices",
            Unmeasured::Ram => "no measurements with a part in RAM on this class of devices",
        }
    }
}

impl DecodeRate {
    /// Returns the tokens per second of a model with this many layers on a device with this bandwidth, in GB/s of 10^9
    /// bytes.
    pub fn range(self, bandwidth_gbps: f64, layers: usize, reads: TokenReads) -> SpeedRange {
        let device = reads.device.0 as f64 / (bandwidth_gbps * f64::from(self.share) * 1e6);
        let host = reads.host.0 as f64 / (f64::from(RAM_GBPS) * 1e9);
        let speed = 1.0 / (device + layers as f64 * f64::from(self.layer_us) * 1e-6 + host);
        let spread = f64::from(SPREAD) / 1000.0;
        SpeedRange { low: speed / spread, high: speed * spread }
    }
}

/// Returns the weights that a token reads: all except the unused experts and the tables before the layers, of which a
/// token reads one row (the output of a tied model reads the whole embedding). A row is at most some KiB and is not
/// counted.
pub fn weights_read(model: &Architecture, settings: &Settings) -> TokenReads {
    weights_read_of(model, settings, typed_tensors(model, settings.quantization))
}

/// Computes [`weights_read`] from tensors with their types.
pub(crate) fn weights_read_of(
    model: &Architecture,
    settings: &Settings,
    tensors: impl Iterator<Item = (WeightTensor, TensorType)>,
) -> TokenReads {
    let layers = model.layers.len() as u64;
    let on_host = settings.on_host(layers);
    let cpu_experts = settings.experts.on_host(layers);
    let mut reads = TokenReads::default();
    for (tensor, kind) in tensors {
        let bytes = tensor_bytes(&tensor, kind).0;
        let (is_in_ram, bytes) = match (tensor.home, model.experts) {
            (Home::Input, _) if !model.tied || tensor.name != Name::TokenEmbedding => continue,
            (Home::Experts(layer), Some(experts)) => {
                (layer < on_host || cpu_experts.contains(&layer), bytes / experts.count * experts.used)
            }
            (Home::Layer(layer) | Home::Experts(layer), _) => (layer < on_host, bytes),
            (Home::Input | Home::EveryDevice | Home::Output, _) => (on_host > layers, bytes),
        };
        if is_in_ram { reads.host += Bytes(bytes) } else { reads.device += Bytes(bytes) }
    }
    reads
}

/// Values that a token reads from the cache, for any cache types and any number of earlier tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CacheRead {
    /// Values of K (or of the latent row) that each earlier token adds.
    pub full_key: u64,
    /// Values of V that each earlier token adds.
    pub full_value: u64,
    /// Values of K that each earlier token in the window adds.
    pub window_key: u64,
    /// Values of V that each earlier token in the window adds.
    pub window_value: u64,
    /// Tokens of the window.
    pub window: u64,
    /// Bytes of the recurrent state, independent of the context.
    pub state: Bytes,
}

impl CacheRead {
    /// Returns the cache reads of a model.
    pub fn of(model: &Architecture) -> CacheRead {
        let mut read = CacheRead { window: model.sliding_window, ..CacheRead::default() };
        let (conv, state) = state_widths(model);
        for layer in &model.layers {
            let row = layer.kv_heads * layer.head_dim;
            let value_row = layer.kv_heads * layer.value_dim;
            match layer.kind {
                LayerKind::Full => {
                    read.full_key += row;
                    read.full_value += value_row;
                }
                LayerKind::Sliding => {
                    read.window_key += row;
                    read.window_value += value_row;
                }
                LayerKind::Latent => {
                    let index_key = model.indexer.filter(|_| layer.has_indexer);
                    read.full_key += layer.head_dim + index_key.map_or(0, |indexer| indexer.width);
                }
                LayerKind::Recurrent => read.state += TensorType::F32.row_size(conv + state),
                LayerKind::None => {}
            }
        }
        read
    }

    /// Returns the bytes read for a token after `depth` others.
    pub fn at(&self, depth: u64, key: CacheType, value: CacheType) -> Bytes {
        let in_window = depth.min(self.window);
        let keys = self.full_key * depth + self.window_key * in_window;
        let values = self.full_value * depth + self.window_value * in_window;
        key.tensor_type().row_size(keys) + value.tensor_type().row_size(values) + self.state
    }

    /// Returns the same bytes as [`CacheRead::at`], by location of the cache.
    pub fn placed(&self, model: &Architecture, settings: &Settings, depth: u64) -> TokenReads {
        let whole = self.at(depth, settings.cache_type_k, settings.cache_type_v).0;
        let layers = model.layers.len() as u64;
        let host = match settings.cache_placement {
            CachePlacement::Host => whole,
            CachePlacement::WithLayer => whole / layers.max(1) * settings.on_host(layers).min(layers),
        };
        TokenReads { device: Bytes(whole - host), host: Bytes(host) }
    }
}

impl std::ops::Add for TokenReads {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { device: self.device + other.device, host: self.host + other.host }
    }
}
