//! A model divided over devices and the host: weights and cache exact, the compute buffer as a range.
//!
//! The buffer of a divided model depends on every layer's place and on the types of all weights
//! that a GPU copies in, so it is not tabulated. A few replays are: two GPUs with one pipeline, all
//! layers but the output on the host, all experts on the host. Any other division takes its range
//! from those, widened by what the allocator's gaps were seen to add or save.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::site::tables::curve::CELLS;
use crate::site::tables::{Figures, PAIRS, Run, Runner, SLOTS};

/// What the range is made of beside the curves of one GPU: places in the pool of curves, and bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offload {
    /// The first of two GPUs, by slots and pair.
    pub first: [[Option<usize>; PAIRS]; SLOTS.len()],
    /// The last of two GPUs, by runner, slots and pair.
    pub last: [[[Option<usize>; PAIRS]; SLOTS.len()]; 2],
    /// What gaps between the allocator's blocks were seen to add or save: four times the stream,
    /// and sixteen times where layers have a state or latent attention.
    pub slack: u64,
    /// Whether layers have a state.
    pub states: bool,
    /// Bytes of the stream between two layers for a micro-batch.
    pub stream: u64,
    /// Bytes of the logits of one token.
    pub logits: u64,
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
        let layers = self.classes.len();
        let on_host = (layers + 1).saturating_sub(division.gpu_layers);
        let apart = self.experts_among(quant, 0..division.host_experts);
        let (whole, inner) = self.buffers(run, ctx)?;
        if on_host == 0 && !apart && held.len() == 1 {
            return Some((whole, whole));
        }
        if on_host == 0 && division.host_experts == 0 {
            return self.pipelined(run, held, gpu, ctx);
        }
        let terms = &self.offload;
        let Held { layers: mine, output } = &held[gpu];
        if mine.is_empty() && !output && gpu > 0 {
            return Some((0, 0));
        }
        let computes_output = *output || (gpu == 0 && on_host > layers);
        let mut high = if computes_output { whole } else { inner } + terms.slack;
        let mut low = if *output { outputs(run, ctx) * terms.logits } else { 0 };
        // the first GPU computes what the host holds, but not surely the attention of a model
        // whose other layers have a state
        let helped = if gpu == 0 && !terms.states { 0..on_host.min(layers) } else { 0..0 };
        let complete = !apart || gpu == 0;
        if complete && self.computes_all(mine, &helped) {
            let spared = if apart || gpu > 0 { 4 } else { 1 } * terms.slack;
            low = low.max(inner.saturating_sub(spared));
        }
        if gpu > 0 {
            // what other devices computed comes over, of experts on the host for each one used
            let parts = if apart { self.experts.map_or(0, |(_, used)| used) } else { 2 };
            high += 2 * terms.stream * parts + if apart { 2 * terms.slack } else { 0 };
        }
        if gpu == 0 {
            let (weight, cache) = self.copied(quant, run, division, ctx)?;
            high += 2 * weight + 3 * cache;
            low = low.max(weight);
            if on_host > layers && run.runner == Runner::Library {
                let output = self.quants[quant].as_ref()?.largest_output;
                high += output;
                low = low.max(output + outputs(run, ctx) * terms.logits);
            }
        }
        Some((low, high))
    }

    /// The buffer of one GPU with all layers, and that without the logits of a whole batch.
    fn buffers(&self, run: Run, ctx: u64) -> Option<(u64, u64)> {
        let server = Run { runner: Runner::Server, ..run };
        Some((self.compute(run, ctx)?, self.compute(server, ctx)?))
    }

    /// Several GPUs with all layers: what one of them hands to the next is there four times.
    fn pipelined(&self, run: Run, held: &[Held], gpu: usize, ctx: u64) -> Option<(u64, u64)> {
        let terms = &self.offload;
        let at = |place: Option<usize>| place.map(|place| self.curves[place].at(ctx));
        let (whole, inner) = self.buffers(run, ctx)?;
        let Held { layers: mine, output } = &held[gpu];
        let last = |runner: Runner| at(terms.last[runner as usize][run.slots][run.pair()]);
        let (low, high) = match (mine.start == 0 && !mine.is_empty(), output) {
            (false, false) if mine.is_empty() => return Some((0, 0)),
            (true, true) => (whole, whole + last(Runner::Server)?.saturating_sub(inner)),
            (true, false) => {
                let first = at(terms.first[run.slots][run.pair()])?;
                (first, first)
            }
            (false, true) => {
                let last_of = last(run.runner)?;
                (last_of, last_of.max(whole + last(Runner::Server)?.saturating_sub(inner)))
            }
            (false, false) => (last(Runner::Server)?, last(Runner::Server)?),
        };
        let low = if self.computes_all(mine, &(0..0)) { low.saturating_sub(3 * terms.slack) } else { 0 };
        let logits = if *output { outputs(run, ctx) * terms.logits } else { 0 };
        Some((low.max(logits), high + terms.slack))
    }

    /// The largest weight and the largest cache of a layer that the first GPU copies in.
    pub fn copied(&self, quant: usize, run: Run, division: &Division<'_>, ctx: u64) -> Option<(u64, u64)> {
        let fit = self.quants.get(quant)?.as_ref()?;
        let layers = self.classes.len();
        let on_host = (layers + 1).saturating_sub(division.gpu_layers).min(layers);
        let weight = |index: usize| {
            let kind = fit.kinds[fit.layers[index]];
            let rest = if index < on_host { kind.largest } else { 0 };
            let experts = if index < on_host.max(division.host_experts) { kind.largest_expert } else { 0 };
            rest.max(experts)
        };
        let cache = |index: usize| self.cache_of(index..index + 1, run, ctx);
        Some(((0..layers).map(weight).max()?, (0..on_host).map(cache).max().unwrap_or(0)))
    }

    /// Whether any of these layers has experts.
    fn experts_among(&self, quant: usize, layers: Range<usize>) -> bool {
        let Some(Some(fit)) = self.quants.get(quant) else { return false };
        fit.layers.iter().take(layers.end).any(|kind| fit.kinds[*kind].experts.gpu > 0)
    }

    /// Whether a layer of each class is among these.
    fn computes_all(&self, mine: &Range<usize>, helped: &Range<usize>) -> bool {
        let among = |range: &Range<usize>, class| self.classes[range.clone()].contains(&class);
        // in the last layer most tokens are dropped before the feed-forward
        let mine = mine.start..mine.end.min(self.classes.len() - 1);
        (0..self.cache.len()).all(|class| among(&mine, class) || among(helped, class))
    }
}

/// Tokens of a micro-batch whose logits are kept.
fn outputs(run: Run, ctx: u64) -> u64 {
    match run.runner {
        Runner::Library => MICRO_BATCH.min(ctx.next_multiple_of(CELLS)),
        Runner::Server => SLOTS[run.slots],
    }
}
