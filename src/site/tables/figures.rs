//! Memory figures of one model: per layer for weights and cache, in total for the compute buffer.

use std::ops::Range;

use kbgen_estimate::backend::{Backend, Profile, has_own_memory};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::BytesRange;
use kbgen_estimate::plan::Verdict;
use kbgen_estimate::plan::partial::{WholeBytes, partial_bytes, through};
use kbgen_estimate::segments::value_at;
use serde::{Deserialize, Serialize};

use crate::site::DeviceMemory;
use crate::site::tables::curve::{CELLS, Curve};
use crate::site::tables::offload::{Offload, SampledSplit, SampledSplits};
use crate::site::tables::{PAIRS, Run, Runner, SLOTS, Vllm};

/// Memory figures of one model. Weights and cache are sums over layers; the compute buffer is that of one GPU with
/// all layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Maximum context in tokens.
    pub max_ctx: u64,
    /// Distinct curves; other fields are indices into this list.
    pub curves: Vec<Curve>,
    /// Class of each layer: layers of a class have equal caches.
    pub classes: Vec<usize>,
    /// Cache and state of one layer on a GPU, by class, slots and pair of cache types.
    pub cache: Vec<[[usize; PAIRS]; SLOTS.len()]>,
    /// Compute buffer by runner, slots and pair; `None` if not covered.
    pub compute: [[[Option<usize>; PAIRS]; SLOTS.len()]; 2],
    /// Elements of all tensors; those of a tied output count once.
    pub parameters: u64,
    /// Number of routed experts, and how many of them a token uses.
    pub experts: Option<(u64, u64)>,
    /// Cache that a token reads: values of K and of V per earlier token, the same per token in the window, tokens of
    /// the window, bytes of the state.
    pub read: [u64; 6],
    /// Constants for vLLM, or why it is not covered.
    pub vllm: Result<Vllm, String>,
    /// Rotary factors.
    pub factors: Option<Factors>,
    /// Data to split the model over devices.
    pub offload: Offload,
    /// Distinct compute buffers of splits between one GPU and the host, at 2,048 cells and its doubles.
    pub samples: Vec<Vec<u64>>,
    /// Quantizations; `None` if the model is not available in it.
    pub quants: Vec<Option<QuantFit>>,
}

/// Bytes on a GPU, and on the host, where tensors have less padding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share {
    /// On a GPU.
    pub gpu: u64,
    /// On the host.
    pub host: u64,
}

/// Tensors that each device with a layer of one of these classes has a copy of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factors {
    /// Size of a copy.
    pub size: Share,
    /// Classes of layers that read it.
    pub classes: Vec<usize>,
}

/// Weights of a model in one quantization. All sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuantFit {
    /// All tensors in the file.
    pub file: u64,
    /// On the GPU, with all layers there.
    pub gpu: u64,
    /// Always on the host.
    pub input: u64,
    /// Output layer, on a GPU or on the host.
    pub output: Share,
    /// Read per token.
    pub touch: u64,
    /// Output matrix on a GPU; for a tied model, the embedding.
    pub largest_output: u64,
    /// Distinct weights of a layer.
    pub kinds: Vec<LayerWeights>,
    /// Index into `kinds` for each layer.
    pub layers: Vec<usize>,
    /// Splits between one GPU and the host.
    pub splits: SampledSplits,
}

/// Weights of one layer, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LayerWeights {
    /// All weights.
    pub whole: Share,
    /// Routed experts.
    pub experts: Share,
    /// Largest tensor on a GPU, without experts.
    pub largest: u64,
    /// Largest tensor of the experts on a GPU.
    pub largest_expert: u64,
}

/// Returns the run whose compute buffer is nearest to that of a backend.
fn on(profile: &Profile, run: Run) -> Run {
    if profile.widens_cache { run } else { Run { key: 0, value: 0, ..run } }
}

