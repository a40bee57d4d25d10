//! Feed-forward networks: dense, routed experts, shared experts.

use std::ops::RangeInclusive;

use crate::compute::builder::Builder;
use crate::compute::extent::Extent;
use crate::compute::tensor::{FusedNodes, Operation, TensorId, shape};
use crate::names::Name;
use crate::quantization::TensorType;

/// Numbers of used experts for which CUDA weights and sums the results in one kernel, so that they must not
/// be overwritten before the sum (ggml's `src/ggml-cuda/ggml-cuda.cu`,
/// `ggml_cuda_match_moe_weighted_reduction`).
const FUSED_EXPERTS: RangeInclusive<u64> = 2..=15;

/// How router logits become routing weights, here called shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gating {
    /// Softmax over all experts.
    Softmax,
    /// Softmax over the selected experts.
    SoftmaxOfChosen,
    /// Sigmoid of each logit.
    Sigmoid,
}

impl Builder<'_> {
    /// Builds the dense network of a layer.
    pub(crate) fn dense(&mut self, layer: u64, x: TensorId) -> TensorId {
        let up = self.linear(layer, Name::FfnUp, Some(Name::FfnUpBias), x);
        let hidden = if self.layer_weight(layer, Name::FfnGate).is_some() {
            let gate = self.linear(layer, Name::FfnGate, None, x);
            self.gated(gate, up)
        } else if self.model.fused_gate_up {
            let [width, tokens, ..] = self.graph.shape(up);
            let half = shape([width / 2, tokens]);
            if self.settings.build.has_fused_gates() {
                self.graph.new_tensor(Operation::Other, TensorType::F32, half, &[up])
            } else {
                let stride = self.graph.get(up).strides[1];
                let mut part = || {
                    let view = self.graph.view(up, half, [stride, stride * tokens, stride * tokens]);
                    self.graph.packed(view, half)
                };
                let (gate, up) = (part(), part());
                self.gated(gate, up)
            }
        } else if self.model.family.squared_relu {
            let rectified = self.graph.in_place(&[up]);
            self.graph.in_place(&[rectified])
        } else {
            self.graph.in_place(&[up])
        };
        self.linear(layer, Name::FfnDown, Some(Name::FfnDownBias), hidden)
    }

    /// Multiplies the activated gate by the other half.
    fn gated(&mut self, gate: TensorId, up: TensorId) -> TensorId {
        if self.settings.build.has_fused_gates() {
            return self.graph.fresh(&[gate, up]);
        }
        let activated = self.graph.in_place(&[gate]);
        self.graph.in_place(&[activated, up])
    }

    /// Builds the shared experts of a layer, with their gate if the family has one.
    pub(crate) fn shared_experts(&mut self, layer: u64, x: TensorId) -> TensorId {
        let up = self.linear(layer, Name::SharedUp, None, x);
        let hidden = if self.layer_weight(layer, Name::SharedGate).is_some() {
            let gate = self.linear(layer, Name::SharedGate, None, x);
            self.gated(gate, up)
        } else {
            let rectified = self.graph.in_place(&[up]);
            self.graph.in_place(&[rectified])
        };
        self.linear(layer, Name::SharedDown, None, hidden)
    }

    /// Builds the routed experts of a layer. `logits` is given if the family computes the router's logits
    /// itself.
    pub(crate) fn routed_experts(&mut self, layer: u64, x: TensorId, logits: Option<TensorId>) -> TensorId {
        let (family, gating) = (self.model.family, self.gating());
        let experts = self.model.experts.expect("a layer with experts has their numbers");
        let [hidden, tokens, ..] = self.graph.shape(x);
        let used = Extent::from(experts.used);
        let logits = match logits {
            Some(logits) => logits,
            None => self.linear(layer, Name::Router, Some(Name::RouterInputBias), x),
        };
        let (chosen, mut shares) = self.choose(layer, logits, gating, used);
        if gating == Gating::SoftmaxOfChosen {
            let flat = self.graph.reshape(shares, shape([used, tokens]));
            let soft = self.graph.in_place(&[flat]);
            shares = self.graph.reshape(soft, shape([Extent::ONE, used, tokens]));
        }
        if family.normalizes_shares {
            shares = self.normalized(shares, used, tokens);
        }
        if family.scales_shares {
            shares = self.graph.in_place(&[shares]);
        }
        self.graph.expand(shares);
        let mut x = self.graph.reshape(x, shape([hidden, Extent::ONE, tokens]));
        if family.shares_before {
            let repeated =
                self.graph.new_tensor(Operation::Other, TensorType::F32, shape([hidden, used, tokens]), &[x]);
            x = self.graph.in_place(&[repeated, shares]);
        }
        let inner = self.expert_inner(layer, x, chosen);
        let mut out = self.chosen_linear(layer, Name::ExpertsDown, Name::ExpertsDownBias, inner, chosen);
        if let Some(scale) = self.layer_weight(layer, Name::ExpertsDownScale) {
            out = self.scaled_by_expert(out, scale, chosen, experts.count.into());
        }
        if family.shares_before {
            self.graph.expand(out);
            return self.sum_of_experts(out, experts.used);
        }
        let weighted = self.graph.in_place(&[out, shares]);
        self.graph.expand(weighted);
        let sum = self.sum_of_experts(weighted, experts.used);
        if FUSED_EXPERTS.contains(&experts.used) && self.settings.build.keeps_expert_results() {
            self.graph.fused.push(FusedNodes { tensors: [out, shares], from: weighted, until: sum });
        }
        sum
    }

    /// Builds routed experts that read a projection of the hidden state.
    pub(crate) fn latent_experts(&mut self, layer: u64, x: TensorId) -> TensorId {
        let down = self.linear(layer, Name::ExpertsLatentDown, None, x);
        let logits = self.linear(layer, Name::Router, None, x);
        let routed = self.routed_experts(layer, down, Some(logits));
        self.linear(layer, Name::ExpertsLatentUp, None, routed)
    }

    fn gating(&self) -> Gating {
        let bias = self.model.experts.is_some_and(|experts| experts.router_bias);
        self.model.family.gating.unwrap_or(if bias { Gating::Sigmoid } else { Gating::Softmax })
    }

    /// Returns the selected experts and their shares before normalization.
    fn choose(&mut self, layer: u64, logits: TensorId, gating: Gating, used: Extent) -> (TensorId, TensorId) {
        let [count, tokens, ..] = self.graph.shape(logits);
        let shares = match gating {
            Gating::SoftmaxOfChosen => logits,
            Gating::Softmax | Gating::Sigmoid => self.graph.in_place(&[logits]),
        };
        let mut ranking = match self.layer_weight(layer, Name::RouterBias) {
            Some(bias) => self.graph.in_place(&[shares, bias]),
            None => shares,
        };
        if self.model.family.shares_before {
            ranking = logits;
        }
        let sorted =
            self.graph.new_tensor(Operation::Other, TensorType::I32, shape([count, tokens]), &[ranking]);
        let row = 4 * count;
        let chosen = self.graph.view(sorted, shape([used, tokens]), [row, row * tokens, row * tokens]);
        let column = self.graph.reshape(shares, shape([Extent::ONE, count, tokens]));
        let picked = self.graph.get_rows(column, chosen);
        (chosen, picked)
    }

    fn normalized(&mut self, shares: TensorId, used: Extent, tokens: Extent) -> TensorId {
        let flat = self.graph.reshape(shares, shape([used, tokens]));
        let sum =
            self.graph.new_tensor(Operation::Other, TensorType::F32, shape([Extent::ONE, tokens]), &[flat]);
        // ggml clamps in place
        let clamped = self.graph.write_into(sum, &[sum]);
        let divided = self.graph.in_place(&[flat, clamped]);
        self.graph.reshape(divided, shape([Extent::ONE, used, tokens]))
    }

    fn chosen_linear(
        &mut self,
        layer: u64,
        name: Name,
        bias: Name,
        x: TensorId,
        chosen: TensorId,
    ) -> TensorId {
        let weights = self.expect_weight(layer, name);
        let product = self.graph.mul_mat_id(weights, x, chosen);
        match self.layer_weight(layer, bias) {
            Some(bias) => self.graph.in_place(&[product, bias, chosen]),
            None => product,
        }
    }

    fn expert_inner(&mut self, layer: u64, x: TensorId, chosen: TensorId) -> TensorId {
        if self.layer_weight(layer, Name::ExpertsGateUp).is_some() {
            let both = self.chosen_linear(layer, Name::ExpertsGateUp, Name::ExpertsUpBias, x, chosen);
            let [width, used, tokens, _] = self.graph.shape(both);
            let strides = self.graph.get(both).strides;
            let half = shape([width / 2, used, tokens]);
            let steps = [strides[1], strides[2], strides[2] * tokens];
            let gate = self.graph.view(both, half, steps);
            let up = self.graph.view(both, half, steps);
            return self.gated(gate, up);
        }
        let up = self.chosen_linear(layer, Name::ExpertsUp, Name::ExpertsUpBias, x, chosen);
        if self.model.family.squared_relu {
            let rectified = self.graph.in_place(&[up]);
            return self.graph.in_place(&[rectified]);
        }
        let gate = self.chosen_linear(layer, Name::ExpertsGate, Name::ExpertsGateBias, x, chosen);
        self.gated(gate, up)
    }

    /// Multiplies each expert's result by the scale of that expert.
    fn scaled_by_expert(
        &mut self,
        out: TensorId,
        scale: TensorId,
        chosen: TensorId,
        count: Extent,
    ) -> TensorId {
        let tokens = self.graph.shape(out)[2];
        let column = self.graph.reshape(scale, shape([Extent::ONE, count]));
        let repeated = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            shape([Extent::ONE, count, tokens]),
            &[column],
        );
        let picked = self.graph.get_rows(repeated, chosen);
        self.graph.in_place(&[out, picked])
    }

    fn sum_of_experts(&mut self, out: TensorId, used: u64) -> TensorId {
        let [hidden, _, tokens, _] = self.graph.shape(out);
        let stride = self.graph.get(out).strides[2];
        let views: Vec<TensorId> = (0..used)
            .map(|_| {
                let part = shape([hidden, tokens]);
                let view = self.graph.view(out, part, [stride, stride * tokens, stride * tokens]);
                self.graph.expand(view);
                view
            })
            .collect();
        let mut sum = views[0];
        for view in &views[1..] {
            sum = self.graph.in_place(&[sum, *view]);
            self.graph.expand(sum);
        }
        if used == 1 { self.graph.packed(sum, shape([hidden, tokens])) } else { sum }
    }
}
