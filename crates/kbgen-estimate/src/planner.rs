//! Planner for one model and many settings, with shared intermediate results.

use std::collections::HashMap;
use std::sync::Arc;

use crate::architecture::Architecture;
use crate::backend::{Backend, Profile};
use crate::bytes::Bytes;
use crate::cache::{self, Cells};
use crate::compute::{Arrangement, Graphs, QuantizedModel};
use crate::estimator::{Estimate, NotCovered, check, combine};
use crate::gguf::ModelFile;
use crate::offload::{LargestTensors, largest_tensors};
use crate::placement::Device;
use crate::plan::partial::{Split, WholeBytes, partial_bytes, sample_cells, sampled, through};
use crate::quantization::{CacheType, Quantization};
use crate::segments::{DeviceSegments, Segment, append, intervals, segments_by_interval, value_at};
use crate::settings::{ExpertPlacement, Settings};
use crate::speed::{TokenReads, weights_read_of};
use crate::weights::{PlacedWeights, WeightList, Weights};

/// Model with cached intermediate results. They only save time and do not affect results.
#[derive(Debug)]
pub struct Planner<'m> {
    model: &'m Architecture,
    list: WeightList,
    weights: HashMap<Quantization, Arc<Weights>>,
    /// Weights of a file, used instead of those of any quantization.
    of_file: Option<Arc<Weights>>,
    graphs: Graphs,
    /// Curves of compute buffers for plans, by settings without a context.
    curves: HashMap<Settings, Arc<Vec<Segment>>>,
    /// Backends to plan for, by GPU; CUDA for GPUs beyond the end.
    backends: Vec<&'static [Backend]>,
    /// Whether a Llama replaces an unknown architecture.
    is_stand_in: bool,
}

/// Range of the compute buffer of an unknown architecture, in thousandths of that of a Llama of the same
/// sizes. The buffers of the measured models are between 527 and 2465.
pub const STAND_IN: [u64; 2] = [500, 2500];

impl<'m> Planner<'m> {
    /// Creates a planner without cached results.
    pub fn new(model: &'m Architecture) -> Planner<'m> {
        Planner {
            model,
            list: WeightList::new(model),
            weights: HashMap::new(),
            of_file: None,
            graphs: Graphs::default(),
            curves: HashMap::new(),
            backends: Vec::new(),
            is_stand_in: false,
        }
    }

    /// Sets the backends to plan for, by GPU. With several backends for a GPU, its plan is valid for each of
    /// them.
    pub fn on_backends(self, backends: Vec<&'static [Backend]>) -> Planner<'m> {
        Planner { backends, ..self }
    }

    /// Creates a planner for a file; `model` is its architecture, perhaps with a longer context. The quantization of settings
    /// is ignored.
    pub fn of_file(model: &'m Architecture, file: &ModelFile) -> Planner<'m> {
        let is_stand_in = file.unknown_architecture.is_some();
        Planner { of_file: Some(Arc::clone(&file.weights)), is_stand_in, ..Planner::new(model) }
    }

    /// Turns figures of plans into ranges, because a Llama replaces an unknown architecture.
    pub fn as_stand_in(self) -> Planner<'m> {
        Planner { is_stand_in: true, ..self }
    }

    /// Creates a planner that builds and runs every layer of every graph: slow, as a reference for
    /// comparison.
    pub fn thorough(model: &'m Architecture) -> Planner<'m> {
        Planner { graphs: Graphs::thorough(), ..Planner::new(model) }
    }

    /// Returns the model.
    pub fn model(&self) -> &'m Architecture {
        self.model
    }

    /// Returns the need of every device.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn estimate(&mut self, settings: &Settings) -> Result<Estimate, NotCovered> {
        let weights = self.weights_on(settings)?;
        let cache = self.cache_on(settings)?;
        let compute = self.compute_on(settings)?;
        Ok(combine(settings, &weights, &cache, &compute))
    }

    /// Returns the weights on the GPUs in order, then on the host.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn weights_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        let placed = &self.weights_of(settings.quantization).placed;
        Ok(cache::devices(settings).map(|device| placed.on(&arrangement.placement, device)).collect())
    }

