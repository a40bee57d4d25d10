//! Reads the header of a safetensors file: names, types and shapes of the tensors, never their data.
//!
//! Format: <https://huggingface.co/docs/safetensors>. The length of the header is checked before it is read, so that the
//! cost of a damaged file is bounded.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::architecture::Architecture;
use crate::bytes::MAX_TENSOR_DATA;
use crate::checkpoint::{WeightType, weight_bytes};
use crate::estimator::NotCovered;
use crate::header_error::HeaderError;

/// Maximum header size in bytes, as in the reference implementation.
const MAX_HEADER: u64 = 100_000_000;
/// Maximum index size in bytes. The index of a model with 200,000 tensors has 20 MB.
const MAX_INDEX: u64 = 100_000_000;
/// Maximum number of dimensions of a tensor.
const MAX_DIMENSIONS: usize = 8;
const TOO_LARGE: &str = "the tensors have more data than those of any model";

/// Tensor in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTensor {
    /// Name, such as `model.layers.0.self_attn.q_proj.weight`.
    pub name: String,
    /// Type as stored, such as `BF16`.
    pub dtype: String,
    /// Dimensions, rows first.
    pub shape: Vec<u64>,
    /// Bytes of its data.
    pub bytes: u64,
}

/// Entry of a header.
#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// Entries in the order of the file.
struct Entries(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let entry: Entry = map.next_value().map_err(|error| {
                        de::Error::custom(format!("tensor `{}`: {error}", name.escape_debug()))
                    })?;
                    entries.push((name, entry));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Reads the header of a file up to its end.
///
/// # Errors
/// When the input is not a safetensors file, is damaged, or cannot be read.
pub fn read_header(mut input: impl Read) -> Result<Vec<StoredTensor>, HeaderError> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if !(2..=MAX_HEADER).contains(&length) {
        return invalid(format!("not a safetensors file: its header would have {length} bytes"));
    }
    let json = read_at_most(input, length)?;
    if (json.len() as u64) < length {
        return Err(HeaderError::Truncated);
    }
    let Entries(entries) = serde_json::from_slice(&json)
        .map_err(|error| HeaderError::Invalid(format!("not a safetensors header: {error}")))?;
    let tensors: Vec<StoredTensor> =
        entries.into_iter().map(|(name, entry)| checked(name, entry)).collect::<Result<_, _>>()?;
    match data(&tensors) {
        ..=MAX_TENSOR_DATA => Ok(tensors),
        _ => invalid(TOO_LARGE.to_owned()),
    }
}

/// Returns the bytes of all tensors, or more than [`MAX_TENSOR_DATA`] if the sum overflows.
fn data(tensors: &[StoredTensor]) -> u64 {
    tensors.iter().map(|tensor| tensor.bytes).fold(0, u64::saturating_add)
}

fn checked(name: String, entry: Entry) -> Result<StoredTensor, HeaderError> {
    let Entry { dtype, shape, data_offsets: (start, end) } = entry;
    let shown = name.escape_debug().to_string();
    if shape.len() > MAX_DIMENSIONS {
        return invalid(format!("tensor `{shown}` has {} dimensions", shape.len()));
    }
    let Some(bits) = bits(&dtype) else {
        return invalid(format!("tensor `{shown}` has the unknown type `{}`", dtype.escape_debug()));
    };
    let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    let bytes = elements.and_then(|elements| elements.checked_mul(bits)).map(|bits| bits.div_ceil(8));
    if bytes.is_none() || end.checked_sub(start) != bytes {
        return invalid(format!("tensor `{shown}` has a shape that does not agree with its data"));
    }
    Ok(StoredTensor { name, dtype, shape, bytes: end - start })
}

/// Returns the number of bits of an element.
fn bits(dtype: &str) -> Option<u64> {
    Some(match dtype {
        "F4" => 4,
        "F6_E2M3" | "F6_E3M2" => 6,
        "BOOL" | "U8" | "I8" | "F8_E5M2" | "F8_E4M3" | "F8_E8M0" | "F8_E4M3FNUZ" | "F8_E5M2FNUZ" => 8,
        "I16" | "U16" | "F16" | "BF16" => 16,
        "I32" | "U32" | "F32" => 32,
        "I64" | "U64" | "F64" | "C64" => 64,
        _ => return None,
    })
}

