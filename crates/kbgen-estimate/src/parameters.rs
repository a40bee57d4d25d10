//! Total and active parameter counts of a model.

use crate::architecture::Architecture;
use crate::names::{Home, Name};
use crate::tensors::weight_tensors;

/// Parameter counts of a model, over the tensors that are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterCount {
    /// Total parameters, without parts that are not loaded with the text model: vision towers, layers that predict
    /// several tokens, scales of FP8 checkpoints.
    pub held: u64,
    /// Parameters used for one token: all except the unused experts. Includes the whole embedding, as most
    /// publishers count it.
    pub active: u64,
}

/// Counts the parameters of a model, without rotary factors: a converter computes them, and the checkpoint
/// does not contain them.
pub fn parameter_count(model: &Architecture) -> ParameterCount {
    let mut count = ParameterCount { held: 0, active: 0 };
    for tensor in weight_tensors(model) {
        if tensor.name == Name::RopeFactors {
            continue;
        }
        let numbers = tensor.columns * tensor.rows * tensor.matrices;
        count.held += numbers;
        count.active += match (tensor.home, model.experts) {
            (Home::Experts(_), Some(experts)) => numbers / experts.count * experts.used,
            _ => numbers,
        };
    }
    count
}
