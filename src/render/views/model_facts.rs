//! What stands in the head of a model's page: its hyperparameters in words.

use crate::render::views::common::{Fact, parameters};
use crate::render::views::shelf::Shelf;
use crate::site::kinds::{ModelData, given};
use crate::site::{Page, Parameters, format_count};
use crate::texts::text;

/// The facts of a model; `counted` are the parameters that its file holds.
pub(super) fn facts(shelf: &Shelf<'_>, model: &Page<ModelData>, counted: Option<Parameters>) -> Vec<Fact> {
    let data = &model.data;
    let published = data.parameters.as_ref().map(|count| parameters(count.value));
    let loaded =
        counted.map(|counted| parameters(counted.held)).filter(|told| published.as_ref() != Some(told));
    let active = counted.filter(|counted| counted.active < counted.held);
    let own = &data.architecture.fields;
    let in_tokens = |n: u64| shelf.fill("{n} tokens", &[("n", &format_count(n))]);
    let attention = match (given(own.heads), given(own.kv_heads)) {
        (Some(heads), _) if own.mla_kv_lora > 0 => {
            Some(shelf.fill("{n} heads over one compressed cache", &[("n", &heads)]))
        }
        (Some(heads), Some(kv)) if heads == kv => {
            Some(shelf.fill("{n} heads, each with its own keys and values", &[("n", &heads)]))
        }
        (Some(heads), Some(kv)) => {
            Some(shelf.fill("{n} heads share {kv} KV heads", &[("n", &heads), ("kv", &kv)]))
        }
        _ => None,
    };
    let experts = given(own.experts).map(|all| match given(own.experts_used) {
        Some(used) => shelf.fill("{all}, of which {n} for a token", &[("all", &all), ("n", &used)]),
        None => all.to_string(),
    });
    [
        Fact::known(shelf.say("Family"), Some(data.family.clone())),
        Fact::known(shelf.say("Parameters"), published),
        Fact::known(
            shelf.say("Parameters loaded"),
            loaded.map(|told| shelf.fill("{n}, counted from the tensors", &[("n", &told)])),
        ),
        Fact::known(
            shelf.say("Active for a token"),
            active.map(|counted| shelf.fill("{n}, counted", &[("n", &parameters(counted.active))])),
        ),
        Fact::known(shelf.say("Layers"), Some(own.layer_count().to_string())),
        Fact::known(shelf.say("Kinds of layer"), kinds(shelf, model)),
        Fact::known(shelf.say("Attention"), attention),
        Fact::known(shelf.say("Head width"), given(own.head_dim).map(|width| width.to_string())),
        Fact::known(shelf.say("Sliding window"), given(own.sliding_window).map(in_tokens)),
        Fact::known(shelf.say("Experts"), experts),
        Fact::known(shelf.say("Vocabulary"), given(own.vocab).map(format_count)),
        Fact::known(shelf.say("Largest context"), given(own.max_ctx).map(in_tokens)),
        Fact::known(shelf.say("GGUF architecture"), Some(own.name.clone()).filter(|name| !name.is_empty())),
        Fact::known(shelf.say("Released as"), data.released_as.as_ref().map(|name| name.value.clone())),
        Fact::known(shelf.say("License"), data.licence.clone()),
        Fact::known(shelf.say("Released"), data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the layers keep of earlier tokens, where they are not all alike: `40 sliding window, 8 full attention`.
fn kinds(shelf: &Shelf<'_>, model: &Page<ModelData>) -> Option<String> {
    const NAMES: [(char, &str); 5] = [
        ('S', text("sliding window")),
        ('F', text("full attention")),
        ('M', text("latent attention")),
        ('R', text("recurrent")),
        ('N', text("feed-forward only")),
    ];
    let mut counts = [0u64; NAMES.len()];
    for (letter, count) in model.data.architecture.fields.layer_runs() {
        if let Some(kind) = NAMES.iter().position(|(name, _)| *name == letter) {
            counts[kind] = counts[kind].saturating_add(count);
        }
    }
    let told: Vec<String> = NAMES
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((_, name), count)| format!("{count} {}", shelf.say(name)))
        .collect();
    let plain = counts[1] > 0 && told.len() == 1;
    (!plain && !told.is_empty()).then(|| told.join(", "))
}
