//! Builds the whole graph, layer by layer.

use crate::architecture::{FeedForward, LayerKind};
use crate::compute::builder::{Builder, NormKind};
use crate::compute::tensor::TensorId;
use crate::family::{LayerForm, OutputRows, Recurrence, SharedGate};
use crate::names::Name;

impl Builder<'_> {
    /// Builds the graph of the model with only these layers; they include the last one.
    pub(crate) fn build(&mut self, layers: &[u64]) {
        let family = self.model.family;
        let mut x = self.embedding();
        if family.scales_embedding {
            x = self.graph.in_place(&[x]);
            self.graph.expand(x);
        }
        self.add_inputs();
        if let Some(before_layers) = family.before_layers {
            x = before_layers(self, x);
        }
        let last = self.model.layers.len() as u64 - 1;
        for layer in layers {
            self.graph.mark_boundary();
            x = self.layer(*layer, x, *layer == last);
            x = self.add_stacked_embedding(*layer, x);
        }
        self.graph.mark_boundary();
        x = match self.output_rows() {
            OutputRows::BeforeNorm => {
                self.graph.mark_output(x);
                let kept = self.keep_outputs(x);
                self.output_norm(kept, family.norm)
            }
            OutputRows::AfterNorm => {
                let normed = self.output_norm(x, family.norm);
                self.graph.mark_output(normed);
                self.keep_outputs(normed)
            }
            OutputRows::InLastLayer if family.layer_form == LayerForm::NormedSums => x,
            OutputRows::InLastLayer => self.output_norm(x, family.norm),
        };
        self.graph.mark_output(x);
        if !family.is_encoder {
            self.finish_logits(x);
        }
        self.graph.expand(x);
        if let Some(pooling) = self.model.pooling {
            self.pool(x, pooling);
        }
    }

    fn finish_logits(&mut self, x: TensorId) {
        let mut logits = self.logits(x);
        for _ in 0..self.model.family.logit_steps {
            logits = self.graph.in_place(&[logits]);
        }
        self.graph.mark_output(logits);
        self.graph.expand(logits);
    }

    fn add_inputs(&mut self) {
        self.add_positions(self.model.family.positions);
        if self.model.family.query_scale {
            self.add_query_scale();
        }
        self.add_attention_inputs();
        if self.model.has(LayerKind::Recurrent) {
            self.add_state_inputs();
        }
    }

    /// Returns where tokens without logits are dropped.
    fn output_rows(&self) -> OutputRows {
        match self.settings.build.keeps_hidden_states() {
            true => self.model.family.output_rows,
            false => OutputRows::InLastLayer,
        }
    }

    /// Returns whether tokens without logits are dropped in this layer.
    fn drops_rows(&self, is_last: bool) -> bool {
        is_last && self.output_rows() == OutputRows::InLastLayer
    }

    fn layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        match self.model.family.layer_form {
            LayerForm::TwoParts => self.two_part_layer(layer, x, is_last),
            LayerForm::NormedSums => self.normed_sums_layer(layer, x, is_last),
            LayerForm::Parallel { parts_first } => self.parallel_layer(layer, x, is_last, parts_first),
            LayerForm::OnePart => self.one_part_layer(layer, x, is_last),
        }
    }

    /// Builds attention, then feed-forward, each added to the residual stream.
    fn two_part_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let family = self.model.family;
        let kind = family.norm;
        let mut stream = x;
        let mut y = self.norm_if_any(layer, Name::AttentionNorm, kind, x);
        if matches!(family.recurrence, Recurrence::DeltaNet { .. }) {
            self.graph.expand(y);
        }
        y = self.mixer(layer, y);
        if self.drops_rows(is_last) {
            y = self.keep_outputs(y);
            stream = self.keep_outputs(stream);
        }
        y = self.norm_if_any(layer, Name::AttentionPostNorm, kind, y);
        if family.scales_residual {
            y = self.graph.in_place(&[y]);
        }
        let [after_attention, after_feed_forward] = family.stream_first;
        let pair = if after_attention { [stream, y] } else { [y, stream] };
        let middle = self.graph.in_place(&pair);
        let mut z = self.feed_forward(layer, middle);
        z = self.norm_if_any(layer, Name::FfnPostNorm, kind, z);
        if family.scales_residual {
            z = self.graph.in_place(&[z]);
        }
        let pair = if after_feed_forward { [middle, z] } else { [z, middle] };
        let mut out = self.graph.in_place(&pair);
        if let Some(after_feed_forward) = family.after_feed_forward {
            out = after_feed_forward(self, layer, out);
        }
        match self.layer_weight(layer, Name::LayerScale) {
            Some(scale) => self.graph.in_place(&[out, scale]),
            None => out,
        }
    }

    /// Builds attention, then feed-forward, each normalized after its sum with the residual stream.
    fn normed_sums_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let kind = self.model.family.norm;
        let (mut y, mut stream) = (self.mixer(layer, x), x);
        if is_last {
            y = self.keep_outputs(y);
            stream = self.keep_outputs(stream);
        }
        let sum = self.graph.in_place(&[y, stream]);
        let middle = self.norm(sum, kind, layer, Name::AttentionNorm);
        let fed = self.dense(layer, middle);
        let sum = self.graph.in_place(&[fed, middle]);
        self.norm(sum, kind, layer, Name::FfnNorm)
    }

    /// Builds attention and feed-forward in parallel.
    fn parallel_layer(&mut self, layer: u64, x: TensorId, is_last: bool, parts_first: bool) -> TensorId {
        let normed = self.norm(x, self.model.family.norm, layer, Name::AttentionNorm);
        let mut attended = self.mixer(layer, normed);
        let (mut stream, mut inner) = (x, normed);
        if is_last {
            attended = self.keep_outputs(attended);
            stream = self.keep_outputs(stream);
            inner = self.keep_outputs(inner);
        }
        let fed = self.dense(layer, inner);
        if parts_first {
            let sum = self.graph.in_place(&[attended, fed]);
            return self.graph.in_place(&[sum, stream]);
        }
        let sum = self.graph.in_place(&[fed, stream]);
        self.graph.in_place(&[sum, attended])
    }

    /// Builds either a mixer or a feed-forward network.
    fn one_part_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let normed = self.norm(x, self.model.family.norm, layer, Name::AttentionNorm);
        let mut y = match self.model.layers[layer as usize].feed_forward {
            FeedForward::Experts => self.routed_and_shared(layer, normed),
            FeedForward::Dense(_) => self.dense(layer, normed),
            FeedForward::None => self.mixer(layer, normed),
        };
        let mut stream = x;
        if self.drops_rows(is_last) {
            y = self.keep_outputs(y);
            stream = self.keep_outputs(stream);
        }
        self.graph.in_place(&[y, stream])
    }

    pub(crate) fn norm_if_any(&mut self, layer: u64, name: Name, kind: NormKind, x: TensorId) -> TensorId {
        match self.layer_weight(layer, name) {
            Some(_) => self.norm(x, kind, layer, name),
            None => x,
        }
    }

    fn feed_forward(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        if let Some(experts) = family.experts
            && self.has_experts(layer)
        {
            return experts(self, layer, x);
        }
        let normed = self.norm_if_any(layer, Name::FfnNorm, family.norm, x);
        match self.model.layers[layer as usize].feed_forward {
            FeedForward::Experts => self.routed_and_shared(layer, normed),
            _ => self.dense(layer, normed),
        }
    }

    fn routed_and_shared(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        let shared = self.layer_weight(layer, Name::SharedUp).is_some();
        if family.shared_first && shared {
            let shared = self.shared_experts(layer, x);
            let routed = self.routed_experts(layer, x, None);
            return self.graph.in_place(&[routed, shared]);
        }
        let routed = match self.layer_weight(layer, Name::ExpertsLatentDown) {
            Some(_) => self.latent_experts(layer, x),
            None => self.routed_experts(layer, x, None),
        };
        if !shared {
            return routed;
        }
        let out = match family.shared_gate {
            SharedGate::None => self.shared_experts(layer, x),
            SharedGate::Before => {
                let (logit, opened) = self.shared_gate(layer, x);
                let gate = self.graph.in_place(&[opened, logit]);
                let out = self.shared_experts(layer, x);
                self.graph.in_place(&[out, gate])
            }
            SharedGate::After => {
                let out = self.shared_experts(layer, x);
                let (_, gate) = self.shared_gate(layer, x);
                self.graph.in_place(&[out, gate])
            }
        };
        self.graph.in_place(&[routed, out])
    }

    /// Computes the gate of the shared experts: the logit of each token and its activation.
    fn shared_gate(&mut self, layer: u64, x: TensorId) -> (TensorId, TensorId) {
        let logit = self.linear(layer, Name::SharedRouter, None, x);
        (logit, self.graph.in_place(&[logit]))
    }
}
