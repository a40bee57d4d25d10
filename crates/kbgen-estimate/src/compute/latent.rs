//! Multi-head latent attention with the absorbed projections.
//!
//! Follows llama.cpp's `src/models/deepseek2.cpp` (<https://github.com/ggml-org/llama.cpp>,
//! commit 0c1e570).

use crate::architecture::LayerKind;
use crate::compute::attention::Projections;
use crate::compute::builder::{Builder, NormKind};
use crate::compute::extent::Extent;
use crate::compute::tensor::{Operation, Resident, TensorId, row_bytes, shape};
use crate::names::Name;
use crate::quantization::TensorType;

impl Builder<'_> {
    /// Multi-head latent attention with the absorbed projections.
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
            self.linear(layer, Name::LatentQUp, None, normed)
        } else {
            self.linear(layer, Name::Q, None, x)
        };
        let query = self.graph.reshape(query, shape([head, heads, tokens]));
        let strides = self.graph.get(query).strides;
        let query_strides = [strides[1], strides[2], strides[3]];
        let nope = self.graph.view(query, shape([nope_width, heads, tokens]), query_strides);
        let turning = self.graph.view(query, shape([rope_width, heads, tokens]), query_strides);
        let mixed = self.linear(layer, Name::LatentKvDown, None, x);
        let row = 4 * width;
        let compressed = self.graph.view(mixed, shape([rank, tokens]), [row, row * tokens, row * tokens]);
        let key_turning =
            self.graph.view(mixed, shape([rope_width, Extent::ONE, tokens]), [row, row, row * tokens]);
        let turned = self.rope(layer, turning);
        let key_turned = self.rope(layer, key_turning);
        let compressed = self.norm(compressed, NormKind::Rms, layer, Name::LatentKvNorm);
        let nope = self.graph.permute(nope, [0, 2, 1, 3]);
        let absorb = self.expect_weight(layer, Name::LatentKUp);
        let absorbed = self.graph.mul_mat(absorb, nope);
        let absorbed = self.graph.permute(absorbed, [0, 2, 1, 3]);
        let query = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            shape([width, heads, tokens]),
            &[absorbed, turned],
        );
        let value = self.graph.reshape(compressed, shape([rank, Extent::ONE, tokens]));
        let key = self.graph.new_tensor(
            Operation::Other,
            TensorType::F32,
            shape([width, Extent::ONE, tokens]),
            &[value, key_turned],
        );
        self.attend_latent(layer, Projections { query, key, value })
    }

    fn attend_latent(&mut self, layer: u64, parts: Projections) -> TensorId {
        for id in [parts.query, parts.value, parts.key] {
            self.graph.expand(id);
        }
        let at = Resident::Cache(self.cache_device(layer));
        let width = self.graph.shape(parts.key)[0];
        let (cells, streams) = (self.cells_of(LayerKind::Latent), self.streams);
        let kind = self.settings.cache_type_k.tensor_type();
        let cache = self.graph.resident(kind, shape([width, cells, streams]), at);
        let inputs = self.inputs_of(layer);
        self.store_rows(parts.key, cache, inputs.key_rows);
        let row = row_bytes(kind, width);
        let strides = [row, row, row * cells];
        let keys = self.graph.view(cache, [width, Extent::ONE, cells, streams], strides);
        let value_width = self.graph.shape(parts.value)[0];
        let values = self.graph.view(keys, [value_width, Extent::ONE, cells, streams], strides);
        let decompress = self.expect_weight(layer, Name::LatentVUp);
        let out = self.scores(layer, parts.query, keys, values, Some(decompress));
        self.linear(layer, Name::AttentionOutput, None, out)
    }
}
