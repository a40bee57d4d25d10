//! Attention: projections, cache and scores, for multi-head and latent attention.

use crate::architecture::{FeedForward, LayerKind};
use crate::compute::builder::{AttentionInputs, Builder};
use crate::compute::extent::Extent;
use crate::compute::tensor::{Operation, Resident, TensorId, row_bytes, shape};
use crate::names::Name;
use crate::placement::Device;
use crate::quantization::TensorType;
use crate::settings::CachePlacement;

/// Query, key and value of a micro-batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projections {
    pub(crate) query: TensorId,
    pub(crate) key: TensorId,
    pub(crate) value: TensorId,
}

/// Tensors of one layer's attention.
#[derive(Debug, Clone, Copy)]
struct Operands {
    query: TensorId,
    keys: TensorId,
    values: TensorId,
    mask: TensorId,
    sinks: Option<TensorId>,
    /// Matrix that converts latent values to those of the heads.
    decompress: Option<TensorId>,
}

impl Builder<'_> {
    /// Computes Q, K and V as `[width, heads, tokens]`.
    pub(crate) fn projections(&mut self, layer: u64, x: TensorId) -> Projections {
        let (heads, kv_heads, head_dim) = self.head_counts(layer);
        if self.layer_weight(layer, Name::Qkv).is_none() {
            let flat = self.flat_projections(layer, x);
            return self.by_head(layer, flat);
        }
        let mixed = self.linear(layer, Name::Qkv, None, x);
        let value_dim = self.model.layers[layer as usize].value_dim;
        let row = 4 * ((heads + kv_heads) * head_dim + kv_heads * value_dim);
        let part = |builder: &mut Self, width: u64, count: u64| {
            let dimensions = shape([width.into(), count.into(), builder.tokens]);
            builder.graph.view(mixed, dimensions, [(4 * width).into(), row.into(), row * builder.tokens])
        };
        Projections {
            query: part(self, head_dim, heads),
            key: part(self, head_dim, kv_heads),
            value: part(self, value_dim, kv_heads),
        }
    }

    /// Computes Q, K and V as `[width, tokens]`.
    pub(crate) fn flat_projections(&mut self, layer: u64, x: TensorId) -> Projections {
        let query = self.linear(layer, Name::Q, Some(Name::QBias), x);
        let key = self.linear(layer, Name::K, Some(Name::KBias), x);
        let value = self.linear(layer, Name::V, Some(Name::VBias), x);
        Projections { query, key, value }
    }

    /// Splits flat projections into heads.
    pub(crate) fn by_head(&mut self, layer: u64, flat: Projections) -> Projections {
        let (heads, kv_heads, head_dim) = self.head_counts(layer);
        let (tokens, value_dim) = (self.tokens, self.model.layers[layer as usize].value_dim);
        let mut split =
            |x, width: u64, count: u64| self.graph.reshape(x, shape([width.into(), count.into(), tokens]));
        Projections {
            query: split(flat.query, head_dim, heads),
            key: split(flat.key, head_dim, kv_heads),
            value: split(flat.value, value_dim, kv_heads),
        }
    }

    /// Returns the heads, KV heads and head width of a layer.
    pub(crate) fn head_counts(&self, layer: u64) -> (u64, u64, u64) {
        let layer = &self.model.layers[layer as usize];
        (self.model.heads, layer.kv_heads, layer.head_dim)
    }

    pub(crate) fn inputs_of(&self, layer: u64) -> AttentionInputs {
        let inputs = match self.model.layers[layer as usize].kind {
            LayerKind::Sliding => self.sliding,
            _ => self.full,
        };
        inputs.expect("a layer with attention has its inputs")
    }

    /// Builds multi-head attention with its output projection.
    pub(crate) fn projected_attention(&mut self, layer: u64, parts: Projections) -> TensorId {
        let out = self.attention(layer, parts);
        self.linear(layer, Name::AttentionOutput, Some(Name::AttentionOutputBias), out)
    }

    /// Builds multi-head attention without an output projection.
    pub(crate) fn attention(&mut self, layer: u64, parts: Projections) -> TensorId {
        let inputs = self.inputs_of(layer);
        let Projections { mut query, mut key, mut value } = parts;
        if let Some(rotation) = inputs.key_rotation {
            query = self.rotate(query, rotation);
            key = self.rotate(key, rotation);
        }
        if let Some(rotation) = inputs.value_rotation {
            value = self.rotate(value, rotation);
        }
        let keys_first = self.sliding.is_some() || self.model.family.is_encoder;
        let order = if keys_first { [query, key, value] } else { [query, value, key] };
        for id in order {
            self.graph.expand(id);
        }
        let (keys, values) = if self.model.family.is_encoder {
            (key, value)
        } else {
            let (key_cache, value_cache) = self.caches(layer);
            self.caches.insert(layer, (key_cache, value_cache));
            self.store(layer, inputs, (key, key_cache), (value, value_cache))
        };
        let mut out = self.scores(layer, query, keys, values, None);
        if let Some(rotation) = inputs.value_rotation {
            out = self.rotate(out, rotation);
        }
        out
    }

    /// Builds attention over the cache of the last layer of the same kind that has a cache of its own.
    pub(crate) fn attend_shared(&mut self, layer: u64, query: TensorId) -> TensorId {
        let layers = &self.model.layers;
        let own =
            layers.iter().zip(0..).filter(|(other, _)| other.cache_kind() == layers[layer as usize].kind);
        let owner = own.map(|(_, index)| index).last().expect("the first layers have caches of their own");
        let inputs = self.inputs_of(layer);
        let query = inputs.key_rotation.map_or(query, |rotation| self.rotate(query, rotation));
        self.graph.expand(query);
        let (key_cache, value_cache) = match self.caches.get(&owner) {
            Some(caches) => *caches,
            None => self.caches(owner),
        };
        let (keys, values) = self.cache_views(layer, key_cache, value_cache);
        let mut out = self.scores(layer, query, keys, values, None);
        if let Some(rotation) = inputs.value_rotation {
            out = self.rotate(out, rotation);
        }
        self.linear(layer, Name::AttentionOutput, None, out)
    }

    /// Applies a Hadamard rotation block by block.
    fn rotate(&mut self, x: TensorId, rotation: TensorId) -> TensorId {
        let side = self.graph.shape(rotation)[0];
        let dimensions = self.graph.shape(x);
        let width = side.constant().expect("a rotation's side is that of a head");
        let blocks = shape([side, self.graph.get(x).elements() / width]);
        let flat = if self.graph.is_packed(x) {
            self.graph.reshape(x, blocks)
        } else {
            self.graph.packed(x, blocks)
        };
        let product = self.graph.mul_mat(rotation, flat);
        self.graph.reshape(product, dimensions)
    }

    fn caches(&mut self, layer: u64) -> (TensorId, TensorId) {
        let at = Resident::Cache(self.cache_device(layer));
        let (_, kv_heads, head_dim) = self.head_counts(layer);
        let cells = self.cells_of(self.model.layers[layer as usize].kind);
        let key_row = kv_heads * head_dim;
        let own_values = kv_heads * self.model.layers[layer as usize].value_dim;
        let value_row = if self.is_fused { own_values } else { self.model.widest_value_row() };
        let streams = self.streams;
        let key_type = self.settings.cache_type_k.tensor_type();
        let value_type = self.settings.cache_type_v.tensor_type();
        let key = self.graph.resident(key_type, shape([key_row.into(), cells, streams]), at);
        let value = self.graph.resident(value_type, shape([value_row.into(), cells, streams]), at);
        (key, value)
    }

    /// Writes K and V of the micro-batch into the cache, and returns views of the whole cache by head.
    fn store(
        &mut self,
        layer: u64,
        inputs: AttentionInputs,
        (key, key_cache): (TensorId, TensorId),
        (value, value_cache): (TensorId, TensorId),
    ) -> (TensorId, TensorId) {
        self.store_rows(key, key_cache, inputs.key_rows);
        if self.is_fused {
            self.store_rows(value, value_cache, inputs.value_rows);
        } else {
            self.store_transposed(value, value_cache, inputs.value_rows);
        }
        self.cache_views(layer, key_cache, value_cache)
    }

    /// Returns views of the whole cache by head.
    fn cache_views(
        &mut self,
        layer: u64,
        key_cache: TensorId,
        value_cache: TensorId,
    ) -> (TensorId, TensorId) {
        let (_, kv_heads, head_dim) = self.head_counts(layer);
        let [row, cells, streams, _] = self.graph.shape(key_cache);
        let flash = self.is_fused;
        let key_type = self.graph.get(key_cache).kind;
        let (head_dim, kv_heads) = (Extent::from(head_dim), Extent::from(kv_heads));
        let size = row_bytes;
        let keys = self.graph.view(
            key_cache,
            [head_dim, kv_heads, cells, streams],
            [size(key_type, head_dim), size(key_type, row), size(key_type, row * cells)],
        );
        let value_dim = Extent::from(self.model.layers[layer as usize].value_dim);
        let value_type = self.graph.get(value_cache).kind;
        let value_row = self.graph.shape(value_cache)[0];
        let values = if flash {
            self.graph.view(
                value_cache,
                [value_dim, kv_heads, cells, streams],
                [
                    size(value_type, value_dim),
                    size(value_type, value_row),
                    size(value_type, value_row * cells),
                ],
            )
        } else {
            self.graph.view(
                value_cache,
                [cells, kv_heads, value_dim, streams],
                [
                    size(value_type, cells * value_dim),
                    size(value_type, cells),
                    size(value_type, cells * value_row),
                ],
            )
        };
        (keys, values)
    }

    pub(crate) fn store_rows(&mut self, x: TensorId, cache: TensorId, rows: Option<TensorId>) {
        let [width, heads, tokens, _] = self.graph.shape(x);
        let stride = self.graph.get(x).strides[2];
        let flat =
            self.graph.view(x, shape([width * heads, tokens]), [stride, stride * tokens, stride * tokens]);
        let [row, cells, streams, _] = self.graph.shape(cache);
        let target = if streams == Extent::ONE {
            cache
        } else {
            self.graph.reshape(cache, shape([row, cells * streams]))
        };
        let sources: Vec<TensorId> = [flat].into_iter().chain(rows).chain([target]).collect();
        let stored = self.graph.write_into(target, &sources);
        self.graph.expand(stored);
    }

    fn store_transposed(&mut self, value: TensorId, cache: TensorId, rows: Option<TensorId>) {
        let [width, heads, tokens, _] = self.graph.shape(value);
        let row = width * heads;
        let stride = self.graph.get(value).strides[2];
        let gapless = self.graph.equal(stride, 4 * row);
        let flat_shape = shape([row, tokens]);
        let mut flat = if gapless {
            self.graph.reshape(value, flat_shape)
        } else {
            self.graph.packed(value, flat_shape)
        };
        let cache_row = self.graph.shape(cache)[0];
        if !self.graph.at_least(row, cache_row) {
            flat =
                self.graph.new_tensor(Operation::Other, TensorType::F32, shape([cache_row, tokens]), &[flat]);
        }
        let cells = self.graph.get(cache).elements();
        let target = self.graph.reshape(cache, shape([Extent::ONE, cells]));
        let elements = self.graph.get(flat).elements();
        let column = self.graph.reshape(flat, shape([Extent::ONE, elements]));
        let sources: Vec<TensorId> = [column].into_iter().chain(rows).chain([target]).collect();
        let stored = self.graph.write_into(target, &sources);
        self.graph.expand(stored);
    }

    /// Builds attention of the queries over keys and values; `decompress` converts latent values to those of
    /// the heads.
    pub(crate) fn scores(
        &mut self,
        layer: u64,
        query: TensorId,
        keys: TensorId,
        values: TensorId,
        decompress: Option<TensorId>,
    ) -> TensorId {
        let inputs = self.inputs_of(layer);
        let streams = self.graph.shape(keys)[3];
        let [width, heads, ..] = self.graph.shape(query);
        let strides = self.graph.get(query).strides;
        let each = self.tokens_of_stream();
        let by_stream = self.graph.view(
            query,
            [width, heads, each, streams],
            [strides[1], strides[2], strides[2] * each],
        );
        let query = self.graph.permute(by_stream, [0, 2, 1, 3]);
        let keys = self.graph.permute(keys, [0, 2, 1, 3]);
        let values = self.graph.permute(values, [0, 2, 1, 3]);
        let sinks = self.layer_weight(layer, Name::Sinks);
        let mask = match self.chosen {
            Some(chosen) => self.mask_of_chosen(layer, inputs.mask, chosen),
            None => inputs.mask,
        };
        let operands = Operands { query, keys, values, mask, sinks, decompress };
        let out = if self.is_fused { self.fused(operands) } else { self.unfused(operands) };
        self.graph.expand(out);
        out
    }

    fn fused(&mut self, operands: Operands) -> TensorId {
        let Operands { query, mut keys, mut values, mask, sinks, decompress } = operands;
        if self.model.family.is_encoder {
            keys = self.halved(keys);
            values = self.halved(values);
        }
        let [_, tokens, heads, streams] = self.graph.shape(query);
        let width = self.graph.shape(values)[0];
        let mut sources = vec![query, keys, values, mask];
        sources.extend(sinks);
        let result = [width, heads, tokens, streams];
        let mut out = self.graph.new_tensor(Operation::FlashAttention, TensorType::F32, result, &sources);
        if !self.model.has_fused_kernel() {
            self.graph.tensors[out].fixed = Some(Device::Host);
        }
        if let Some(matrix) = decompress {
            out = self.graph.permute(out, [0, 2, 1, 3]);
            out = self.graph.mul_mat(matrix, out);
            out = self.graph.permute(out, [0, 2, 1, 3]);
            let dimensions = self.graph.shape(out);
            out = self.graph.packed(out, dimensions);
        }
        let [width, heads, tokens, streams] = self.graph.shape(out);
        self.graph.reshape(out, shape([width * heads, tokens * streams]))
    }

    /// Adds a copy in F16 without gaps.
    fn halved(&mut self, x: TensorId) -> TensorId {
        let dimensions = self.graph.shape(x);
        self.graph.new_tensor(Operation::Other, TensorType::F16, dimensions, &[x])
    }

    fn unfused(&mut self, operands: Operands) -> TensorId {
        let Operands { query, keys, values, mask, sinks, decompress } = operands;
        let mut scores = self.graph.mul_mat(keys, query);
        if self.model.family.caps_scores {
            for _ in ["scale", "tanh", "scale"] {
                scores = self.graph.in_place(&[scores]);
            }
        }
        let mut sources = vec![scores, mask];
        sources.extend(sinks);
        let weights = self.graph.in_place(&sources);
        let strides = self.graph.get(values).strides;
        let is_encoder = self.model.family.is_encoder;
        let values = if !is_encoder
            && (decompress.is_none()
                || self.graph.get(values).kind.is_quantized()
                || !self.graph.at_least(strides[2], strides[1]))
        {
            values
        } else {
            // latent values are not stored transposed, nor are values without a cache
            let transposed = self.graph.transpose(values);
            let dimensions = self.graph.shape(transposed);
            self.graph.packed(transposed, dimensions)
        };
        let mut out = self.graph.mul_mat(values, weights);
        if let Some(matrix) = decompress {
            out = self.graph.mul_mat(matrix, out);
        }
        let out = self.graph.permute(out, [0, 2, 1, 3]);
        let [width, heads, tokens, streams] = self.graph.shape(out);
        let packed = self.graph.packed(out, shape([width * heads, tokens * streams]));
        if self.settings.cache_placement == CachePlacement::Host {
            self.graph.tensors[packed].fixed = Some(Device::Host);
        }
        packed
    }

    /// Returns whether a layer has experts.
    pub(crate) fn has_experts(&self, layer: u64) -> bool {
        self.model.layers[layer as usize].feed_forward == FeedForward::Experts
    }
}
