//! Reads the header of a GGUF file: metadata and the list of tensors, never the data of the tensors.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. Every count and length of the file is checked against a
//! limit before memory is reserved for it, so that the cost of a damaged file is bounded.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::bytes::{Bytes, MAX_TENSOR_DATA};
use crate::header_error::HeaderError;
use crate::quantization::TensorType;

/// Maximum header size in bytes; vocabularies of a million tokens need a tenth of it.
const MAX_HEADER: u64 = 512 * 1024 * 1024;
/// Maximum number of metadata entries, and of tensors; the largest models have some thousands.
const MAX_ENTRIES: u64 = 1 << 17;
/// Maximum length of keys and tensor names in bytes.
const MAX_NAME: u64 = 1024;
/// Maximum size of strings and arrays that are stored; longer ones are counted and skipped.
const MAX_STORED: u64 = 4096;
/// Maximum number of elements of a tensor. With the largest blocks, its bytes are below 2^54.
const MAX_ELEMENTS: u64 = 1 << 42;
/// Maximum nesting depth of arrays.
const MAX_DEPTH: u32 = 4;

/// Header of one GGUF file.
#[derive(Debug, Clone, Default)]
pub struct Header {
    metadata: BTreeMap<String, Value>,
    /// Tensors in file order.
    pub tensors: Vec<FileTensor>,
}

/// Metadata value.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    /// Integer or boolean.
    Integer(i64),
    /// Floating-point number.
    Float(f64),
    /// String of at most [`MAX_STORED`] bytes.
    Text(String),
    /// Array of at most [`MAX_STORED`] numbers.
    Integers(Vec<i64>),
    /// Longer string or another array: its length.
    Skipped(u64),
}

/// Tensor in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTensor {
    /// Name, such as `blk.0.attn_q.weight`.
    pub name: String,
    /// Dimensions; the first is the length of a row.
    pub dimensions: [u64; 4],
    /// Type of its elements.
    pub kind: TensorType,
}

impl FileTensor {
    /// Returns the bytes of its data.
    pub fn bytes(&self) -> Bytes {
        let [columns, rest @ ..] = self.dimensions;
        Bytes(self.kind.row_size(columns).0 * rest.iter().product::<u64>())
    }
}

impl Header {
    /// Reads a header up to its end.
    ///
    /// # Errors
    /// When the input is not GGUF version 2 or 3 in little-endian order, is damaged, or cannot be read.
    pub fn read(input: impl BufRead) -> Result<Header, HeaderError> {
        let mut input = Input { input, left: MAX_HEADER };
        match &input.array()? {
            b"GGUF" => {}
            magic => return invalid(format!("not a GGUF file: it begins with `{}`", magic.escape_ascii())),
        }
        match input.u32()? {
            2 | 3 => {}
            1 => return invalid("GGUF version 1, which llama.cpp no longer loads".to_owned()),
            version if version.swap_bytes() <= 3 => {
                return invalid("GGUF in big-endian order, which this machine does not load".to_owned());
            }
            version => return invalid(format!("unknown GGUF version {version}")),
        }
        let tensors = input.count("tensors")?;
        let entries = input.count("metadata entries")?;
        let mut header = Header::default();
        for _ in 0..entries {
            let key = input.name("key")?;
            let kind = input.u32()?;
            let value = input.value(kind, MAX_DEPTH)?;
            header.metadata.insert(key, value);
        }
        let mut data = 0;
        for _ in 0..tensors {
            let tensor = input.tensor()?;
            data += tensor.bytes().0;
            if data > MAX_TENSOR_DATA {
                return invalid("the tensors have more data than those of any model".to_owned());
            }
            header.tensors.push(tensor);
        }
        Ok(header)
    }

    /// Adds the tensors of another part of a split file. [`ModelFile::new`](crate::gguf::ModelFile::new) checks
    /// the size of all parts.
    pub fn append(&mut self, part: Header) {
        self.tensors.extend(part.tensors);
    }

    /// Returns the string of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number of a key, or `None` if it is negative.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.metadata.get(key)? {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::Float(number) if *number >= 0.0 && *number < 1e15 => Some(*number as u64),
            _ => None,
        }
    }

    /// Returns the numbers of a key; a single number is a list of one.
    pub fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        match self.metadata.get(key)? {
            Value::Integers(numbers) => numbers.iter().map(|number| u64::try_from(*number).ok()).collect(),
            _ => Some(vec![self.number(key)?]),
        }
    }

    /// Returns whether the value of a key is an array.
    pub fn is_array(&self, key: &str) -> bool {
        matches!(self.metadata.get(key), Some(Value::Integers(_) | Value::Skipped(_)))
    }

    /// Returns the tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<&FileTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

fn invalid<T>(problem: String) -> Result<T, HeaderError> {
    Err(HeaderError::Invalid(problem))
}

/// Input with a byte limit.
struct Input<R> {
    input: R,
    /// Remaining bytes.
    left: u64,
}

