//! The GGUF architectures whose tensors, cache and compute graph are known here.

use std::fmt;
use std::str::FromStr;

/// Declares the families with the name that GGUF's `general.architecture` gives them.
macro_rules! families {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A GGUF architecture (`general.architecture`): it fixes which tensors a model
        /// has and which graph llama.cpp builds. A variant is its GGUF name in camel case.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family { $(#[doc = concat!("`", $name, "`")] $variant),+ }

        impl Family {
            /// Every family, in no particular order.
            pub const ALL: &'static [Family] = &[$(Family::$variant),+];

            /// The name in GGUF files.
            pub fn name(self) -> &'static str {
                match self { $(Family::$variant => $name),+ }
            }
        }
    };
}

families! {
    Llama = "llama", Llama4 = "llama4", Qwen2 = "qwen2", Qwen2Moe = "qwen2moe", Qwen3 = "qwen3",
    Qwen3Moe = "qwen3moe", Qwen3Next = "qwen3next", Qwen35 = "qwen35", Qwen35Moe = "qwen35moe",
    Gemma = "gemma", Gemma2 = "gemma2", Gemma3 = "gemma3", Gemma4 = "gemma4", Phi2 = "phi2",
    Phi3 = "phi3", PhiMoe = "phimoe", GptOss = "gpt-oss", Deepseek2 = "deepseek2", Olmo2 = "olmo2",
    Olmoe = "olmoe", CommandR = "command-r", Cohere2 = "cohere2", ChatGlm = "chatglm", Glm4 = "glm4",
    Glm4Moe = "glm4moe", Granite = "granite", GraniteMoe = "granitemoe",
    GraniteHybrid = "granitehybrid", NemotronHMoe = "nemotron_h_moe", MinimaxM2 = "minimax-m2",
    SmolLm3 = "smollm3", SeedOss = "seed_oss", Exaone = "exaone", Exaone4 = "exaone4", Lfm2 = "lfm2",
    Lfm2Moe = "lfm2moe", Ernie45 = "ernie4_5", Ernie45Moe = "ernie4_5-moe",
    HunyuanDense = "hunyuan-dense", HunyuanMoe = "hunyuan-moe", Starcoder2 = "starcoder2",
    StableLm = "stablelm", Dots1 = "dots1", Apertus = "apertus", Arcee = "arcee",
    BailingMoe = "bailingmoe", BailingMoe2 = "bailingmoe2",
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not one of [`Family::ALL`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFamily;

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Family, UnknownFamily> {
        Family::ALL.iter().copied().find(|family| family.name() == name).ok_or(UnknownFamily)
    }
}