fn read_at_most(input: impl Read, most: u64) -> Result<Vec<u8>, HeaderError> {
    // memory grows with the bytes read, not with the length that the file declares
    let mut bytes = Vec::new();
    input.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Index of a checkpoint of several files (`model.safetensors.index.json`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Names of the files, in order. The files are in the folder of the index.
    pub files: Vec<String>,
    /// Names of all tensors.
    pub tensors: Vec<String>,
    /// Bytes of all tensors, if the index has them.
    pub total_size: Option<u64>,
}

/// Index, as stored.
#[derive(Deserialize)]
struct StoredIndex {
    #[serde(default)]
    metadata: IndexMetadata,
    weight_map: WeightMap,
}

#[derive(Default, Deserialize)]
struct IndexMetadata {
    total_size: Option<f64>,
}

/// Names of the tensors, and of the files without duplicates.
struct WeightMap {
    tensors: Vec<String>,
    files: BTreeSet<String>,
}

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WeightMap, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = WeightMap;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the file of each tensor")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WeightMap, A::Error> {
                let (mut tensors, mut files) = (Vec::new(), BTreeSet::new());
                while let Some((tensor, file)) = map.next_entry::<String, String>()? {
                    tensors.push(tensor);
                    files.insert(file);
                }
                Ok(WeightMap { tensors, files })
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Reads the index of a checkpoint.
///
/// # Errors
/// When the input is not an index, names files outside of its folder, or cannot be read.
pub fn read_index(input: impl Read) -> Result<Index, HeaderError> {
    let json = read_at_most(input, MAX_INDEX)?;
    let index: StoredIndex = serde_json::from_slice(&json)
        .map_err(|error| HeaderError::Invalid(format!("not an index of safetensors files: {error}")))?;
    let WeightMap { tensors, files } = index.weight_map;
    let total_size = index.metadata.total_size.filter(|size| (0.0..=MAX_TENSOR_DATA as f64).contains(size));
    let is_outside = |name: &&String| name.contains(['/', '\\', ':']) || name.starts_with('.');
    match files.iter().find(is_outside) {
        Some(name) => invalid(format!("the index names `{}`, which is no file name", name.escape_debug())),
        None if files.is_empty() => invalid("the index names no file".to_owned()),
        None => Ok(Index {
            files: files.into_iter().collect(),
            tensors,
            total_size: total_size.map(|size| size as u64),
        }),
    }
}

fn invalid<T>(problem: String) -> Result<T, HeaderError> {
    Err(HeaderError::Invalid(problem))
}

/// Tensors of a checkpoint as Python engines load them.
#[derive(Debug, Clone, Default)]
pub struct Checkpoint {
    /// Tensors of all files.
    pub tensors: Vec<StoredTensor>,
    /// Layers that the text model computes. Further ones are for multi-token prediction and are loaded only
    /// on request.
    pub layers: u64,
    /// KV heads.
    pub kv_heads: u64,
    /// Bytes of all tensors, if their individual sizes are unknown.
    pub total_size: Option<u64>,
}

impl Checkpoint {
    /// Returns the bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        data(&self.tensors)
    }

    /// Returns the bytes on each of several GPUs with tensor parallelism. If only the sum is known, the bytes
    /// of a GPU are in proportion to those of `model` in 16 bits, and include layers for multi-token
    /// prediction.
    ///
    /// # Errors
    /// If only the sum is known, and the model cannot be divided among the GPUs, or if the tensors of all files
    /// have more data than any model.
    pub fn bytes_on_card(&self, model: &Architecture, cards: u64) -> Result<u64, NotCovered> {
        if self.bytes() > MAX_TENSOR_DATA {
            return Err(NotCovered(TOO_LARGE.to_owned()));
        }
        if let Some(total) = self.total_size {
            let modeled = |cards| weight_bytes(model, WeightType::Bf16, cards);
            let share = u128::from(total) * u128::from(modeled(cards)?.0);
            return Ok((share / u128::from(modeled(1)?.0.max(1))) as u64);
        }
        let loaded = self.tensors.iter().filter(|tensor| !self.is_on_request(tensor));
        Ok(loaded.map(|tensor| self.share(tensor, cards.max(1))).sum())
    }

    /// Returns whether a tensor belongs to a layer for multi-token prediction.
    fn is_on_request(&self, tensor: &StoredTensor) -> bool {
        let layer = tensor.name.split_once("layers.").and_then(|(_, rest)| rest.split('.').next());
        let layer: Option<u64> = layer.and_then(|layer| layer.parse().ok());
        tensor.name.starts_with("mtp.")
            || tensor.name.contains(".mtp.")
            || layer.is_some_and(|layer| layer >= self.layers)
    }

    fn share(&self, tensor: &StoredTensor, cards: u64) -> u64 {
        let name = tensor.name.as_str();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if tensor.shape.len() < 2
            || has(&["vision", "visual", "kv_a_proj", "q_a_proj", ".gate.weight", "router"])
        {
            return tensor.bytes;
        }
        if has(&[".k_proj.", ".v_proj."]) && self.kv_heads > 0 && cards > self.kv_heads {
            return tensor.bytes / self.kv_heads;
        }
        tensor.bytes.div_ceil(cards)
    }
}
