//! Suggests which single hyperparameter, if changed, would give the published parameter count.

use kbgen_estimate::fields::ArchitectureFields;

use crate::fit::parameters::{TOLERANCE, count};

/// A flag: its name in the front matter and its accessor.
type Flag = (&'static str, fn(&mut ArchitectureFields) -> &mut bool);

/// Flags that are easily mistaken.
const FLAGS: &[Flag] = &[
    ("tied", |fields| &mut fields.tied),
    ("gated_ffn", |fields| &mut fields.gated_ffn),
    ("qkv_bias", |fields| &mut fields.qkv_bias),
];

/// A number: its name in the front matter, the step of realistic values, and its accessor.
type Number = (&'static str, u64, fn(&mut ArchitectureFields) -> &mut u64);

/// Numbers whose steps change the count considerably, so that few differences are a multiple of one. Largest steps
/// first; heads last, since KV heads and their width explain the same differences.
const NUMBERS: &[Number] = &[
    ("hidden", 32, |fields| &mut fields.hidden),
    ("experts", 1, |fields| &mut fields.experts),
    ("head_dim", 8, |fields| &mut fields.head_dim),
    ("head_dim_full", 8, |fields| &mut fields.head_dim_full),
    ("kv_heads", 1, |fields| &mut fields.kv_heads),
    ("kv_heads_full", 1, |fields| &mut fields.kv_heads_full),
    ("expert_ffn", 32, |fields| &mut fields.expert_ffn),
    ("first_dense_layers", 1, |fields| &mut fields.first_dense_layers),
    ("ffn", 32, |fields| &mut fields.ffn),
    ("shared_expert_ffn", 32, |fields| &mut fields.shared_expert_ffn),
    ("mla_kv_lora", 8, |fields| &mut fields.mla_kv_lora),
    ("mla_q_lora", 8, |fields| &mut fields.mla_q_lora),
    ("ssm_inner", 8, |fields| &mut fields.ssm_inner),
    ("ssm_state", 8, |fields| &mut fields.ssm_state),
    ("heads", 1, |fields| &mut fields.heads),
];

/// A published count may include small vectors that are not loaded: 1/64 of a step may remain.
const LEFT_OVER: u64 = 64;

/// Remaining difference of the count, and the change in words.
type Suggestion = (u64, String);

/// Returns at most two changes of single fields that give the published count, the most likely first.
pub(super) fn suggestions(fields: &ArchitectureFields, target: u64) -> Vec<String> {
    let flags = FLAGS.iter().filter_map(|flag| other_flag(fields, flag, target));
    let numbers = NUMBERS.iter().filter_map(|number| other_number(fields, number, target));
    let mut suggestions: Vec<Suggestion> = flags.chain(other_layers(fields, target)).chain(numbers).collect();
    if suggestions.is_empty() {
        suggestions.extend(other_vocabulary(fields, target));
    }
    suggestions.sort_by_key(|(left, _)| *left);
    suggestions.into_iter().take(2).map(|(_, told)| told).collect()
}

fn other_flag(fields: &ArchitectureFields, (name, flag): &Flag, target: u64) -> Option<Suggestion> {
    let mut changed = fields.clone();
    let value = flag(&mut changed);
    *value = !*value;
    let told = format!("`{name}: {value}`");
    let left = count(&changed)?.held.abs_diff(target);
    (left <= target / TOLERANCE).then_some((left, told))
}

fn other_number(
    fields: &ArchitectureFields,
    (name, multiple, number): &Number,
    target: u64,
) -> Option<Suggestion> {
    let with = |value| with_number(fields, *number, value);
    let found = solve(*number(&mut fields.clone()), target, with)?;
    let plausible = found.left <= found.step / LEFT_OVER && found.value.is_multiple_of(*multiple);
    plausible.then(|| (found.left, format!("`{name}: {}`", found.value)))
}

fn with_number(
    fields: &ArchitectureFields,
    number: fn(&mut ArchitectureFields) -> &mut u64,
    value: u64,
) -> ArchitectureFields {
    let mut changed = fields.clone();
    *number(&mut changed) = value;
    changed
}

/// Suggests another number of layers, if all layers are alike.
fn other_layers(fields: &ArchitectureFields, target: u64) -> Option<Suggestion> {
    let letter = fields.layers.chars().next()?;
    if !fields.layers[letter.len_utf8()..].chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let with = |layers: u64| ArchitectureFields { layers: format!("{letter}{layers}"), ..fields.clone() };
    let found = solve(fields.layer_count(), target, with)?;
    (found.left <= found.step / LEFT_OVER).then(|| (found.left, format!("`layers: {letter}{}`", found.value)))
}

/// Suggests another vocabulary size, with an exact match only: the step is so small that any remainder would fit.
fn other_vocabulary(fields: &ArchitectureFields, target: u64) -> Option<Suggestion> {
    let found = solve(fields.vocab, target, |vocab| ArchitectureFields { vocab, ..fields.clone() })?;
    (found.left == 0).then(|| (0, format!("`vocab: {}`", found.value)))
}

/// The value of a field that comes closest to the published count.
struct Nearest {
    value: u64,
    /// Change of the count per step of the field.
    step: u64,
    /// Remaining difference of the count.
    left: u64,
}

/// Solves for the value that gives the count. The count is linear in nearly every field, so two points give the
/// third; the remainder is computed exactly there, and is too large if the field is not linear.
fn solve(now: u64, target: u64, with: impl Fn(u64) -> ArchitectureFields) -> Option<Nearest> {
    let held = |value: u64| count(&with(value)).map(|count| i128::from(count.held));
    if now == 0 {
        return None;
    }
    let here = held(now)?;
    // Not every neighboring value is valid: the heads must be a multiple of the KV heads.
    let (other, there) =
        [now + 1, now * 2, now / 2].into_iter().find_map(|value| Some((value, held(value)?)))?;
    let step = (there - here) / (i128::from(other) - i128::from(now));
    if step <= 0 {
        return None;
    }
    let steps = (i128::from(target) - here + step / 2).div_euclid(step);
    let value = u64::try_from(i128::from(now) + steps).ok().filter(|value| *value > 0 && *value != now)?;
    let left = count(&with(value))?.held.abs_diff(target);
    Some(Nearest { value, step: u64::try_from(step).ok()?, left })
}
