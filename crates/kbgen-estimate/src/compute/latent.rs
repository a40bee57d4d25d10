//! Multi-head latent attention with the absorbed projections.
//!
//! Follows llama.cpp's `src/models/deepseek2.cpp`, and for sparse attention `src/models/deepseek32.cpp`
//! (<https://github.com/ggml-org/llama.cpp>, commit 0c1e570 and v0.5.0).

use crate::architecture::{Indexer, LayerKind};
use crate::compute::attention::Projections;
use crate::compute::builder::{Builder, NormKind};
use crate::compute::extent::Extent;
use crate::compute::tensor::{Operation, Resident, TensorId, row_bytes, shape};
use crate::names::Name;
use crate::quantization::TensorType;

impl Builder<'_> {
    /// Builds latent attention of a layer.
    pub(crate) fn latent_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let latent = self.model.latent.expect("a latent layer has latent widths");
        let (heads, tokens) = (Extent::from(self.model.heads), self.tokens);
        let head = Extent::from(latent.qk_nope + latent.qk_rope);
        let (nope_width, rope_width) = (Extent::from(latent.qk_nope), Extent::from(latent.qk_rope));
        let rank = Extent::from(latent.kv_lora);
        let width = Extent::from(latent.kv_lora + latent.qk_rope);
        let query = if latent.q_lora > 0 {
            let down = self.linear(layer, Name::LatentQDown, None, x);
            let normed = self.norm(down, NormKind::Rms, layer, Name::LatentQNorm);
            if let Some(indexer) = self.model.indexer
                && self.model.layers[layer as usize].has_indexer
            {
                self.chosen = Some(self.choose_tokens(layer, indexer, x, normed));
            }
            self.linear(layer, Name::LatentQUp, None, normed)
        } else {
            self.linear(layer, Name::Q, None, x)
        };
        let query = self.graph.reshape(query, shape([head, heads, tokens]));
        let strides = self.graph.get(query).strides;
        let query_strides = [strides[1], strides[2], strides[3]];
        let nope = self.graph.view(query, shape([nope_width, heads, tokens]), query_strides);
        let rotary = self.graph.view(query, shape([rope_width, heads, tokens]), query_strides);
        let mixed = self.linear(layer, Name::LatentKvDown, None, x);
        let row = 4 * width;
        let compressed = self.graph.view(mixed, shape([rank, tokens]), [row, row * tokens, row * tokens]);
        let key_rotary =
            self.graph.view(mixed, shape([rope_width, Extent::ONE, tokens]), [row, row, row * tokens]);
        let rotated = self.rope(layer, rotary);
        let key_rotated = self.rope(layer, key_rotary);
        let compressed = self.norm(compressed, NormKind::Rms, layer, Name::LatentKvNorm);
        let nope = self.graph.permute(nope, [0, 2, 1, 3]);
        let absorb = self.expect_weight(layer, Name::LatentKUp);
        let absorbed = self.graph.mul_mat(absorb, nope);
        let absorbed = self.graph.permute(absorbed, [0, 2, 1, 3]);
        let query = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            shape([width, heads, tokens]),
            &[absorbed, rotated],
        );
        let value = self.graph.reshape(compressed, shape([rank, Extent::ONE, tokens]));
        let key = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            shape([width, Extent::ONE, tokens]),
            &[value, key_rotated],
        );
        self.attend_latent(layer, Projections { query, key, value })
    }

    /// Builds the lightning indexer, and returns the tokens that attention reads for each query.
    fn choose_tokens(&mut self, layer: u64, indexer: Indexer, x: TensorId, query: TensorId) -> TensorId {
        let (heads, width) = (Extent::from(indexer.heads), Extent::from(indexer.width));
        let (tokens, streams, each) = (self.tokens, self.streams, self.tokens_of_stream());
        let inputs = self.indexer.expect("a model with an indexer has its inputs");
        let query = self.linear(layer, Name::IndexerQ, None, query);
        let query = self.graph.reshape(query, shape([width, heads, tokens]));
        let query = self.rope(layer, query);
        let key = self.linear(layer, Name::IndexerK, None, x);
        let key = self.norm(key, NormKind::Layer, layer, Name::IndexerKNorm);
        let key = self.graph.reshape(key, shape([width, Extent::ONE, tokens]));
        let key = self.rope(layer, key);
        let query = self.graph.mul_mat(inputs.rotation, query);
        let key = self.graph.mul_mat(inputs.rotation, key);
        let (cache, keys) = self.key_cache(layer, width);
        self.store_rows(key, cache, Some(inputs.rows));
        let shares = self.linear(layer, Name::IndexerShares, None, x);
        let strides = self.graph.get(query).strides;
        let query = self.graph.view(
            query,
            [width, heads, each, streams],
            [strides[1], strides[2], strides[2] * each],
        );
        let row = self.graph.get(shares).strides[1];
        let shares =
            self.graph.view(shares, [heads, each, Extent::ONE, streams], [row, row * each, row * each]);
        let shares = self.graph.in_place(&[shares]);
        let cells = self.cells_of(LayerKind::Latent);
        let scores = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            [cells, each, Extent::ONE, streams],
            &[query, keys, shares, inputs.mask],
        );
        let top = Extent::from(indexer.top);
        let count = if self.graph.at_least(cells, top) { top } else { cells };
        let chosen = [count, each, Extent::ONE, streams];
        let top = self.graph.new_tensor(Operation::Other, TensorType::I32, chosen, &[scores]);
        self.graph.packed(top, chosen)
    }

    /// Builds the mask of attention in which only the selected tokens are visible
    /// (`llm_graph_context::build_attn`).
    pub(crate) fn mask_of_chosen(&mut self, layer: u64, mask: TensorId, chosen: TensorId) -> TensorId {
        let [cells, tokens, _, streams] = self.graph.shape(mask);
        let hidden = self.graph.in_place(&[mask]);
        let strides = self.graph.get(hidden).strides;
        let column = [Extent::ONE, cells, tokens, streams];
        let hidden = self.graph.view(hidden, column, [strides[0], strides[1], strides[2]]);
        let [count, ..] = self.graph.shape(chosen);
        let steps = self.graph.get(chosen).strides;
        let chosen = self.graph.view(
            chosen,
            shape([count, tokens, streams]),
            [steps[1], steps[2], steps[3] * streams],
        );
        let zeros = self.graph.reserved(TensorType::F32, [Extent::ONE, count, tokens, streams], layer);
        let zeros = self.graph.in_place(&[zeros]);
        let shown = self.graph.write_into(hidden, &[zeros, chosen, hidden]);
        let strides = self.graph.get(shown).strides;
        let shown = self.graph.view(
            shown,
            [cells, tokens, Extent::ONE, streams],
            [strides[2], strides[3], strides[3]],
        );
        self.graph.in_place(&[shown, mask])
    }

    /// Returns a cache with one key per token, and a view of it for attention.
    fn key_cache(&mut self, layer: u64, width: Extent) -> (TensorId, TensorId) {
        let at = Resident::Cache(self.cache_device(layer));
        let (cells, streams) = (self.cells_of(LayerKind::Latent), self.streams);
        let kind = self.settings.cache_type_k.tensor_type();
        let cache = self.graph.resident(kind, shape([width, cells, streams]), at);
        let row = row_bytes(kind, width);
        let keys = self.graph.view(cache, [width, Extent::ONE, cells, streams], [row, row, row * cells]);
        (cache, keys)
    }

    fn attend_latent(&mut self, layer: u64, parts: Projections) -> TensorId {
        for id in [parts.query, parts.value, parts.key] {
            self.graph.expand(id);
        }
        let (cache, keys) = self.key_cache(layer, self.graph.shape(parts.key)[0]);
        let inputs = self.inputs_of(layer);
        self.store_rows(parts.key, cache, inputs.key_rows);
        let [_, one, cells, streams] = self.graph.shape(keys);
        let [_, step, row, stream] = self.graph.get(keys).strides;
        let value_width = self.graph.shape(parts.value)[0];
        let values = self.graph.view(keys, [value_width, one, cells, streams], [step, row, stream]);
        let decompress = self.expect_weight(layer, Name::LatentVUp);
        let out = self.scores(layer, parts.query, keys, values, Some(decompress));
        self.linear(layer, Name::AttentionOutput, None, out)
    }
}