impl<R: BufRead> Input<R> {
    fn take(&mut self, bytes: u64) -> Result<(), HeaderError> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => return invalid(format!("a header of more than {} MiB", MAX_HEADER >> 20)),
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        self.take(N as u64)?;
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, HeaderError> {
        self.array().map(u64::from_le_bytes)
    }

    fn count(&mut self, what: &str) -> Result<u64, HeaderError> {
        match self.u64()? {
            count if count > MAX_ENTRIES => invalid(format!("{count} {what} are more than any model has")),
            count => Ok(count),
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeaderError> {
        self.take(bytes)?;
        let mut left = bytes;
        while left > 0 {
            let read = self.input.fill_buf()?.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if read == 0 {
                return Err(HeaderError::Truncated);
            }
            self.input.consume(read);
            left -= read as u64;
        }
        Ok(())
    }

    /// Skips strings. A vocabulary with merges has half a million, so those in the buffer are skipped together.
    fn skip_strings(&mut self, count: u64) -> Result<(), HeaderError> {
        let mut left = count;
        while left > 0 {
            let buffer = self.input.fill_buf()?;
            let mut end = 0;
            while left > 0 {
                let Some((length, rest)) = buffer[end..].split_first_chunk() else { break };
                let length = u64::from_le_bytes(*length);
                if length > rest.len() as u64 {
                    break;
                }
                end += 8 + length as usize;
                left -= 1;
            }
            if end > 0 {
                self.take(end as u64)?;
                self.input.consume(end);
            } else {
                let bytes = self.u64()?;
                self.skip(bytes)?;
                left -= 1;
            }
        }
        Ok(())
    }

    fn name(&mut self, what: &str) -> Result<String, HeaderError> {
        match self.u64()? {
            length if length > MAX_NAME => invalid(format!("a {what} of {length} bytes")),
            length => self.string(length),
        }
    }

    fn string(&mut self, length: u64) -> Result<String, HeaderError> {
        self.take(length)?;
        let mut bytes = vec![0; length as usize];
        self.input.read_exact(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Value, HeaderError> {
        Ok(match kind {
            8 => match self.u64()? {
                length if length > MAX_STORED => {
                    self.skip(length)?;
                    Value::Skipped(length)
                }
                length => Value::Text(self.string(length)?),
            },
            9 => self.values(depth)?,
            _ => self.scalar(kind)?,
        })
    }

    fn scalar(&mut self, kind: u32) -> Result<Value, HeaderError> {
        Ok(match kind {
            0 | 7 => Value::Integer(u8::from_le_bytes(self.array()?).into()),
            1 => Value::Integer(i8::from_le_bytes(self.array()?).into()),
            2 => Value::Integer(u16::from_le_bytes(self.array()?).into()),
            3 => Value::Integer(i16::from_le_bytes(self.array()?).into()),
            4 => Value::Integer(self.u32()?.into()),
            5 => Value::Integer(i32::from_le_bytes(self.array()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            10 | 11 => Value::Integer(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            _ => return invalid(format!("metadata of the unknown type {kind}")),
        })
    }

    fn values(&mut self, depth: u32) -> Result<Value, HeaderError> {
        let (kind, length) = (self.u32()?, self.u64()?);
        let size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            8 => {
                self.skip_strings(length)?;
                return Ok(Value::Skipped(length));
            }
            9 if depth > 0 => {
                for _ in 0..length {
                    self.values(depth - 1)?;
                }
                return Ok(Value::Skipped(length));
            }
            _ => return invalid(format!("an array of the unknown type {kind}")),
        };
        if length > MAX_STORED || matches!(kind, 6 | 12) {
            let Some(bytes) = length.checked_mul(size) else {
                return invalid(format!("an array of {length} values"));
            };
            self.skip(bytes)?;
            return Ok(Value::Skipped(length));
        }
        let mut numbers = Vec::new();
        for _ in 0..length {
            if let Value::Integer(number) = self.scalar(kind)? {
                numbers.push(number);
            }
        }
        Ok(Value::Integers(numbers))
    }

    fn tensor(&mut self) -> Result<FileTensor, HeaderError> {
        let name = self.name("tensor name")?;
        let mut dimensions = [1; 4];
        match self.u32()? {
            count if count > 4 => return invalid(format!("tensor `{name}` has {count} dimensions")),
            count => {
                for dimension in &mut dimensions[..count as usize] {
                    *dimension = self.u64()?;
                }
            }
        }
        let number = self.u32()?;
        // offset of its data
        self.u64()?;
        let Some(kind) = TensorType::from_ggml(number) else {
            return invalid(format!("tensor `{name}` has the type {number}, which kbgen does not know"));
        };
        // A dimension of zero does not make the others possible.
        let elements = dimensions.iter().try_fold(1_u64, |total, size| total.checked_mul((*size).max(1)));
        if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
            return invalid(format!("tensor `{name}` has more elements than any model"));
        }
        Ok(FileTensor { name, dimensions, kind })
    }
}
