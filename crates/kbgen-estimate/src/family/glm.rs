//! ChatGLM, GLM 4 and 4.5.

use crate::family::Family;
use crate::names::Name;

pub(super) const FAMILIES: &[Family] = &[
    Family { name: "chatglm", ..Family::PLAIN },
    Family {
        name: "glm4",
        norms: &[Name::AttentionNorm, Name::AttentionPostNorm, Name::FfnNorm, Name::FfnPostNorm],
        ..Family::PLAIN
    },
    Family {
        name: "glm4moe",
        router_bias: |_| true,
        // the file's metadata determines it: a few KiB of 300 MiB, omitted as in the measurements
        normalizes_shares: false,
        ..Family::PLAIN
    },
];
