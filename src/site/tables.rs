//! The fit table: what every model needs, as exact look-ups, without the arithmetic behind it.

use std::collections::BTreeMap;

use crate::files::Span;

/// Figures of all models, computed once a build.
#[derive(Debug, Clone, Default)]
pub struct FitTable {
    /// Names of quantizations, in the order of every model's `quants`.
    pub quants: Vec<String>,
    /// [`CACHE_TYPES`], in the order of every model's `kv` and `compute`.
    pub cache_types: Vec<String>,
    /// Least and most bytes that the driver takes on a device beside the buffers.
    pub driver: (u64, u64),
    /// Models by slug.
    pub models: BTreeMap<String, ModelFit>,
    /// What their tensors hold, by slug.
    pub parameters: BTreeMap<String, Parameters>,
    /// Figures called for in prose, by the place of the call.
    pub prose: BTreeMap<Span, ProseFigure>,
}

/// Numbers in the tensors of a model that are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// All of them.
    pub held: u64,
    /// Those that work on one token.
    pub active: u64,
}

/// What a model needs, or why nothing is said about it.
#[derive(Debug, Clone)]
pub enum ModelFit {
    /// Figures for every quantization and cache type.
    Covered(Box<Figures>),
    /// The reason, as a phrase.
    NotCovered(String),
}

/// Figures of one model on one GPU that holds all layers.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Largest context in tokens.
    pub max_ctx: u64,
    /// A quantization that the model does not ship in is `None`.
    pub quants: Vec<Option<QuantFit>>,
    /// Cache by type.
    pub kv: Vec<Curve>,
    /// Compute buffer by type of the cache.
    pub compute: Vec<Curve>,
}

/// Bytes of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantFit {
    /// Of all tensors in the file.
    pub file: u64,
    /// Of those on the GPU.
    pub gpu: u64,
    /// Of those on the host.
    pub host: u64,
}

/// Names of the cache types that the table holds, the widest first.
pub const CACHE_TYPES: [&str; 3] = ["f16", "q8_0", "q4_0"];

/// Tokens in a step of the cache: llama.cpp rounds the context up to a multiple of this.
pub const CELLS: u64 = 256;

/// A figure as a function of the context: linear between break points, exact everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curve {
    /// First cell, bytes there, bytes for every further step of [`CELLS`], which may be fewer.
    pub pieces: Vec<(u64, u64, i64)>,
}

impl Curve {
    /// Bytes at a context in tokens.
    pub fn at(&self, ctx: u64) -> u64 {
        let cells = ctx.div_ceil(CELLS) * CELLS;
        let after = self.pieces.partition_point(|(first, _, _)| *first <= cells);
        let Some((first, bytes, slope)) = self.pieces[..after].last().or(self.pieces.first()) else {
            return 0;
        };
        bytes.saturating_add_signed(slope * (cells.saturating_sub(*first) / CELLS) as i64)
    }
}

/// Whether a model runs, with the driver's share as a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It fits even if the driver takes the most.
    Fits,
    /// It fits only if the driver takes the least.
    Tight,
    /// It does not fit.
    No,
}

impl Verdict {
    /// The word in data and styles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::No => "no",
        }
    }

    /// The verdict for `needed` bytes of buffers on a device with `memory` bytes.
    pub fn of(needed: u64, driver: (u64, u64), memory: u64) -> Self {
        if needed + driver.1 <= memory {
            Self::Fits
        } else if needed + driver.0 <= memory {
            Self::Tight
        } else {
            Self::No
        }
    }
}

impl FitTable {
    /// Figures of a model, if it is covered.
    pub fn figures(&self, slug: &str) -> Option<&Figures> {
        match self.models.get(slug) {
            Some(ModelFit::Covered(figures)) => Some(figures),
            _ => None,
        }
    }

    /// Position of a quantization.
    pub fn quant(&self, name: &str) -> Option<usize> {
        self.quants.iter().position(|quant| quant == name)
    }
}

impl Figures {
    /// Weights, cache and compute buffer on the GPU.
    pub fn total(&self, quant: usize, cache: usize, ctx: u64) -> Option<u64> {
        let weights = self.quants.get(quant)?.as_ref()?.gpu;
        Some(weights + self.kv[cache].at(ctx) + self.compute[cache].at(ctx))
    }

    /// The largest context, a multiple of [`CELLS`] or the model's own, at which buffers and `driver` bytes fit.
    pub fn largest_context(&self, quant: usize, cache: usize, driver: u64, memory: u64) -> Option<u64> {
        let fits =
            |step: u64| self.total(quant, cache, step * CELLS).is_some_and(|total| total + driver <= memory);
        let last = self.max_ctx.div_ceil(CELLS).max(1);
        let pieces = self.kv[cache].pieces.iter().chain(&self.compute[cache].pieces);
        let mut starts: Vec<u64> =
            pieces.map(|(cells, _, _)| cells / CELLS).filter(|start| *start <= last).collect();
        starts.sort_unstable();
        starts.dedup();
        // From the far end: between two starts the sum is straight, but over all of them it may fall and rise.
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

/// A figure that prose called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseFigure {
    /// The number: bytes or tokens.
    pub value: u64,
    /// As it is shown: `4.00 GiB`.
    pub text: String,
    /// What it was computed from, in words.
    pub basis: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rounds_up_to_cells_and_finds_its_piece() {
        let curve = Curve { pieces: vec![(256, 100, 10), (1024, 500, 1)] };
        assert_eq!([1, 256, 257, 1023, 1024, 1280].map(|ctx| curve.at(ctx)), [100, 100, 110, 500, 500, 501]);
    }

    #[test]
    fn largest_context_is_the_last_that_fits() {
        let figures = Figures {
            max_ctx: 8192,
            quants: vec![Some(QuantFit { file: 10, gpu: 10, host: 0 })],
            kv: vec![Curve { pieces: vec![(256, 1, 1)] }],
            compute: vec![Curve { pieces: vec![(256, 0, 0)] }],
        };
        assert_eq!(figures.largest_context(0, 0, 0, 20), Some(2560));
        assert_eq!(figures.largest_context(0, 0, 0, 1000), Some(8192));
        assert_eq!(figures.largest_context(0, 0, 0, 10), None);
    }
}
