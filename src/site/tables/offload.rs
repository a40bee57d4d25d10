//! A model divided over devices and the host: weights and cache exact, the compute buffer as a range.
//!
//! The buffer of a divided model depends on every layer's place and on the types of all weights
//! that a GPU copies in, so it is not tabulated. A few replays are: two GPUs with one pipeline, all
//! layers but the output on the host, all experts on the host. Any other division takes its range
//! from those, widened by what the allocator's gaps were seen to add or save.

use std::ops::Range;

use crate::site::tables::{Figures, PAIRS, Run, Runner, SLOTS};

/// What the range is made of beside the curves of one GPU: places in the pool of curves, and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    /// The first of two GPUs, by slots and pair.
    pub first: [[Option<usize>; PAIRS]; SLOTS.len()],
    /// The last of two GPUs, by runner, slots and pair.
    pub last: [[[Option<usize>; PAIRS]; SLOTS.len()]; 2],
    /// One GPU that holds the output alone and computes all layers of the host, by slots and pair,
    /// for the server and with the weights of `copied`.
    pub deep: [[Option<usize>; PAIRS]; SLOTS.len()],
    /// One GPU with all layers but no experts, the same way; none for models without.
    pub experts: Option<[[Option<usize>; PAIRS]; SLOTS.len()]>,
    /// The largest weights that were copied in the two above.
    pub copied: Copied,
    /// Bytes of the stream between two layers for a micro-batch.
    pub stream: u64,
    /// Bytes of the logits of one token.
    pub logits: u64,
}

/// Sizes on a GPU of the largest weights that may lie on the host and be copied in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Copied {
    /// Of one tensor of a layer, experts left out.
    pub layer: u64,
    /// Of one tensor of experts.
    pub experts: u64,
    /// Of the output.
    pub output: u64,
}

/// How a model is divided.
#[derive(Debug, Clone, Copy)]
pub struct Division<'a> {
    /// Share of each GPU (`-ts`).
    pub shares: &'a [u64],
    /// Layers on the GPUs, the output counted as one (`-ngl`).
    pub gpu_layers: usize,
    /// The experts of so many first layers stay on the host (`-ncmoe`).
    pub host_experts: usize,
}

/// What one GPU holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its layers.
    pub layers: Range<usize>,
    /// Whether it has the output.
    pub output: bool,
}

/// What one GPU needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceNeed {
    /// Weights.
    pub weights: u64,
    /// Cache and state.
    pub cache: u64,
    /// Compute buffer: least and most.
    pub compute: (u64, u64),
}

/// Tokens of a micro-batch.
const MICRO_BATCH: u64 = 512;

impl Division<'_> {
    /// What each GPU holds of a model with so many layers: of the layers and the output the last
    /// `gpu_layers` go to the GPUs, one to the first GPU whose cumulative share exceeds its place
    /// among them, compared in single precision as llama.cpp does (`src/llama-model.cpp`).
    pub fn held(&self, layers: usize) -> Vec<Held> {
        let on_gpu = self.gpu_layers.min(layers + 1);
        let first = layers + 1 - on_gpu;
        let total: u64 = self.shares.iter().sum();
        let device = |layer: usize| {
            let place = (layer - first) as f32 / on_gpu as f32;
            let mut cumulative = 0;
            let exceeds = |share: &u64| {
                cumulative += share;
                cumulative as f32 / total as f32 > place
            };
            self.shares.iter().position(exceeds).unwrap_or(self.shares.len() - 1)
        };
        let held = |gpu: usize| {
            let mine: Vec<usize> = (first..layers).filter(|layer| device(*layer) == gpu).collect();
            Held {
                layers: mine.first().map_or(0..0, |start| *start..start + mine.len()),
                output: on_gpu > 0 && device(layers) == gpu,
            }
        };
        (0..self.shares.len()).map(held).collect()
    }
}

impl Figures {
    /// What each GPU of a division needs; none where the run is not covered.
    pub fn divided(
        &self,
        quant: usize,
        run: Run,
        division: Division<'_>,
        ctx: u64,
    ) -> Option<Vec<DeviceNeed>> {
        let fit = self.quants.get(quant)?.as_ref()?;
        let held = division.held(self.classes.len());
        let need = |gpu: usize| {
            let Held { layers, output } = held[gpu].clone();
            let output = if output { fit.output.gpu } else { 0 };
            Some(DeviceNeed {
                weights: self.weights_of(quant, layers.clone(), 0..division.host_experts)? + output,
                cache: self.cache_of(layers, run, ctx),
                compute: self.compute_range(quant, run, &division, &held, gpu, ctx)?,
            })
        };
        (0..held.len()).map(need).collect()
    }

