//! Rules for catalog data that the estimator needs.

use kbgen_estimate::quantization::Quantization;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;

/// Impossible or contradictory hyperparameters.
pub(super) const BAD_ARCHITECTURE: Rule = Rule {
    code: "bad-architecture",
    requirement: "the hyperparameters of a model are valid, and its architecture is known",
    why: "the fit table is computed from them",
};

/// Hyperparameters whose parameter count differs from the published one.
pub(super) const PARAMETER_MISMATCH: Rule = Rule {
    code: "parameter-mismatch",
    requirement: "the parameter count from the hyperparameters matches `parameters` within 0.01 %; \
              `parameters_note` explains a higher published count",
    why: "a different count usually means a wrong hyperparameter, which makes every figure wrong",
};

/// A quantization unknown to the estimator.
const UNKNOWN_QUANTIZATION: Rule = Rule {
    code: "unknown-quantization",
    requirement: "`gguf_type` of a quantization and `released_as` of a model are file types known to the estimator",
    why: "sizes are computed from it",
};

/// A call in prose for a figure that is not covered.
pub(super) const NOT_COVERED: Rule = Rule {
    code: "not-covered",
    requirement: "estimator calls request figures that the estimator can compute",
    why: "the sentence would lack its figure",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[BAD_ARCHITECTURE, PARAMETER_MISMATCH, UNKNOWN_QUANTIZATION, NOT_COVERED];

pub(super) fn unknown_quantization(name: &Spanned<String>) -> Diagnostic {
    let known = || Quantization::ALL.iter().map(|quant| quant.name());
    let help = match nearest(&name.value, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", known().collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::error(&UNKNOWN_QUANTIZATION, name.span, format!("unknown quantization `{}`", name.value))
        .help(help)
}
