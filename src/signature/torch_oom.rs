//! The extractor for the message of PyTorch's allocator, in the layouts of 1.0 to 2.9, CUDA, HIP and MPS.
//!
//! Wordings: `c10/cuda/CUDACachingAllocator.cpp`, `c10/cuda/CUDAMallocAsyncAllocator.cpp` and
//! `aten/src/ATen/mps/MPSAllocator.mm` of <https://github.com/pytorch/pytorch>; older ones as seen in threads.

use crate::signature::expression::Expression;
use crate::signature::extractor::{Derived, Extractor, Field, Place};
use crate::signature::pattern::Pattern;

const FIELDS: [(&str, &[&str]); 11] = [
    ("requested", &["Tried to allocate {x:bytes}", "Requested : {x:bytes}"]),
    (
        "total",
        &[
            "total capacity of {x:bytes}",
            "total capacty of {x:bytes}",
            "{x:bytes} total capacity",
            "Device limit : {x:bytes}",
        ],
    ),
    ("free", &["of which {x:bytes} is free", "Free (according to CUDA): {x:bytes}", "{x:bytes} free"]),
    (
        "allocated",
        &[
            "{x:bytes} is allocated by PyTorch",
            "{x:bytes} already allocated",
            "Currently allocated : {x:bytes}",
            "MPS allocated: {x:bytes}",
        ],
    ),
    ("reserved", &["{x:bytes} reserved in total", "{x:bytes} cached"]),
    ("unallocated", &["{x:bytes} is reserved by PyTorch but unallocated"]),
    ("this_process", &["this process has {x:bytes} memory in use"]),
    ("other_process", &["Process {int} has {x:bytes} memory in use"]),
    ("other_allocations", &["other allocations: {x:bytes}"]),
    ("limit", &["{x:bytes} allowed", "max allowed: {x:bytes}", "memory fraction) : {x:bytes}"]),
    ("private_pools", &["{x:bytes} allocated in private pools"]),
];

/// Half a GiB stands for the driver's context where the message does not say what the process holds.
const DERIVED: [(&str, &str); 3] = [
    ("unallocated", "reserved - allocated"),
    ("own", "this_process"),
    ("own", "allocated + unallocated + 0.5 GiB"),
];

const PLACES: [(&str, &[&str]); 3] = [
    (
        "load",
        &[
            "from_pretrained",
            "load_state_dict",
            "load_pretrained_model",
            "_load_checkpoint",
            "load_checkpoint_and_dispatch",
            "load_model_dict",
            "load_weights",
            "create_weights",
            "load_model",
            "load_autosplit",
            "in convert return t.to(",
            "set_module_tensor_to_device",
            "_load_state_dict_into_meta_model",
            "module.cuda",
            "init_device",
        ],
    ),
    (
        "train",
        &[
            ".backward(",
            "in backward",
            "run_backward",
            "optimizer.step(",
            "training_step",
            "trainer.train(",
            "in train",
            "_inner_training_loop",
            "accelerator.backward",
        ],
    ),
    (
        "generate",
        &[
            "past_key_value",
            "in generate",
            ".generate(",
            "greedy_search",
            "beam_sample",
            "scaled_dot_product_attention",
            "attn_weights",
            "repeat_kv",
            "execute_model",
            "profile_run",
            "determine_num_available_blocks",
            "_dummy_run",
        ],
    ),
];

/// Sizes in bytes: `requested total free allocated reserved unallocated this_process other_process
/// other_allocations limit private_pools`, then `own` (what this process holds, read or reckoned), `foreign`
/// (what others hold), and `place`: `load`, `train`, `generate` or `unknown`.
pub fn torch_oom() -> Extractor {
    let pattern = |text: &&str| Pattern::parse(text).expect("the wordings of this file are well formed");
    let value =
        |text: &str| Expression::parse_value(text).expect("the expressions of this file are well formed");
    let mut derived: Vec<Derived> =
        DERIVED.iter().map(|(name, text)| Derived { name: (*name).into(), value: value(text) }).collect();
    derived.push(Derived { name: "foreign".into(), value: value("total - free - own") });
    Extractor {
        name: "torch-oom".into(),
        fields: FIELDS
            .iter()
            .map(|(name, texts)| Field {
                name: (*name).into(),
                patterns: texts.iter().map(pattern).collect(),
                repeat: *name == "other_process",
            })
            .collect(),
        derived,
        places: PLACES
            .iter()
            .map(|(name, texts)| Place {
                name: (*name).into(),
                fragments: texts.iter().map(pattern).collect(),
            })
            .collect(),
    }
}
