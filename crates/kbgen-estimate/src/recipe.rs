//! Selects the type of each tensor in a quantization.
//!
//! The rules are those of llama.cpp's `src/llama-quant.cpp` (`llama_tensor_get_type_impl`,
//! `tensor_type_fallback`; <https://github.com/ggml-org/llama.cpp>, state of October 2026),
//! without an importance matrix.

use crate::architecture::Architecture;
use crate::names::{Home, Role, WeightTensor};
use crate::quantization::{Quantization, TensorType};

/// Returns the type of each tensor. `tensors` must be in the order of layers.
pub(crate) fn tensor_types(
    model: &Architecture,
    tensors: &[WeightTensor],
    quantization: Quantization,
) -> Vec<TensorType> {
    let mut recipe = Recipe {
        model,
        quantization,
        layers: model.layers.len() as u64,
        expert_count: model.experts.map_or(0, |experts| experts.count),
        value_tensors: tensors.iter().filter(|tensor| is_value(tensor.name.role())).count() as u64,
        values_seen: 0,
        downs_seen: 0,
    };
    tensors.iter().map(|tensor| recipe.tensor_type(tensor)).collect()
}

/// Returns whether the rules treat a role as V projection. Errors in V cost more than in any other tensor.
fn is_value(role: Role) -> bool {
    role == Role::AttentionV
}

struct Recipe<'a> {
    model: &'a Architecture,
    quantization: Quantization,
    layers: u64,
    expert_count: u64,
    value_tensors: u64,
    values_seen: u64,
    downs_seen: u64,
}

