//! Tensor types with their block sizes, and the named quantizations that mix them.

use std::fmt;
use std::str::FromStr;

use crate::bytes::Bytes;

/// Storage type of the values of a tensor. Variants are named as in ggml.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorType {
    /// 32-bit floats.
    F32,
    /// 16-bit IEEE floats.
    F16,
    /// 16-bit brain floats.
    Bf16,
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
    /// ggml's `Q4_0` blocks.
    Q4_0,
    /// ggml's `Q4_1` blocks.
    Q4_1,
    /// ggml's `Q5_0` blocks.
    Q5_0,
    /// ggml's `Q5_1` blocks.
    Q5_1,
    /// ggml's `Q8_0` blocks.
    Q8_0,
    /// ggml's `Q2_K` blocks.
    Q2K,
    /// ggml's `Q3_K` blocks.
    Q3K,
    /// ggml's `Q4_K` blocks.
    Q4K,
    /// ggml's `Q5_K` blocks.
    Q5K,
    /// ggml's `Q6_K` blocks.
    Q6K,
    /// ggml's `IQ2_S` blocks.
    Iq2S,
    /// ggml's `IQ3_XXS` blocks.
    Iq3Xxs,
    /// ggml's `IQ3_S` blocks.
    Iq3S,
    /// ggml's `IQ4_NL` blocks.
    Iq4Nl,
    /// ggml's `IQ4_XS` blocks.
    Iq4Xs,
    /// 4-bit floats with a shared scale per 32 (OCP microscaling).
    Mxfp4,
    /// 4-bit floats with a scale per 16 (NVIDIA).
    Nvfp4,
    /// ggml's `IQ1_S` blocks.
    Iq1S,
    /// ggml's `IQ1_M` blocks.
    Iq1M,
    /// ggml's `IQ2_XXS` blocks.
    Iq2Xxs,
    /// ggml's `IQ2_XS` blocks.
    Iq2Xs,
    /// ggml's `TQ1_0` blocks of ternary values.
    Tq1_0,
    /// ggml's `TQ2_0` blocks of ternary values.
    Tq2_0,
    /// ggml's `Q1_0` blocks.
    Q1_0,
    /// 8-bit integers.
    I8,
    /// 16-bit integers.
    I16,
    /// 64-bit floats.
    F64,
}

impl TensorType {
    /// Returns the elements and bytes of one block: `ggml_blck_size` and `ggml_type_size` of llama.cpp's
    /// `ggml/src/ggml-common.h`.
    pub fn block(self) -> (u64, u64) {
        match self {
            TensorType::F32 | TensorType::I32 => (1, 4),
            TensorType::I64 | TensorType::F64 => (1, 8),
            TensorType::I8 => (1, 1),
            TensorType::I16 => (1, 2),
            TensorType::F16 | TensorType::Bf16 => (1, 2),
            TensorType::Q4_0 | TensorType::Iq4Nl => (32, 18),
            TensorType::Q4_1 => (32, 20),
            TensorType::Q5_0 => (32, 22),
            TensorType::Q5_1 => (32, 24),
            TensorType::Q8_0 => (32, 34),
            TensorType::Mxfp4 => (32, 17),
            TensorType::Nvfp4 => (64, 36),
            TensorType::Q1_0 => (128, 18),
            TensorType::Iq1S => (256, 50),
            TensorType::Iq1M => (256, 56),
            TensorType::Iq2Xxs | TensorType::Tq2_0 => (256, 66),
            TensorType::Iq2Xs => (256, 74),
            TensorType::Tq1_0 => (256, 54),
            TensorType::Q2K => (256, 84),
            TensorType::Q3K | TensorType::Iq3S => (256, 110),
            TensorType::Q4K => (256, 144),
            TensorType::Q5K => (256, 176),
            TensorType::Q6K => (256, 210),
            TensorType::Iq2S => (256, 82),
            TensorType::Iq3Xxs => (256, 98),
            TensorType::Iq4Xs => (256, 136),
        }
    }

    /// Returns whether values are stored in blocks with a shared scale.
    pub fn is_quantized(self) -> bool {
        self.block().0 > 1
    }

    /// Returns the bytes of `elements` values, rounded up to whole blocks.
    pub fn row_size(self, elements: u64) -> Bytes {
        let (block_elements, block_bytes) = self.block();
        Bytes(elements.div_ceil(block_elements) * block_bytes)
    }

