//! A format that weights are kept in.

use crate::files::Placed;
use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{ALIASES, DRAFT, Evidence, SOURCES, TITLE, VERIFIED_WITH};

const FAMILIES: &[(&str, &str)] = &[
    ("float", "Floating point, not quantized."),
    ("legacy", "One scale a block of 32 weights."),
    ("k-quant", "Super-blocks of 256 weights, several types a file."),
    ("i-quant", "Super-blocks with a codebook, best with an importance matrix."),
    ("microscaling", "Blocks of 32 four-bit floats with a shared exponent."),
];

/// Front matter of a quantization page.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::required("gguf_type", Shape::Text, "Name of the file type in llama.cpp, such as `Q4_K_M`."),
    Field::required("family", Shape::Choice(FAMILIES), "Which family of formats it belongs to."),
    Field::optional("verified", Shape::Date, "The day on which the page was last held against its sources."),
    VERIFIED_WITH,
    SOURCES,
    ALIASES,
    DRAFT,
];

/// What a quantization page holds besides its head.
#[derive(Debug, Clone)]
pub struct QuantData {
    /// Name of the file type in llama.cpp.
    pub gguf_type: Placed<String>,
    /// Family of formats.
    pub family: String,
    /// What the page rests on.
    pub evidence: Evidence,
}

impl QuantData {
    /// What the fields of a quantization page say.
    pub fn new(fields: &Fields) -> Self {
        Self {
            gguf_type: fields.text("gguf_type").unwrap_or_else(|| Placed::new(String::new(), fields.span())),
            family: fields.text("family").map(|placed| placed.value).unwrap_or_default(),
            evidence: Evidence::new(fields),
        }
    }
}
