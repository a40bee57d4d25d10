//! Token mixers of a layer.

use crate::architecture::LayerKind;
use crate::compute::builder::{Builder, NormKind};
use crate::compute::tensor::TensorId;
use crate::family::{QueryKeyNorm, Recurrence};
use crate::names::Name;

impl Builder<'_> {
    /// Builds the token mixer: attention or a recurrent layer.
    pub(crate) fn mixer(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        match (self.model.layers[layer as usize].kind, family.recurrence) {
            (LayerKind::Latent, _) => self.latent_attention(layer, x),
            (LayerKind::Recurrent, Recurrence::ShortConvolution) => self.short_convolution(layer, x),
            (LayerKind::Recurrent, Recurrence::DeltaNet { joint }) => self.delta_net(layer, x, joint),
            (LayerKind::Recurrent, Recurrence::Mamba2) => self.mamba2(layer, x),
            _ => match family.attention {
                Some(attention) => attention(self, layer, x),
                None => self.plain_attention(layer, x),
            },
        }
    }

    /// Builds multi-head attention, as most families have it.
    pub(crate) fn plain_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        let norms = family.query_key_norm;
        let mut parts = if norms == QueryKeyNorm::Whole {
            let mut flat = self.flat_projections(layer, x);
            flat.query = self.norm(flat.query, NormKind::Rms, layer, Name::QNorm);
            flat.key = self.norm(flat.key, NormKind::Rms, layer, Name::KNorm);
            self.by_head(layer, flat)
        } else {
            self.projections(layer, x)
        };
        let uses_rope = (family.uses_rope)(self.model, layer);
        let by_head = self.model.head_norm || norms == QueryKeyNorm::EachHead;
        let norms_last = norms == QueryKeyNorm::ByHeadAfterRope;
        if by_head && !norms_last {
            parts.query = self.head_norm(layer, Name::QNorm, parts.query);
        }
        if uses_rope {
            parts.query = self.rope(layer, parts.query);
        }
        if by_head && !norms_last {
            parts.key = self.head_norm(layer, Name::KNorm, parts.key);
        }
        if uses_rope {
            parts.key = self.rope(layer, parts.key);
        }
        if by_head && norms_last {
            parts.key = self.head_norm(layer, Name::KNorm, parts.key);
            parts.query = self.head_norm(layer, Name::QNorm, parts.query);
        }
        if let Some(after_rope) = family.after_rope {
            after_rope(self, layer, &mut parts);
        }
        self.projected_attention(layer, parts)
    }

    fn head_norm(&mut self, layer: u64, name: Name, x: TensorId) -> TensorId {
        self.norm_if_any(layer, name, self.model.family.norm, x)
    }
}
