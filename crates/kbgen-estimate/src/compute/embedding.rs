//! Embeddings of tokens and of images.

use crate::architecture::Pooling;
use crate::compute::builder::Builder;
use crate::compute::extent::Extent;
use crate::compute::tensor::{Operation, TensorId, shape};
use crate::names::{Home, Name};
use crate::quantization::TensorType;

impl Builder<'_> {
    /// Looks up the embeddings of the tokens.
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
            // a batch may contain vectors instead of tokens; their input is always allocated
            self.graph.expand(vectors);
        }
        rows
    }

    /// Pools the vectors of the tokens of each text.
    pub(crate) fn pool(&mut self, x: TensorId, pooling: Pooling) {
        let pooled = match pooling {
            Pooling::Mean => {
                let transposed = self.graph.transpose(x);
                let dimensions = self.graph.shape(transposed);
                let packed = self.graph.packed(transposed, dimensions);
                let shares = self.graph.input(TensorType::F32, shape([self.tokens, self.sequences]));
                self.graph.mul_mat(packed, shares)
            }
            Pooling::Token => {
                let rows = self.graph.input(TensorType::I32, shape([self.sequences]));
                self.graph.get_rows(x, rows)
            }
        };
        self.graph.mark_output(pooled);
        self.graph.expand(pooled);
    }

    /// Looks up the rows of an input embedding for the tokens.
    pub(crate) fn rows_of_tokens(&mut self, name: Name) -> TensorId {
        let tokens = self.graph.input(TensorType::I32, shape([self.tokens]));
        self.rows_of(name, tokens)
    }

    /// Looks up rows of an input embedding by index.
    pub(crate) fn rows_of(&mut self, name: Name, rows: TensorId) -> TensorId {
        let table =
            self.weight(Home::Input, name).expect("the family's tensor list holds what its graph uses");
        self.graph.get_rows(table, rows)
    }

    /// Returns a view of one of the concatenated vectors of each token.
    fn embedding_part(&mut self, stacked: TensorId) -> TensorId {
        let row = self.graph.get(stacked).strides[1];
        let dimensions = shape([self.model.hidden.into(), self.tokens]);
        self.graph.view(stacked, dimensions, [row, row * self.tokens, row * self.tokens])
    }

    /// Adds the image vector of a layer.
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
