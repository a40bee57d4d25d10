//! Symbolic numbers of a graph: a factor times quantities that depend on the settings.

use std::ops::{Div, Mul};

use crate::architecture::Architecture;
use crate::cache::{Cells, state_widths};
use crate::compute::size::{Linear, Size};
use crate::settings::Settings;

/// Quantities that differ between two runs of the same graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Tokens of each sequence in a micro-batch.
    TokensEach,
    /// Sequences of a micro-batch.
    Sequences,
    /// Tokens whose logits are kept.
    Outputs,
    /// Cells of one stream of a full-attention or latent layer.
    Cells,
    /// Cells of one stream of a sliding-window layer.
    SlidingCells,
    /// Tokens of a sequence, and the earlier tokens that a convolution reads.
    ConvolvedTokens,
    /// Values that a Mamba 2 scan returns: its results and the new states.
    ScannedValues,
    /// Rows that a gated delta net returns: its results and the new states.
    DeltaRows,
}

const QUANTITIES: usize = 8;
/// Bits per exponent. No product contains a quantity more than 15 times.
const POWER_BITS: u32 = 4;

/// A factor times a product of quantities. Every dimension and stride of a graph is an extent. Two extents
/// that compare equal are equal for all settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    factor: u64,
    /// Exponents of the quantities, with [`POWER_BITS`] bits each.
    powers: u32,
}

impl Extent {
    pub(crate) const ZERO: Extent = Extent { factor: 0, powers: 0 };
    pub(crate) const ONE: Extent = Extent { factor: 1, powers: 0 };

    /// Returns the number, if it does not depend on the settings.
    pub(crate) fn constant(self) -> Option<u64> {
        (self.powers == 0).then_some(self.factor)
    }

    /// Evaluates the extent for given quantities.
    pub(crate) fn value<N: Size>(self, quantities: &Quantities<N>) -> N {
        let mut value = N::from(self.factor);
        let mut powers = self.powers;
        while powers != 0 {
            let place = powers.trailing_zeros() / POWER_BITS;
            powers -= 1 << (place * POWER_BITS);
            value = value * quantities.0[place as usize];
        }
        value
    }
}

impl From<u64> for Extent {
    fn from(factor: u64) -> Extent {
        Extent { factor, powers: 0 }
    }
}

impl From<Quantity> for Extent {
    fn from(quantity: Quantity) -> Extent {
        Extent { factor: 1, powers: 1 << (quantity as u32 * POWER_BITS) }
    }
}

impl Mul for Extent {
    type Output = Extent;
    fn mul(self, other: Extent) -> Extent {
        let factor = self.factor * other.factor;
        // all extents that are zero compare equal
        if factor == 0 { Extent::ZERO } else { Extent { factor, powers: self.powers + other.powers } }
    }
}

impl Mul<u64> for Extent {
    type Output = Extent;
    fn mul(self, other: u64) -> Extent {
        self * Extent::from(other)
    }
}

impl Mul<Extent> for u64 {
    type Output = Extent;
    fn mul(self, other: Extent) -> Extent {
        other * self
    }
}

impl Div<u64> for Extent {
    type Output = Extent;
    /// Divides by a divisor of the factor.
    fn div(self, other: u64) -> Extent {
        debug_assert!(self.factor.is_multiple_of(other), "{self:?} / {other}");
        Extent { factor: self.factor / other, ..self }
    }
}

/// Quantities of one run, or of an interval of contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantities<N>([N; QUANTITIES]);

impl Quantities<u64> {
    /// Computes the quantities of a run.
    pub(crate) fn new(model: &Architecture, settings: &Settings) -> Quantities<u64> {
        let cells = Cells::new(model, settings);
        let sequences = settings.sequences.max(1);
        // all cells: there are as many streams as sequences, or one
        let micro_batch = settings.micro_batch().min(cells.full * cells.streams);
        // pooling reads the vectors of all tokens
        let kept = settings.n_outputs.filter(|_| model.pooling.is_none());
        let outputs = kept.unwrap_or(micro_batch).clamp(1, micro_batch.max(1));
        let each = micro_batch.div_ceil(sequences);
        let tokens = each * sequences;
        let (conv, inner, value_head) = match model.recurrent {
            Some(recurrent) => {
                (recurrent.conv, recurrent.inner, recurrent.inner.checked_div(recurrent.dt_rank))
            }
            None => (1, 0, None),
        };
        let (_, state_width) = state_widths(model);
        let mut values = [0; QUANTITIES];
        let mut set = |quantity: Quantity, value| values[quantity as usize] = value;
        set(Quantity::TokensEach, each);
        set(Quantity::Sequences, sequences);
        set(Quantity::Outputs, outputs);
        set(Quantity::Cells, cells.full);
        set(Quantity::SlidingCells, cells.sliding);
        set(Quantity::ConvolvedTokens, conv.saturating_sub(1) + each);
        set(Quantity::ScannedValues, inner * tokens + state_width * sequences);
        set(Quantity::DeltaRows, tokens + value_head.unwrap_or(0) * sequences);
        Quantities(values)
    }
}

impl<N: Size> Quantities<N> {
    /// Returns the quantities at the current number of cells.
    pub(crate) fn now(&self) -> Quantities<u64> {
        Quantities(self.0.map(Size::now))
    }
}

impl Quantities<Linear> {
    /// Creates the quantities of an interval of contexts from those of its first and second step.
    pub(crate) fn between(first: &Quantities<u64>, second: &Quantities<u64>) -> Quantities<Linear> {
        Quantities(std::array::from_fn(|place| Linear::between(first.0[place], second.0[place])))
    }

    /// Returns the quantities of the interval shifted by a number of steps.
    pub(crate) fn after(&self, steps: u64) -> Quantities<Linear> {
        Quantities(self.0.map(|line| line.after(steps)))
    }
}
