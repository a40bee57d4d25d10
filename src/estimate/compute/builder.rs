//! The pieces that every model's graph is made of: weights, norms, embedding, output.
//!
//! Follows llama.cpp's `src/llama-graph.cpp` (<https://github.com/ggml-org/llama.cpp>,
//! commit 0c1e570) node by node, in its order.

use std::collections::BTreeMap;

use crate::estimate::architecture::{Architecture, LayerKind, RopeFactors};
use crate::estimate::cache::Cells;
use crate::estimate::compute::graph::{Graph, Operation, Resident, TensorId, shape};
use crate::estimate::family::Family;
use crate::estimate::names::{Home, Name};
use crate::estimate::placement::{Device, Placement};
use crate::estimate::quantization::TensorType;
use crate::estimate::settings::{CacheLayout, CachePlacement, FlashAttention, Settings};
use crate::estimate::weights::Weights;

/// In micro-batches of fewer tokens llama.cpp keeps norms on the device of their layer
/// (`llama_context::graph_get_cb`).
const PINNED_BELOW: u64 = 32;

/// How a norm is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormKind {
    /// Root mean square; may overwrite its source.
    Rms,
    /// Mean and variance; may not.
    Layer,
}

/// Inputs of one kind of attention.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttentionInputs {
    pub(crate) key_rows: TensorId,
    pub(crate) value_rows: Option<TensorId>,
    pub(crate) mask: TensorId,
    /// Rotation of quantized keys, and of quantized values.
    pub(crate) key_rotation: Option<TensorId>,
    pub(crate) value_rotation: Option<TensorId>,
}

