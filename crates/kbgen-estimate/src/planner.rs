//! One model asked for many settings: what settings share is worked out once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::architecture::Architecture;
use crate::backend::{Backend, Profile, driver_range, has_own_memory};
use crate::bytes::Bytes;
use crate::cache::{self, Cells};
use crate::compute::{Arrangement, Graphs, Subject};
use crate::estimator::{BytesRange, DeviceEstimate, Estimate, Evidence, NotCovered, Part, check, combine};
use crate::gguf::ModelFile;
use crate::offload::{LargestTensors, largest_tensors};
use crate::placement::Device;
use crate::plan::partial::{Split, WholeBytes, partial_bytes, sample_cells, sampled, through};
use crate::quantization::{CacheType, Quantization};
use crate::segments::{DeviceSegments, Segment, append, cells_of, pieces_by_stretch, stretches, value_at};
use crate::settings::{ExpertPlacement, Settings};
use crate::speed::bytes_read;
use crate::weights::{PlacedWeights, WeightList, Weights};

/// A model with all that was worked out for it so far. It only saves time: the answers do not
/// depend on what was asked before.
#[derive(Debug)]
pub struct Planner<'m> {
    model: &'m Architecture,
    list: WeightList,
    weights: HashMap<Quantization, Arc<Weights>>,
    /// Weights of a file, in place of those of any quantization.
    of_file: Option<Arc<Weights>>,
    graphs: Graphs,
    /// Curves of compute buffers that plans rest on, by settings without a context.
    curves: HashMap<Settings, Arc<Vec<Segment>>>,
    /// Backends that plans are for, GPU by GPU; CUDA beyond the end.
    backends: Vec<&'static [Backend]>,
}

impl<'m> Planner<'m> {
    /// A planner that knows nothing yet.
    pub fn new(model: &'m Architecture) -> Planner<'m> {
        Planner {
            model,
            list: WeightList::new(model),
            weights: HashMap::new(),
            of_file: None,
            graphs: Graphs::default(),
            curves: HashMap::new(),
            backends: Vec::new(),
        }
    }

    /// Sets the backends that plans are for, GPU by GPU. Where there are several for a GPU, its plan holds for each.
    pub fn on_backends(self, backends: Vec<&'static [Backend]>) -> Planner<'m> {
        Planner { backends, ..self }
    }

    /// Creates a planner for a file; `model` is its architecture, perhaps with a longer context. The quantization of settings
    /// is ignored.
    pub fn of_file(model: &'m Architecture, file: &ModelFile) -> Planner<'m> {
        Planner { of_file: Some(Arc::clone(&file.weights)), ..Planner::new(model) }
    }

    /// A planner that builds and runs every layer of every graph: slow, to compare with.
    pub fn thorough(model: &'m Architecture) -> Planner<'m> {
        Planner { graphs: Graphs::thorough(), ..Planner::new(model) }
    }

    /// The model.
    pub fn model(&self) -> &'m Architecture {
        self.model
    }

    /// Returns the need of every device.
    pub fn estimate(&mut self, settings: &Settings) -> Result<Estimate, NotCovered> {
        let weights = self.weights_on(settings)?;
        let cache = self.cache_on(settings)?;
        let compute = self.compute_on(settings)?;
        Ok(combine(settings, &weights, &cache, &compute))
    }

    /// Weights on the GPUs in order, then on the host.
    pub fn weights_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        let placed = &self.weights_of(settings.quantization).placed;
        Ok(cache::devices(settings).map(|device| placed.on(&arrangement.placement, device)).collect())
    }

    /// Cache and state on the GPUs in order, then on the host.
    pub fn cache_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        Ok(cache::buffer_bytes(self.model, settings, &arrangement.placement))
    }

    /// Compute buffers of the GPUs in order, then of the host.
    pub fn compute_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let subject = Subject { model: self.model, list: &self.list, weights: &weights };
        Ok(self.graphs.bytes(subject, settings))
    }

