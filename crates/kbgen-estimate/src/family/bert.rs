//! BERT and Nomic BERT: encoders of texts (`src/models/bert.cpp`).

use crate::compute::{Builder, NormKind, TensorId, shape};
use crate::family::{Family, LayerForm};
use crate::names::{Home, Name};
use crate::tensors::TensorList;

const NOMIC: Family = Family {
    name: "nomic-bert",
    is_encoder: true,
    input_tensors: Some(|list| {
        let hidden = list.model.hidden;
        if list.model.token_types > 0 {
            list.matrix(Name::TypeEmbedding, hidden, list.model.token_types);
        }
        embedding_norm(list);
    }),
    norm_bias: true,
    norm: NormKind::Layer,
    layer_form: LayerForm::NormedSums,
    before_layers: Some(|builder, rows| {
        let typed = typed(builder, rows);
        builder.norm(typed, NormKind::Layer, 0, Name::EmbeddingNorm)
    }),
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "bert",
        model_types: &["xlm-roberta"],
        input_tensors: Some(|list| {
            let (hidden, positions) = (list.model.hidden, list.model.max_context);
            list.matrix(Name::TypeEmbedding, hidden, list.model.token_types);
            list.matrix(Name::PositionEmbedding, hidden, positions);
            embedding_norm(list);
        }),
        attention_output_bias: true,
        ffn_bias: true,
        before_layers: Some(|builder, rows| {
            let typed = typed(builder, rows);
            let positions = builder.positions.expect("the graph has positions");
            let placed = builder.rows_of(Name::PositionEmbedding, positions);
            let sum = builder.graph.in_place(&[placed, typed]);
            builder.norm(sum, NormKind::Layer, 0, Name::EmbeddingNorm)
        }),
        uses_rope: |_, _| false,
        ..NOMIC
    },
    NOMIC,
];

/// Adds the norm of the embedding, which is on the device of the first layer.
fn embedding_norm(list: &mut TensorList<'_>) {
    list.home = Home::Layer(0);
    list.vector(Name::EmbeddingNorm, list.model.hidden);
    list.vector(Name::EmbeddingNormBias, list.model.hidden);
}

/// Adds the vector of the first token type.
fn typed(builder: &mut Builder<'_>, rows: TensorId) -> TensorId {
    match builder.weight(Home::Input, Name::TypeEmbedding) {
        None => rows,
        Some(table) => {
            let hidden = builder.model.hidden;
            let row = builder.graph.view(table, shape([hidden.into()]), [(4 * hidden).into(); 3]);
            builder.graph.in_place(&[rows, row])
        }
    }
}
