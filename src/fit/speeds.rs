//! Decoding speeds of devices: the estimator's ranges by class of device.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::speed::{SpeedClass, SpeedKind};

use crate::site::{Site, SpeedTable};

/// Kinds of models, in the order of the ranges of every class.
const KINDS: [SpeedKind; 3] = [SpeedKind::Dense, SpeedKind::Experts, SpeedKind::LatentExperts];

/// Returns the index of a model's kind.
pub(super) fn kind(model: &Architecture) -> usize {
    let kind = SpeedKind::of(model);
    KINDS.iter().position(|known| *known == kind).expect("every kind is listed")
}

/// Returns the ranges of all classes, and the class of each device.
pub(super) fn table(site: &Site) -> SpeedTable {
    let bands = SpeedClass::ALL
        .iter()
        .map(|class| KINDS.iter().map(|kind| class.band(*kind).map(|band| (band.low, band.high))).collect());
    let devices = site.devices.iter().filter_map(|device| {
        let data = &device.data;
        let text = |word: &Option<String>| word.clone().unwrap_or_default();
        let class = SpeedClass::of(data.vendor.name(), &text(&data.architecture), &text(&data.memory_type))?;
        let place = SpeedClass::ALL.iter().position(|known| *known == class)?;
        Some((device.head.id.slug.clone(), place))
    });
    SpeedTable { bands: bands.collect(), devices: devices.collect() }
}
