//! Compares the parameter count of a page's hyperparameters with the published count.

use std::collections::BTreeMap;

use kbgen_estimate::fields::ArchitectureFields;
use kbgen_estimate::parameters::{ParameterCount, parameter_count};

use crate::diag::Diagnostic;
use crate::files::Spanned;
use crate::fit::architecture::plain_fields;
use crate::fit::rules::PARAMETER_MISMATCH;
use crate::fit::suggestions::suggestions;
use crate::site::kinds::{ModelData, key};
use crate::site::{Page, Parameters, Site, format_count};

/// Maximum deviation, as a fraction (1/10,000): publishers count small vectors that are not loaded.
pub(super) const TOLERANCE: u64 = 10_000;

/// Returns the parameter count of each model, and reports published counts that differ from it.
pub(super) fn counts(site: &Site, found: &mut Vec<Diagnostic>) -> BTreeMap<String, Parameters> {
    let mut counts = BTreeMap::new();
    for page in &site.models {
        let Some(fields) = plain_fields(&page.data.architecture) else { continue };
        let Some(count) = count(fields) else { continue };
        let is_known =
            [key!(ModelData.architecture), key!(ModelData.parameters), key!(ModelData.parameters_note)]
                .iter()
                .all(|field| page.head.knows(field));
        if let Some(published) = page.data.parameters.as_ref().filter(|_| is_known) {
            found.extend(mismatch(page, fields, count.held, published));
        }
        let parameters = Parameters { held: count.held, active: count.active };
        counts.insert(page.head.id.slug.clone(), parameters);
    }
    counts
}

/// Returns the parameter count; `None` for impossible hyperparameters, which are reported elsewhere.
pub(super) fn count(fields: &ArchitectureFields) -> Option<ParameterCount> {
    fields.build().ok().map(|model| parameter_count(&model))
}

fn mismatch(
    page: &Page<ModelData>,
    fields: &ArchitectureFields,
    held: u64,
    published: &Spanned<u64>,
) -> Option<Diagnostic> {
    let target = published.value;
    let difference = held.abs_diff(target);
    // A note can explain parameters that are counted but not loaded, not the opposite.
    let explained = page.data.parameters_note.is_some() && held < target;
    if difference <= target / TOLERANCE || explained {
        return None;
    }
    let share = difference as f64 * 100.0 / target as f64;
    let side = if held < target { "fewer" } else { "more" };
    let message = format!(
        "the hyperparameters give {} parameters, {share:.2} % {side} than this count ({} {side})",
        format_count(held),
        format_count(difference)
    );
    let suggestions = suggestions(fields, target);
    let help = match suggestions.as_slice() {
        [] if held < target => {
            "read the hyperparameters in the model's own `config.json` again; if the count includes parts that \
             are not loaded, such as a vision tower, say so in `parameters_note`"
                .to_string()
        }
        [] => "read the hyperparameters and the count in the model's own repository again".to_string(),
        suggestions => format!("check whether {} is correct; it would give this count", suggestions.join(" or ")),
    };
    Some(Diagnostic::error(&PARAMETER_MISMATCH, published.span, message).help(help))
}
