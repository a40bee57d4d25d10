//! Embeddings of tokens and of images.

use crate::compute::builder::Builder;
use crate::compute::extent::Extent;
use crate::compute::tensor::{Operation, TensorId, shape};
use crate::names::{Home, Name};
use crate::quantization::TensorType;

impl Builder<'_> {
    /// Tokens to vectors.
    pub(crate) fn embedding(&mut self) -> TensorId {
        let stacked = self.model.family.stacked_embeddings;
        let hidden = Extent::from(self.model.hidden);
        let width = hidden * (1 + stacked);
        let vectors = self.graph.input(TensorType::F32, shape([width, self.tokens]));
        let mut rows = self.rows_of_tokens(Name::TokenEmbedding);
        if stacked > 0 {
            let padded = self.graph.new_tensor(
                Operation::Other,
                TensorType::F32,
                shape([width, self.tokens]),
                &[rows],
            );
            self.stacked = Some(padded);
            rows = self.embedding_part(padded);
        }
        self.graph.expand(rows);
        if self.settings.build.has_vector_input() {
            // a batch may hold vectors instead of tokens: their place is always there
            self.graph.expand(vectors);
        }
        rows
    }

    /// Rows of an embedding of the input for the tokens.
    pub(crate) fn rows_of_tokens(&mut self, name: Name) -> TensorId {
        let tokens = self.graph.input(TensorType::I32, shape([self.tokens]));
        let table =
            self.weight(Home::Input, name).expect("the family's tensor list holds what its graph uses");
        self.graph.get_rows(table, tokens)
    }

    /// One of the vectors of a token behind each other.
    fn embedding_part(&mut self, stacked: TensorId) -> TensorId {
        let row = self.graph.get(stacked).strides[1];
        let dimensions = shape([self.model.hidden.into(), self.tokens]);
        self.graph.view(stacked, dimensions, [row, row * self.tokens, row * self.tokens])
    }

    /// Adds the vector of an image for a layer.
    pub(crate) fn add_stacked_embedding(&mut self, layer: u64, x: TensorId) -> TensorId {
        match self.stacked {
            Some(stacked) if layer < self.model.family.stacked_embeddings => {
                let part = self.embedding_part(stacked);
                self.graph.in_place(&[x, part])
            }
            _ => x,
        }
    }
}