impl Figures {
    /// Returns cache and state of all layers.
    pub fn cache(&self, run: Run, ctx: u64) -> u64 {
        self.cache_of(0..self.classes.len(), run, ctx)
    }

    /// Returns cache and state of a range of layers on a GPU.
    pub fn cache_of(&self, layers: Range<usize>, run: Run, ctx: u64) -> u64 {
        let classes = &self.classes[layers];
        let count = |class| classes.iter().filter(|of| **of == class).count() as u64;
        let layer = |class: usize| self.cache_curve(class, run).at(ctx);
        (0..self.cache.len()).map(|class| count(class) * layer(class)).sum()
    }

    fn cache_curve(&self, class: usize, run: Run) -> &Curve {
        &self.curves[self.cache[class][run.slots][run.pair()]]
    }

    fn compute_curve(&self, run: Run) -> Option<&Curve> {
        self.compute[run.runner as usize][run.slots][run.pair()].map(|place| &self.curves[place])
    }

    /// Returns the compute buffer of one GPU with all layers; `None` if not covered.
    pub fn compute(&self, run: Run, ctx: u64) -> Option<u64> {
        self.compute_curve(run).map(|curve| curve.at(ctx))
    }

    /// Returns the weights of a range of layers on a GPU, without the experts of the layers `on_host`.
    pub fn weights_of(&self, quant: usize, layers: Range<usize>, on_host: Range<usize>) -> Option<u64> {
        let fit = self.quants.get(quant)?.as_ref()?;
        let layer = |index: usize| {
            let weights = fit.kinds[fit.layers[index]];
            let absent = if on_host.contains(&index) { weights.experts.gpu } else { 0 };
            weights.whole.gpu - absent
        };
        let factors = self.factors.as_ref().map_or(0, |factors| {
            let reads = self.classes[layers.clone()].iter().any(|class| factors.classes.contains(class));
            if reads { factors.size.gpu } else { 0 }
        });
        Some(layers.map(layer).sum::<u64>() + factors)
    }

    /// Returns the sum of weights, cache and compute buffer on the GPU.
    pub fn total(&self, quant: usize, run: Run, ctx: u64) -> Option<u64> {
        let weights = self.quants.get(quant)?.as_ref()?.gpu;
        Some(weights + self.cache(run, ctx) + self.compute(run, ctx)?)
    }

    /// Weights, cache and compute buffer on one GPU with all layers, with any of these backends.
    pub fn total_range(&self, quant: usize, run: Run, ctx: u64, backends: &[Backend]) -> Option<BytesRange> {
        let fit = self.quants.get(quant)?.as_ref()?;
        let cache = Bytes(self.cache(run, ctx));
        let of = |backend: &Backend| {
            let profile = backend.profile();
            let compute = profile.compute(Bytes(self.compute(on(&profile, run), ctx)?));
            let weights = profile.all_weights(Bytes(fit.gpu), Bytes(fit.file));
            Some(BytesRange {
                low: weights.low + cache + compute.low,
                high: weights.high + cache + compute.high,
            })
        };
        let ranges: Option<Vec<BytesRange>> = backends.iter().map(of).collect();
        ranges?.into_iter().reduce(BytesRange::hull)
    }

    /// Weights, cache and compute buffer at most on the only GPU, with so many layers on it (the output counted as one)
    /// and the experts of so many first layers on the host; none on a device that shares the host's memory.
    pub fn total_of_part(
        &self,
        quant: usize,
        run: Run,
        (gpu_layers, host_experts): (usize, usize),
        ctx: u64,
        backends: &[Backend],
    ) -> Option<u64> {
        if !has_own_memory(backends) {
            return None;
        }
        let fit = self.quants.get(quant)?.as_ref()?;
        let on_host = (self.classes.len() + 1).saturating_sub(gpu_layers);
        let mine = on_host.min(self.classes.len())..self.classes.len();
        let output = if gpu_layers > 0 { fit.output.gpu } else { 0 };
        let weights = self.weights_of(quant, mine.clone(), 0..host_experts)? + output;
        let compute = |backend: &Backend| {
            let profile = backend.profile();
            let bytes = self.compute_of_part(fit, on(&profile, run), (on_host, host_experts), ctx)?;
            Some(profile.compute(Bytes(bytes)).high.0)
        };
        let compute: Option<Vec<u64>> = backends.iter().map(compute).collect();
        Some(weights + self.cache_of(mine, run, ctx) + compute?.into_iter().max().unwrap_or_default())
    }