    /// Least and most bytes of a GPU's compute buffer.
    fn compute_range(
        &self,
        quant: usize,
        run: Run,
        division: &Division<'_>,
        held: &[Held],
        gpu: usize,
        ctx: u64,
    ) -> Option<(u64, u64)> {
        let copied = self.quants[quant].as_ref()?.copied;
        let terms = &self.offload;
        let at = |place: Option<usize>| place.map(|place| self.curves[place].at(ctx));
        let layers = self.classes.len();
        let on_host = layers + 1 - division.gpu_layers.min(layers + 1);
        let with_experts = self.experts_of(quant, 0..division.host_experts);
        let server = Run { runner: Runner::Server, ..run };
        let (whole, inner) = (self.compute(run, ctx)?, self.compute(server, ctx)?);
        let outputs = match run.runner {
            Runner::Library => MICRO_BATCH.min(ctx.next_multiple_of(256)),
            Runner::Server => SLOTS[run.slots],
        };
        let Held { layers: mine, output } = held[gpu].clone();
        if on_host == 0 && with_experts == 0 && held.len() == 1 {
            return Some((whole, whole));
        }
        let slack = terms.slack();
        if on_host == 0 && with_experts == 0 {
            let (slots, pair) = (run.slots, run.pair());
            let place = match (mine.start == 0 && !mine.is_empty(), output) {
                (true, true) => return Some((whole.saturating_sub(slack), whole + slack)),
                (true, false) => terms.first[slots][pair],
                (false, true) => terms.last[run.runner as usize][slots][pair],
                (false, false) if mine.is_empty() => return Some((0, 0)),
                (false, false) => terms.last[Runner::Server as usize][slots][pair],
            };
            let value = at(place)?;
            let low = if self.computes_all(&mine, &(0..0)) { value.saturating_sub(slack) } else { 0 };
            let low = low.max(if output { outputs * terms.logits } else { 0 });
            return Some((low, value + slack));
        }
        // the first GPU computes what the host holds
        let helped = if gpu == 0 { 0..on_host.min(layers) } else { 0..0 };
        let mut high = if output { whole } else { inner };
        let mut low = if output { outputs * terms.logits } else { 0 };
        if self.computes_all(&mine, &helped) {
            low = low.max(inner.saturating_sub(slack));
        }
        let mut add = |value: u64, more: u64, less: u64, sure: bool| {
            high = high.max(value + more);
            if sure {
                low = low.max(value.saturating_sub(less + slack));
            }
        };
        if !helped.is_empty() {
            let (now, then) =
                (copied.layer.max(copied.experts), terms.copied.layer.max(terms.copied.experts));
            let deep = at(terms.deep[run.slots][run.pair()])?;
            add(deep, now.saturating_sub(then), then.saturating_sub(now), self.has_all_twice(&helped));
        }
        if gpu == 0 && with_experts > 0 {
            let (now, then) = (copied.experts, terms.copied.experts);
            let value = at(terms.experts?[run.slots][run.pair()])?;
            add(value, now.saturating_sub(then), then.saturating_sub(now), with_experts > 1);
        }
        if gpu == 0 && on_host > layers && run.runner == Runner::Library {
            add(whole + copied.output, 0, 0, true);
        }
        Some((low, high + slack))
    }

    /// How many of these layers have experts.
    fn experts_of(&self, quant: usize, layers: Range<usize>) -> usize {
        let Some(Some(fit)) = self.quants.get(quant) else { return 0 };
        fit.layers.iter().take(layers.end).filter(|kind| fit.kinds[**kind].experts.gpu > 0).count()
    }

    fn computes_all(&self, mine: &Range<usize>, helped: &Range<usize>) -> bool {
        let among = |range: &Range<usize>, class| self.classes[range.clone()].contains(&class);
        (0..self.cache.len()).all(|class| among(mine, class) || among(helped, class))
    }

    /// Whether each class is twice among the layers.
    fn has_all_twice(&self, layers: &Range<usize>) -> bool {
        let count = |class| self.classes[layers.clone()].iter().filter(|of| **of == class).count();
        (0..self.cache.len()).all(|class| count(class) > 1)
    }
}

impl Offload {
    /// What gaps between the allocator's blocks were seen to add or save.
    fn slack(&self) -> u64 {
        2 * self.stream
    }
}
