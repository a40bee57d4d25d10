//! Conditions on figures: every rule is tested at its threshold and on both sides of it, through the pages.

use crate::knowledge::Knowledge;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Returns the cause that a page concludes from a log, and the sentence.
fn conclusion(slug: &str, log: &str) -> (Option<String>, String) {
    let answers = Knowledge::read().diagnose(log);
    let answer = answers.iter().find(|answer| answer.slug == slug);
    let answer = answer.unwrap_or_else(|| panic!("`{slug}` is not among {answers:#?}\nfor {log}"));
    (answer.cause.clone(), answer.conclusion.clone().unwrap_or_default())
}

fn lead_to(slug: &str, rows: &[(String, &str)]) {
    for (log, expected) in rows {
        let (cause, conclusion) = conclusion(slug, log);
        assert_eq!(cause.as_deref(), Some(*expected), "{log}\n{conclusion}");
        assert!(conclusion.contains(": "), "no figure in `{conclusion}`");
    }
}

/// Formats a message of PyTorch 2.3 or later. Unknown memory of this process is left out.
fn allocator(
    requested: u64,
    total: u64,
    free: u64,
    own: Option<&str>,
    allocated: u64,
    unallocated: u64,
) -> String {
    format!(
        "CUDA out of memory. Tried to allocate {requested} bytes. GPU 0 has a total capacity of {total} bytes of which \
         {free} bytes is free. {} Of the allocated memory {allocated} bytes is allocated by PyTorch, and {unallocated} \
         bytes is reserved by PyTorch but unallocated.",
        own.unwrap_or_default()
    )
}