    fn compute_of_part(
        &self,
        fit: &QuantFit,
        run: Run,
        (on_host, host_experts): (usize, usize),
        ctx: u64,
    ) -> Option<u64> {
        let asked = self.compute(run, ctx)?;
        let server = Run { runner: Runner::Server, ..run };
        let whole = WholeBytes {
            one_slot: self.compute(Run { slots: 0, ..server }, ctx)?,
            all_slots: self.compute(server, ctx)?,
            asked,
        };
        let nothing = SampledSplit { count: 0, samples: fit.splits.nothing };
        let split = |splits: &'_ [SampledSplit], count: usize| -> Option<SampledSplit> {
            splits.iter().find(|split| split.count >= count as u64).cloned()
        };
        let moves = |index: usize| fit.kinds[fit.layers[index]].experts.gpu > 0;
        let taken = if on_host > self.classes.len() {
            [Some(nothing), None]
        } else {
            let moved = (on_host..host_experts.min(self.classes.len())).any(moves);
            [
                split(&fit.splits.layers, on_host).filter(|_| on_host > 0),
                split(&fit.splits.experts, host_experts).filter(|_| moved),
            ]
        };
        if taken == [None, None] {
            return Some(asked);
        }
        let places =
            taken.iter().flatten().flat_map(|split| [split.samples[run.key], split.samples[run.value]]);
        let cells = ctx.div_ceil(CELLS).max(1) * CELLS;
        let bytes = |place: usize| value_at(&through(&self.samples[place]), cells).map(|bytes| bytes.0);
        let samples: Option<Vec<u64>> = places.map(|place| bytes(place?)).collect();
        let copies_output = on_host > self.classes.len() && run.runner == Runner::Library;
        let output = if copies_output { fit.largest_output } else { 0 };
        Some(partial_bytes(samples?.into_iter(), whole, output))
    }

    /// The largest context, a multiple of [`CELLS`] or the model's own, at which everything fits.
    pub fn largest_context(&self, quant: usize, run: Run, memory: &DeviceMemory) -> Option<u64> {
        let fits = |step: u64| {
            let range = self.total_range(quant, run, step * CELLS, memory.backends);
            range.is_some_and(|range| memory.verdict(range) == Verdict::Fits)
        };
        let last = self.max_ctx.div_ceil(CELLS).max(1);
        let caches = (0..self.cache.len()).map(|class| self.cache_curve(class, run));
        let buffers = memory.backends.iter().map(|backend| on(&backend.profile(), run));
        let curves = caches.chain(buffers.filter_map(|run| self.compute_curve(run)));
        let mut starts: Vec<u64> = curves.flat_map(Curve::starts).filter(|start| *start <= last).collect();
        starts.sort_unstable();
        starts.dedup();
        // Searches from the end: each segment is linear, but the whole may not be monotonic.
        let mut end = last;
        for start in starts.into_iter().rev() {
            if fits(end) {
                return Some((end * CELLS).min(self.max_ctx));
            }
            if fits(start) {
                let (mut good, mut bad) = (start, end);
                while bad - good > 1 {
                    let middle = good.midpoint(bad);
                    if fits(middle) { good = middle } else { bad = middle }
                }
                return Some(good * CELLS);
            }
            end = start.saturating_sub(1).max(1);
        }
        None
    }
}
