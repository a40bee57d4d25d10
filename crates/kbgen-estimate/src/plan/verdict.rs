//! Verdict whether a model fits on one device.

use crate::backend::Backend;
use crate::bytes::Bytes;
use crate::estimator::BytesRange;

/// Verdict whether a model fits, given the driver's share as a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The model fits even at the upper ends of all ranges.
    Fits,
    /// The model fits only below the upper ends.
    Tight,
    /// The model does not fit.
    No,
}

impl Verdict {
    /// Returns the word used in data and styles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::No => "no",
        }
    }

    /// Returns the verdict for `needed` bytes of buffers on a CUDA device on which programs see `memory`
    /// bytes.
    pub fn of(needed: u64, memory: u64) -> Self {
        let exact = |bytes| BytesRange { low: Bytes(bytes), high: Bytes(bytes) };
        Self::of_ranges(exact(needed), Backend::Cuda.profile().driver, exact(memory))
    }

    /// Returns the verdict for ranges of buffers, the driver's share, and the memory that programs see.
    pub fn of_ranges(needed: BytesRange, driver: BytesRange, memory: BytesRange) -> Self {
        if needed.high + driver.high <= memory.low {
            Self::Fits
        } else if needed.low + driver.low <= memory.high {
            Self::Tight
        } else {
            Self::No
        }
    }
}
