//! One model's figures, computed with the estimator.

use std::collections::HashMap;

use crate::estimate::architecture::{Architecture, Layer, LayerKind};
use crate::estimate::estimator::NotCovered;
use crate::estimate::layers::{LayerBytes, OnDevice, WeightShares, layer_segments, weight_shares};
use crate::estimate::placement::{Device, reads_factors};
use crate::estimate::quantization::{CacheType, Quantization};
use crate::estimate::segments::{Segment, device_segments};
use crate::estimate::settings::{CacheLayout, Settings};
use crate::site::{
    CACHE_TYPES, Curve, Factors, Figures, LayerWeights, PAIRS, QuantFit, Runner, SLOTS, Share,
};

/// Figures of an architecture in these quantizations.
///
/// # Errors
/// When the estimator covers no way to run it.
pub(super) fn figures(model: &Architecture, quants: &[Quantization]) -> Result<Figures, NotCovered> {
    let mut pool = Pool::default();
    let kinds = layer_classes(model);
    let classes: Vec<usize> = model.layers.iter().map(|layer| place(&kinds, layer)).collect();
    let compute = compute_curves(model, &mut pool)?;
    let cache = kinds.iter().map(|layer| cache_curves(model, layer, &mut pool)).collect();
    let shares: Vec<Option<WeightShares>> =
        quants.iter().map(|quant| comes_in(model, *quant).then(|| weight_shares(model, *quant))).collect();
    let factors = shares.iter().flatten().next().map_or(OnDevice::default(), |shares| shares.factors);
    let readers = (0..kinds.len()).filter(|class| reads_factors(model, kinds[*class].kind));
    let factors = (factors.gpu.0 > 0).then(|| Factors { size: share(factors), classes: readers.collect() });
    Ok(Figures {
        max_ctx: model.max_context,
        curves: pool.curves,
        quants: shares.iter().map(|shares| shares.as_ref().map(quant_fit)).collect(),
        parameters: shares.iter().flatten().next().map_or(0, |shares| shares.parameters),
        experts: model.experts.map(|experts| (experts.count, experts.used)),
        classes,
        cache,
        compute,
        factors,
    })
}

/// MXFP4 is a quantization of experts: without any a file of it is one of Q8_0.
fn comes_in(model: &Architecture, quant: Quantization) -> bool {
    quant != Quantization::MXFP4 || model.experts.is_some()
}

/// Curves of a model, each kept once.
#[derive(Default)]
struct Pool {
    curves: Vec<Curve>,
    places: HashMap<Curve, usize>,
}

impl Pool {
    fn place(&mut self, pieces: &[Segment]) -> usize {
        let pieces = pieces.iter().map(|piece| (piece.cells, piece.bytes.0, piece.slope));
        let curve = Curve { pieces: pieces.collect() };
        *self.places.entry(curve).or_insert_with_key(|curve| {
            self.curves.push(curve.clone());
            self.curves.len() - 1
        })
    }
}

/// One layer of each class: all that have equal caches.
fn layer_classes(model: &Architecture) -> Vec<Layer> {
    let mut kinds: Vec<Layer> = Vec::new();
    for layer in &model.layers {
        if !kinds.iter().any(|kind| same_cache(kind, layer)) {
            kinds.push(*layer);
        }
    }
    kinds
}

fn same_cache(one: &Layer, other: &Layer) -> bool {
    (one.kind, one.kv_heads, one.head_dim) == (other.kind, other.kv_heads, other.head_dim)
}

fn place(kinds: &[Layer], layer: &Layer) -> usize {
    kinds.iter().position(|kind| same_cache(kind, layer)).expect("every layer's class was listed")
}

/// The settings that the table stands for, at any context: one GPU with all layers, and one cache
/// for all slots.
pub(super) fn settings(runner: Runner, slots: u64, (key, value): (CacheType, CacheType)) -> Settings {
    Settings {
        cache_type_k: key,
        cache_type_v: value,
        sequences: slots,
        cache_layout: CacheLayout::Unified,
        n_outputs: match runner {
            Runner::Library => None,
            Runner::Server => Some(slots),
        },
        // no buffer on one GPU depends on the types of the weights
        ..Settings::new(Quantization::F16, 1)
    }
}

