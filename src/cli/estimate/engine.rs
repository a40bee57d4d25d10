//! Rows for Ollama and vLLM.

use anyhow::Result;
use csv::ByteRecord;
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::checkpoint::weight_bytes;
use kbgen_estimate::settings::Settings;
use kbgen_estimate::vllm::{PoolCache, PoolSettings, request_bytes};

use crate::cli::estimate::estimator::RowEstimator;
use crate::cli::estimate::row::{Column, Columns, gpu_index};

/// Estimates a vLLM row. Returns `None` for rows of other engines.
///
/// # Errors
/// If a value is invalid.
pub(super) fn vllm(
    columns: &Columns,
    row: &ByteRecord,
    estimator: &RowEstimator<'_>,
) -> Result<Option<Result<u64, String>>> {
    if columns.text(row, Column::Engine)? != "vllm" {
        return Ok(None);
    }
    let model = match estimator.model(columns.text(row, Column::Model)?) {
        Ok(model) => model,
        Err(reason) => return Ok(Some(Err(reason))),
    };
    let cards = match columns.gpus(row)? {
        Ok(cards) => cards,
        Err(reason) => return Ok(Some(Err(reason))),
    };
    let device = columns.text(row, Column::Device)?;
    if gpu_index(device).is_none_or(|index| index >= cards) {
        return Ok(Some(Err(format!("vLLM figures are per GPU; `{device}` is not a GPU"))));
    }
    let tokens = columns.number(row, Column::Context)?;
    let kinds =
        (columns.text(row, Column::Quantization)?.parse(), cache(columns.text(row, Column::CacheType)?));
    let (Ok(weights), Some(cache)) = kinds else {
        let reason =
            "vLLM supports weights in F32, BF16, F16, FP8, AWQ or GPTQ and a cache of type auto or fp8";
        return Ok(Some(Err(reason.to_owned())));
    };
    let settings = PoolSettings { weights, cache, cards, ..PoolSettings::default() };
    Ok(Some(vllm_figure(model, &settings, columns.text(row, Column::Kind)?, tokens)))
}

fn cache(name: &str) -> Option<PoolCache> {
    match name {
        "" | "auto" => Some(PoolCache::Auto),
        "fp8" | "fp8_e4m3" | "fp8_e5m2" => Some(PoolCache::Fp8),
        _ => None,
    }
}

fn vllm_figure(
    model: &Architecture,
    settings: &PoolSettings,
    kind: &str,
    tokens: Option<u64>,
) -> Result<u64, String> {
    match (kind, tokens) {
        ("model_bytes", _) => {
            weight_bytes(model, settings.weights, settings.cards).map(|bytes| bytes.0).map_err(|e| e.0)
        }
        ("kv_bytes", Some(tokens)) => match request_bytes(model, settings, tokens) {
            Ok(need) if need.low == need.high => Ok(need.low.0),
            Ok(need) => Err(format!("a range of {} to {} bytes", need.low.0, need.high.0)),
            Err(reason) => Err(reason.0),
        },
        ("kv_bytes", None) => {
            Err("the vLLM cache uses the remaining memory; set ctx to the number of tokens".to_owned())
        }
        ("compute_bytes" | "total", _) => Err("vLLM measures 1 to 5 GiB at startup".to_owned()),
        _ => Err(format!("no figure `{kind}`")),
    }
}

/// Applies the values that Ollama passes to llama-server where the row leaves them open (ollama/ollama
/// `llm/llama_server.go`, `server/sched.go` at fb3076099): one batch size for both, and logits of one token per slot.
/// Returns a reason if Ollama's choice depends on the machine.
///
/// # Errors
/// If a value is not UTF-8.
pub(super) fn apply_ollama_defaults(
    columns: &Columns,
    row: &ByteRecord,
    settings: &mut Settings,
) -> Result<Result<(), String>> {
    let is_given = |column| columns.text(row, column).map(|text| !text.is_empty());
    let kind = columns.text(row, Column::Kind)?;
    settings.n_outputs = settings.n_outputs.or(Some(settings.sequences));
    match (is_given(Column::Batch)?, is_given(Column::MicroBatch)?) {
        (true, false) => settings.n_ubatch = settings.n_batch,
        (false, true) => settings.n_batch = settings.n_ubatch,
        (false, false) => (settings.n_batch, settings.n_ubatch) = (512, 512),
        (true, true) => {}
    }
    let open_batch = !is_given(Column::Batch)? && !is_given(Column::MicroBatch)? && settings.context > 4096;
    if open_batch && matches!(kind, "compute_bytes" | "total") {
        return Ok(Err("Ollama chooses a batch size of 512 to 2048 by free memory; set n_batch".into()));
    }
    let on_one_gpu = columns.text(row, Column::Device)?.starts_with("gpu");
    if settings.tensor_split.len() > 1 && !is_given(Column::TensorSplit)? && on_one_gpu {
        return Ok(Err("Ollama splits layers by free memory; set tensor_split".into()));
    }
    Ok(Ok(()))
}
