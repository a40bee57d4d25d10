//! Ministral 3: Llama with a scale of the query that grows with the position.

use crate::compute::TensorId;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "mistral3",
    model_types: &["ministral3"],
    query_scale: true,
    after_rope: Some(|builder, _layer, parts| {
        let sources: Vec<TensorId> = [parts.query].into_iter().chain(builder.query_scale).collect();
        parts.query = builder.graph.in_place(&sources);
    }),
    ..Family::PLAIN
}];
