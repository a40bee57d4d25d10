//! Computes the figures of one model with the estimator.

use std::collections::HashMap;

use kbgen_estimate::architecture::{Architecture, Layer, LayerKind};
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::estimator::NotCovered;
use kbgen_estimate::offload::LargestTensors;
use kbgen_estimate::parameters::parameter_count;
use kbgen_estimate::placement::{Device, reads_factors};
use kbgen_estimate::plan::partial::Ends;
use kbgen_estimate::planner::Planner;
use kbgen_estimate::quantization::{CacheType, Quantization};
use kbgen_estimate::segments::Segment;
use kbgen_estimate::settings::{CacheLayout, ExpertPlacement, Settings};
use kbgen_estimate::speed::CacheRead;
use kbgen_estimate::weights::{EitherDevice, PlacedWeights};

use crate::fit::engines;
use crate::site::{
    CACHE_TYPES, Curve, Factors, Figures, LayerWeights, Offload, PAIRS, QuantFit, Runner, SLOTS,
    SampledSplit, SampledSplits, Share,
};

/// Returns the figures of an architecture in these quantizations.
///
/// # Errors
/// If the estimator covers none of the settings.
pub fn figures(model: &Architecture, quants: &[Quantization]) -> Result<Figures, NotCovered> {
    let mut pool = Pool::default();
    let mut planner = Planner::new(model);
    let firsts = firsts_of_class(model);
    let class_of = |layer: &Layer| {
        firsts.iter().position(|first| model.layers[*first].cache_shape() == layer.cache_shape())
    };
    let classes = model.layers.iter().map(|layer| class_of(layer).expect("every class was listed"));
    let compute = compute_curves(model, &mut planner, &mut pool)?;
    let offload = offload(model, &mut planner, &mut pool)?;
    let cache = firsts.iter().map(|layer| cache_curves(&planner, *layer, &mut pool)).collect();
    let weights: Vec<Option<PlacedWeights>> =
        quants.iter().map(|quant| model.comes_in(*quant).then(|| planner.weights(*quant))).collect();
    let fits = quants.iter().zip(&weights).map(|(quant, weights)| {
        let weights = weights.as_ref()?;
        let read = planner.weights_read(&Settings::new(*quant, 1)).device;
        Some(quant_fit(weights, read, &planner.largest_tensors(*quant)))
    });
    let mut fits: Vec<Option<QuantFit>> = fits.collect();
    let samples = sampled_splits(model, &mut planner, quants, &weights, &mut fits);
    let factors = weights.iter().flatten().next().map_or(EitherDevice::default(), |weights| weights.rotary);
    let readers = (0..firsts.len()).filter(|class| reads_factors(model, model.layers[firsts[*class]].kind));
    let read = CacheRead::of(model);
    Ok(Figures {
        read: [read.full_key, read.full_value, read.window_key, read.window_value, read.window, read.state.0],
        max_ctx: model.max_context,
        curves: pool.curves,
        quants: fits,
        parameters: parameter_count(model).held,
        experts: model.experts.map(|experts| (experts.count, experts.used)),
        classes: classes.collect(),
        cache,
        compute,
        vllm: engines::vllm(model),
        offload,
        samples,
        factors: (factors.gpu.0 > 0).then(|| Factors { size: share(factors), classes: readers.collect() }),
    })
}

/// Distinct curves of a model.
#[derive(Default)]
struct Pool {
    curves: Vec<Curve>,
    places: HashMap<Curve, usize>,
}

impl Pool {
    fn index_of(&mut self, pieces: &[Segment]) -> usize {
        let pieces = pieces.iter().map(|piece| (piece.cells, piece.bytes.0, piece.slope));
        let curve = Curve { pieces: pieces.collect() };
        *self.places.entry(curve).or_insert_with_key(|curve| {
            self.curves.push(curve.clone());
            self.curves.len() - 1
        })
    }
}

/// Returns the first layer of each class of layers with equal caches.
fn firsts_of_class(model: &Architecture) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    for (index, layer) in model.layers.iter().enumerate() {
        if !firsts.iter().any(|first| model.layers[*first].cache_shape() == layer.cache_shape()) {
            firsts.push(index);
        }
    }
    firsts
}

