//! Building blocks of graphs: weights, norms, embedding, output.
//!
//! Follows llama.cpp's `src/llama-graph.cpp` (<https://github.com/ggml-org/llama.cpp>,
//! commit 0c1e570) node by node, in its order.

use std::collections::BTreeMap;

use crate::architecture::{Architecture, Layer, LayerKind, RopeFactors};
use crate::cache::streams;
use crate::compute::extent::{Extent, Quantities, Quantity};
use crate::compute::graph::Graph;
use crate::compute::tensor::{Operation, Resident, TensorId, shape};
use crate::names::{Home, Name, WeightTensor};
use crate::placement::{Device, Placement, reads_factors};
use crate::quantization::TensorType;
use crate::settings::{CachePlacement, Settings};
use crate::weights::WeightList;

/// In micro-batches of fewer tokens llama.cpp keeps norms on the device of their layer
/// (`llama_context::graph_get_cb`).
const PINNED_BELOW: u64 = 32;

/// How a norm is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormKind {
    /// Root mean square; may overwrite its source.
    Rms,
    /// Mean and variance; may not overwrite its source.
    Layer,
}

/// Inputs of one kind of attention.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttentionInputs {
    /// Indices of the cache rows that are written; `None` in builds that wrote them in one piece.
    pub(crate) key_rows: Option<TensorId>,
    pub(crate) value_rows: Option<TensorId>,
    pub(crate) mask: TensorId,
    /// Rotation matrices of quantized keys and of quantized values.
    pub(crate) key_rotation: Option<TensorId>,
    pub(crate) value_rotation: Option<TensorId>,
}

/// Inputs of the indexers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexerInputs {
    /// Indices of the rows that are written in the cache of index keys.
    pub(crate) rows: TensorId,
    pub(crate) mask: TensorId,
    /// Rotation matrix of queries and keys.
    pub(crate) rotation: TensorId,
}