    /// Returns the name that llama.cpp's quantizer prints.
    pub fn name(self) -> &'static str {
        match self {
            TensorType::F32 => "f32",
            TensorType::F16 => "f16",
            TensorType::Bf16 => "bf16",
            TensorType::I32 => "i32",
            TensorType::I64 => "i64",
            TensorType::Q4_0 => "q4_0",
            TensorType::Q4_1 => "q4_1",
            TensorType::Q5_0 => "q5_0",
            TensorType::Q5_1 => "q5_1",
            TensorType::Q8_0 => "q8_0",
            TensorType::Q2K => "q2_K",
            TensorType::Q3K => "q3_K",
            TensorType::Q4K => "q4_K",
            TensorType::Q5K => "q5_K",
            TensorType::Q6K => "q6_K",
            TensorType::Iq2S => "iq2_s",
            TensorType::Iq3Xxs => "iq3_xxs",
            TensorType::Iq3S => "iq3_s",
            TensorType::Iq4Nl => "iq4_nl",
            TensorType::Iq4Xs => "iq4_xs",
            TensorType::Mxfp4 => "mxfp4",
            TensorType::Nvfp4 => "nvfp4",
            TensorType::Iq1S => "iq1_s",
            TensorType::Iq1M => "iq1_m",
            TensorType::Iq2Xxs => "iq2_xxs",
            TensorType::Iq2Xs => "iq2_xs",
            TensorType::Tq1_0 => "tq1_0",
            TensorType::Tq2_0 => "tq2_0",
            TensorType::Q1_0 => "q1_0",
            TensorType::I8 => "i8",
            TensorType::I16 => "i16",
            TensorType::F64 => "f64",
        }
    }

    /// Returns the types that files may contain, with their numbers.
    pub fn in_files() -> impl Iterator<Item = (u32, TensorType)> {
        (0..64).filter_map(|number| Some((number, TensorType::from_ggml(number)?)))
    }

    /// Returns the type with this number in GGUF files (`enum ggml_type` of llama.cpp's
    /// `ggml/include/ggml.h`).
    pub fn from_ggml(number: u32) -> Option<TensorType> {
        Some(match number {
            0 => TensorType::F32,
            1 => TensorType::F16,
            2 => TensorType::Q4_0,
            3 => TensorType::Q4_1,
            6 => TensorType::Q5_0,
            7 => TensorType::Q5_1,
            8 => TensorType::Q8_0,
            10 => TensorType::Q2K,
            11 => TensorType::Q3K,
            12 => TensorType::Q4K,
            13 => TensorType::Q5K,
            14 => TensorType::Q6K,
            16 => TensorType::Iq2Xxs,
            17 => TensorType::Iq2Xs,
            18 => TensorType::Iq3Xxs,
            19 => TensorType::Iq1S,
            20 => TensorType::Iq4Nl,
            21 => TensorType::Iq3S,
            22 => TensorType::Iq2S,
            23 => TensorType::Iq4Xs,
            24 => TensorType::I8,
            25 => TensorType::I16,
            26 => TensorType::I32,
            27 => TensorType::I64,
            28 => TensorType::F64,
            29 => TensorType::Iq1M,
            30 => TensorType::Bf16,
            34 => TensorType::Tq1_0,
            35 => TensorType::Tq2_0,
            39 => TensorType::Mxfp4,
            40 => TensorType::Nvfp4,
            41 => TensorType::Q1_0,
            _ => return None,
        })
    }
}

/// Values of `general.file_type` in GGUF files, with the names of the mixtures (`enum llama_ftype` of llama.cpp's
/// `include/llama.h`).
pub const FILE_TYPES: &[(u64, &str)] = &[
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (7, "Q8_0"),
    (8, "Q5_0"),
    (9, "Q5_1"),
    (10, "Q2_K"),
    (11, "Q3_K_S"),
    (12, "Q3_K_M"),
    (13, "Q3_K_L"),
    (14, "Q4_K_S"),
    (15, "Q4_K_M"),
    (16, "Q5_K_S"),
    (17, "Q5_K_M"),
    (18, "Q6_K"),
    (19, "IQ2_XXS"),
    (20, "IQ2_XS"),
    (21, "Q2_K_S"),
    (22, "IQ3_XS"),
    (23, "IQ3_XXS"),
    (24, "IQ1_S"),
    (25, "IQ4_NL"),
    (26, "IQ3_S"),
    (27, "IQ3_M"),
    (28, "IQ2_S"),
    (29, "IQ2_M"),
    (30, "IQ4_XS"),
    (31, "IQ1_M"),
    (32, "BF16"),
    (36, "TQ1_0"),
    (37, "TQ2_0"),
    (38, "MXFP4_MOE"),
    (39, "NVFP4"),
    (40, "Q1_0"),
];