/// What the graph is built from, and the graph so far.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) graph: Graph,
    pub(crate) model: &'a Architecture,
    pub(crate) settings: &'a Settings,
    pub(crate) placement: &'a Placement,
    pub(crate) cells: Cells,
    /// Tokens of a micro-batch.
    pub(crate) tokens: u64,
    /// Sequences of a micro-batch.
    pub(crate) sequences: u64,
    pub(crate) positions: Option<TensorId>,
    pub(crate) output_rows: TensorId,
    /// Llama 4's scale of queries, token by token.
    pub(crate) query_scale: Option<TensorId>,
    pub(crate) full: Option<AttentionInputs>,
    pub(crate) sliding: Option<AttentionInputs>,
    /// Rows of the micro-batch's recurrent states, and of those outside it.
    pub(crate) state_rows: Option<(TensorId, TensorId)>,
    weights: &'a Weights,
    loaded: BTreeMap<(Home, Name), TensorId>,
    /// Rotary frequency factors, one tensor a device.
    factors: BTreeMap<Device, TensorId>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        model: &'a Architecture,
        settings: &'a Settings,
        placement: &'a Placement,
        weights: &'a Weights,
    ) -> Builder<'a> {
        let cells = Cells::new(model, settings);
        let sequences = settings.sequences.max(1);
        let whole = cells.full * if cells.streams > 1 { sequences } else { 1 };
        let micro_batch = settings.micro_batch().min(whole);
        let outputs = settings.n_outputs.unwrap_or(micro_batch).clamp(1, micro_batch);
        let mut graph = Graph::default();
        let output_rows = graph.input(TensorType::I32, shape([outputs]));
        Builder {
            graph,
            model,
            settings,
            placement,
            cells,
            tokens: micro_batch.next_multiple_of(sequences),
            sequences,
            positions: None,
            output_rows,
            query_scale: None,
            full: None,
            sliding: None,
            state_rows: None,
            weights,
            loaded: BTreeMap::new(),
            factors: BTreeMap::new(),
        }
    }

    /// A weight of a layer, where the model has it.
    pub(crate) fn layer_weight(&mut self, layer: u64, name: Name) -> Option<TensorId> {
        self.weight(Home::Layer(layer), name).or_else(|| self.weight(Home::Experts(layer), name))
    }

    /// A weight that the layer has in every model of the family.
    pub(crate) fn expect_weight(&mut self, layer: u64, name: Name) -> TensorId {
        self.layer_weight(layer, name).expect("the family's tensor list holds what its graph uses")
    }

    fn weight(&mut self, home: Home, name: Name) -> Option<TensorId> {
        if let Some(id) = self.loaded.get(&(home, name)) {
            return Some(*id);
        }
        let (tensor, kind) = self.weights.find(home, name)?;
        let device = self.placement.devices(home).first().copied().unwrap_or(Device::Host);
        let dimensions = [tensor.columns, tensor.rows, tensor.matrices, 1];
        let id = self.graph.resident(kind, dimensions, Resident::Weight(device));
        self.loaded.insert((home, name), id);
        Some(id)
    }

    /// Tokens to vectors.
    pub(crate) fn embedding(&mut self) -> TensorId {
        let hidden = self.model.hidden;
        let tokens = self.graph.input(TensorType::I32, shape([self.tokens]));
        let vectors = self.graph.input(TensorType::F32, shape([hidden, self.tokens]));
        let table =
            self.weight(Home::Input, Name::TokenEmbedding).expect("every model has a token embedding");
        let rows = self.graph.get_rows(table, tokens);
        self.graph.expand(rows);
        // a batch may hold vectors instead of tokens: their place is always there
        self.graph.expand(vectors);
        rows
    }

    /// Positions of the tokens, `per_token` numbers each.
    pub(crate) fn add_positions(&mut self, per_token: u64) {
        self.positions = Some(self.graph.input(TensorType::I32, shape([self.tokens * per_token])));
    }

    /// A number by which each token's query is scaled.
    pub(crate) fn add_query_scale(&mut self) {
        self.query_scale = Some(self.graph.input(TensorType::F32, [1, 1, self.tokens, 1]));
    }

    /// Inputs of the attention layers, as many kinds as the model has.
    pub(crate) fn add_attention_inputs(&mut self) {
        let cells = self.cells;
        if self.model.has(LayerKind::Full)
            || self.model.has(LayerKind::Latent)
            || self.model.has(LayerKind::Sliding)
        {
            self.full = Some(self.attention_inputs(cells.full, LayerKind::Full));
        }
        if self.model.has(LayerKind::Sliding) {
            self.sliding = Some(self.attention_inputs(cells.sliding, LayerKind::Sliding));
        }
    }

    fn attention_inputs(&mut self, cells: u64, kind: LayerKind) -> AttentionInputs {
        let (tokens, streams) = (self.tokens, self.cells.streams);
        let flash = self.settings.flash_attention == FlashAttention::On;
        let latent = self.model.has(LayerKind::Latent);
        let value_count = if flash { tokens } else { tokens * self.model.widest_value_row() };
        let mask_kind = if flash { TensorType::F16 } else { TensorType::F32 };
        let graph = &mut self.graph;
        let key_rows = graph.input(TensorType::I64, shape([tokens]));
        let value_rows = (!latent).then(|| graph.input(TensorType::I64, shape([value_count])));
        let mask = graph.input(mask_kind, [cells, tokens / streams, 1, streams]);
        let key_type = self.settings.cache_type_k.tensor_type();
        let value_type = self.settings.cache_type_v.tensor_type();
        let width = self.rotated_width(kind);
        let square = |graph: &mut Graph, side: u64| graph.input(TensorType::F32, shape([side, side]));
        let key_rotation = (key_type.is_quantized() && !latent)
            .then_some(width)
            .flatten()
            .map(|width| 1 << width.trailing_zeros())
            .map(|side| square(&mut self.graph, side));
        let value_rotation = (value_type.is_quantized() && !latent)
            .then_some(width)
            .flatten()
            .map(|_| square(&mut self.graph, 64));
        AttentionInputs { key_rows, value_rows, mask, key_rotation, value_rotation }
    }

    /// The head width by which quantized caches are rotated: that of the layers of the
    /// kind where all agree and 64 divides it.
    fn rotated_width(&self, kind: LayerKind) -> Option<u64> {
        let mut widths =
            self.model.layers.iter().filter(|layer| layer.kind == kind).map(|layer| layer.head_dim);
        let first = widths.next()?;
        (widths.all(|width| width == first) && first % 64 == 0).then_some(first)
    }

    /// The rows of the recurrent states that a micro-batch uses, and those of the others:
    /// none, since it uses all.
    pub(crate) fn add_state_inputs(&mut self) {
        let sequences = self.sequences;
        let rows = self.graph.input(TensorType::I32, shape([sequences]));
        let used = self.graph.view(rows, shape([sequences]), [4 * sequences; 3]);
        let others = self.graph.view(rows, shape([0]), [0; 3]);
        self.state_rows = Some((used, others));
    }

    /// A norm with its weight, and a bias where the model has one.
    pub(crate) fn norm(&mut self, x: TensorId, kind: NormKind, layer: u64, name: Name) -> TensorId {
        let weight = self.layer_weight(layer, name);
        let bias = match name {
            Name::AttentionNorm => self.layer_weight(layer, Name::AttentionNormBias),
            Name::FfnNorm => self.layer_weight(layer, Name::FfnNormBias),
            _ => None,
        };
        let normed = self.bare_norm(x, kind);
        if weight.is_some() && self.tokens < PINNED_BELOW {
            self.graph.tensors[normed].fixed = Some(self.placement.layer(layer));
        }
        self.scale_and_shift(normed, weight, bias)
    }

    /// A norm without weight.
    pub(crate) fn bare_norm(&mut self, x: TensorId, kind: NormKind) -> TensorId {
        match kind {
            NormKind::Rms => self.graph.in_place(&[x]),
            NormKind::Layer => self.graph.fresh(&[x]),
        }
    }

    fn scale_and_shift(&mut self, x: TensorId, weight: Option<TensorId>, bias: Option<TensorId>) -> TensorId {
        let scaled = match weight {
            Some(weight) => self.graph.in_place(&[x, weight]),
            None => x,
        };
        match bias {
            Some(bias) => self.graph.in_place(&[scaled, bias]),
            None => scaled,
        }
    }

    /// The product with a weight of the layer, plus its bias where the model has one.
    pub(crate) fn linear(&mut self, layer: u64, name: Name, bias: Option<Name>, x: TensorId) -> TensorId {
        let weight = self.expect_weight(layer, name);
        let product = self.graph.mul_mat(weight, x);
        match bias.and_then(|bias| self.layer_weight(layer, bias)) {
            Some(bias) => self.graph.in_place(&[product, bias]),
            None => product,
        }
    }

    /// Only the tokens whose logits are kept.
    pub(crate) fn keep_outputs(&mut self, x: TensorId) -> TensorId {
        let rows = self.output_rows;
        self.graph.get_rows(x, rows)
    }

    /// The last norm.
    pub(crate) fn output_norm(&mut self, x: TensorId, kind: NormKind) -> TensorId {
        let normed = self.bare_norm(x, kind);
        let weight = self.weight(Home::Output, Name::OutputNorm);
        let bias = self.weight(Home::Output, Name::OutputNormBias);
        self.scale_and_shift(normed, weight, bias)
    }

    /// Vectors to logits.
    pub(crate) fn logits(&mut self, x: TensorId) -> TensorId {
        let weight = match self.weight(Home::Output, Name::Output) {
            Some(weight) => weight,
            None => self.tied_output(),
        };
        let product = self.graph.mul_mat(weight, x);
        match self.weight(Home::Output, Name::OutputBias) {
            Some(bias) => self.graph.in_place(&[product, bias]),
            None => product,
        }
    }

    /// The embedding as the output matrix, on the output's device.
    fn tied_output(&mut self) -> TensorId {
        let device = self.placement.output();
        let table =
            self.weight(Home::Input, Name::TokenEmbedding).expect("every model has a token embedding");
        if device == Device::Host {
            return table;
        }
        let (kind, dimensions) = (self.graph.get(table).kind, self.graph.shape(table));
        self.graph.resident(kind, dimensions, Resident::Weight(device))
    }

    /// The device that holds the cache of a layer.
    pub(crate) fn cache_device(&self, layer: u64) -> Device {
        match self.settings.cache_placement {
            CachePlacement::Host => Device::Host,
            CachePlacement::WithLayer => self.placement.layer(layer),
        }
    }

    /// Streams of the cache.
    pub(crate) fn streams(&self) -> u64 {
        match self.settings.cache_layout {
            CacheLayout::Unified => 1,
            CacheLayout::Separate => self.sequences,
        }
    }

    /// Rotary positions, with the frequency factors of the layer's device where it has some.
    pub(crate) fn rope(&mut self, layer: u64, x: TensorId) -> TensorId {
        let (kind, dimensions) = (self.graph.get(x).kind, self.graph.shape(x));
        let mut sources = vec![x];
        sources.extend(self.positions);
        sources.extend(self.rope_factors(layer));
        self.graph.new_tensor(Operation::Rope, kind, dimensions, &sources)
    }

    fn rope_factors(&mut self, layer: u64) -> Option<TensorId> {
        let values = match self.model.rope_factors {
            RopeFactors::None => return None,
            RopeFactors::One(values) | RopeFactors::LongAndShort(values) => values,
        };
        let full = self.model.layers[layer as usize].kind == LayerKind::Full;
        if self.model.family == Family::Gemma4 && !full {
            return None;
        }
        let device = self.placement.layer(layer);
        let graph = &mut self.graph;
        let load = || graph.resident(TensorType::F32, shape([values]), Resident::Weight(device));
        Some(*self.factors.entry(device).or_insert_with(load))
    }
}
