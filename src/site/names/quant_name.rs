//! Quantizations in the names of files, repositories and tags.

use kbgen_estimate::quantization::Quantization;

/// A quantization as a name states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedQuant {
    /// As written, in upper case: `UD-Q4_K_XL`.
    pub label: String,
    /// The quantization of that name, or the smallest that is certainly not smaller; none if there is neither.
    pub quantization: Option<Quantization>,
    /// Whether the files are mixtures of their own, smaller than `quantization`.
    pub is_bound: bool,
}

/// Splits the quantization off the end of a name: `Qwen3-8B-Q4_K_M`, `mistral-7b.Q5_0`, `8b-instruct-q8_0`.
pub(super) fn split_quant(name: &str) -> Option<(&str, NamedQuant)> {
    let separators = name.match_indices(['-', '.', '_', ':']);
    let (at, label) = separators.map(|(at, _)| (at, &name[at + 1..])).find(|(_, tail)| is_quant(tail))?;
    let head = &name[..at];
    let lower = head.to_lowercase();
    let matrix = ["-i1", ".i1", "-imat", "-imatrix"].into_iter().find(|ending| lower.ends_with(ending));
    let head = &head[..head.len() - matrix.map_or(0, str::len)];
    (!head.is_empty()).then(|| (head, named_quant(label)))
}

/// Returns whether a text is the name of a quantization: `Q4_K_M`, `UD-IQ2_XXS`, `BF16`.
fn is_quant(text: &str) -> bool {
    let lower = text.to_lowercase();
    let plain = lower.strip_prefix("ud-").or_else(|| lower.strip_prefix("i1-")).unwrap_or(&lower);
    if ["f16", "fp16", "bf16", "f32", "fp32", "mxfp4", "mxfp4_moe", "nvfp4"].contains(&plain) {
        return true;
    }
    let mut parts = plain.trim_start_matches(['i', 't']).split('_');
    let is_type =
        parts.next().is_some_and(|kind| matches!(kind.as_bytes(), [b'q', digit] if digit.is_ascii_digit()));
    let variants = ["0", "1", "4", "8", "k", "s", "m", "l", "xl", "xs", "xxs", "nl"];
    let mut rest = parts.peekable();
    is_type && rest.peek().is_some() && rest.all(|part| variants.contains(&part))
}

fn named_quant(label: &str) -> NamedQuant {
    let label = label.to_uppercase();
    let plain = label.strip_prefix("I1-").unwrap_or(&label);
    let plain = if plain == "FP16" { "F16" } else { plain };
    let own: Option<Quantization> = plain.parse().ok();
    NamedQuant { quantization: own.or_else(|| larger(plain)), is_bound: own.is_none(), label }
}

/// Returns a quantization whose files are certainly not smaller. Mixtures named `UD`, `L` and `XL` have some tensors of
/// wider types.
fn larger(label: &str) -> Option<Quantization> {
    use Quantization::{F16, IQ3_M, Q2_K, Q3_K_M, Q4_K_M, Q5_K_M, Q5_K_S, Q6_K, Q8_0};
    let plain = label.strip_prefix("UD-").unwrap_or(label);
    let starts_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| plain.starts_with(prefix));
    match plain {
        "Q4_1" => Some(Q5_K_S),
        "Q5_0" => Some(Q5_K_M),
        "Q5_1" => Some(Q6_K),
        "IQ3_XS" | "IQ3_S" if plain == label => Some(IQ3_M),
        _ if starts_with(&["IQ1", "IQ2", "TQ", "Q2_K_S"]) && plain == label => Some(Q2_K),
        _ if starts_with(&["IQ1", "IQ2", "TQ", "Q1", "Q2"]) => Some(Q3_K_M),
        _ if starts_with(&["IQ3", "Q3"]) => Some(Q4_K_M),
        _ if starts_with(&["IQ4", "Q4"]) => Some(Q5_K_M),
        _ if starts_with(&["Q5"]) => Some(Q6_K),
        _ if starts_with(&["Q6"]) => Some(Q8_0),
        _ if starts_with(&["Q8"]) => Some(F16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kbgen_estimate::quantization::Quantization;

    use super::split_quant;

    #[test]
    fn quantizations_end_names() {
        for (name, head, label, bound) in [
            ("Qwen3-8B-Q4_K_M", "Qwen3-8B", "Q4_K_M", Quantization::Q4_K_M),
            ("Qwen3-30B-A3B-UD-Q4_K_XL", "Qwen3-30B-A3B", "UD-Q4_K_XL", Quantization::Q5_K_M),
            ("mistral-7b-instruct-v0.2.Q5_0", "mistral-7b-instruct-v0.2", "Q5_0", Quantization::Q5_K_M),
            ("L3-8B.i1-IQ3_XXS", "L3-8B", "I1-IQ3_XXS", Quantization::IQ3_XXS),
            ("llama3.1:8b-instruct-q8_0", "llama3.1:8b-instruct", "Q8_0", Quantization::Q8_0),
            ("gemma-3-4b-it-fp16", "gemma-3-4b-it", "FP16", Quantization::F16),
        ] {
            let (own, quant) = split_quant(name).expect("a quantization");
            assert_eq!((own, quant.label.as_str(), quant.quantization), (head, label, Some(bound)), "{name}");
        }
        for name in ["Qwen3-8B", "qwq-32b", "Q4_K_M", "phi-4", "deepseek-r1:7b"] {
            assert_eq!(split_quant(name), None, "{name}");
        }
    }
}
