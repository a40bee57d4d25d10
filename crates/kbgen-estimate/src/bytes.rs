//! A count of bytes, and the alignment that allocators round it to.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Maximum of the data of all tensors of a model: 256 TiB, far above every model.
pub(crate) const MAX_TENSOR_DATA: u64 = 1 << 48;

/// Number of bytes. All results are below 2^53, so JavaScript numbers represent them exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Returns the number in MiB (2^20 bytes).
    pub fn mib(self) -> f64 {
        self.0 as f64 / (1024.0 * 1024.0)
    }

    /// Returns the number in GiB (2^30 bytes).
    pub fn gib(self) -> f64 {
        self.mib() / 1024.0
    }

    /// Rounds up to a multiple of `alignment`, which is not zero.
    pub(crate) fn aligned(self, alignment: u64) -> Bytes {
        Bytes(self.0.next_multiple_of(alignment))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(terms: I) -> Bytes {
        Bytes(terms.map(|term| term.0).sum())
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1 << 30 {
            write!(f, "{:.2} GiB", self.gib())
        } else {
            write!(f, "{:.2} MiB", self.mib())
        }
    }
}