/// The cache types of a pair.
pub(super) fn pair_types(pair: usize) -> (CacheType, CacheType) {
    let parse =
        |place: usize| CACHE_TYPES[place].parse().expect("the estimator knows the cache types of the table");
    (parse(pair / CACHE_TYPES.len()), parse(pair % CACHE_TYPES.len()))
}

fn cache_curves(model: &Architecture, layer: &Layer, pool: &mut Pool) -> [[usize; PAIRS]; SLOTS.len()] {
    let mut places = [[0; PAIRS]; SLOTS.len()];
    for (slots, row) in SLOTS.into_iter().zip(&mut places) {
        for (pair, place) in row.iter_mut().enumerate() {
            let settings = settings(Runner::Library, slots, pair_types(pair));
            // a pair that is refused has no compute buffer, so that this curve is not read
            *place = pool.place(&layer_segments(model, &settings, layer).unwrap_or_default());
        }
    }
    places
}

type ComputePlaces = [[[Option<usize>; PAIRS]; SLOTS.len()]; 2];

fn compute_curves(model: &Architecture, pool: &mut Pool) -> Result<ComputePlaces, NotCovered> {
    let mut places: ComputePlaces = Default::default();
    let mut known = HashMap::new();
    let mut refusal = None;
    for (_, runner) in Runner::NAMES {
        for (slots, row) in SLOTS.into_iter().zip(&mut places[runner as usize]) {
            for (pair, place) in row.iter_mut().enumerate() {
                let settings = settings(runner, slots, pair_types(pair));
                let found = known
                    .entry(what_matters(model, &settings))
                    .or_insert_with(|| compute_curve(model, &settings).map(|pieces| pool.place(&pieces)));
                match found {
                    Ok(found) => *place = Some(*found),
                    Err(reason) => refusal = Some(reason.clone()),
                }
            }
        }
    }
    match refusal {
        Some(reason) if places.as_flattened().as_flattened().iter().all(Option::is_none) => Err(reason),
        _ => Ok(places),
    }
}

fn compute_curve(model: &Architecture, settings: &Settings) -> Result<Vec<Segment>, NotCovered> {
    let devices = device_segments(model, settings)?;
    let gpu = devices.into_iter().find(|device| device.device == Device::Gpu(0));
    Ok(gpu.expect("the settings have a GPU").compute)
}

/// What of the settings the compute buffer depends on: of a cache type only whether it is
/// quantized, since attention widens every such cache to f16; of the V cache nothing where all
/// attention is latent; of the slots the logits kept, and the sequences only where a layer has
/// a window or a state. A test holds the table to the estimator's own figures.
fn what_matters(model: &Architecture, settings: &Settings) -> (bool, bool, Option<u64>, u64) {
    let quantized = |kind: CacheType| kind.tensor_type().is_quantized();
    let by_heads = model.has(LayerKind::Full) || model.has(LayerKind::Sliding);
    let by_sequence = model.has(LayerKind::Sliding) || model.has(LayerKind::Recurrent);
    (
        quantized(settings.cache_type_k),
        by_heads && quantized(settings.cache_type_v),
        settings.n_outputs,
        if by_sequence { settings.sequences } else { 1 },
    )
}

fn share(size: OnDevice) -> Share {
    Share { gpu: size.gpu.0, host: size.host.0 }
}

fn quant_fit(shares: &WeightShares) -> QuantFit {
    let mut kinds: Vec<LayerBytes> = Vec::new();
    let layers = shares.layers.iter().map(|layer| {
        kinds.iter().position(|kind| kind == layer).unwrap_or_else(|| {
            kinds.push(*layer);
            kinds.len() - 1
        })
    });
    let layers: Vec<usize> = layers.collect();
    let on_gpu = shares.layers.iter().map(|layer| layer.whole.gpu.0).sum::<u64>();
    let weights = |kind: &LayerBytes| LayerWeights { whole: share(kind.whole), experts: share(kind.experts) };
    QuantFit {
        file: shares.file.0,
        gpu: on_gpu + shares.output.gpu.0 + shares.factors.gpu.0,
        input: shares.input.0,
        output: share(shares.output),
        kinds: kinds.iter().map(weights).collect(),
        layers,
    }
}
