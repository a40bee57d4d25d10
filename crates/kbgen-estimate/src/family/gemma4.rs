//! Gemma 4: V is normalized and may equal K; experts run in parallel to a dense network. E2B and E4B have an embedding for
//! each layer, and their last layers read the cache of earlier ones.

use crate::architecture::{Experts, FeedForward, Layer, RopeFactors};
use crate::compute::{Builder, Extent, NormKind, Projections, TensorId, shape};
use crate::family::gemma::GEMMA3;
use crate::family::{Family, OutputRows};
use crate::names::{Home, Name};
use crate::tensors::TensorList;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "gemma4",
    rope_factors: |fields| RopeFactors::One(fields.head_dim_full / 2),
    factors_of_full_layers: true,
    value_may_be_key: true,
    input_tensors: Some(input_tensors),
    layer_tensors: Some(layer_tensors),
    expert_tensors: Some(expert_tensors),
    copies_tied_output: true,
    before_layers: Some(layer_embeddings),
    attention: Some(attention),
    after_feed_forward: Some(add_layer_embedding),
    after_rope: None,
    experts: Some(experts),
    output_rows: OutputRows::AfterNorm,
    logit_steps: 3,
    ..GEMMA3
}];

fn input_tensors(list: &mut TensorList<'_>) {
    let (hidden, width) = (list.model.hidden, list.model.per_layer_embedding);
    let widths = width * list.model.layers.len() as u64;
    if width > 0 {
        list.matrix(Name::LayerEmbeddings, widths, list.model.vocabulary);
        list.home = Home::Layer(0);
        list.matrix(Name::LayerEmbeddingsProjection, hidden, widths);
        list.vector(Name::LayerEmbeddingsNorm, width);
    }
}

fn layer_tensors(list: &mut TensorList<'_>, layer: &Layer) {
    if layer.feed_forward == FeedForward::Experts {
        for name in [Name::ExpertsPreNorm, Name::DensePostNorm, Name::ExpertsPostNorm] {
            list.vector(name, list.model.hidden);
        }
    }
    list.vector(Name::LayerScale, 1);
    let (hidden, width) = (list.model.hidden, list.model.per_layer_embedding);
    if width > 0 {
        list.matrix(Name::LayerEmbeddingGate, hidden, width);
        list.matrix(Name::LayerEmbeddingUp, width, hidden);
        list.vector(Name::LayerEmbeddingNorm, hidden);
    }
}

fn expert_tensors(list: &mut TensorList<'_>, experts: Experts, index: u64) {
    let hidden = list.model.hidden;
    list.matrix(Name::Router, hidden, experts.count);
    list.dense(list.model.ffn);
    list.vector(Name::RouterScale, hidden);
    list.home = Home::Experts(index);
    list.push(Name::ExpertsGateUp, hidden, 2 * experts.width, experts.count);
    list.push(Name::ExpertsDown, experts.width, hidden, experts.count);
    list.vector(Name::ExpertsDownScale, experts.count);
    list.home = Home::Layer(index);
}

fn attention(builder: &mut Builder<'_>, layer: u64, x: TensorId) -> TensorId {
    let (heads, kv_heads, head_dim) = builder.head_counts(layer);
    let [heads, kv_heads, head_dim] = [heads, kv_heads, head_dim].map(Extent::from);
    let tokens = builder.tokens;
    let query = builder.linear(layer, Name::Q, None, x);
    let query = builder.graph.reshape(query, shape([head_dim, heads, tokens]));
    let query = builder.norm(query, NormKind::Rms, layer, Name::QNorm);
    let query = builder.rope(layer, query);
    if builder.model.layers[layer as usize].shares_cache {
        return builder.attend_shared(layer, query);
    }
    let key = builder.linear(layer, Name::K, None, x);
    let value = match builder.layer_weight(layer, Name::V) {
        Some(_) => builder.linear(layer, Name::V, None, x),
        None => key,
    };
    let key = builder.graph.reshape(key, shape([head_dim, kv_heads, tokens]));
    let value = builder.graph.reshape(value, shape([head_dim, kv_heads, tokens]));
    let key = builder.norm(key, NormKind::Rms, layer, Name::KNorm);
    let value = builder.bare_norm(value, NormKind::Rms);
    let key = builder.rope(layer, key);
    builder.projected_attention(layer, Projections { query, key, value })
}

/// Computes the per-layer embeddings of the tokens, from a table and from a projection of the input
/// embedding.
fn layer_embeddings(builder: &mut Builder<'_>, x: TensorId) -> TensorId {
    let width = Extent::from(builder.model.per_layer_embedding);
    let layers = Extent::from(builder.model.layers.len() as u64);
    let tokens = builder.tokens;
    if builder.model.per_layer_embedding == 0 {
        return x;
    }
    let rows = builder.rows_of_tokens(Name::LayerEmbeddings);
    let rows = builder.graph.reshape(rows, shape([width, layers, tokens]));
    let rows = builder.graph.in_place(&[rows]);
    builder.graph.expand(rows);
    let projected = builder.linear(0, Name::LayerEmbeddingsProjection, None, x);
    let projected = builder.graph.in_place(&[projected]);
    let projected = builder.graph.reshape(projected, shape([width, layers, tokens]));
    let projected = builder.norm(projected, NormKind::Rms, 0, Name::LayerEmbeddingsNorm);
    let sum = builder.graph.in_place(&[projected, rows]);
    let sum = builder.graph.in_place(&[sum]);
    let permuted = builder.graph.permute(sum, [0, 2, 1, 3]);
    builder.layer_embeddings = Some(builder.graph.packed(permuted, shape([width, tokens, layers])));
    x
}

fn add_layer_embedding(builder: &mut Builder<'_>, layer: u64, x: TensorId) -> TensorId {
    let Some(all) = builder.layer_embeddings else { return x };
    let [width, tokens, ..] = builder.graph.shape(all);
    let gate = builder.linear(layer, Name::LayerEmbeddingGate, None, x);
    let gate = builder.graph.in_place(&[gate]);
    let row = 4 * width;
    let own = builder.graph.view(all, shape([width, tokens]), [row, row * tokens, row * tokens]);
    let gated = builder.graph.in_place(&[gate, own]);
    let up = builder.linear(layer, Name::LayerEmbeddingUp, None, gated);
    let normed = builder.norm(up, NormKind::Rms, layer, Name::LayerEmbeddingNorm);
    builder.graph.in_place(&[x, normed])
}

/// Builds the dense network and the experts in parallel.
fn experts(builder: &mut Builder<'_>, layer: u64, x: TensorId) -> TensorId {
    let normed = builder.norm(x, NormKind::Rms, layer, Name::FfnNorm);
    let dense = builder.dense(layer, normed);
    let dense = builder.norm(dense, NormKind::Rms, layer, Name::DensePostNorm);
    let inner = builder.norm(x, NormKind::Rms, layer, Name::ExpertsPreNorm);
    let bare = builder.bare_norm(x, NormKind::Rms);
    let scaled = builder.graph.in_place(&[bare]);
    let weight = builder.expect_weight(layer, Name::RouterScale);
    let scaled = builder.graph.in_place(&[scaled, weight]);
    let logits = builder.linear(layer, Name::Router, None, scaled);
    let routed = builder.routed_experts(layer, inner, Some(logits));
    let routed = builder.norm(routed, NormKind::Rms, layer, Name::ExpertsPostNorm);
    builder.graph.in_place(&[dense, routed])
}