    /// Returns cache and state on the GPUs in order, then on the host.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn cache_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        Ok(cache::buffer_bytes(self.model, settings, &arrangement.placement))
    }

    /// Returns the compute buffers of the GPUs in order, then of the host.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn compute_on(&mut self, settings: &Settings) -> Result<Vec<Bytes>, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let quantized = QuantizedModel { model: self.model, list: &self.list, weights: &weights };
        Ok(self.graphs.bytes(quantized, settings))
    }

    /// Returns the compute buffers of the GPUs in order, then of the host, as segments over the number of
    /// cells, from 256 cells per stream to the model's longest context. The context of `settings` is not
    /// used.
    ///
    /// Segments are found by running the allocator on linear functions: every comparison determines for how
    /// many more cells its result is the same. So segments are exact, and another run is needed only where a
    /// result changes.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn compute(&mut self, settings: &Settings) -> Result<Vec<Vec<Segment>>, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let quantized = QuantizedModel { model: self.model, list: &self.list, weights: &weights };
        let mut buffers = vec![Vec::new(); settings.tensor_split.len() + 1];
        for interval in intervals(self.model, settings) {
            let found = self.graphs.segments(quantized, &interval);
            for (segments, found) in buffers.iter_mut().zip(found.iter()) {
                found.iter().for_each(|segment| append(segments, *segment));
            }
        }
        Ok(buffers)
    }

    /// Returns the segments of cache and compute buffer of every device, with the range of
    /// [`Planner::compute`].
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn segments(&mut self, settings: &Settings) -> Result<Vec<DeviceSegments>, NotCovered> {
        let compute = self.compute(settings)?;
        let parts = cache::devices(settings).zip(self.cache_segments(settings)?.into_iter().zip(compute));
        Ok(parts.map(|(device, (cache, compute))| DeviceSegments { device, cache, compute }).collect())
    }

    /// Returns the segments of the cache of every device, with the range of [`Planner::compute`].
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn cache_segments(&mut self, settings: &Settings) -> Result<Vec<Vec<Segment>>, NotCovered> {
        check(self.model, settings)?;
        let arrangement = self.arrangement(settings);
        let mut caches = vec![Vec::new(); settings.tensor_split.len() + 1];
        for interval in intervals(self.model, settings) {
            let at = |settings| cache::buffer_bytes(self.model, settings, &arrangement.placement);
            let (bytes, next) = (at(&interval.first), at(&interval.second));
            for (segments, (bytes, next)) in caches.iter_mut().zip(bytes.into_iter().zip(next)) {
                append(segments, Segment::new(interval.start, bytes, next.0 as i64 - bytes.0 as i64));
            }
        }
        Ok(caches)
    }

    /// Returns the compute buffers of the GPUs for a plan. A single GPU with a part of the model follows the
    /// rule of [`plan::partial`](crate::plan::partial); other buffers are llama.cpp's own.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn planned_compute(&mut self, settings: &Settings) -> Result<PlannedCompute, NotCovered> {
        check(self.model, settings)?;
        let weights = self.weights_of(settings.quantization);
        let Some(split) = Split::new(self.model, &weights.placed, settings) else {
            return Ok(PlannedCompute::Exact);
        };
        // no weights are copied in, so the quantization does not matter
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

    /// Returns the compute buffer of the first GPU with one server slot, sampled at powers of two.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn sampled_compute(
        &mut self,
        settings: &Settings,
        cache_type: CacheType,
    ) -> Result<Arc<Vec<Segment>>, NotCovered> {
        let key = sampled(settings, cache_type, 0);
        if let Some(known) = self.curves.get(&key) {
            return Ok(Arc::clone(known));
        }
        let weights = self.weights_of(settings.quantization);
        let quantized = QuantizedModel { model: self.model, list: &self.list, weights: &weights };
        let graphs = &mut self.graphs;
        let samples = sample_cells(self.model.max_context).map(|cells| {
            let settings = sampled(settings, cache_type, cells);
            check(self.model, &settings)?;
            Ok(graphs.first_bytes(quantized, &settings).0)
        });
        let segments = Arc::new(through(&samples.collect::<Result<Vec<u64>, NotCovered>>()?));
        self.curves.insert(key, Arc::clone(&segments));
        Ok(segments)
    }

    /// Returns the segments of the compute buffer of the first GPU.
    fn gpu_curve(&mut self, settings: &Settings) -> Result<Arc<Vec<Segment>>, NotCovered> {
        let key = settings.at_context(1);
        if let Some(known) = self.curves.get(&key) {
            return Ok(Arc::clone(known));
        }
        let segments = Arc::new(self.compute(&key)?.swap_remove(0));
        self.curves.insert(key, Arc::clone(&segments));
        Ok(segments)
    }

    /// Returns the differences of a backend from the replay, for this model.
    pub(crate) fn profile(&self, backend: Backend) -> Profile {
        let profile = backend.profile();
        if !self.is_stand_in {
            return profile;
        }
        let [low, high] = profile.compute;
        Profile { compute: [low * STAND_IN[0] / 1000, high * STAND_IN[1] / 1000], ..profile }
    }

    /// Returns whether the buffers on a GPU are llama.cpp's own figures.
    pub(crate) fn is_exact_on(&self, gpu: usize) -> bool {
        !self.is_stand_in && self.backends_of(gpu) == [Backend::Cuda]
    }

    /// Returns the backends to plan for on a GPU.
    pub(crate) fn backends_of(&self, gpu: usize) -> &'static [Backend] {
        self.backends.get(gpu).copied().unwrap_or(&[Backend::Cuda])
    }

    /// Returns the segments of the cache and state of one layer on a device, with the range of
    /// [`Planner::compute`]. The cache of a device is the sum over its layers.
    ///
    /// # Errors
    /// If [`check`] refuses the settings.
    pub fn layer_cache(
        &self,
        layer: usize,
        settings: &Settings,
        device: Device,
    ) -> Result<Vec<Segment>, NotCovered> {
        check(self.model, settings)?;
        let layer = &self.model.layers[layer];
        Ok(segments_by_interval(self.model, settings, |at| {
            cache::layer_bytes(self.model, at, Cells::new(self.model, at), layer, device)
        }))
    }

    /// Returns the weights in a quantization, by where they belong.
    pub fn weights(&mut self, quantization: Quantization) -> PlacedWeights {
        self.weights_of(quantization).placed.clone()
    }

    /// Returns the weights that a token reads; see [`crate::speed::weights_read`].
    pub fn weights_read(&mut self, settings: &Settings) -> TokenReads {
        let weights = self.weights_of(settings.quantization);
        weights_read_of(self.model, settings, self.list.typed(&weights))
    }

    /// Returns the largest tensors in a quantization.
    pub fn largest_tensors(&mut self, quantization: Quantization) -> LargestTensors {
        let weights = self.weights_of(quantization);
        largest_tensors(self.model, self.list.typed(&weights))
    }

    /// Returns the size of the tensor data in the model file.
    pub fn file_bytes(&mut self, quantization: Quantization) -> Bytes {
        self.weights_of(quantization).placed.file
    }

    /// Returns the number of allocator runs.
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

