//! The parameters that a page's hyperparameters make, held against the count that its publisher gives.

use std::collections::BTreeMap;

use crate::diag::Diagnostic;
use crate::estimate::fields::ArchitectureFields;
use crate::estimate::parameters::{ParameterCount, parameter_count};
use crate::files::Placed;
use crate::fit::architecture::plain_fields;
use crate::fit::rules::PARAMETER_MISMATCH;
use crate::site::kinds::ModelData;
use crate::site::{Page, Parameters, Site, tokens};

/// A difference of one in so many is let pass: publishers count small vectors that are not loaded.
const TOLERANCE: u64 = 10_000;

/// What each model holds; published counts that do not agree with it are reported.
pub(super) fn counts(site: &Site, found: &mut Vec<Diagnostic>) -> BTreeMap<String, Parameters> {
    let mut counts = BTreeMap::new();
    for page in &site.models {
        let Some(fields) = plain_fields(&page.data.architecture) else { continue };
        let Some(count) = count(&fields) else { continue };
        if let Some(published) = &page.data.parameters {
            found.extend(mismatch(page, &fields, count.held, published));
        }
        let parameters = Parameters { held: count.held, active: count.active };
        counts.insert(page.head.id.slug.clone(), parameters);
    }
    counts
}

/// The count of possible hyperparameters; impossible ones are reported elsewhere.
fn count(fields: &ArchitectureFields) -> Option<ParameterCount> {
    fields.build().ok().map(|model| parameter_count(&model))
}

fn mismatch(
    page: &Page<ModelData>,
    fields: &ArchitectureFields,
    held: u64,
    published: &Placed<u64>,
) -> Option<Diagnostic> {
    let target = published.value;
    let difference = held.abs_diff(target);
    // A note explains parts that are counted and not loaded; it cannot explain the opposite.
    let explained = page.data.parameters_note.is_some() && held < target;
    if difference <= target / TOLERANCE || explained {
        return None;
    }
    let share = difference as f64 * 100.0 / target as f64;
    let side = if held < target { "fewer" } else { "more" };
    let message = format!(
        "the hyperparameters make {} parameters, {share:.2} % {side} than this count: {} {side}",
        tokens(held),
        tokens(difference)
    );
    let mends = mends(fields, target);
    let help = match mends.as_slice() {
        [] if held < target => {
            "read the hyperparameters in the model's own `config.json` again; if the count includes parts that \
             are not loaded, such as a vision tower, say so in `parameters_note`"
                .to_string()
        }
        [] => "read the hyperparameters and the count in the model's own repository again".to_string(),
        mends => format!("{} would make exactly that count: is it so?", mends.join(" or ")),
    };
    Some(Diagnostic::error(&PARAMETER_MISMATCH, published.span, message).help(help))
}

