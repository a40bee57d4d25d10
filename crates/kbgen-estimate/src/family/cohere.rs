//! Command R and its successors: parallel attention and feed-forward.

use crate::architecture::LayerKind;
use crate::compute::NormKind;
use crate::family::{Family, LayerForm, QueryKeyNorm};
use crate::names::Name;

const COMMAND: Family = Family {
    name: "command-r",
    model_types: &["cohere"],
    norms: &[Name::AttentionNorm],
    norm: NormKind::Layer,
    layer_form: LayerForm::Parallel { parts_first: false },
    query_key_norm: QueryKeyNorm::EachHead,
    logit_steps: 1,
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[
    COMMAND,
    Family {
        name: "cohere2",
        model_types: &[],
        full_attention_every: 4,
        query_key_norm: QueryKeyNorm::ByHead,
        uses_rope: |model, layer| model.layers[layer as usize].kind == LayerKind::Sliding,
        ..COMMAND
    },
];