/// Returns the settings that the table is computed with: one unified cache for all slots.
fn settings(plain: &Settings, runner: Runner, slots: u64, (key, value): (CacheType, CacheType)) -> Settings {
    Settings {
        cache_type_k: key,
        cache_type_v: value,
        sequences: slots,
        cache_layout: CacheLayout::Unified,
        n_outputs: match runner {
            Runner::Library => None,
            Runner::Server => Some(slots),
        },
        ..plain.clone()
    }
}

/// Returns the K and V cache types of a pair.
fn pair_types(pair: usize) -> (CacheType, CacheType) {
    let parse =
        |place: usize| CACHE_TYPES[place].parse().expect("the estimator knows the cache types of the table");
    (parse(pair / CACHE_TYPES.len()), parse(pair % CACHE_TYPES.len()))
}

fn cache_curves(planner: &Planner<'_>, layer: usize, pool: &mut Pool) -> [[usize; PAIRS]; SLOTS.len()] {
    let mut places = [[0; PAIRS]; SLOTS.len()];
    for (slots, row) in SLOTS.into_iter().zip(&mut places) {
        for (pair, place) in row.iter_mut().enumerate() {
            let plain = Settings::new(Quantization::F16, 1);
            let settings = settings(&plain, Runner::Library, slots, pair_types(pair));
            // This curve is never read: an unsupported pair has no compute buffer.
            *place =
                pool.index_of(&planner.layer_cache(layer, &settings, Device::Gpu(0)).unwrap_or_default());
        }
    }
    places
}

/// Indices of the curves of one buffer, by slots and pair.
type Places = [[Option<usize>; PAIRS]; SLOTS.len()];

/// Computes the compute buffers of one GPU with all layers, by runner.
fn compute_curves(
    model: &Architecture,
    planner: &mut Planner<'_>,
    pool: &mut Pool,
) -> Result<[Places; 2], NotCovered> {
    let plain = Settings::new(Quantization::F16, 1);
    let mut of = |runner| buffers(model, planner, pool, runner, &plain, [0]).map(|[places]| places);
    Ok([of(Runner::Library)?, of(Runner::Server)?])
}

/// Computes the compute buffers of `N` GPUs, by number of slots and pair of cache types.
///
/// # Errors
/// If no pair is covered.
fn buffers<const N: usize>(
    model: &Architecture,
    planner: &mut Planner<'_>,
    pool: &mut Pool,
    runner: Runner,
    plain: &Settings,
    gpus: [usize; N],
) -> Result<[Places; N], NotCovered> {
    let mut places = [Places::default(); N];
    let mut known = HashMap::new();
    let mut refusal = None;
    for (slot, slots) in SLOTS.into_iter().enumerate() {
        for (pair, types) in (0..PAIRS).map(pair_types).enumerate() {
            let settings = settings(plain, runner, slots, types);
            let found = known.entry(what_matters(model, &settings)).or_insert_with(|| {
                planner.compute(&settings).map(|devices| gpus.map(|gpu| pool.index_of(&devices[gpu])))
            });
            match found {
                Ok(found) => (0..N).for_each(|at| places[at][slot][pair] = Some(found[at])),
                Err(reason) => refusal = Some(reason.clone()),
            }
        }
    }
    match refusal {
        Some(reason) if places.as_flattened().as_flattened().iter().all(Option::is_none) => Err(reason),
        _ => Ok(places),
    }
}

/// Computes the buffers of two GPUs that share the layers: of the first, and of the last by runner.
fn offload(model: &Architecture, planner: &mut Planner<'_>, pool: &mut Pool) -> Result<Offload, NotCovered> {
    let two = Settings { tensor_split: vec![1, 1], ..Settings::new(Quantization::F16, 1) };
    let [_, library] = buffers(model, planner, pool, Runner::Library, &two, [0, 1])?;
    let [first, server] = buffers(model, planner, pool, Runner::Server, &two, [0, 1])?;
    let states = model.has(LayerKind::Recurrent);
    let stream = 4 * 512 * model.hidden;
    Ok(Offload {
        first,
        last: [library, server],
        slack: if states || model.has(LayerKind::Latent) { 16 } else { 4 } * stream,
        states,
        shares_cache: model.layers.iter().any(|layer| layer.shares_cache),
        stream,
        // An embedding model has no logits.
        logits: if model.pooling.is_some() { 0 } else { 4 * model.vocabulary },
    })
}