/// A change of one hyperparameter to the value that it may have in truth.
type Flip = (&'static str, fn(&mut ArchitectureFields) -> &mut bool);

/// Flags that are mistaken easily.
const FLAGS: &[Flip] = &[
    ("tied", |fields| &mut fields.tied),
    ("gated_ffn", |fields| &mut fields.gated_ffn),
    ("qkv_bias", |fields| &mut fields.qkv_bias),
    ("k_eq_v_full", |fields| &mut fields.k_eq_v_full),
];

/// A number, and what it is a multiple of in models that exist.
type Number = (&'static str, u64, fn(&mut ArchitectureFields) -> &mut u64);

/// Numbers, those first whose steps are large: a small step explains nearly any difference.
const NUMBERS: &[Number] = &[
    ("ffn", 32, |fields| &mut fields.ffn),
    ("experts", 1, |fields| &mut fields.experts),
    ("expert_ffn", 32, |fields| &mut fields.expert_ffn),
    ("shared_expert_ffn", 32, |fields| &mut fields.shared_expert_ffn),
    ("first_dense_layers", 1, |fields| &mut fields.first_dense_layers),
    ("hidden", 32, |fields| &mut fields.hidden),
    ("heads", 1, |fields| &mut fields.heads),
    ("kv_heads", 1, |fields| &mut fields.kv_heads),
    ("kv_heads_full", 1, |fields| &mut fields.kv_heads_full),
    ("head_dim", 8, |fields| &mut fields.head_dim),
    ("head_dim_full", 8, |fields| &mut fields.head_dim_full),
    ("mla_kv_lora", 8, |fields| &mut fields.mla_kv_lora),
    ("mla_q_lora", 8, |fields| &mut fields.mla_q_lora),
    ("ssm_inner", 8, |fields| &mut fields.ssm_inner),
    ("ssm_state", 8, |fields| &mut fields.ssm_state),
];

/// Tried last and alone: a vocabulary explains every difference that the width divides.
const VOCABULARY: Number = ("vocab", 1, |fields| &mut fields.vocab);

/// Changes of one field that make the published count to the last parameter, the likeliest first, at most two.
fn mends(fields: &ArchitectureFields, target: u64) -> Vec<String> {
    let flags = FLAGS.iter().filter_map(|(name, flag)| {
        let mut changed = fields.clone();
        let value = flag(&mut changed);
        *value = !*value;
        let told = format!("`{name}: {value}`");
        makes(&changed, target).then_some(told)
    });
    let layers = one_kind_of_layer(fields).and_then(|letter| {
        let with = |layers: u64| ArchitectureFields {
            layers,
            layer_kinds: format!("{letter}{layers}"),
            ..fields.clone()
        };
        solve(fields.layers, target, with).map(|layers| format!("`layers: {letter}{layers}`"))
    });
    let numbers = NUMBERS.iter().filter_map(|number| other_number(fields, number, target));
    let mut mends: Vec<String> = flags.chain(layers).chain(numbers).take(2).collect();
    if mends.is_empty() {
        mends.extend(other_number(fields, &VOCABULARY, target));
    }
    mends
}

/// The field with the value that makes the count, if it has a plausible one.
fn other_number(fields: &ArchitectureFields, number: &Number, target: u64) -> Option<String> {
    let (name, multiple, field) = number;
    let with = |value: u64| {
        let mut changed = fields.clone();
        *field(&mut changed) = value;
        changed
    };
    let value = solve(*field(&mut fields.clone()), target, with)?;
    value.is_multiple_of(*multiple).then(|| format!("`{name}: {value}`"))
}

fn makes(fields: &ArchitectureFields, target: u64) -> bool {
    count(fields).is_some_and(|count| count.held == target)
}

/// The letter of the layers where all are alike.
fn one_kind_of_layer(fields: &ArchitectureFields) -> Option<char> {
    let letter = fields.layer_kinds.chars().next()?;
    fields.layer_kinds[letter.len_utf8()..].chars().all(|digit| digit.is_ascii_digit()).then_some(letter)
}

/// The value of a field with which the count is `target`. The count is a straight line over nearly
/// every field, so two of its points give the third; one that lies beside the line is refused.
fn solve(now: u64, target: u64, with: impl Fn(u64) -> ArchitectureFields) -> Option<u64> {
    let held = |value: u64| count(&with(value)).map(|count| i128::from(count.held));
    if now == 0 {
        return None;
    }
    let here = held(now)?;
    let (other, there) =
        [now + 1, now * 2, now / 2].into_iter().find_map(|value| Some((value, held(value)?)))?;
    let (run, rise) = (i128::from(other) - i128::from(now), there - here);
    if rise == 0 {
        return None;
    }
    let steps = (i128::from(target) - here) * run;
    let value = (steps % rise == 0).then(|| i128::from(now) + steps / rise)?;
    let value = u64::try_from(value).ok().filter(|value| *value > 0)?;
    makes(&with(value), target).then_some(value)
}
