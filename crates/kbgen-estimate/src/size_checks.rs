//! Checks of the sizes that follow from several hyperparameters, so that no later sum or product overflows.

use crate::architecture::{Architecture, FieldError};
use crate::cache::state_widths;
use crate::fields::{ArchitectureFields, fail};
use crate::tensors::weight_tensors;

/// Maximum number of values of all weights: ten times those of the largest models.
const MAX_WEIGHTS: u128 = 1 << 45;
/// Maximum number of columns, and of rows, of a matrix.
const MAX_WIDTH: u64 = 1 << 27;
/// Maximum number of values in the cache of all layers.
const MAX_CACHE: u128 = 1 << 48;
/// Least number of tokens for which the cache is checked, because a run can exceed the model's longest context.
const LEAST_CONTEXT: u64 = 1 << 24;
/// Maximum number of values in the recurrent states of all layers.
const MAX_STATES: u64 = 1 << 40;

impl ArchitectureFields {
    /// Checks the sizes of weights, cache and states. Expects that [`ArchitectureFields::check_sizes`] and
    /// [`ArchitectureFields::check_parts`] found no error.
    pub(crate) fn check_totals(&self, model: &Architecture) -> Result<(), FieldError> {
        let mut weights = 0;
        for tensor in weight_tensors(model) {
            let (columns, rows) = (tensor.columns, tensor.rows);
            if columns > MAX_WIDTH || rows > MAX_WIDTH {
                fail!(
                    self.hidden,
                    "a matrix of {columns} columns and {rows} rows is larger than that of any model"
                );
            }
            // padded as by the type with the largest blocks
            let padded = columns.next_multiple_of(256) * rows.next_multiple_of(128);
            weights += u128::from(padded) * u128::from(tensor.matrices);
        }
        if weights > MAX_WEIGHTS {
            fail!(self.hidden, "the weights would be larger than those of any model");
        }
        let key_rows = model.layers.iter().map(|layer| layer.kv_heads * layer.head_dim);
        let key_row = key_rows.max().unwrap_or(0) + model.indexer.map_or(0, |indexer| indexer.width);
        let of_token = (key_row + model.widest_value_row()) * model.layers.len() as u64;
        let cache = u128::from(of_token) * u128::from(self.max_ctx.max(LEAST_CONTEXT));
        if cache > MAX_CACHE {
            fail!(self.kv_heads, "the cache would be larger than that of any model");
        }
        // each head reads rows of this width
        if model.latent.is_some_and(|latent| model.heads * (latent.kv_lora + latent.qk_rope) > MAX_WIDTH) {
            fail!(self.mla_kv_lora, "is too large for {} heads", self.heads);
        }
        let (convolution, state) = state_widths(model);
        if (convolution + state) * model.layers.len() as u64 > MAX_STATES {
            fail!(self.ssm_state, "the recurrent states would be larger than those of any model");
        }
        Ok(())
    }
}
