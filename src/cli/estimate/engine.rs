//! Rows of engines other than llama.cpp: Ollama, which runs it, and vLLM.

use std::collections::BTreeMap;

use anyhow::Result;
use csv::ByteRecord;
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::bytes::Bytes;
use kbgen_estimate::checkpoint::weight_bytes;
use kbgen_estimate::settings::Settings;
use kbgen_estimate::vllm::{DEFAULT_UTILIZATION, VllmCache, VllmSettings, request_bytes};

use crate::cli::estimate::row::{Column, Columns};

/// The answer to a row of vLLM; none where the row belongs to another engine.
///
/// # Errors
/// When a value has no meaning.
pub(super) fn vllm(
    columns: &Columns,
    row: &ByteRecord,
    models: &BTreeMap<String, Architecture>,
) -> Result<Option<Result<u64, String>>> {
    if columns.text(row, Column::Engine)? != "vllm" {
        return Ok(None);
    }
    let slug = columns.text(row, Column::Model)?;
    let Some(model) = models.get(slug) else {
        return Ok(Some(Err(format!("there is no model `{slug}`"))));
    };
    let cards = columns.number(row, Column::Gpus)?.unwrap_or(1);
    let device = columns.text(row, Column::Device)?;
    if !(0..cards.min(64)).any(|card| device == format!("gpu{card}")) {
        return Ok(Some(Err(format!("vLLM's figures are those of a card, not of `{device}`"))));
    }
    let tokens = columns.number(row, Column::Context)?;
    let kinds =
        (columns.text(row, Column::Quantization)?.parse(), cache(columns.text(row, Column::CacheType)?));
    let (Ok(weights), Some(cache)) = kinds else {
        let reason = "vLLM's weights are F32, BF16, F16, FP8, AWQ or GPTQ, its cache auto or fp8";
        return Ok(Some(Err(reason.to_owned())));
    };
    let settings = VllmSettings { weights, cache, cards, memory: Bytes(0), utilization: DEFAULT_UTILIZATION };
    Ok(Some(vllm_figure(model, &settings, columns.text(row, Column::Kind)?, tokens)))
}

fn cache(name: &str) -> Option<VllmCache> {
    match name {
        "" | "auto" => Some(VllmCache::Auto),
        "fp8" | "fp8_e4m3" | "fp8_e5m2" => Some(VllmCache::Fp8),
        _ => None,
    }
}

fn vllm_figure(
    model: &Architecture,
    settings: &VllmSettings,
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
            Err("vLLM's pool is what the card has left: give the tokens it holds as ctx".to_owned())
        }
        ("compute_bytes" | "total", _) => {
            Err("a range of 1 to 5 GiB, measured by vLLM when it starts".to_owned())
        }
        _ => Err(format!("there is no figure `{kind}`")),
    }
}

/// What Ollama passes to the llama-server that it starts, where the row leaves it open
/// (ollama/ollama `llm/llama_server.go`, `server/sched.go` at fb3076099): one batch size for
/// both, and the logits of one token a slot; why not, where that is not known.
///
/// # Errors
/// When a value is no text.
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
        return Ok(Err(
            "Ollama chooses a batch of 512 to 2048 by the memory that is free: give n_batch".into()
        ));
    }
    let on_one_gpu = columns.text(row, Column::Device)?.starts_with("gpu");
    if settings.tensor_split.len() > 1 && !is_given(Column::TensorSplit)? && on_one_gpu {
        return Ok(Err("Ollama's llama-server splits by free memory: give tensor_split".into()));
    }
    Ok(Ok(()))
}