/// Compute buffers of GPUs in a plan.
#[derive(Debug, Clone)]
pub enum PlannedCompute {
    /// llama.cpp's own buffers.
    Exact,
    /// Buffer of one GPU with a part of the model, as the inputs of [`partial_bytes`].
    Partial {
        /// Sampled buffers of splits; the largest determines the result.
        samples: Vec<Arc<Vec<Segment>>>,
        /// Buffer of the whole model with one server slot.
        one_slot: Arc<Vec<Segment>>,
        /// Buffer of the whole model with all server slots.
        all_slots: Arc<Vec<Segment>>,
        /// Buffer of the whole model with the requested settings.
        asked: Arc<Vec<Segment>>,
        /// Size of an output matrix that is copied in.
        output: Bytes,
    },
}

impl PlannedCompute {
    /// Returns the buffer for a number of cells, or `None` for llama.cpp's own buffers.
    pub fn at(&self, cells: u64) -> Option<Bytes> {
        let PlannedCompute::Partial { samples, one_slot, all_slots, asked, output } = self else {
            return None;
        };
        let at = |segments: &Arc<Vec<Segment>>| value_at(segments, cells).unwrap_or_default().0;
        let whole = WholeBytes { one_slot: at(one_slot), all_slots: at(all_slots), asked: at(asked) };
        Some(Bytes(partial_bytes(samples.iter().map(at), whole, output.0)))
    }
}
