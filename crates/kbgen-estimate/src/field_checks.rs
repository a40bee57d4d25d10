//! Checks of the hyperparameters of a model page.

use crate::architecture::{FieldError, LayerKind};
use crate::field::FieldValue;
use crate::fields::{ArchitectureFields, MAX_LAYERS, fail};

/// Maximum of any count: products of three counts stay below 2^63.
const LARGEST: u64 = 1 << 24;

impl ArchitectureFields {
    /// Checks the counts.
    pub(crate) fn check_sizes(&self) -> Result<(), FieldError> {
        let layers = self.layer_count();
        if layers == 0 {
            fail!(self.layers, "must be above zero");
        }
        for field in Self::ALL {
            let FieldValue::Count(value) = (field.get)(self) else { continue };
            let problem = match value {
                // zero is valid without attention
                0 if field.is_required && field.name != stringify!(kv_heads) => {
                    "must be above zero".to_owned()
                }
                _ if value > LARGEST => format!("{value} is too large"),
                _ => continue,
            };
            return Err(FieldError { field: field.name, problem });
        }
        if self.kv_shared_layers >= layers {
            fail!(self.kv_shared_layers, "must be below {layers}, the number of layers");
        }
        if layers > MAX_LAYERS {
            fail!(self.layers, "{layers} is too large");
        }
        Ok(())
    }

    /// Checks that the values that the model's parts require are given.
    pub(crate) fn check_parts(&self, kinds: &[LayerKind]) -> Result<(), FieldError> {
        let attends = |kind: &LayerKind| matches!(kind, LayerKind::Full | LayerKind::Sliding);
        if kinds.iter().any(attends) {
            if self.kv_heads == 0 {
                fail!(self.kv_heads, "must be above zero for a model with attention");
            }
            if !self.heads.is_multiple_of(self.kv_heads) {
                fail!(self.kv_heads, "{} heads are not a multiple of {} KV heads", self.heads, self.kv_heads);
            }
            if self.head_dim == 0 && !self.hidden.is_multiple_of(self.heads) {
                fail!(self.head_dim, "required, because `hidden / heads` is not a whole number");
            }
        }
        if kinds.contains(&LayerKind::Sliding) && self.sliding_window == 0 {
            fail!(self.sliding_window, "required for sliding-window layers");
        }
        if kinds.contains(&LayerKind::Latent) {
            macro_rules! check {
                ($($name:ident),+) => { $(if self.$name == 0 {
                    fail!(self.$name, "required for latent-attention layers");
                })+ };
            }
            check!(mla_kv_lora, mla_qk_rope, mla_qk_nope, mla_v_head);
        }
        self.check_indexer(kinds)?;
        if kinds.contains(&LayerKind::Recurrent) && self.ssm_conv < 2 {
            fail!(self.ssm_conv, "required for recurrent layers");
        }
        if self.experts > 0 {
            if self.experts_used == 0 || self.experts_used > self.experts {
                fail!(self.experts_used, "must be 1 to {}", self.experts);
            }
            if self.expert_ffn == 0 {
                fail!(self.expert_ffn, "required for a model with experts");
            }
        } else if self.ffn == 0 {
            fail!(self.ffn, "required for a model without experts");
        }
        Ok(())
    }

    /// Checks the indexer of sparse layers; the first layer must have one.
    fn check_indexer(&self, kinds: &[LayerKind]) -> Result<(), FieldError> {
        if self.indexer_heads == 0 {
            if self.layers.contains('T') {
                fail!(self.indexer_heads, "required for layers of the kind T");
            }
            return Ok(());
        }
        if kinds.iter().any(|kind| *kind != LayerKind::Latent) {
            fail!(self.indexer_heads, "only models whose layers all have latent attention have an indexer");
        }
        if self.layers.starts_with('T') {
            fail!(self.layers, "the first layer must have an indexer");
        }
        if self.mla_q_lora == 0 {
            fail!(self.mla_q_lora, "required for a model with an indexer");
        }
        if self.indexer_head_dim == 0 {
            fail!(self.indexer_head_dim, "required for a model with an indexer");
        }
        if self.indexer_top_k == 0 {
            fail!(self.indexer_top_k, "required for a model with an indexer");
        }
        Ok(())
    }
}
