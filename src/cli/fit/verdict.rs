//! The verdict of a report.

use kbgen_estimate::plan::Verdict;
use serde::Serialize;

/// Whether a model runs on the devices of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FitVerdict {
    /// It fits even at the upper ends of all ranges.
    Fits,
    /// It fits only below the upper ends.
    Tight,
    /// It runs with a part in RAM.
    Offload,
    /// It does not fit.
    No,
}

impl From<Verdict> for FitVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fits => Self::Fits,
            Verdict::Tight => Self::Tight,
            Verdict::No => Self::No,
        }
    }
}

impl FitVerdict {
    /// Returns whether all layers can run on the devices.
    pub fn runs(self) -> bool {
        match self {
            Self::Fits | Self::Tight => true,
            Self::Offload | Self::No => false,
        }
    }
}
