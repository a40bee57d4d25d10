//! Data of quantization pages.

use crate::files::Spanned;
use crate::schema::{record, words};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, LAST_VERIFIED, PUBLISH_ON, SOURCES, TITLE, VERIFIED_WITH,
};

words! {
    /// A family of weight formats.
    pub enum QuantFamily {
        /// Floating point, not quantized.
        Float = "float",
        /// One scale per block of 32 weights.
        Legacy = "legacy",
        /// Super-blocks of 256 weights, several types per file.
        KQuant = "k-quant",
        /// Super-blocks with a codebook; best with an importance matrix.
        IQuant = "i-quant",
        /// Blocks of 32 four-bit floats with a shared exponent.
        Microscaling = "microscaling",
    }
}

record! {
    /// Front matter of a quantization page.
    #[derive(Debug, Clone)]
    pub struct QuantData {
        shared TITLE,
        /// Name of the file type in llama.cpp, such as `Q4_K_M`.
        required gguf_type: Spanned<String>,
        /// Family of the format.
        required family: QuantFamily,
        shared LAST_VERIFIED,
        shared VERIFIED_WITH,
        shared SOURCES,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}
