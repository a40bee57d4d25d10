//! Qwen 1.5 to 3.

use crate::family::{Family, SharedGate};

pub(super) const FAMILIES: &[Family] = &[
    Family { name: "qwen2", is_70b: |_| true, ..Family::PLAIN },
    Family { name: "qwen2moe", shared_gate: SharedGate::Before, normalizes_shares: false, ..Family::PLAIN },
    Family { name: "qwen3", ..Family::PLAIN },
    Family { name: "qwen3moe", ..Family::PLAIN },
];