/// Graph under construction, and the inputs that its layers share.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) graph: Graph,
    pub(crate) model: &'a Architecture,
    pub(crate) settings: &'a Settings,
    pub(crate) placement: &'a Placement,
    /// Tokens of a micro-batch.
    pub(crate) tokens: Extent,
    /// Tokens of each sequence in a micro-batch.
    pub(crate) tokens_each: Extent,
    /// Sequences of a micro-batch.
    pub(crate) sequences: Extent,
    /// Streams of the cache: one, or one per sequence.
    pub(crate) streams: Extent,
    /// Whether attention is one fused operation.
    pub(crate) is_fused: bool,
    /// Whether norms are pinned to the device of their layer, as in small micro-batches.
    pins_norms: bool,
    pub(crate) positions: Option<TensorId>,
    pub(crate) output_rows: TensorId,
    /// Scale of the query of each token.
    pub(crate) query_scale: Option<TensorId>,
    pub(crate) full: Option<AttentionInputs>,
    pub(crate) sliding: Option<AttentionInputs>,
    pub(crate) indexer: Option<IndexerInputs>,
    /// Tokens that the last indexer selected.
    pub(crate) chosen: Option<TensorId>,
    /// Indices of the recurrent states of the micro-batch, and of all other states.
    pub(crate) state_rows: Option<(TensorId, TensorId)>,
    /// Embeddings of the tokens for each layer.
    pub(crate) layer_embeddings: Option<TensorId>,
    /// Embeddings of the tokens and of images that the first layers add.
    pub(crate) stacked: Option<TensorId>,
    /// Caches of keys and values by the layer that owns them.
    pub(crate) caches: BTreeMap<u64, (TensorId, TensorId)>,
    weights: &'a WeightList,
    /// Weights that are in the graph, by their index in the weight list.
    loaded: Vec<Option<TensorId>>,
    /// Rotary frequency factors, one tensor per device.
    factors: BTreeMap<Device, TensorId>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        model: &'a Architecture,
        settings: &'a Settings,
        placement: &'a Placement,
        weights: &'a WeightList,
        quantities: Quantities<u64>,
    ) -> Builder<'a> {
        let tokens_each = Extent::from(Quantity::TokensEach);
        let sequences = Extent::from(Quantity::Sequences);
        let tokens = tokens_each * sequences;
        let mut graph = Graph::new(quantities);
        graph.reserves_copies = settings.build.reserves_copies();
        let output_rows = graph.input(TensorType::I32, shape([Quantity::Outputs.into()]));
        let pins_norms = !graph.at_least(tokens, PINNED_BELOW.into());
        Builder {
            graph,
            model,
            settings,
            placement,
            tokens,
            tokens_each,
            sequences,
            streams: if streams(settings) == 1 || model.family.is_encoder { Extent::ONE } else { sequences },
            is_fused: model.fuses_attention(settings),
            pins_norms,
            positions: None,
            output_rows,
            query_scale: None,
            full: None,
            sliding: None,
            indexer: None,
            chosen: None,
            state_rows: None,
            layer_embeddings: None,
            stacked: None,
            caches: BTreeMap::new(),
            weights,
            loaded: vec![None; weights.len()],
            factors: BTreeMap::new(),
        }
    }

    /// Returns a weight of a layer, if the model has it.
    pub(crate) fn layer_weight(&mut self, layer: u64, name: Name) -> Option<TensorId> {
        let place = self.weights.place_in_layer(layer, name)?;
        Some(self.load(place))
    }

    /// Returns a weight that the layer has in every model of the family.
    pub(crate) fn expect_weight(&mut self, layer: u64, name: Name) -> TensorId {
        self.layer_weight(layer, name).expect("the family's tensor list holds what its graph uses")
    }

    /// Returns a weight outside the layers, if the model has it.
    pub(crate) fn weight(&mut self, home: Home, name: Name) -> Option<TensorId> {
        let place = self.weights.place(home, name)?;
        Some(self.load(place))
    }

    fn load(&mut self, place: usize) -> TensorId {
        if let Some(id) = self.loaded[place] {
            return id;
        }
        let WeightTensor { name, home, columns, rows, matrices } = self.weights.tensor(place);
        let dimensions = [columns, rows, matrices, 1].map(Extent::from);
        let id = self.graph.weight(home, name, dimensions, self.placement.device_of(home));
        self.loaded[place] = Some(id);
        id
    }

    /// Adds the positions of the tokens as input, with `per_token` numbers each.
    pub(crate) fn add_positions(&mut self, per_token: u64) {
        self.positions = Some(self.graph.input(TensorType::I32, shape([self.tokens * per_token])));
    }

    /// Adds an input with one scale of the query per token.
    pub(crate) fn add_query_scale(&mut self) {
        self.query_scale =
            Some(self.graph.input(TensorType::F32, [Extent::ONE, Extent::ONE, self.tokens, Extent::ONE]));
    }

    /// Adds the inputs of each kind of attention that the model has.
    pub(crate) fn add_attention_inputs(&mut self) {
        if self.model.has(LayerKind::Full)
            || self.model.has(LayerKind::Latent)
            || self.model.has(LayerKind::Sliding)
        {
            self.full = Some(self.attention_inputs(LayerKind::Full));
        }
        if self.model.has(LayerKind::Sliding) {
            self.sliding = Some(self.attention_inputs(LayerKind::Sliding));
        }
        if let Some(indexer) = self.model.indexer {
            let side = Extent::from(1 << indexer.width.trailing_zeros());
            let cells = self.cells_of(LayerKind::Latent);
            let mask = [cells, self.tokens_of_stream(), Extent::ONE, self.streams];
            self.indexer = Some(IndexerInputs {
                rows: self.graph.input(TensorType::I64, shape([self.tokens])),
                mask: self.graph.input(TensorType::F16, mask),
                rotation: self.graph.input(TensorType::F32, shape([side, side])),
            });
        }
    }

    fn attention_inputs(&mut self, kind: LayerKind) -> AttentionInputs {
        let (tokens, streams) = (self.tokens, self.streams);
        let mask_shape = match self.model.family.is_encoder {
            true => shape([tokens, tokens]),
            false => [self.cells_of(kind), self.tokens_of_stream(), Extent::ONE, streams],
        };
        let flash = self.is_fused;
        let latent = self.model.has(LayerKind::Latent);
        let value_count = if flash { tokens } else { tokens * self.model.widest_value_row() };
        let build = self.settings.build;
        let is_half = flash && build.has_half_mask();
        let graph = &mut self.graph;
        let has_rows = build.has_cache_rows();
        let key_rows = has_rows.then(|| graph.input(TensorType::I64, shape([tokens])));
        let value_rows = (has_rows && !latent).then(|| graph.input(TensorType::I64, shape([value_count])));
        let mask_kind = if is_half { TensorType::F16 } else { TensorType::F32 };
        let mut mask = graph.input(mask_kind, mask_shape);
        if flash && !is_half {
            mask = graph.new_tensor(Operation::Other, TensorType::F16, mask_shape, &[mask]);
        }
        let key_type = self.settings.cache_type_k.tensor_type();
        let value_type = self.settings.cache_type_v.tensor_type();
        let key_width = self.rotated_width(kind, |layer| layer.head_dim);
        let value_width = self.rotated_width(kind, |layer| layer.value_dim);
        let square =
            |graph: &mut Graph, side: u64| graph.input(TensorType::F32, shape([side.into(), side.into()]));
        let rotates = build.rotates_cache() && !latent;
        let key_rotation = (key_type.is_quantized() && rotates)
            .then_some(key_width)
            .flatten()
            .map(|width| 1 << width.trailing_zeros())
            .map(|side| square(&mut self.graph, side));
        let value_rotation = (value_type.is_quantized() && rotates)
            .then_some(value_width)
            .flatten()
            .map(|_| square(&mut self.graph, 64));
        AttentionInputs { key_rows, value_rows, mask, key_rotation, value_rotation }
    }

    /// Returns the head width by which a quantized cache is rotated: the `width` of all layers of the kind, if
    /// it is the same and divisible by 64.
    fn rotated_width(&self, kind: LayerKind, width: fn(&Layer) -> u64) -> Option<u64> {
        let mut widths = self.model.layers.iter().filter(|layer| layer.kind == kind).map(width);
        let first = widths.next()?;
        (widths.all(|width| width == first) && first % 64 == 0).then_some(first)
    }

    /// Adds the indices of the recurrent states of the micro-batch, and those of all other states. The latter
    /// are empty, because a micro-batch uses all states.
    pub(crate) fn add_state_inputs(&mut self) {
        let sequences = self.sequences;
        let rows = self.graph.input(TensorType::I32, shape([sequences]));
        let used = self.graph.view(rows, shape([sequences]), [4 * sequences; 3]);
        let others = self.graph.view(rows, shape([Extent::ZERO]), [Extent::ZERO; 3]);
        self.state_rows = Some((used, others));
    }

    /// Builds a norm with its weight, and its bias if the model has one.
    pub(crate) fn norm(&mut self, x: TensorId, kind: NormKind, layer: u64, name: Name) -> TensorId {
        let weight = self.layer_weight(layer, name);
        let bias = match name {
            Name::AttentionNorm => self.layer_weight(layer, Name::AttentionNormBias),
            Name::FfnNorm => self.layer_weight(layer, Name::FfnNormBias),
            Name::EmbeddingNorm => self.layer_weight(layer, Name::EmbeddingNormBias),
            Name::IndexerKNorm => self.layer_weight(layer, Name::IndexerKNormBias),
            _ => None,
        };
        let normed = self.bare_norm(x, kind);
        if weight.is_some() && self.pins_norms {
            self.graph.tensors[normed].fixed = Some(self.placement.layer(layer));
        }
        self.scale_and_shift(normed, weight, bias)
    }

    /// Builds a norm without weight.
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

    /// Multiplies by a weight of the layer and adds its bias, if the model has one.
    pub(crate) fn linear(&mut self, layer: u64, name: Name, bias: Option<Name>, x: TensorId) -> TensorId {
        let weight = self.expect_weight(layer, name);
        let product = self.graph.mul_mat(weight, x);
        match bias.and_then(|bias| self.layer_weight(layer, bias)) {
            Some(bias) => self.graph.in_place(&[product, bias]),
            None => product,
        }
    }

    /// Selects the tokens whose logits are kept.
    pub(crate) fn keep_outputs(&mut self, x: TensorId) -> TensorId {
        let rows = self.output_rows;
        self.graph.get_rows(x, rows)
    }

    /// Builds the last norm.
    pub(crate) fn output_norm(&mut self, x: TensorId, kind: NormKind) -> TensorId {
        let normed = self.bare_norm(x, kind);
        let weight = self.weight(Home::Output, Name::OutputNorm);
        let bias = self.weight(Home::Output, Name::OutputNormBias);
        self.scale_and_shift(normed, weight, bias)
    }

    /// Computes logits from hidden states.
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

    /// Returns the token embedding as output matrix, on the output's device.
    fn tied_output(&mut self) -> TensorId {
        let device = self.placement.output();
        let table =
            self.weight(Home::Input, Name::TokenEmbedding).expect("every model has a token embedding");
        if device == Device::Host {
            return table;
        }
        let dimensions = self.graph.shape(table);
        self.graph.weight(Home::Input, Name::TokenEmbedding, dimensions, device)
    }

    /// Returns the device that holds the cache of a layer.
    pub(crate) fn cache_device(&self, layer: u64) -> Device {
        match self.settings.cache_placement {
            CachePlacement::Host => Device::Host,
            CachePlacement::WithLayer => self.placement.layer(layer),
        }
    }

    /// Returns the number of tokens of a micro-batch in one stream of the cache.
    pub(crate) fn tokens_of_stream(&self) -> Extent {
        if self.streams == Extent::ONE { self.tokens } else { self.tokens_each }
    }

    /// Returns the number of cells per stream of a layer of this kind.
    pub(crate) fn cells_of(&self, kind: LayerKind) -> Extent {
        match kind {
            LayerKind::Sliding => Quantity::SlidingCells.into(),
            _ => Quantity::Cells.into(),
        }
    }

    /// Applies rotary positions, with the frequency factors on the layer's device if the layer uses any.
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
        if !reads_factors(self.model, self.model.layers[layer as usize].kind) {
            return None;
        }
        let device = self.placement.layer(layer);
        let graph = &mut self.graph;
        let load = || graph.resident(TensorType::F32, shape([values.into()]), Resident::Weight(device));
        Some(*self.factors.entry(device).or_insert_with(load))
    }
}
