//! Model of a file: its architecture, and the weights of the file instead of a quantization's recipe.

use std::fmt;
use std::sync::Arc;

use crate::architecture::{Architecture, FieldError, RopeFactors};
use crate::bytes::{Bytes, MAX_TENSOR_DATA};
use crate::family::Family;
use crate::gguf::fields::{architecture_fields, layer_count};
use crate::gguf::header::{FileTensor, Header};
use crate::names::{Home, Name, WeightTensor};
use crate::weights::{WeightList, Weights};

/// Model of a GGUF file.
#[derive(Debug)]
pub struct ModelFile {
    /// Architecture, from metadata and tensor shapes.
    pub architecture: Architecture,
    /// `general.architecture`, if it is unknown. The graph is then Llama's: weights are exact, cache and compute buffers
    /// approximate.
    pub unknown_architecture: Option<String>,
    /// Bytes of all tensors.
    pub data: Bytes,
    /// Bytes of tensors that llama.cpp loads only on request: layers for multi-token prediction.
    pub not_loaded: Bytes,
    pub(crate) weights: Arc<Weights>,
}

/// Reason why a file cannot be estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// Not a language model but, for example, a projector or an adapter: its type or architecture.
    NotAModel(String),
    /// Impossible sizes in the metadata.
    Sizes(FieldError),
    /// More data than any model has.
    TooLarge,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::NotAModel(kind) if kind.is_empty() => f.write_str("the file names no architecture"),
            FileError::NotAModel(kind) => write!(f, "the file is not a language model but `{kind}`"),
            FileError::Sizes(error) => write!(f, "invalid model metadata: {error}"),
            FileError::TooLarge => f.write_str("the tensors have more data than those of any model"),
        }
    }
}

impl std::error::Error for FileError {}

impl ModelFile {
    /// Creates the model of a header. The header of a split file must have the tensors of all parts.
    ///
    /// # Errors
    /// If the file is not a language model, or its sizes are impossible.
    pub fn new(header: &Header) -> Result<ModelFile, FileError> {
        let name = header.text("general.architecture").unwrap_or_default();
        let kind = header.text("general.type").unwrap_or("model");
        if kind != "model" || name == "clip" || name.is_empty() {
            let what = if kind == "model" { name } else { kind };
            return Err(FileError::NotAModel(what.to_owned()));
        }
        let sizes = header.tensors.iter().map(|tensor| tensor.bytes().0);
        if sizes.fold(0, u64::saturating_add) > MAX_TENSOR_DATA {
            return Err(FileError::TooLarge);
        }
        let mut fields = architecture_fields(header);
        let is_known = Family::named(name).is_some();
        if !is_known {
            fields = fields.with_plain_family();
        }
        let mut architecture = fields.build().map_err(FileError::Sizes)?;
        let values = |name: &str| header.tensor(name).map(|tensor| tensor.dimensions[0]);
        architecture.rope_factors = match (values("rope_freqs.weight"), values("rope_factors_long.weight")) {
            (Some(values), _) => RopeFactors::One(values),
            (_, Some(values)) => RopeFactors::LongAndShort(values),
            _ => RopeFactors::None,
        };
        if let Some(experts) = &mut architecture.experts {
            let is_bias = |tensor: &FileTensor| tensor.name.ends_with(".exp_probs_b.bias");
            experts.router_bias = header.tensors.iter().any(is_bias);
        }
        let layers = layer_count(header);
        let (loaded, later): (Vec<&FileTensor>, Vec<&FileTensor>) = header
            .tensors
            .iter()
            .partition(|tensor| layer_of(&tensor.name).is_none_or(|layer| layer < layers));
        let bytes = |tensors: &[&FileTensor]| tensors.iter().map(|tensor| tensor.bytes().0).sum::<u64>();
        let tensors: Vec<_> = loaded.iter().map(|tensor| (placed(tensor), tensor.kind)).collect();
        let weights = WeightList::new(&architecture).of_file(&tensors);
        Ok(ModelFile {
            architecture,
            unknown_architecture: (!is_known).then(|| name.to_owned()),
            data: Bytes(bytes(&loaded) + bytes(&later)),
            not_loaded: Bytes(bytes(&later)),
            weights: Arc::new(weights),
        })
    }
}

/// Returns the layer in a tensor's name.
fn layer_of(name: &str) -> Option<u64> {
    name.strip_prefix("blk.")?.split('.').next()?.parse().ok()
}

/// Prefixes of the names of tensors that stay in host memory.
const INPUTS: [&str; 4] = ["token_embd.", "position_embd.", "token_types.", "per_layer_token_embd."];

/// Returns where llama.cpp places a tensor, by its name (`LLM_TENSOR_INFOS` in `src/llama-arch.cpp`).
fn home(name: &str) -> Home {
    match layer_of(name) {
        Some(layer) if name.contains("_exps.") || name.contains("_chexps.") => Home::Experts(layer),
        Some(layer) => Home::Layer(layer),
        None if INPUTS.iter().any(|input| name.starts_with(input)) => Home::Input,
        None if name.starts_with("per_layer_") || name.starts_with("token_embd_norm.") => Home::Layer(0),
        None if name.starts_with("rope_f") => Home::EveryDevice,
        None => Home::Output,
    }
}

/// Returns the tensor with its home and name.
fn placed(tensor: &FileTensor) -> WeightTensor {
    let [columns, rows, matrices, more] = tensor.dimensions;
    let suffix = match layer_of(&tensor.name) {
        Some(_) => tensor.name.splitn(3, '.').nth(2).unwrap_or_default(),
        None => &tensor.name,
    };
    let name = Name::of_file(suffix).unwrap_or(Name::Other);
    WeightTensor { name, home: home(&tensor.name), columns, rows, matrices: matrices * more }
}
