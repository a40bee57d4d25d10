//! Rules for catalog data that the estimator needs.

use kbgen_estimate::quantization::Quantization;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;

/// Impossible or contradictory hyperparameters.
pub(super) const BAD_ARCHITECTURE: Rule = Rule {
    code: "bad-architecture",
    demands: "the hyperparameters of a model are possible ones, and its architecture is known",
    why: "its fit table is computed from them",
};

/// Hyperparameters whose parameter count differs from the published one.
pub(super) const PARAMETER_MISMATCH: Rule = Rule {
    code: "parameter-mismatch",
    demands: "the hyperparameters of a model make as many parameters as `parameters` says, to 0.01 %; \
              `parameters_note` tells why the published count is higher, where it is",
    why: "a count that does not come out is the surest sign of a wrong hyperparameter, and every figure rests on them",
};

/// A quantization unknown to the estimator.
const UNKNOWN_QUANTIZATION: Rule = Rule {
    code: "unknown-quantization",
    demands: "`gguf_type` of a quantization and `released_as` of a model are file types that the estimator knows",
    why: "sizes are computed from it",
};

/// A call in prose for a figure that is not covered.
pub(super) const NOT_COVERED: Rule = Rule {
    code: "not-covered",
    demands: "an estimator call asks for a figure that the estimator can compute",
    why: "no figure is better than a wrong one, but a sentence needs its figure",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[BAD_ARCHITECTURE, PARAMETER_MISMATCH, UNKNOWN_QUANTIZATION, NOT_COVERED];

pub(super) fn unknown_quantization(name: &Spanned<String>) -> Diagnostic {
    let known = || Quantization::ALL.iter().map(|quant| quant.name());
    let help = match nearest(&name.value, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::error(&UNKNOWN_QUANTIZATION, name.span, format!("there is no quantization `{}`", name.value))
        .help(help)
}
