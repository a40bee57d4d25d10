//! Recurrent layers: Mamba 2, gated delta net, short convolution.
//!
//! Follows llama.cpp's `src/models/mamba-base.cpp`, `delta-net-base.cpp` and `lfm2.cpp`
//! (<https://github.com/ggml-org/llama.cpp>, commit 0c1e570).

use crate::architecture::Recurrent;
use crate::cache::state_widths;
use crate::compute::attention::Projections;
use crate::compute::builder::{Builder, NormKind};
use crate::compute::extent::{Extent, Quantity};
use crate::compute::tensor::{Operation, Resident, TensorId, shape};
use crate::names::Name;
use crate::quantization::TensorType;

/// Inputs of a gated delta net.
#[derive(Debug, Clone, Copy)]
struct DeltaInputs {
    mixed: TensorId,
    gate: TensorId,
    beta: TensorId,
    decay: TensorId,
}

impl Builder<'_> {
    fn widths(&self) -> Recurrent {
        self.model.recurrent.expect("a recurrent layer has its widths")
    }

    fn fresh_f32<const N: usize>(&mut self, dimensions: [Extent; N], sources: &[TensorId]) -> TensorId {
        self.graph.new_tensor(Operation::Other, TensorType::F32, shape(dimensions), sources)
    }

    /// Returns the values that one sequence stores for a recurrent layer: convolution and state.
    fn state_widths(&self) -> (Extent, Extent) {
        let (conv, state) = state_widths(self.model);
        (conv.into(), state.into())
    }

    /// Adds the cache of a layer's states, with `width` values per sequence.
    fn state_cache(&mut self, layer: u64, width: Extent) -> TensorId {
        let at = Resident::Cache(self.cache_device(layer));
        self.graph.resident(TensorType::F32, shape([width, self.sequences]), at)
    }

    /// Clears one state of the cache, as llama.cpp does before it reads them.
    fn clear_state(&mut self, cache: TensorId) -> TensorId {
        let [width, sequences, ..] = self.graph.shape(cache);
        let states = self.graph.reshape(cache, shape([width, sequences]));
        let zero = self.graph.view(states, shape([width]), [4 * width; 3]);
        let cleared = self.graph.write_into(zero, &[zero]);
        self.graph.expand(cleared);
        states
    }

    /// Reads the states of the micro-batch's sequences.
    fn read_states(&mut self, cache: TensorId) -> TensorId {
        let [width, ..] = self.graph.shape(cache);
        let states = self.clear_state(cache);
        let (main, _) = self.state_rows.expect("a model with recurrent layers has state rows");
        let picked = self.graph.get_rows(states, main);
        self.graph.expand(picked);
        self.keep_other_states(cache, states, width);
        picked
    }

    /// Moves the states of sequences outside the micro-batch; there are none when it is full.
    fn keep_other_states(&mut self, cache: TensorId, states: TensorId, width: Extent) {
        let (_, rest) = self.state_rows.expect("a model with recurrent layers has state rows");
        let moved = self.graph.get_rows(states, rest);
        let target = self.graph.view(cache, shape([width, Extent::ZERO]), [4 * width; 3]);
        let stored = self.graph.write_into(target, &[moved, target]);
        self.graph.expand(stored);
    }

    /// Writes `source` into the whole state cache.
    fn store_states(&mut self, source: TensorId, cache: TensorId) {
        let [width, sequences, ..] = self.graph.shape(cache);
        let target = self.graph.view(cache, shape([width, sequences]), [4 * width; 3]);
        let stored = self.graph.write_into(target, &[source, target]);
        self.graph.expand(stored);
    }

    /// Prepends the stored inputs of the convolution to those of the micro-batch, as `[conv - 1 + tokens,
    /// channels, sequences]`, and stores the last of them.
    fn convolution_input(&mut self, cache: TensorId, states: TensorId, x: TensorId) -> TensorId {
        let channels = self.graph.shape(x)[1];
        let sequences = self.sequences;
        let kept = Extent::from(self.widths().conv - 1);
        let before = self.graph.reshape(states, shape([kept, channels, sequences]));
        let joined = self.fresh_f32([Quantity::ConvolvedTokens.into(), channels, sequences], &[before, x]);
        let strides = self.graph.get(joined).strides;
        let last =
            self.graph.view(joined, shape([kept, channels, sequences]), [strides[1], strides[2], strides[3]]);
        self.store_states(last, cache);
        joined
    }

    /// Builds a Mamba 2 layer.
    pub(crate) fn mamba2(&mut self, layer: u64, x: TensorId) -> TensorId {
        let Recurrent { inner, state, dt_rank: heads, groups, .. } = self.widths();
        let (mixed_width, head, group) = (inner + 2 * groups * state, inner / heads, inner / groups);
        let [mixed_width, head, group] = [mixed_width, head, group].map(Extent::from);
        let [inner, state, heads, groups] = [inner, state, heads, groups].map(Extent::from);
        let (tokens, sequences) = (self.tokens_each, self.sequences);
        let (conv_width, state_width) = self.state_widths();
        let conv_cache = self.state_cache(layer, conv_width);
        let state_cache = self.state_cache(layer, state_width);
        let conv_states = self.read_states(conv_cache);
        let all = self.linear(layer, Name::StateIn, None, x);
        let row = 4 * self.graph.shape(all)[0];
        let all = self.graph.reshape(all, shape([row / 4, tokens, sequences]));
        let by_row = [row, row * tokens, row * tokens * sequences];
        let gate = self.graph.view(all, [head, heads, tokens, sequences], [4 * head, row, row * tokens]);
        let mixed = self.graph.view(all, shape([mixed_width, tokens, sequences]), by_row);
        let step = self.graph.view(all, shape([heads, tokens, sequences]), by_row);
        let transposed = self.graph.transpose(mixed);
        let joined = self.convolution_input(conv_cache, conv_states, transposed);
        let kernel = self.expect_weight(layer, Name::StateConv);
        let convolved = self.fresh_f32([mixed_width, tokens, sequences], &[joined, kernel]);
        let bias = self.expect_weight(layer, Name::StateConvBias);
        let biased = self.graph.in_place(&[convolved, bias]);
        let mixed = self.graph.in_place(&[biased]);
        let row = 4 * mixed_width;
        let part = |builder: &mut Self, width: Extent, count: Extent| {
            builder.graph.view(mixed, [width, count, tokens, sequences], [4 * width, row, row * tokens])
        };
        let (x, b, c) = (part(self, head, heads), part(self, state, groups), part(self, state, groups));
        let packed = self.graph.packed(step, shape([heads, tokens, sequences]));
        let step_bias = self.expect_weight(layer, Name::StateStep);
        let step = self.graph.in_place(&[packed, step_bias]);
        let decay = self.expect_weight(layer, Name::StateDecay);
        let states = self.clear_state(state_cache);
        let (main, _) = self.state_rows.expect("a model with recurrent layers has state rows");
        let by_head = self.graph.reshape(states, [state, head, heads, sequences]);
        let scanned =
            self.fresh_f32([Quantity::ScannedValues.into()], &[by_head, x, step, decay, b, c, main]);
        self.graph.expand(scanned);
        self.keep_other_states(state_cache, states, state_width);
        let new_states = self.graph.view(scanned, shape([state_width * sequences]), [Extent::ZERO; 3]);
        self.store_states(new_states, state_cache);
        let y = self.graph.view(
            scanned,
            [head, heads, tokens, sequences],
            [4 * head, 4 * inner, 4 * inner * tokens],
        );
        let skip = self.expect_weight(layer, Name::StateSkip);
        let skipped = self.graph.in_place(&[x, skip]);
        let y = self.graph.in_place(&[y, skipped]);
        let gate = self.graph.packed(gate, [head, heads, tokens, sequences]);
        let gated = self.graph.fresh(&[gate, y]);
        let grouped = self.graph.reshape(gated, [group, groups, tokens, sequences]);
        let normed = self.norm(grouped, NormKind::Rms, layer, Name::StateNorm);
        let flat = self.graph.reshape(normed, shape([inner, self.tokens]));
        self.linear(layer, Name::StateOut, None, flat)
    }

    /// Builds a short-convolution layer of LFM2.
    pub(crate) fn short_convolution(&mut self, layer: u64, x: TensorId) -> TensorId {
        let hidden = Extent::from(self.model.hidden);
        let (tokens, sequences) = (self.tokens_each, self.sequences);
        let x = self.graph.reshape(x, shape([hidden, tokens, sequences]));
        let all = self.linear(layer, Name::StateIn, None, x);
        let row = 12 * hidden;
        let third = |builder: &mut Self| {
            let part = shape([hidden, tokens, sequences]);
            builder.graph.view(all, part, [row, row * tokens, row * tokens * sequences])
        };
        let (b, c, x) = (third(self), third(self), third(self));
        let product = self.graph.in_place(&[b, x]);
        let transposed = self.graph.transpose(product);
        let (conv_width, _) = self.state_widths();
        let cache = self.state_cache(layer, conv_width);
        let states = self.read_states(cache);
        let joined = self.convolution_input(cache, states, transposed);
        let kernel = self.expect_weight(layer, Name::StateConv);
        let convolved = self.fresh_f32([hidden, tokens, sequences], &[joined, kernel]);
        let gated = self.graph.in_place(&[c, convolved]);
        let out = self.linear(layer, Name::StateOut, None, gated);
        self.graph.reshape(out, shape([hidden, self.tokens]))
    }

    /// Builds a gated-delta-net layer.
    pub(crate) fn delta_net(&mut self, layer: u64, x: TensorId, joint: bool) -> TensorId {
        let Recurrent { inner, state, dt_rank: heads, groups, .. } = self.widths();
        let (channels, value_head) = (inner + 2 * groups * state, inner / heads);
        let [channels, value_head] = [channels, value_head].map(Extent::from);
        let [inner, state, heads, groups] = [inner, state, heads, groups].map(Extent::from);
        let (tokens, sequences) = (self.tokens_each, self.sequences);
        let inputs = self.delta_inputs(layer, x, joint);
        let (conv_width, state_width) = self.state_widths();
        let conv_cache = self.state_cache(layer, conv_width);
        let state_cache = self.state_cache(layer, state_width);
        let conv_states = self.read_states(conv_cache);
        let transposed = self.graph.transpose(inputs.mixed);
        let joined = self.convolution_input(conv_cache, conv_states, transposed);
        let read = self.read_states(state_cache);
        let states = self.graph.reshape(read, [value_head, value_head, heads, sequences]);
        let kernel = self.expect_weight(layer, Name::StateConv);
        let convolved = self.fresh_f32([channels, tokens, sequences], &[joined, kernel]);
        let mixed = self.graph.in_place(&[convolved]);
        let row = 4 * channels;
        let part = |builder: &mut Self, width: Extent, count: Extent| {
            builder.graph.view(mixed, [width, count, tokens, sequences], [4 * width, row, row * tokens])
        };
        let parts = Projections {
            query: part(self, state, groups),
            key: part(self, state, groups),
            value: part(self, value_head, heads),
        };
        let query = self.delta_norm(parts.query, joint);
        let key = self.delta_norm(parts.key, joint);
        let sources = [query, key, parts.value, inputs.decay, inputs.beta, states];
        let computed = self.fresh_f32([inner, Quantity::DeltaRows.into()], &sources);
        let out = self.graph.view(
            computed,
            [value_head, heads, tokens, sequences],
            [4 * value_head, 4 * inner, 4 * inner * tokens],
        );
        let new_states = self.graph.view(computed, shape([state_width, sequences]), [4 * state_width; 3]);
        self.store_states(new_states, state_cache);
        let gate = self.graph.reshape(inputs.gate, [value_head, heads, tokens, sequences]);
        let normed = self.norm(out, NormKind::Rms, layer, Name::StateNorm);
        let opened = self.graph.in_place(&[gate]);
        let gated = self.graph.in_place(&[normed, opened]);
        let flat = self.graph.reshape(gated, shape([inner, tokens, sequences]));
        let out = self.linear(layer, Name::StateOut, None, flat);
        self.graph.reshape(out, shape([self.model.hidden.into(), self.tokens]))
    }

    /// Normalizes Q or K, and with a joint projection repeats them to the number of value heads.
    fn delta_norm(&mut self, x: TensorId, joint: bool) -> TensorId {
        let Recurrent { dt_rank: heads, groups, .. } = self.widths();
        let normed = self.graph.fresh(&[x]);
        if !joint || groups == heads {
            return normed;
        }
        let [width, by_group, tokens, sequences] = self.graph.shape(normed);
        let spread = self.graph.reshape(normed, [width, Extent::ONE, by_group, tokens * sequences]);
        let each = Extent::from(heads / groups);
        let repeated = self.fresh_f32([width, each, by_group, tokens * sequences], &[spread]);
        self.graph.reshape(repeated, [width, heads.into(), tokens, sequences])
    }

    fn delta_inputs(&mut self, layer: u64, x: TensorId, joint: bool) -> DeltaInputs {
        let heads = Extent::from(self.widths().dt_rank);
        let (tokens, sequences) = (self.tokens_each, self.sequences);
        let mixed = self.linear(layer, Name::Qkv, None, x);
        let width = self.graph.shape(mixed)[0];
        let mixed = self.graph.reshape(mixed, shape([width, tokens, sequences]));
        let gate = self.linear(layer, Name::StateGate, None, x);
        let by_head = [Extent::ONE, heads, tokens, sequences];
        let (beta, alpha) = if joint {
            self.split_beta_alpha(layer, x)
        } else {
            let beta = self.linear(layer, Name::StateBeta, None, x);
            let beta = self.graph.reshape(beta, by_head);
            let beta = self.graph.in_place(&[beta]);
            let alpha = self.linear(layer, Name::StateAlpha, None, x);
            (beta, self.graph.reshape(alpha, shape([heads, tokens, sequences])))
        };
        let step = self.expect_weight(layer, Name::StateStep);
        let decay_weight = self.expect_weight(layer, Name::StateDecay);
        let biased = self.graph.in_place(&[alpha, step]);
        let soft = self.graph.in_place(&[biased]);
        let decay = self.graph.in_place(&[soft, decay_weight]);
        let decay = self.graph.reshape(decay, by_head);
        DeltaInputs { mixed, gate, beta, decay }
    }

    /// Computes beta and alpha from their joint projection.
    fn split_beta_alpha(&mut self, layer: u64, x: TensorId) -> (TensorId, TensorId) {
        let Recurrent { dt_rank: heads, groups, .. } = self.widths();
        let (tokens, sequences) = (self.tokens_each, self.sequences);
        let both = self.linear(layer, Name::StateBetaAlpha, None, x);
        let each = Extent::from(heads / groups);
        let (heads, groups) = (Extent::from(heads), Extent::from(groups));
        let both = self.graph.reshape(both, [2 * each, groups, tokens, sequences]);
        let strides = self.graph.get(both).strides;
        let steps = [strides[1], strides[2], strides[3]];
        let beta = self.graph.view(both, [each, groups, tokens, sequences], steps);
        let alpha = self.graph.view(both, [each, groups, tokens, sequences], steps);
        let beta = self.graph.packed(beta, [each, groups, tokens, sequences]);
        let beta = self.graph.in_place(&[beta]);
        let alpha = self.graph.packed(alpha, shape([heads, tokens, sequences]));
        (self.graph.reshape(beta, [Extent::ONE, heads, tokens, sequences]), alpha)
    }
}