/// Declares the quantizations with their usual name and the type of most tensors.
macro_rules! quantizations {
    ($($variant:ident = $name:literal / $base:ident),+ $(,)?) => {
        /// A named mix of tensor types, as created by llama.cpp's `llama-quantize` without an importance
        /// matrix.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "a variant is the usual name of the quantization")]
        #[expect(non_camel_case_types, reason = "Q4_K_M is the name that everyone types")]
        pub enum Quantization { $($variant),+ }

        impl Quantization {
            /// Every quantization, from the widest to the narrowest, MXFP4 last.
            pub const ALL: &'static [Quantization] = &[$(Quantization::$variant),+];

            /// Returns the usual name.
            pub fn name(self) -> &'static str {
                match self { $(Quantization::$variant => $name),+ }
            }

            /// Returns the type of a tensor for which the recipe has no exception.
            pub(crate) fn base_type(self) -> TensorType {
                match self { $(Quantization::$variant => TensorType::$base),+ }
            }
        }
    };
}

quantizations! {
    F16 = "F16" / F16, BF16 = "BF16" / Bf16, Q8_0 = "Q8_0" / Q8_0, Q6_K = "Q6_K" / Q6K,
    Q5_K_M = "Q5_K_M" / Q5K, Q5_K_S = "Q5_K_S" / Q5K, Q4_K_M = "Q4_K_M" / Q4K,
    Q4_K_S = "Q4_K_S" / Q4K, Q4_0 = "Q4_0" / Q4_0, IQ4_NL = "IQ4_NL" / Iq4Nl,
    IQ4_XS = "IQ4_XS" / Iq4Xs, Q3_K_L = "Q3_K_L" / Q3K, Q3_K_M = "Q3_K_M" / Q3K,
    IQ3_M = "IQ3_M" / Iq3S, Q3_K_S = "Q3_K_S" / Q3K, IQ3_XXS = "IQ3_XXS" / Iq3Xxs,
    Q2_K = "Q2_K" / Q2K, IQ2_M = "IQ2_M" / Iq2S, MXFP4 = "MXFP4" / Mxfp4,
}

impl fmt::Display for Quantization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for a name that is not in [`Quantization::ALL`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownQuantization;

impl fmt::Display for UnknownQuantization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown quantization")
    }
}

impl std::error::Error for UnknownQuantization {}

impl FromStr for Quantization {
    type Err = UnknownQuantization;

    /// Parses the usual name in any case; `MXFP4_MOE` is an alias of `MXFP4`.
    fn from_str(name: &str) -> Result<Quantization, UnknownQuantization> {
        if name.eq_ignore_ascii_case("MXFP4_MOE") {
            return Ok(Quantization::MXFP4);
        }
        let same = |quantization: &Quantization| quantization.name().eq_ignore_ascii_case(name);
        Quantization::ALL.iter().copied().find(same).ok_or(UnknownQuantization)
    }
}

/// Declares the types of a KV cache.
macro_rules! cache_types {
    ($($variant:ident = $name:literal / $tensor:ident),+ $(,)?) => {
        /// Type of a K or V cache (`--cache-type-k`, `--cache-type-v`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "a variant is llama.cpp's name of the type")]
        pub enum CacheType { $($variant),+ }

        impl CacheType {
            /// Every cache type, from the widest to the narrowest.
            pub const ALL: &'static [CacheType] = &[$(CacheType::$variant),+];

            /// Returns the name on llama.cpp's command line.
            pub fn name(self) -> &'static str {
                match self { $(CacheType::$variant => $name),+ }
            }

            /// Returns the type of the cache's tensors.
            pub fn tensor_type(self) -> TensorType {
                match self { $(CacheType::$variant => TensorType::$tensor),+ }
            }
        }
    };
}

cache_types! {
    F32 = "f32" / F32, F16 = "f16" / F16, Bf16 = "bf16" / Bf16, Q8_0 = "q8_0" / Q8_0,
    Q5_1 = "q5_1" / Q5_1, Q5_0 = "q5_0" / Q5_0, Q4_1 = "q4_1" / Q4_1, Iq4Nl = "iq4_nl" / Iq4Nl,
    Q4_0 = "q4_0" / Q4_0,
}

impl fmt::Display for CacheType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for a name that is not in [`CacheType::ALL`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCacheType;

impl fmt::Display for UnknownCacheType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown cache type")
    }
}

impl std::error::Error for UnknownCacheType {}

impl FromStr for CacheType {
    type Err = UnknownCacheType;

    fn from_str(name: &str) -> Result<CacheType, UnknownCacheType> {
        let same = |kind: &CacheType| kind.name().eq_ignore_ascii_case(name);
        CacheType::ALL.iter().copied().find(same).ok_or(UnknownCacheType)
    }
}
