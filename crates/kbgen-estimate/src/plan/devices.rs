//! Plans over several devices: finds the split, and the experts or layers in RAM, that use the memory of all
//! devices.
//!
//! Weights and cache of every layer are known, so layers are assigned by arithmetic. Compute buffers depend
//! on the assignment: they are replayed for a candidate, and their sizes are reserved for the next one.

use crate::bytes::Bytes;
use crate::cache::{Cells, layer_bytes};
use crate::estimator::NotCovered;
use crate::placement::Device;
use crate::plan::search::Available;
use crate::planner::Planner;
use crate::settings::{CachePlacement, Settings};

/// Number of replays after which a search ends without a result.
const MAX_REPLAYS: usize = 24;

/// Finds the first of `candidates` that fits with some split. The candidates differ only in layers and
/// experts, and each one is paired with its value of `-ngl` or `--n-cpu-moe`.
///
/// Each candidate should need less device memory than the one before. The split leaves as much free memory as possible
/// on the fullest device.
pub(crate) fn first_split(
    planner: &mut Planner<'_>,
    available: &Available,
    candidates: impl Iterator<Item = (u64, Settings)>,
) -> Result<Option<(u64, Settings)>, NotCovered> {
    let mut reserve = vec![0; available.gpus.len()];
    let mut replays = 0;
    for (layers, candidate) in candidates {
        let needs = layer_needs(planner, &candidate);
        while let Some(tensor_split) = assign(&needs, available, &reserve) {
            let attempt = Settings { tensor_split, ..candidate.clone() };
            let totals = planner.planned_totals(&attempt)?;
            if available.holds(&totals) {
                return Ok(Some((layers, attempt)));
            }
            replays += 1;
            if replays == MAX_REPLAYS {
                return Ok(None);
            }
            let mut first = 0;
            let mut is_larger = false;
            for (gpu, share) in attempt.tensor_split.iter().enumerate() {
                let end = first + *share as usize;
                let held: u64 = needs[first..end].iter().sum();
                let beside = totals[gpu].0.saturating_sub(held);
                is_larger |= beside > reserve[gpu];
                reserve[gpu] = reserve[gpu].max(beside);
                first = end;
            }
            if !is_larger {
                break;
            }
        }
    }
    Ok(None)
}

/// Returns the bytes of weights and cache of each layer on the devices, and of the output.
fn layer_needs(planner: &mut Planner<'_>, settings: &Settings) -> Vec<u64> {
    let weights = planner.weights(settings.quantization);
    let model = planner.model();
    let layers = model.layers.len() as u64;
    let first = settings.on_host(layers);
    let cpu_experts = settings.experts.on_host(layers);
    let cells = Cells::new(model, settings);
    let need = |index: u64| {
        let place = index as usize;
        let experts = if cpu_experts.contains(&index) { Bytes(0) } else { weights.experts[place].gpu };
        let cache = match settings.cache_placement {
            CachePlacement::WithLayer => {
                layer_bytes(model, settings, cells, &model.layers[place], Device::Gpu(0))
            }
            CachePlacement::Host => Bytes(0),
        };
        (weights.layers[place].gpu + experts + cache).0
    };
    (first..layers).map(need).chain([weights.output.gpu.0]).collect()
}

/// Assigns layers to the devices in order, so that each keeps `reserve` bytes and the least free memory is the largest
/// possible. Returns the number of layers of each device, or `None` if they do not fit.
fn assign(needs: &[u64], available: &Available, reserve: &[u64]) -> Option<Vec<u64>> {
    let room = |spare: u64| -> Option<Vec<u64>> {
        let gpus = available.gpus.iter().zip(reserve);
        gpus.map(|(free, reserve)| free.0.checked_sub(reserve + spare)).collect()
    };
    let with = |spare: u64| fill(needs, &room(spare)?);
    let mut best = with(0)?;
    let (mut low, mut high) = (0, available.gpus.iter().map(|free| free.0).max()?);
    // precision: 1 MiB
    while high - low > 1 << 20 {
        let middle = low + (high - low) / 2;
        match with(middle) {
            Some(split) => (best, low) = (split, middle),
            None => high = middle,
        }
    }
    Some(best)
}

/// Fills the devices in order, and returns the number of layers of each.
fn fill(needs: &[u64], rooms: &[u64]) -> Option<Vec<u64>> {
    let mut rest = needs;
    let mut split = Vec::new();
    for room in rooms {
        let mut held = 0;
        let fits = |need: &&u64| {
            held += **need;
            held <= *room
        };
        let count = rest.iter().take_while(fits).count();
        split.push(count as u64);
        rest = &rest[count..];
    }
    rest.is_empty().then_some(split)
}

#[cfg(test)]
mod tests {
    use super::assign;
    use crate::bytes::Bytes;
    use crate::plan::search::Available;

    #[test]
    fn layers_go_where_they_leave_most_memory_on_the_fullest_device() {
        const MIB: u64 = 1 << 20;
        let available =
            |gpus: &[u64]| Available { gpus: gpus.iter().map(|free| Bytes(free * MIB)).collect() };
        let split = |needs: &[u64], free: &[u64], reserve: &[u64]| {
            let needs: Vec<u64> = needs.iter().map(|need| need * MIB).collect();
            let reserve: Vec<u64> = reserve.iter().map(|bytes| bytes * MIB).collect();
            assign(&needs, &available(free), &reserve)
        };
        assert_eq!(split(&[100; 6], &[1000, 1000], &[0, 0]), Some(vec![3, 3]));
        // small layers first, as with experts in RAM
        assert_eq!(split(&[10, 10, 10, 10, 200, 200, 200], &[500, 500], &[0, 0]), Some(vec![5, 2]));
        assert_eq!(split(&[100; 6], &[900, 550], &[0, 0]), Some(vec![5, 1]));
        assert_eq!(split(&[100; 6], &[1000, 1000], &[400, 0]), Some(vec![1, 5]));
        assert_eq!(split(&[100; 6], &[300, 290], &[0, 0]), None);
        assert_eq!(split(&[100; 6], &[300, 300], &[400, 0]), None, "no room for the reserve");
    }
}
