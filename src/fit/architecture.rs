//! Converts the hyperparameters of a model page to the estimator's type.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::family::Family;
use kbgen_estimate::field::FieldKind;
use kbgen_estimate::fields::ArchitectureFields;

use crate::diag::nearest;
use crate::files::Span;
use crate::site::kinds::ArchitectureData;

/// An impossible hyperparameter.
#[derive(Debug, Clone)]
pub struct ArchitectureFault {
    /// Span of its value.
    pub span: Span,
    /// Description, as a phrase.
    pub message: String,
    /// Suggested action.
    pub help: String,
}

/// Returns the hyperparameters of a page; `None` if a required one is missing, which is reported elsewhere.
pub(super) fn plain_fields(data: &ArchitectureData) -> Option<&ArchitectureFields> {
    let mut required =
        ArchitectureFields::ALL.iter().filter(|field| field.is_required && field.kind != FieldKind::Flag);
    required.all(|field| data.spans.contains_key(field.name)).then_some(&data.fields)
}

/// Returns the architecture of a page; `None` if a required field is missing, which is reported elsewhere.
///
/// # Errors
/// The first impossible value.
pub fn architecture(data: &ArchitectureData) -> Result<Option<Architecture>, ArchitectureFault> {
    let Some(plain) = plain_fields(data) else { return Ok(None) };
    plain.build().map(Some).map_err(|fault| {
        let names = || Family::all().map(|family| family.name);
        let near = if Family::named(&plain.name).is_none() { nearest(&plain.name, names()) } else { None };
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "take the value from the model's own `config.json` or from its GGUF file".to_string(),
        };
        let span = data.spans.get(fault.field).copied().unwrap_or(data.span);
        ArchitectureFault { span, message: fault.problem, help }
    })
}