/// Returns the settings that a compute buffer depends on. A cache type matters only by whether it is quantized, since
/// attention widens every quantized cache to f16; the V cache does not matter if all attention is latent. The number
/// of sequences matters only with sliding windows, recurrent state or pooling, and otherwise by the logits kept. A test
/// compares the table with the estimator.
fn what_matters(model: &Architecture, settings: &Settings) -> (bool, bool, Option<u64>, u64) {
    let widened = |kind: CacheType| kind.tensor_type().is_quantized();
    let by_heads = model.has(LayerKind::Full) || model.has(LayerKind::Sliding);
    let has_states = model.has(LayerKind::Sliding) || model.has(LayerKind::Recurrent);
    let by_sequence = has_states || model.pooling.is_some();
    (
        widened(settings.cache_type_k),
        by_heads && widened(settings.cache_type_v),
        settings.n_outputs,
        if by_sequence { settings.sequences } else { 1 },
    )
}

fn share(size: EitherDevice) -> Share {
    Share { gpu: size.gpu.0, host: size.host.0 }
}

fn quant_fit(weights: &PlacedWeights, touch: Bytes, largest: &LargestTensors) -> QuantFit {
    let sum = |a: Share, b: Share| Share { gpu: a.gpu + b.gpu, host: a.host + b.host };
    let mut kinds: Vec<LayerWeights> = Vec::new();
    let mut layers = Vec::new();
    for index in 0..weights.layers.len() {
        let (rest, experts) = (share(weights.layers[index]), share(weights.experts[index]));
        let kind = LayerWeights {
            whole: sum(rest, experts),
            experts,
            largest: largest.layers[index].0,
            largest_expert: largest.experts[index].0,
        };
        let place = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        layers.push(place);
    }
    let on_gpu: u64 = layers.iter().map(|kind| kinds[*kind].whole.gpu).sum();
    QuantFit {
        file: weights.file.0,
        gpu: on_gpu + weights.output.gpu.0 + weights.rotary.gpu.0,
        input: weights.input_host.0,
        output: share(weights.output),
        touch: touch.0,
        largest_output: largest.output.0,
        kinds,
        layers,
        splits: SampledSplits::default(),
    }
}

/// Fills in the compute buffers of splits between one GPU and the host, and returns the distinct ones.
fn sampled_splits(
    model: &Architecture,
    planner: &mut Planner<'_>,
    quants: &[Quantization],
    weights: &[Option<PlacedWeights>],
    fits: &mut [Option<QuantFit>],
) -> Vec<Vec<u64>> {
    let layers = model.layers.len() as u64;
    for (weights, fit) in weights.iter().zip(&mut *fits) {
        let (Some(weights), Some(fit)) = (weights, fit) else { continue };
        let split = |count: u64| SampledSplit { count, samples: [None; CACHE_TYPES.len()] };
        let ends = Ends::new(model, weights);
        fit.splits.layers = ends.layers.into_iter().map(split).collect();
        fit.splits.experts = ends.experts.into_iter().map(split).collect();
    }
    let mut pool: Vec<Vec<u64>> = Vec::new();
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    // Ordered by type, so that the planner builds each graph once for all quantizations.
    for (place, cache_type) in (0..).zip(pair_types_alike()) {
        for (quant, fit) in quants.iter().zip(&mut *fits) {
            let Some(fit) = fit else { continue };
            let mut taken = |gpu_layers: u64, experts| {
                let plain = Settings::new(*quant, 1);
                let settings = Settings { gpu_layers: Some(gpu_layers), experts, ..plain };
                let pieces = planner.sampled_compute(&settings, cache_type).ok()?;
                // Skips the first piece, which only leads up to the first sample.
                let samples: Vec<u64> = pieces.iter().skip(1).map(|piece| piece.bytes.0).collect();
                Some(*places.entry(samples).or_insert_with_key(|samples| {
                    pool.push(samples.clone());
                    pool.len() - 1
                }))
            };
            for split in &mut fit.splits.layers {
                split.samples[place] = taken(layers + 1 - split.count, ExpertPlacement::WithLayer);
            }
            for split in &mut fit.splits.experts {
                split.samples[place] = taken(layers + 1, ExpertPlacement::FirstLayersOnCpu(split.count));
            }
            fit.splits.nothing[place] = taken(0, ExpertPlacement::WithLayer);
        }
    }
    pool
}

/// Returns the pairs with the same type for K and V.
fn pair_types_alike() -> impl Iterator<Item = CacheType> {
    (0..CACHE_TYPES.len()).map(|place| pair_types(place * (CACHE_TYPES.len() + 1)).0)
}
