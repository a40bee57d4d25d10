//! Checks of the hyperparameters of a model page.

use crate::architecture::{FieldError, LayerKind};
use crate::family::{Family, LayerForm, Recurrence};
use crate::field::{FieldKind, FieldValue};
use crate::fields::{ArchitectureFields, fail};

/// Returns an error if one of the fields is zero.
macro_rules! require {
    ($fields:ident, $problem:literal; $($name:ident),+) => { $(if $fields.$name == 0 {
        fail!($fields.$name, $problem);
    })+ };
}

impl ArchitectureFields {
    /// Checks the counts.
    pub(crate) fn check_sizes(&self) -> Result<(), FieldError> {
        let layers = self.layer_count();
        for field in Self::ALL {
            let FieldKind::Count { most } = field.kind else { continue };
            let FieldValue::Count(value) = (field.get)(self) else { continue };
            let problem = match value {
                // zero is valid without attention
                0 if field.is_required && field.name != stringify!(kv_heads) => {
                    "must be above zero".to_owned()
                }
                _ if value > most => format!("{value} is above {most}"),
                _ => continue,
            };
            return Err(FieldError { field: field.name, problem });
        }
        if self.kv_shared_layers >= layers {
            fail!(self.kv_shared_layers, "must be below {layers}, the number of layers");
        }
        Ok(())
    }

    /// Checks that the values that the model's parts require are given, and that the graph of the family has
    /// these parts.
    pub(crate) fn check_parts(&self, family: &Family, kinds: &[LayerKind]) -> Result<(), FieldError> {
        self.check_attention(family, kinds)?;
        if kinds.contains(&LayerKind::Latent) {
            require!(self, "required for latent-attention layers"; mla_kv_lora, mla_qk_rope, mla_qk_nope, mla_v_head);
        }
        self.check_indexer(kinds)?;
        self.check_recurrent(family, kinds)?;
        self.check_shared_caches(kinds)?;
        self.check_feed_forward(family, kinds)
    }

    fn check_attention(&self, family: &Family, kinds: &[LayerKind]) -> Result<(), FieldError> {
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
            if self.fused_qkv && family.has_separate_projections() {
                fail!(self.fused_qkv, "queries, keys and values of this architecture are separate tensors");
            }
            if self.k_eq_v_full && !family.value_may_be_key {
                fail!(
                    self.k_eq_v_full,
                    "full-attention layers of this architecture have values of their own"
                );
            }
        }
        if kinds.contains(&LayerKind::Sliding) && self.sliding_window == 0 {
            fail!(self.sliding_window, "required for sliding-window layers");
        }
        Ok(())
    }

    /// Checks the widths of recurrent layers, which the graph divides among heads and groups.
    fn check_recurrent(&self, family: &Family, kinds: &[LayerKind]) -> Result<(), FieldError> {
        if !kinds.contains(&LayerKind::Recurrent) {
            return Ok(());
        }
        let (inner, heads, groups) = (self.ssm_inner, self.ssm_dt_rank, self.ssm_groups);
        if self.ssm_conv < 2 {
            fail!(self.ssm_conv, "required for recurrent layers");
        }
        if family.recurrence == Recurrence::ShortConvolution {
            if inner > 0 {
                fail!(self.ssm_inner, "a short convolution has no inner width");
            }
            return Ok(());
        }
        require!(self, "required for recurrent layers"; ssm_inner, ssm_state, ssm_dt_rank, ssm_groups);
        match family.recurrence {
            Recurrence::DeltaNet { .. } if inner != self.ssm_state * heads => {
                fail!(self.ssm_inner, "must be {}, `ssm_state` times `ssm_dt_rank`", self.ssm_state * heads)
            }
            Recurrence::DeltaNet { .. } if !heads.is_multiple_of(groups) => {
                fail!(self.ssm_groups, "`ssm_dt_rank` {heads} is not a multiple of {groups}")
            }
            Recurrence::Mamba2 if !inner.is_multiple_of(heads) => {
                fail!(self.ssm_dt_rank, "`ssm_inner` {inner} is not a multiple of {heads}")
            }
            Recurrence::Mamba2 if !inner.is_multiple_of(groups) => {
                fail!(self.ssm_groups, "`ssm_inner` {inner} is not a multiple of {groups}")
            }
            _ => Ok(()),
        }
    }

    /// Checks that a layer of the same kind with a cache of its own precedes each layer that shares one.
    fn check_shared_caches(&self, kinds: &[LayerKind]) -> Result<(), FieldError> {
        let (own, shared) = kinds.split_at(kinds.len() - self.kv_shared_layers as usize);
        if shared.iter().any(|kind| !own.contains(kind)) {
            fail!(
                self.kv_shared_layers,
                "no layer before the last {} has the cache that one of them reads",
                shared.len()
            );
        }
        Ok(())
    }

    fn check_feed_forward(&self, family: &Family, kinds: &[LayerKind]) -> Result<(), FieldError> {
        if kinds.contains(&LayerKind::None) && family.layer_form != LayerForm::OnePart {
            fail!(self.layers, "every layer of this architecture has attention or a recurrent state");
        }
        if self.experts == 0 {
            require!(self, "required for a model without experts"; ffn);
            return Ok(());
        }
        if matches!(family.layer_form, LayerForm::NormedSums | LayerForm::Parallel { .. }) {
            fail!(self.experts, "the layers of this architecture have no experts");
        }
        if self.experts_used == 0 || self.experts_used > self.experts {
            fail!(self.experts_used, "must be 1 to {}", self.experts);
        }
        require!(self, "required for a model with experts"; expert_ffn);
        if !self.gated_ffn && !family.squared_relu && family.expert_tensors.is_none() {
            fail!(self.gated_ffn, "the experts of this architecture have a gate");
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
        require!(self, "required for a model with an indexer"; mla_q_lora, indexer_head_dim, indexer_top_k);
        Ok(())
    }
}
