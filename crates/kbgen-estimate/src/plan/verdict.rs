//! The verdict on one device.

use crate::estimator::driver_context;
use crate::placement::Device;

/// Verdict whether a model runs, given the driver's share as a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It fits even if the driver takes the most.
    Fits,
    /// It fits only if the driver takes the least.
    Tight,
    /// It does not fit.
    No,
}

impl Verdict {
    /// The word in data and styles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::No => "no",
        }
    }

    /// The verdict for `needed` bytes of buffers on a device of which programs see `memory` bytes.
    pub fn of(needed: u64, memory: u64) -> Self {
        let driver = driver_context(Device::Gpu(0)).expect("a GPU has a driver");
        if needed + driver.high.0 <= memory {
            Self::Fits
        } else if needed + driver.low.0 <= memory {
            Self::Tight
        } else {
            Self::No
        }
    }
}
