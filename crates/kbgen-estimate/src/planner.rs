//! One model asked for many settings: what settings share is worked out once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::cache::{self, Cells};
use crate::compute::{Arrangement, Graphs, Subject};
use crate::estimator::{Estimate, NotCovered, check, combine};
use crate::offload::{LargestTensors, largest_tensors};
use crate::placement::Device;
use crate::quantization::Quantization;
use crate::segments::{DeviceSegments, Segment, append, pieces_by_stretch, stretches};
use crate::settings::Settings;
use crate::speed::bytes_read;
use crate::weights::{PlacedWeights, WeightList, Weights};

/// A model with all that was worked out for it so far. It only saves time: the answers do not
/// depend on what was asked before.
#[derive(Debug)]
pub struct Planner<'m> {
    model: &'m Architecture,
    list: WeightList,
    weights: HashMap<Quantization, Arc<Weights>>,
    graphs: Graphs,
}

impl<'m> Planner<'m> {
    /// A planner that knows nothing yet.
    pub fn new(model: &'m Architecture) -> Planner<'m> {
        Planner { model, list: WeightList::new(model), weights: HashMap::new(), graphs: Graphs::default() }
    }

    /// A planner that builds and runs every layer of every graph: slow, to compare with.
    pub fn thorough(model: &'m Architecture) -> Planner<'m> {
        Planner { graphs: Graphs::thorough(), ..Planner::new(model) }
    }

    /// What every device needs.
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
        let arrangement = self.arrangement(settings);
        let mut caches = vec![Vec::new(); compute.len()];
        for stretch in stretches(self.model, settings) {
            let at = |settings| cache::buffer_bytes(self.model, settings, &arrangement.placement);
            let (bytes, next) = (at(&stretch.first), at(&stretch.second));
            for (pieces, (bytes, next)) in caches.iter_mut().zip(bytes.into_iter().zip(next)) {
                append(pieces, Segment::new(stretch.start, bytes, next.0 as i64 - bytes.0 as i64));
            }
        }
        let parts = cache::devices(settings).zip(caches.into_iter().zip(compute));
        Ok(parts.map(|(device, (cache, compute))| DeviceSegments { device, cache, compute }).collect())
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
        let new = || Arc::new(self.list.quantized(self.model, quantization));
        Arc::clone(self.weights.entry(quantization).or_insert_with(new))
    }

    fn arrangement(&mut self, settings: &Settings) -> Arc<Arrangement> {
        self.graphs.arrangement(self.model, settings)
    }
}