    /// The compute buffers of the GPUs in order, then of the host, over cells: from 256 a
    /// stream to those of the model's longest context; the context of `settings` is not used.
    ///
    /// The pieces are found by running the allocator on lines instead of numbers: every
    /// comparison it makes says for how many more cells its answer holds. So they are exact
    /// at every number of cells, and a run is needed only where an answer changes.
    pub fn compute(&mut self, settings: &Settings) -> Result<Vec<Vec<Segment>>, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let subject = Subject { model: self.model, list: &self.list, weights: &weights };
        let mut buffers = vec![Vec::new(); settings.tensor_split.len() + 1];
        for stretch in stretches(self.model, settings) {
            let found = self.graphs.pieces(subject, &stretch);
            for (pieces, found) in buffers.iter_mut().zip(found.iter()) {
                found.iter().for_each(|piece| append(pieces, *piece));
            }
        }
        Ok(buffers)
    }

    /// Cache and compute buffer of every device over cells, as [`Planner::compute`].
    pub fn segments(&mut self, settings: &Settings) -> Result<Vec<DeviceSegments>, NotCovered> {
        let compute = self.compute(settings)?;
        let parts = cache::devices(settings).zip(self.cache_segments(settings)?.into_iter().zip(compute));
        Ok(parts.map(|(device, (cache, compute))| DeviceSegments { device, cache, compute }).collect())
    }

    /// Cache of every device over cells, as [`Planner::compute`].
    pub fn cache_segments(&mut self, settings: &Settings) -> Result<Vec<Vec<Segment>>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        let mut caches = vec![Vec::new(); settings.tensor_split.len() + 1];
        for stretch in stretches(self.model, settings) {
            let at = |settings| cache::buffer_bytes(self.model, settings, &arrangement.placement);
            let (bytes, next) = (at(&stretch.first), at(&stretch.second));
            for (pieces, (bytes, next)) in caches.iter_mut().zip(bytes.into_iter().zip(next)) {
                append(pieces, Segment::new(stretch.start, bytes, next.0 as i64 - bytes.0 as i64));
            }
        }
        Ok(caches)
    }

    /// The compute buffers of the GPUs as a plan counts them: of one GPU that holds a part of the model by the rule of
    /// [`plan::partial`](crate::plan::partial), else llama.cpp's own.
    pub fn planned_compute(&mut self, settings: &Settings) -> Result<PlannedCompute, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let Some(split) = Split::new(self.model, &weights.placed, settings) else {
            return Ok(PlannedCompute::Exact);
        };
        // nothing is copied in, so the quantization does not matter
        let whole = Settings {
            quantization: Quantization::F16,
            gpu_layers: None,
            experts: ExpertPlacement::WithLayer,
            ..settings.clone()
        };
        let one_slot =
            Settings { cache_type_v: settings.cache_type_v, ..sampled(&whole, settings.cache_type_k, 1) };
        let mut types = vec![settings.cache_type_k, settings.cache_type_v];
        types.dedup();
        let mut samples = Vec::new();
        for (gpu_layers, experts) in split.samples {
            let part = Settings { gpu_layers: Some(gpu_layers), experts, ..settings.clone() };
            for cache_type in &types {
                samples.push(self.sampled_compute(&part, *cache_type)?);
            }
        }
        let output = match split.copies_output {
            true => self.largest_tensors(settings.quantization).output,
            false => Bytes(0),
        };
        Ok(PlannedCompute::Partial {
            samples,
            one_slot: self.gpu_curve(&one_slot)?,
            all_slots: self.gpu_curve(&Settings { n_outputs: Some(settings.sequences), ..whole.clone() })?,
            asked: self.gpu_curve(&whole)?,
            output,
        })
    }

    /// The compute buffer of the first GPU with one slot of the server, as it is at powers of two.
    pub fn sampled_compute(
        &mut self,
        settings: &Settings,
        cache_type: CacheType,
    ) -> Result<Arc<Vec<Segment>>, NotCovered> {
        let key = sampled(settings, cache_type, 0);
        if let Some(known) = self.curves.get(&key) {
            return Ok(Arc::clone(known));
        }
        let taken = sample_cells(self.model.max_context).map(|cells| {
            let buffers = self.compute_on(&sampled(settings, cache_type, cells))?;
            Ok(buffers[0].0)
        });
        let pieces = Arc::new(through(&taken.collect::<Result<Vec<u64>, NotCovered>>()?));
        self.curves.insert(key, Arc::clone(&pieces));
        Ok(pieces)
    }

    /// The compute buffer of the first GPU over cells.
    fn gpu_curve(&mut self, settings: &Settings) -> Result<Arc<Vec<Segment>>, NotCovered> {
        let key = settings.at_context(1);
        if let Some(known) = self.curves.get(&key) {
            return Ok(Arc::clone(known));
        }
        let pieces = Arc::new(self.compute(&key)?.swap_remove(0));
        self.curves.insert(key, Arc::clone(&pieces));
        Ok(pieces)
    }

    /// Returns the need of every device as a plan counts it, in the bands of the backends.
    pub fn plan(&mut self, settings: &Settings) -> Result<Estimate, NotCovered> {
        let mut need = self.estimate(settings)?;
        let cells = cells_of(settings);
        if let Some(bytes) = self.planned_compute(settings)?.at(cells) {
            need.devices[0].compute = Part::new(bytes, Evidence::Planned);
        }
        if self.is_on_cuda(settings) {
            return Ok(need);
        }
        let compute = self.compute_bands(settings)?;
        let file = self.file_bytes(settings.quantization);
        let host_cache = need.devices.last().map_or(Bytes(0), |host| host.cache.bytes);
        for (gpu, compute) in compute.into_iter().enumerate() {
            let backends = self.backends_of(gpu);
            let device = &mut need.devices[gpu];
            if backends != [Backend::Cuda] {
                device.compute = Part::within(compute, Evidence::Banded);
            }
            let weights = self.weight_band(gpu, device.weights.bytes, file, settings);
            let device = &mut need.devices[gpu];
            device.weights = Part::within(weights, Evidence::Exact);
            if !has_own_memory(backends) {
                device.cache.bytes = device.cache.bytes + host_cache;
            }
            device.driver_context = Some(driver_range(backends));
        }
        Ok(need)
    }

    /// Returns the need of all GPUs together as a plan counts it, at most.
    pub fn planned_totals(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        if !self.is_on_cuda(settings) {
            let need = self.plan(settings)?;
            let gpus = need.devices.iter().take(settings.tensor_split.len());
            return Ok(gpus.map(DeviceEstimate::total).collect());
        }
        let compute = match self.planned_compute(settings)?.at(cells_of(settings)) {
            Some(bytes) => vec![bytes],
            None => self.compute_on(settings)?,
        };
        let held = self.weights_on(settings)?.into_iter().zip(self.cache_on(settings)?);
        let gpus = held.zip(compute).take(settings.tensor_split.len());
        Ok(gpus.map(|((weights, cache), compute)| weights + cache + compute).collect())
    }

    /// Returns curves over cells of what each GPU needs at most, as a plan counts it.
    pub(crate) fn planned_curves(&mut self, settings: &Settings) -> Result<Vec<GpuCurves>, NotCovered> {
        let weights = self.weights_on(settings)?;
        let mut caches = self.cache_segments(settings)?;
        let host_cache = caches.pop().unwrap_or_default();
        let file = self.file_bytes(settings.quantization);
        let mut exact: HashMap<Settings, Vec<Vec<Segment>>> = HashMap::new();
        let mut gpus = Vec::new();
        for (gpu, cache) in caches.into_iter().enumerate() {
            let backends = self.backends_of(gpu);
            let mut compute = Vec::new();
            for backend in backends {
                let profile = backend.profile();
                let own = profile.settings(settings);
                let planned = self.planned_compute(&own)?;
                let curve = match planned {
                    PlannedCompute::Partial { .. } => Vec::new(),
                    PlannedCompute::Exact => match exact.get(&own) {
                        Some(curves) => curves[gpu].clone(),
                        None => {
                            let curves = self.compute(&own)?;
                            exact.entry(own).or_insert(curves)[gpu].clone()
                        }
                    },
                };
                compute.push((profile, planned, curve));
            }
            let mut cache = vec![cache];
            if !has_own_memory(backends) {
                cache.push(host_cache.clone());
            }
            let weights = self.weight_band(gpu, weights[gpu], file, settings).high;
            gpus.push(GpuCurves { weights, cache, compute });
        }
        Ok(gpus)
    }

    /// Returns the bands of the compute buffers of all GPUs.
    fn compute_bands(&mut self, settings: &Settings) -> Result<Vec<BytesRange>, NotCovered> {
        let cells = cells_of(settings);
        let mut replayed: HashMap<Settings, Vec<Bytes>> = HashMap::new();
        let mut bands = Vec::new();
        for gpu in 0..settings.tensor_split.len() {
            let mut band: Option<BytesRange> = None;
            for backend in self.backends_of(gpu) {
                let profile = backend.profile();
                let own = profile.settings(settings);
                let buffers = match replayed.get(&own) {
                    Some(buffers) => buffers,
                    None => {
                        let buffers = match self.planned_compute(&own)?.at(cells) {
                            Some(bytes) => vec![bytes],
                            None => self.compute_on(&own)?,
                        };
                        replayed.entry(own).or_insert(buffers)
                    }
                };
                let range = profile.compute(buffers[gpu]);
                band = Some(band.map_or(range, |band| band.hull(range)));
            }
            bands.push(band.unwrap_or_default());
        }
        Ok(bands)
    }

    /// Returns the band of the weights on a GPU.
    fn weight_band(&self, gpu: usize, placed: Bytes, file: Bytes, settings: &Settings) -> BytesRange {
        let places = self.model.layers.len() as u64 + 1;
        let is_only = settings.tensor_split.len() == 1;
        let is_whole = is_only
            && settings.gpu_layers.is_none_or(|layers| layers >= places)
            && settings.experts == ExpertPlacement::WithLayer;
        let file = if is_only { file } else { Bytes(0) };
        let bands =
            self.backends_of(gpu).iter().map(|backend| backend.profile().weights(placed, file, is_whole));
        bands.reduce(BytesRange::hull).unwrap_or_default()
    }

    fn backends_of(&self, gpu: usize) -> &'static [Backend] {
        self.backends.get(gpu).copied().unwrap_or(&[Backend::Cuda])
    }

    /// Returns whether RAM is apart from the memory of every GPU.
    pub(crate) fn has_own_memory(&self, settings: &Settings) -> bool {
        (0..settings.tensor_split.len()).all(|gpu| has_own_memory(self.backends_of(gpu)))
    }

    fn is_on_cuda(&self, settings: &Settings) -> bool {
        (0..settings.tensor_split.len()).all(|gpu| self.backends_of(gpu) == [Backend::Cuda])
    }

    /// Cache and state of one layer on a device over cells, as [`Planner::compute`]. The cache
    /// of a device is the sum over its layers.
    pub fn layer_cache(
        &self,
        layer: usize,
        settings: &Settings,
        device: Device,
    ) -> Result<Vec<Segment>, NotCovered> {
        check(self.model, settings)?;
        let layer = &self.model.layers[layer];
        Ok(pieces_by_stretch(self.model, settings, |at| {
            cache::layer_bytes(self.model, at, Cells::new(self.model, at), layer, device)
        }))
    }

    /// The weights of a quantization, place by place.
    pub fn weights(&mut self, quantization: Quantization) -> PlacedWeights {
        self.weights_of(quantization).placed.clone()
    }

    /// Bytes of weights that a token reads, as [`crate::speed::weight_bytes_read`].
    pub fn weight_bytes_read(&mut self, quantization: Quantization) -> Bytes {
        let weights = self.weights_of(quantization);
        bytes_read(self.model, self.list.typed(&weights))
    }

    /// The largest tensors of a quantization.
    pub fn largest_tensors(&mut self, quantization: Quantization) -> LargestTensors {
        let weights = self.weights_of(quantization);
        largest_tensors(self.model, self.list.typed(&weights))
    }

    /// Tensor data of the model file in a quantization.
    pub fn file_bytes(&mut self, quantization: Quantization) -> Bytes {
        self.weights_of(quantization).placed.file
    }

    /// How often the allocator was run so far.
    pub fn replays(&self) -> u64 {
        self.graphs.replays
    }

    fn weights_of(&mut self, quantization: Quantization) -> Arc<Weights> {
        if let Some(weights) = &self.of_file {
            return Arc::clone(weights);
        }
        let new = || Arc::new(self.list.quantized(self.model, quantization));
        Arc::clone(self.weights.entry(quantization).or_insert_with(new))
    }

    fn arrangement(&mut self, settings: &Settings) -> Arc<Arrangement> {
        self.graphs.arrangement(self.model, settings)
    }
}

