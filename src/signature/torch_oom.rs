//! The extractor for the message of PyTorch's allocator, in the layouts of 1.0 to 2.9, CUDA, HIP and MPS.
//!
//! Wordings: `c10/cuda/CUDACachingAllocator.cpp`, `c10/cuda/CUDAMallocAsyncAllocator.cpp` and
//! `aten/src/ATen/mps/MPSAllocator.mm` of <https://github.com/pytorch/pytorch>; older ones as seen in threads.

use crate::signature::expression::Expression;
use crate::signature::extractor::{Derived, Extractor, Field, Place, Verdict};
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

/// What this process holds, where the message does not say it: the one process that is named without "this" is
/// ourselves, seen from a container, if it holds at least what we allocated; else half a GiB stands for the
/// driver's context (inferred from logs that say both).
const DERIVED: [(&str, &str, &str); 5] = [
    ("unallocated", "reserved - allocated", ""),
    ("own", "this_process", ""),
    ("own", "other_process", "not known(other_process_1) and other_process >= allocated + unallocated"),
    ("own", "allocated + unallocated + 0.5 GiB", ""),
    ("foreign", "total - free - own", ""),
];

/// Read off threads, with their thresholds; the allocator gives every wholly free block back before it fails
/// (`c10/cuda/CUDACachingAllocator.cpp`), so what is left unallocated are remainders of blocks in use.
const VERDICTS: [(&str, &str); 10] = [
    ("other-memory-users", "other_allocations > allocated"),
    ("sysmem-fallback", "allocated > 1.02 * total"),
    ("impossible-request", "requested > total"),
    ("limit-not-capacity", "free >= requested and free >= 0.05 * total and free >= 512 MiB"),
    (
        "other-process",
        "foreign >= 1 GiB and foreign >= 0.1 * total and (foreign >= unallocated or not known(unallocated))",
    ),
    (
        "fragmentation",
        "unallocated >= 0.05 * total and (unallocated >= requested \
         or (unallocated >= requested / 2 and unallocated + free >= requested))",
    ),
    ("one-huge-request", "requested >= 0.25 * total"),
    ("near-miss", "requested - free <= 0.05 * total"),
    ("too-big", "requested > free or other_allocations <= allocated"),
    ("no-figures", "not known(free)"),
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
            "return t.to(device, dtype if",
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
/// (what others hold), `verdict` (what the figures say, see `VERDICTS`), and `place`: `load`, `train`, `generate` or
/// `unknown`.
pub fn torch_oom() -> Extractor {
    let pattern = |text: &&str| Pattern::parse(text).expect("the wordings of this file are well formed");
    let value =
        |text: &str| Expression::parse_value(text).expect("the expressions of this file are well formed");
    let when = |text: &str| Expression::parse(text).expect("the conditions of this file are well formed");
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
        derived: DERIVED
            .iter()
            .map(|(name, text, condition)| Derived {
                name: (*name).into(),
                value: value(text),
                when: (!condition.is_empty()).then(|| when(condition)),
            })
            .collect(),
        verdicts: VERDICTS
            .iter()
            .map(|(name, text)| Verdict { name: (*name).into(), when: when(text) })
            .collect(),
        places: PLACES
            .iter()
            .map(|(name, texts)| Place {
                name: (*name).into(),
                fragments: texts.iter().map(pattern).collect(),
            })
            .collect(),
    }
}
