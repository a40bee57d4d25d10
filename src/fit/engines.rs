//! Constants of vLLM's memory formulas, by number of GPUs and weight type.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::checkpoint::{Checkpoint, WeightType};
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::vllm::{PoolCache, PoolSettings, Request};

use crate::site::{CARDS, Vllm, VllmCard, WEIGHT_TYPES};

/// Returns the constants of vLLM's formulas for a model.
pub(super) fn vllm(model: &Architecture) -> Result<Vllm, String> {
    let request = request(model, 1).map_err(|reason| reason.0)?;
    let checkpoint = Checkpoint::new(model);
    let mut cards = [None; CARDS];
    for (count, card) in (1..).zip(&mut cards) {
        *card = on_cards(model, &checkpoint, count).ok();
    }
    Ok(Vllm {
        cards,
        layers: request.layers,
        padded: request.padded,
        window: request.window,
        states: request.states.map(|states| states.layers),
    })
}

fn on_cards(model: &Architecture, checkpoint: &Checkpoint<'_>, cards: u64) -> Result<VllmCard, NotCovered> {
    let mut weights = [0; WEIGHT_TYPES.len()];
    for (name, bytes) in WEIGHT_TYPES.iter().zip(&mut weights) {
        let kind: WeightType = name.parse().expect("the estimator knows the types of the table");
        *bytes = checkpoint.weight_bytes(kind, cards)?.0;
    }
    let request = request(model, cards)?;
    let state = request.states.map_or((0, 0), |states| (states.bytes.low.0, states.bytes.high.0));
    Ok(VllmCard { weights, page: request.page, state })
}

/// Creates a request; device memory and memory share do not affect these constants.
fn request(model: &Architecture, cards: u64) -> Result<Request, NotCovered> {
    let (weights, cache) = (WeightType::Bf16, PoolCache::Auto);
    Request::new(model, &PoolSettings { weights, cache, cards, ..PoolSettings::default() })
}
