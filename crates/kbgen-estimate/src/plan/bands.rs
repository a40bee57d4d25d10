//! Plans for backends other than CUDA, with the bands around their figures.

use std::collections::HashMap;

use crate::backend::{Profile, driver_range, has_own_memory};
use crate::bytes::Bytes;
use crate::estimator::{BytesRange, DeviceEstimate, Estimate, Evidence, NotCovered, Part};
use crate::planner::{PlannedCompute, Planner};
use crate::segments::{Segment, cells_of, value_at};
use crate::settings::{ExpertPlacement, Settings};

impl Planner<'_> {
    /// Returns the planned need of every device, in the bands of the backends.
    ///
    /// # Errors
    /// If [`check`](crate::estimator::check) refuses the settings.
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
            let is_exact = self.is_exact_on(gpu);
            let device = &mut need.devices[gpu];
            if !is_exact {
                device.compute = Part::within(compute, Evidence::Banded);
            }
            let weights = self.weight_band(gpu, device.weights.bytes, file, settings);
            let device = &mut need.devices[gpu];
            device.weights = Part::within(weights, Evidence::Exact);
            if !has_own_memory(backends) {
                device.cache.bytes += host_cache;
            }
            device.driver_context = Some(driver_range(backends));
        }
        Ok(need)
    }

    /// Returns the planned upper bound of each GPU's need.
    ///
    /// # Errors
    /// If [`check`](crate::estimator::check) refuses the settings.
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

    /// Returns the planned upper bound of each GPU's need, as curves over the number of cells.
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
                let profile = self.profile(*backend);
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
                let profile = self.profile(*backend);
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
        let places = self.model().layers.len() as u64 + 1;
        let is_only = settings.tensor_split.len() == 1;
        let is_whole = is_only
            && settings.gpu_layers.is_none_or(|layers| layers >= places)
            && settings.experts == ExpertPlacement::WithLayer;
        let file = if is_only { file } else { Bytes(0) };
        let weights = if is_whole { Profile::all_weights } else { Profile::weights };
        let bands = self.backends_of(gpu).iter().map(|backend| weights(&backend.profile(), placed, file));
        bands.reduce(BytesRange::hull).unwrap_or_default()
    }

    /// Returns whether RAM is separate from the memory of every GPU.
    pub(crate) fn has_own_memory(&self, settings: &Settings) -> bool {
        (0..settings.tensor_split.len()).all(|gpu| has_own_memory(self.backends_of(gpu)))
    }

    fn is_on_cuda(&self, settings: &Settings) -> bool {
        (0..settings.tensor_split.len()).all(|gpu| self.is_exact_on(gpu))
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
    /// Returns the upper bound of the GPU's need for a number of cells.
    pub(crate) fn at(&self, cells: u64) -> Bytes {
        let value = |pieces: &[Segment]| value_at(pieces, cells).unwrap_or_default();
        let cache = self.cache.iter().map(|pieces| value(pieces)).fold(Bytes(0), |sum, bytes| sum + bytes);
        let buffers = self.compute.iter().map(|(profile, planned, exact)| {
            profile.compute(planned.at(cells).unwrap_or_else(|| value(exact))).high
        });
        self.weights + cache + buffers.max().unwrap_or_default()
    }
}