/// Curves of one GPU in a plan.
#[derive(Debug)]
pub(crate) struct GpuCurves {
    weights: Bytes,
    cache: Vec<Vec<Segment>>,
    compute: Vec<(Profile, PlannedCompute, Vec<Segment>)>,
}

impl GpuCurves {
    /// Returns what the GPU needs at most with so many cells.
    pub(crate) fn at(&self, cells: u64) -> Bytes {
        let value = |pieces: &[Segment]| value_at(pieces, cells).unwrap_or_default();
        let cache = self.cache.iter().map(|pieces| value(pieces)).fold(Bytes(0), |sum, bytes| sum + bytes);
        let buffers = self.compute.iter().map(|(profile, planned, exact)| {
            profile.compute(planned.at(cells).unwrap_or_else(|| value(exact))).high
        });
        self.weights + cache + buffers.max().unwrap_or_default()
    }
}

/// The compute buffers of GPUs in a plan.
#[derive(Debug, Clone)]
pub enum PlannedCompute {
    /// llama.cpp's own.
    Exact,
    /// That of one GPU with a part of the model, of the curves that [`partial_bytes`] takes.
    Partial {
        /// Buffers of the splits that are taken.
        samples: Vec<Arc<Vec<Segment>>>,
        /// The buffer of the whole model with one slot of the server.
        one_slot: Arc<Vec<Segment>>,
        /// The buffer of the whole model with all slots of the server.
        all_slots: Arc<Vec<Segment>>,
        /// The buffer of the whole model with the run that is asked for.
        asked: Arc<Vec<Segment>>,
        /// An output matrix that is copied in.
        output: Bytes,
    },
}

impl PlannedCompute {
    /// The buffer at a number of cells; none where it is llama.cpp's own.
    pub fn at(&self, cells: u64) -> Option<Bytes> {
        let PlannedCompute::Partial { samples, one_slot, all_slots, asked, output } = self else {
            return None;
        };
        let at = |pieces: &Arc<Vec<Segment>>| value_at(pieces, cells).unwrap_or_default().0;
        let whole = WholeBytes { one_slot: at(one_slot), all_slots: at(all_slots), asked: at(asked) };
        Some(Bytes(partial_bytes(samples.iter().map(at), whole, output.0)))
    }
}
