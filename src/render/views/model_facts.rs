//! Facts at the top of a model page: its hyperparameters in words.

use crate::i18n::text;
use crate::render::views::common::{Fact, parameters};
use crate::render::views::context::RenderContext;
use crate::site::kinds::{ModelData, given};
use crate::site::{Page, Parameters, format_count};

/// Returns the facts of a model; `counted` are the parameters in its file.
pub(super) fn facts(
    cx: &RenderContext<'_>,
    model: &Page<ModelData>,
    counted: Option<Parameters>,
) -> Vec<Fact> {
    let data = &model.data;
    let published = data.parameters.as_ref().map(|count| parameters(count.value));
    let loaded =
        counted.map(|counted| parameters(counted.held)).filter(|loaded| published.as_ref() != Some(loaded));
    let active = counted.filter(|counted| counted.active < counted.held);
    let own = &data.architecture.fields;
    let in_tokens = |n: u64| cx.fill("{n} tokens", &[("n", &format_count(n))]);
    let attention = match (given(own.heads), given(own.kv_heads)) {
        (Some(heads), _) if own.mla_kv_lora > 0 => {
            Some(cx.fill("{n} heads with one compressed cache", &[("n", &heads)]))
        }
        (Some(heads), Some(kv)) if heads == kv => {
            Some(cx.fill("{n} heads, each with its own keys and values", &[("n", &heads)]))
        }
        (Some(heads), Some(kv)) => {
            Some(cx.fill("{n} heads share {kv} KV heads", &[("n", &heads), ("kv", &kv)]))
        }
        _ => None,
    };
    let experts = given(own.experts).map(|all| match given(own.experts_used) {
        Some(used) => cx.fill("{all}, {n} active per token", &[("all", &all), ("n", &used)]),
        None => all.to_string(),
    });
    [
        Fact::known(cx.tr("Family"), Some(data.family.clone())),
        Fact::known(cx.tr("Parameters"), published),
        Fact::known(
            cx.tr("Loaded parameters"),
            loaded.map(|count| cx.fill("{n} (sum of the tensors)", &[("n", &count)])),
        ),
        Fact::known(
            cx.tr("Active per token"),
            active.map(|counted| cx.fill("{n} (computed)", &[("n", &parameters(counted.active))])),
        ),
        Fact::known(cx.tr("Layers"), Some(own.layer_count().to_string())),
        Fact::known(cx.tr("Layer types"), kinds(cx, model)),
        Fact::known(cx.tr("Attention"), attention),
        Fact::known(
            cx.tr("Output"),
            (!data.writes_text())
                .then(|| cx.fill("one vector of {n} numbers per text", &[("n", &format_count(own.hidden))])),
        ),
        Fact::known(cx.tr("Head width"), given(own.head_dim).map(|width| width.to_string())),
        Fact::known(cx.tr("Sliding window"), given(own.sliding_window).map(in_tokens)),
        Fact::known(cx.tr("Experts"), experts),
        Fact::known(cx.tr("Vocabulary"), given(own.vocab).map(format_count)),
        Fact::known(cx.tr("Largest context"), given(own.max_ctx).map(in_tokens)),
        Fact::known(cx.tr("GGUF architecture"), Some(own.name.clone()).filter(|name| !name.is_empty())),
        Fact::known(cx.tr("Released as"), data.released_as.as_ref().map(|name| name.value.clone())),
        Fact::known(cx.tr("License"), data.license()),
        Fact::known(cx.tr("Released"), data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Describes the attention types of the layers if they differ: `40 sliding window, 8 full attention`.
fn kinds(cx: &RenderContext<'_>, model: &Page<ModelData>) -> Option<String> {
    const NAMES: [(char, &str); 5] = [
        ('S', text("sliding window")),
        ('F', text("full attention")),
        ('M', text("latent attention")),
        ('R', text("recurrent")),
        ('N', text("feed-forward only")),
    ];
    let mut counts = [0u64; NAMES.len()];
    for (letter, count) in model.data.architecture.fields.layer_runs() {
        // latent layers without an indexer have the cache of the others
        let letter = if letter == 'T' { 'M' } else { letter };
        if let Some(kind) = NAMES.iter().position(|(name, _)| *name == letter) {
            counts[kind] = counts[kind].saturating_add(count);
        }
    }
    let kinds: Vec<String> = NAMES
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((_, name), count)| format!("{count} {}", cx.tr(name)))
        .collect();
    let plain = counts[1] > 0 && kinds.len() == 1;
    (!plain && !kinds.is_empty()).then(|| kinds.join(", "))
}