impl Recipe<'_> {
    fn tensor_type(&mut self, tensor: &WeightTensor) -> TensorType {
        if tensor.name.role() == Role::Plain {
            return TensorType::F32;
        }
        let base = self.quantization.base_type();
        if !base.is_quantized() {
            return base;
        }
        if tensor.name.role() == Role::Unquantized {
            return TensorType::F16;
        }
        fall_back(self.chosen_type(tensor, base), tensor.columns)
    }

    fn chosen_type(&mut self, tensor: &WeightTensor, base: TensorType) -> TensorType {
        let is_output = tensor.name.role() == Role::Output
            || (self.model.tied && tensor.name.role() == Role::TokenEmbedding);
        if is_output {
            return self.output_type(tensor.columns, base);
        }
        if self.quantization == Quantization::MXFP4 {
            return if tensor.matrices > 1 { TensorType::Mxfp4 } else { TensorType::Q8_0 };
        }
        match tensor.name.role() {
            Role::TokenEmbedding => match self.quantization {
                Quantization::IQ2_M | Quantization::IQ3_XXS => TensorType::Iq3S,
                _ => base,
            },
            Role::AttentionV => {
                let chosen = self.value_type(base);
                self.values_seen += 1;
                chosen
            }
            Role::AttentionK => self.key_type(base),
            Role::AttentionQ => match self.quantization {
                Quantization::IQ3_XXS => TensorType::Iq2S,
                _ => base,
            },
            Role::FfnDown => {
                let place = match tensor.home {
                    Home::Layer(index) | Home::Experts(index) if self.expert_count > 1 => index,
                    _ => self.downs_seen,
                };
                self.downs_seen += 1;
                self.down_type(base, place)
            }
            Role::AttentionOutput => self.attention_output_type(base),
            Role::Output | Role::Matrix | Role::Unquantized | Role::Plain => base,
        }
    }

    fn output_type(&self, columns: u64, base: TensorType) -> TensorType {
        match self.quantization {
            Quantization::MXFP4 | Quantization::Q8_0 => TensorType::Q8_0,
            _ if !columns.is_multiple_of(base.block().0) => TensorType::Q8_0,
            Quantization::IQ3_XXS | Quantization::IQ2_M => TensorType::Q5K,
            _ => TensorType::Q6K,
        }
    }

    fn value_type(&self, base: TensorType) -> TensorType {
        let grouped = self.model.grouped_query_ratio() >= 4;
        let seen = self.values_seen;
        if self.quantization == Quantization::IQ2_M {
            let wide = grouped || self.expert_count >= 4;
            return if wide { TensorType::Q4K } else { TensorType::Iq3S };
        }
        let mut chosen = match self.quantization {
            Quantization::Q2_K if grouped => TensorType::Q4K,
            Quantization::Q2_K => TensorType::Q3K,
            Quantization::IQ3_XXS if grouped => TensorType::Q4K,
            Quantization::IQ3_XXS => TensorType::Iq3S,
            Quantization::IQ3_M => TensorType::Q4K,
            Quantization::Q3_K_M if seen < 2 => TensorType::Q5K,
            Quantization::Q3_K_M => TensorType::Q4K,
            Quantization::Q3_K_L => TensorType::Q5K,
            Quantization::IQ4_NL | Quantization::IQ4_XS if grouped => TensorType::Q5K,
            Quantization::Q4_K_M | Quantization::Q5_K_M if use_more_bits(seen, self.value_tensors) => {
                TensorType::Q6K
            }
            Quantization::Q4_K_S if seen < 4 => TensorType::Q5K,
            _ => base,
        };
        if self.is_70b() && matches!(chosen, TensorType::Q3K | TensorType::Q4K) {
            chosen = TensorType::Q5K;
        }
        if self.expert_count == 8 { TensorType::Q8_0 } else { chosen }
    }

    fn key_type(&self, base: TensorType) -> TensorType {
        match self.quantization {
            Quantization::IQ2_M if self.expert_count == 8 => TensorType::Q4K,
            Quantization::IQ2_M => base,
            _ if self.expert_count == 8 => TensorType::Q8_0,
            Quantization::IQ3_XXS => TensorType::Iq2S,
            _ => base,
        }
    }

    fn down_type(&self, base: TensorType, place: u64) -> TensorType {
        let layers = self.layers;
        let first_eighth = place < layers / 8;
        let more_bits = use_more_bits(place, layers);
        match self.quantization {
            Quantization::IQ2_M if self.downs_seen <= layers / 8 => TensorType::Iq3S,
            Quantization::Q2_K => TensorType::Q3K,
            Quantization::IQ3_XXS if first_eighth => TensorType::Q4K,
            Quantization::IQ3_XXS => TensorType::Q3K,
            Quantization::Q3_K_M if place < layers / 16 => TensorType::Q5K,
            Quantization::Q3_K_M => TensorType::Q4K,
            Quantization::IQ3_M if first_eighth || (self.expert_count == 8 && more_bits) => TensorType::Q4K,
            Quantization::Q3_K_L => TensorType::Q5K,
            Quantization::Q4_K_M | Quantization::Q5_K_M if more_bits => TensorType::Q6K,
            Quantization::IQ4_NL | Quantization::IQ4_XS | Quantization::Q4_K_S if first_eighth => {
                TensorType::Q5K
            }
            _ => base,
        }
    }

    fn attention_output_type(&self, base: TensorType) -> TensorType {
        if self.expert_count == 8 {
            return match self.quantization {
                Quantization::Q2_K
                | Quantization::IQ3_XXS
                | Quantization::Q3_K_S
                | Quantization::Q3_K_M
                | Quantization::IQ4_NL
                | Quantization::Q4_K_S
                | Quantization::Q4_K_M
                | Quantization::IQ3_M
                | Quantization::IQ4_XS
                | Quantization::IQ2_M => TensorType::Q5K,
                _ => base,
            };
        }
        match self.quantization {
            Quantization::Q2_K => TensorType::Q3K,
            Quantization::IQ3_XXS | Quantization::IQ2_M => TensorType::Iq3S,
            Quantization::Q3_K_M | Quantization::IQ3_M => TensorType::Q4K,
            Quantization::Q3_K_L => TensorType::Q5K,
            _ => base,
        }
    }

    /// Returns whether this is llama.cpp's `LLM_TYPE_70B`: eight heads share a V, so a wider type costs
    /// little.
    fn is_70b(&self) -> bool {
        self.layers == 80 && (self.model.family.is_70b)(self.model)
    }
}

/// Returns whether a layer is in the first eighth, in the last eighth, or every third one between them.
fn use_more_bits(place: u64, layers: u64) -> bool {
    let eighth = layers / 8;
    place < eighth || place >= 7 * layers / 8 || (place - eighth) % 3 == 2
}

/// Replaces a type whose blocks do not divide a row by one whose blocks do.
fn fall_back(chosen: TensorType, columns: u64) -> TensorType {
    if columns.is_multiple_of(chosen.block().0) {
        return chosen;
    }
    let narrower = match chosen {
        TensorType::Iq2S | TensorType::Iq3Xxs | TensorType::Iq3S | TensorType::Iq4Xs => TensorType::Iq4Nl,
        TensorType::Q2K | TensorType::Q3K => TensorType::Q4_0,
        TensorType::Q4K => TensorType::Q5_0,
        TensorType::Q5K => TensorType::Q5_1,
        TensorType::Q6K => TensorType::Q8_0,
        other => other,
    };
    if columns.is_multiple_of(narrower.block().0) { narrower } else { TensorType::F16 }
}
