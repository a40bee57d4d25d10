//! MiMo V2 (`src/models/mimo2.cpp`).

use crate::architecture::LayerKind;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "mimo2",
    model_types: &["mimo_v2", "mimo_v2_flash"],
    kv_heads_by_layer: true,
    router_bias: |_| true,
    attention_sinks: |layer| layer.kind == LayerKind::Sliding,
    // the result is scaled
    attention: Some(|builder, layer, x| {
        let out = builder.plain_attention(layer, x);
        builder.graph.in_place(&[out])
    }),
    ..Family::PLAIN
}];