#[test]
fn figures_of_the_allocator() {
    let total = 20 * GIB;
    // Requested, free, memory of this process (0 if unknown), allocated, unallocated.
    let rows = [
        (GIB, 0, Some(total), total * 102 / 100 + MIB, 0, "sysmem-fallback"),
        (GIB, 0, Some(total), total * 102 / 100 - MIB, 0, "near-miss"),
        (total + MIB, 0, Some(total), 19 * GIB, 0, "impossible-request"),
        (total - MIB, 0, Some(total), 19 * GIB, 0, "one-huge-request"),
        // Free memory of 110 % of the request: allocations are rounded up to blocks.
        (GIB, GIB * 11 / 10 + MIB, Some(19 * GIB), 18 * GIB, 0, "limit-not-capacity"),
        (GIB, GIB * 11 / 10 - MIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (1188 * MIB, 1198 * MIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (GIB + MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (GIB / 2, GIB - MIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        (2 * GIB, GIB, Some(17 * GIB), 16 * GIB, GIB / 2, "other-process"),
        (2 * GIB, GIB, Some(17 * GIB + MIB), 16 * GIB, GIB / 2, "near-miss"),
        (2 * GIB, GIB, Some(14 * GIB), 8 * GIB, 6 * GIB, "fragmentation"),
        (2 * GIB, GIB, Some(14 * GIB), 9 * GIB, 5 * GIB - MIB, "other-process"),
        (GIB, 0, Some(total), 18 * GIB, GIB, "fragmentation"),
        (GIB, 0, Some(total), 18 * GIB, GIB - MIB, "near-miss"),
        (4 * GIB, 2 * GIB, Some(18 * GIB), 16 * GIB, 2 * GIB, "fragmentation"),
        (4 * GIB, 2 * GIB - MIB, Some(18 * GIB), 16 * GIB, 2 * GIB, "too-big"),
        (4 * GIB, 3 * GIB, Some(17 * GIB), 15 * GIB, 2 * GIB - MIB, "near-miss"),
        (5 * GIB, GIB, Some(19 * GIB), 18 * GIB, 0, "one-huge-request"),
        (5 * GIB - MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "too-big"),
        (2 * GIB + MIB, GIB, Some(19 * GIB), 18 * GIB, 0, "too-big"),
        (2 * GIB, GIB, Some(19 * GIB), 18 * GIB, 0, "near-miss"),
        // Without "this process has", its memory is allocated plus unallocated plus 0.5 GiB of driver context.
        (2 * GIB, GIB, None, 15 * GIB, 3 * GIB / 2, "other-process"),
        (2 * GIB, GIB, None, 15 * GIB, 3 * GIB / 2 + MIB, "fragmentation"),
    ];
    for (requested, free, this_process, allocated, unallocated, expected) in rows {
        let own = this_process.map(|size| {
            format!("Including non-PyTorch memory, this process has {size} bytes memory in use.")
        });
        let log = allocator(requested, total, free, own.as_deref(), allocated, unallocated);
        lead_to("cuda-oom", &[(log.clone(), expected)]);
        lead_to("hip-oom", &[(log.replace("CUDA", "HIP"), expected)]);
    }
}

#[test]
fn below_half_a_gib_free_memory_is_no_sign_of_a_limit() {
    let own = Some("Including non-PyTorch memory, this process has 5000 MiB memory in use.");
    for (free, expected) in [(512 * MIB, "limit-not-capacity"), (512 * MIB - 1, "near-miss")] {
        lead_to("cuda-oom", &[(allocator(MIB, 6 * GIB, free, own, 5 * GIB, 0), expected)]);
    }
}

#[test]
fn another_process_counts_from_one_gib_on_a_small_card() {
    for (own, expected) in [(6 * GIB, "other-process"), (6 * GIB + 1, "near-miss")] {
        let own = format!("Including non-PyTorch memory, this process has {own} bytes memory in use.");
        lead_to("cuda-oom", &[(allocator(MIB, 7 * GIB, 0, Some(&own), 5 * GIB, 0), expected)]);
    }
}

/// A process that holds the memory of this process is this process, seen from a container, and must not be killed.
#[test]
fn a_process_with_the_memory_of_this_one_is_this_one() {
    let log = |holds: u64| {
        let own = format!("Process 20398 has {holds} bytes memory in use.");
        allocator(4 * GIB, 20 * GIB, GIB, Some(&own), 18 * GIB, GIB / 2)
    };
    lead_to(
        "cuda-oom",
        &[(log(18 * GIB + GIB / 2), "self-in-container"), (log(18 * GIB + GIB / 2 - 1), "too-big")],
    );
    let two = "Process 7 has 344.00 MiB memory in use. Process 9 has 18.6 GiB memory in use.";
    lead_to(
        "cuda-oom",
        &[(allocator(4 * GIB, 20 * GIB, GIB, Some(two), 18 * GIB, GIB / 2), "self-in-container")],
    );
}

#[test]
fn a_bare_message_has_no_figures_to_conclude_from() {
    let (cause, _) = conclusion("cuda-oom", "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB");
    assert_eq!(cause.as_deref(), Some("no-figures"));
    assert_eq!(
        conclusion("cuda-oom", "RuntimeError: CUDA error: out of memory").0.as_deref(),
        Some("no-figures")
    );
}

#[test]
fn figures_of_the_metal_allocator_of_pytorch() {
    let log = |mps: &str, other: &str| {
        format!(
            "MPS backend out of memory (MPS allocated: {mps}, other allocations: {other}, max allowed: 27.20 GiB). \
                 Tried to allocate 292.50 MiB on private pool."
        )
    };
    lead_to(
        "mps-oom",
        &[
            (log("9.57 GiB", "17.35 GiB"), "other-memory-users"),
            (log("9.57 GiB", "9.58 GiB"), "other-memory-users"),
            (log("9.57 GiB", "9.57 GiB"), "too-big"),
            (log("18.02 GB", "107.10 MB"), "too-big"),
        ],
    );
}

#[test]
fn ollama_needs_more_system_memory() {
    let log = |need: &str| {
        format!("Error: model requires more system memory ({need}) than is available (10.0 GiB)")
    };
    lead_to(
        "ollama-requires-more-system-memory",
        &[
            (log("10.1 GiB"), "near-miss"),
            (log("12.0 GiB"), "near-miss"),
            (log("12.1 GiB"), "too-big"),
            (log("19.9 GiB"), "too-big"),
            (log("20.0 GiB"), "wrong-size"),
            (log("164.8 GiB"), "wrong-size"),
        ],
    );
}

#[test]
fn vllm_has_too_little_cache_for_the_window() {
    let v1 = |need: &str| {
        format!(
            "ValueError: To serve at least one request with the models's max seq len (262144), ({need} GiB KV cache is \
                 needed, which is larger than the available KV cache memory (10.00 GiB). Based on the available memory, the \
                 estimated maximum model length is 34736."
        )
    };
    let v0 = "The model's max seq len (29000) is larger than the maximum number of tokens that can be stored in KV cache (23648).";
    lead_to(
        "vllm-max-seq-len-exceeds-kv-cache",
        &[
            (v1("10.50"), "near-miss"),
            (v1("11.00"), "near-miss"),
            (v1("11.01"), "lower-max-model-len"),
            (v0.to_owned(), "lower-max-model-len"),
        ],
    );
}

#[test]
fn vllm_finds_less_memory_free_than_it_wants() {
    for place in ["device", "device cuda:0"] {
        let log = |free: &str| {
            format!(
                "ValueError: Free memory on {place} ({free}/79.32 GiB) on startup is less than desired GPU memory \
                     utilization (0.6, 50.00 GiB)."
            )
        };
        lead_to(
            "vllm-free-memory-less-than-utilization",
            &[
                (log("49.99"), "lower-utilisation"),
                (log("40.0"), "lower-utilisation"),
                (log("39.99"), "other-process"),
                (log("0.49"), "other-process"),
            ],
        );
    }
}

#[test]
fn memory_changed_while_vllm_measured() {
    let log = |current: &str| {
        format!(
            "AssertionError: Error in memory profiling. Initial free memory 30.3 GiB, current free memory {current} GiB."
        )
    };
    lead_to(
        "vllm-memory-profiling-error",
        &[(log("30.4"), "co-tenant-freed-memory"), (log("30.3"), "strict-check")],
    );
}

#[test]
fn llama_cpp_cannot_allocate() {
    let device = |mib: u64, then: &str| {
        format!(
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating {mib}.00 MiB on device 0: cudaMalloc failed: out of memory\n{then}"
        )
    };
    for (slug, then) in [
        (
            "llamacpp-cuda-buffer-alloc-failed",
            "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
        ),
        (
            "llamacpp-compute-buffer-failed",
            "llama_new_context_with_model: failed to allocate compute buffers",
        ),
        ("llamacpp-kv-cache-alloc-failed", "llama_kv_cache_init: failed to allocate buffer for kv cache"),
    ] {
        lead_to(
            slug,
            &[
                (device(144, then), "step:device-buffer"),
                (device(102_399, then), "step:device-buffer"),
                (device(102_400, then), "absurd-size"),
            ],
        );
    }
}

#[test]
fn builds_of_llama_cpp_before_7407_do_not_adapt_the_number_of_layers() {
    for (build, adapts) in [(2_000, true), (2_001, false), (7_406, false), (7_407, true)] {
        let log = format!(
            "build: {build} (abc) with cc for x86_64-linux-gnu\nggml_backend_cuda_buffer_type_alloc_buffer: allocating \
             18435.04 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to \
             allocate CUDA0 buffer"
        );
        let (case, text) = conclusion("llamacpp-cuda-buffer-alloc-failed", &log);
        assert_eq!(case.as_deref(), Some("step:device-buffer"), "{log}");
        assert_eq!(!text.contains("does not adapt"), adapts, "{log}\n{text}");
    }
}

#[test]
fn a_download_has_another_size_than_announced() {
    let log = |expected: u64, got: u64| {
        format!(
            "OSError: Consistency check failed: file should be of size {expected} but has size {got} (model.safetensors)."
        )
    };
    lead_to(
        "hf-consistency-check",
        &[
            (log(440_449_768, 9_999), "error-page"),
            (log(440_449_768, 10_000), "interrupted"),
            (log(440_449_768, 440_449_767), "interrupted"),
            (log(440_449_768, 440_449_769), "resume-bug"),
            (log(0, 4_122_356), "stale-metadata"),
        ],
    );
}

#[test]
fn mlx_wants_a_buffer_that_metal_refuses() {
    let log = |want: &str| {
        format!(
            "RuntimeError: [metal::malloc] Attempting to allocate {want} bytes which is greater than the maximum allowed \
                 buffer size of 30150672384 bytes."
        )
    };
    lead_to(
        "mlx-metal-malloc-max-buffer",
        &[
            (log("48736917632"), "single-buffer-limit"),
            (log("9223372036854774784"), "single-buffer-limit"),
            (log("9223372036854775808"), "overflow-bug"),
            (log("18446744069414600704"), "overflow-bug"),
        ],
    );
}

#[test]
fn metal_counts_more_than_its_working_set() {
    let log = |used: &str| {
        format!(
            "ggml_metal_add_buffer: allocated 'data            ' buffer, size =  3533.78 MB, offs =   4160536576, ({used} / 5461.34)"
        )
    };
    lead_to(
        "metal-working-set-exceeded",
        &[(log(" 5461.35"), "over-working-set"), (log(" 7630.41"), "over-working-set")],
    );
    assert!(Knowledge::read().diagnose(&log(" 5461.34")).is_empty(), "what fits is healthy");
}

#[test]
fn a_kernel_wants_more_shared_memory_than_there_is() {
    let log = |required: u32, limit: u32| {
        format!(
            "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: {required}, Hardware limit: {limit}."
        )
    };
    let slug = "triton-out-of-resources-shared-memory";
    lead_to(slug, &[(log(126_978, 101_376), "required>limit"), (log(65_537, 65_536), "required>limit")]);
    assert!(
        conclusion(slug, &log(65_537, 65_536)).1.starts_with("The kernel was written for GPUs with more")
    );
    assert!(conclusion(slug, &log(126_978, 65_537)).1.starts_with("The kernel was tuned"));
    assert_eq!(conclusion(slug, &log(65_536, 65_536)).0, None);
}

#[test]
fn a_model_file_has_another_number_of_tensors() {
    let log = |expected: u32, got: u32| {
        format!(
            "llama_model_load: error loading model: done_getting_tensors: wrong number of tensors; expected {expected}, got {got}"
        )
    };
    lead_to(
        "gguf-wrong-tensor-count",
        &[
            (log(292, 291), "old-runner-extra-tensor"),
            (log(255, 254), "old-runner-extra-tensor"),
            (log(293, 291), "mismatch"),
            (log(291, 292), "mismatch"),
        ],
    );
}

#[test]
fn the_driver_says_which_cuda_it_supports() {
    let log = |found: u32| {
        format!(
            "RuntimeError: The NVIDIA driver on your system is too old (found version {found}). Please update your GPU driver"
        )
    };
    let slug = "nvidia-driver-too-old";
    lead_to(
        slug,
        &[
            (log(9_020), "driver-cuda-9.2"),
            (log(11_000), "driver-cuda-11.0"),
            (log(11_040), "driver-cuda-11.4"),
            (log(11_999), "driver-cuda-11.99"),
            (log(12_000), "driver-cuda-12.0"),
            (log(12_080), "driver-cuda-12.8"),
            (log(13_000), "driver-cuda-13.0"),
        ],
    );
    assert!(conclusion(slug, &log(11_999)).1.starts_with("The driver supports only CUDA 11"));
    assert!(conclusion(slug, &log(12_000)).1.starts_with("The driver supports CUDA 12"));
}

#[test]
fn more_tokens_than_the_window_holds() {
    let window = "This model's maximum context length is 6048 tokens.";
    for (slug, log, expected) in [
        ("llama-cpp-python-context-exceeded", "Requested tokens (2285) exceed context window of 2048".to_owned(), "over-by-237"),
        ("llama-cpp-python-context-exceeded", "Requested tokens (513) exceed context window of 512".to_owned(), "over-by-1"),
        ("llamacpp-context-exceeded", "request (8708 tokens) exceeds the available context size (8192 tokens), try increasing it".to_owned(), "over-by-516"),
        ("vllm-request-exceeds-context", format!("{window} However, you requested 6616 tokens (568 in the messages, 6048 in the completion)."), "over-by-568"),
        ("vllm-request-exceeds-context", format!("{window} However, you requested 512 output tokens and your prompt contains at least 5537 input tokens"), "over-by-1"),
        ("vllm-request-exceeds-context", format!("{window} However, you requested 12096 tokens"), "over-by-6048"),
        ("vllm-request-exceeds-context", format!("{window} However, you requested 12095 tokens"), "over-by-6047"),
        ("vllm-request-exceeds-context", "Prompt length of 5016 is longer than the maximum model length of 4096.".to_owned(), "over-by-920"),
        ("ollama-context-truncation", "level=WARN msg=\"truncating input prompt\" limit=2048 prompt=5065 keep=5 new=2048".to_owned(), "over-by-3017"),
        ("transformers-token-length-warning", "Token indices sequence length is longer than the specified maximum sequence length for this model (513 > 512).".to_owned(), "over-by-1"),
    ] {
        lead_to(slug, &[(log, expected)]);
    }
}

#[test]
fn the_disk_is_too_small_for_the_file() {
    let log = |free: &str| {
        format!(
            "Not enough free disk space to download the file. The expected file size is: 4976.70 MB. The target location \
                 /home/me/.cache only has {free} MB free disk space."
        )
    };
    lead_to("disk-full", &[(log("4976.69"), "too-little-disk")]);
    assert_eq!(conclusion("disk-full", &log("4976.70")).0, None);
}

#[test]
fn one_allocation_of_vulkan_may_be_over_a_limit_of_the_driver() {
    let log = |size: u64| format!("ggml_vulkan: Device memory allocation of size {size} failed.");
    lead_to(
        "vulkan-out-of-device-memory",
        &[(log(2 * GIB - 1), "full"), (log(2 * GIB), "single-allocation")],
    );
}

#[test]
fn the_pool_of_sglang_is_full_or_locked() {
    let log = |available: u32| {
        format!(
            "Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.\nAvailable tokens: {available}"
        )
    };
    lead_to(
        "sglang-kv-pool-oom",
        &[(log(7_936), "pool-full"), (log(8_191), "pool-full"), (log(8_192), "locked-or-paged")],
    );
}
