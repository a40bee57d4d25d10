//! The answer in words, for a terminal of 80 columns.

use crate::cli::fit::answer::{Answer, ErrorPage};
use crate::cli::fit::commands::Commands;
use crate::cli::fit::layout::{command, span, wrapped};
use crate::cli::fit::python::{Transformers, Vllm};
use crate::cli::fit::remedies::Remedies;
use crate::cli::fit::tables::{needs, one_device, quantizations, several_devices};
use crate::cli::terminal::{Style, Terminal};
use crate::site::{gib, tokens};

/// The answer as text.
pub(super) fn describe(answer: &Answer, asked_quant: bool, terminal: &Terminal) -> String {
    let mut text = heading(answer, terminal);
    if answer.devices.is_empty() {
        text.push_str(&needs(answer, terminal));
        return text;
    }
    text.push_str(&verdict(answer, terminal));
    let (devices, host) = match &answer.plan {
        Some(plan) => (&plan.devices, &plan.host),
        None => (&answer.devices, &answer.host),
    };
    text.push_str(&match devices.as_slice() {
        [device] => one_device(device, host),
        devices => several_devices(devices, host),
    });
    if let Some(page) = &answer.error_page {
        text.push_str(&ends(answer, page));
    }
    if let Some(remedies) = &answer.remedies {
        text.push_str(&changes(answer, remedies, terminal));
    }
    text.push_str(&facts(answer, terminal));
    if !asked_quant && answer.quantizations.iter().any(|row| row.largest_context.is_some()) {
        text.push_str(&quantizations(answer, terminal));
    }
    text.push_str(&typed(&answer.commands, answer, terminal));
    text.push_str(&evidence(answer, terminal));
    text
}

/// The error that these settings would end in.
fn ends(answer: &Answer, page: &ErrorPage) -> String {
    let ends = match answer.verdict {
        Some("tight") => "If it fails, it is with",
        _ => "Whole on the GPU it ends in",
    };
    let line = format!("{ends}: {} (errors/{}/)", page.title, page.slug);
    format!("\n{}", wrapped(&line, "", "  "))
}

fn heading(answer: &Answer, terminal: &Terminal) -> String {
    let chosen = &answer.settings;
    let cache = match chosen.cache_type_k == chosen.cache_type_v {
        true => format!("{} cache", chosen.cache_type_k),
        false => format!("{}/{} cache", chosen.cache_type_k, chosen.cache_type_v),
    };
    let mut line = match answer.devices.is_empty() {
        true => answer.model.title.clone(),
        false => format!("{}, {}", answer.model.title, chosen.quant),
    };
    line.push_str(&format!(", context {}, {cache}", tokens(chosen.context)));
    if chosen.slots > 1 {
        line.push_str(&format!(", {} slots", chosen.slots));
    }
    let places = answer.model.layers + 1;
    if chosen.gpu_layers < places {
        line.push_str(&format!(", {} of {places} layers on the GPU", chosen.gpu_layers));
    }
    match chosen.cpu_expert_layers {
        0 => {}
        layers if layers == answer.model.layers => line.push_str(", all experts in RAM"),
        layers => line.push_str(&format!(", experts of the first {layers} layers in RAM")),
    }
    let mut text = wrapped(&terminal.style(Style::Title, &line), "", "");
    for (place, device) in answer.devices.iter().enumerate() {
        let number = if answer.devices.len() > 1 { format!("GPU {place}: ") } else { "on ".to_string() };
        let shared = if device.unified { " shared with the system" } else { "" };
        let line = format!(
            "{number}{}, {}{shared} ({} visible to programs)",
            device.name,
            gib(device.memory_bytes),
            gib(device.visible_bytes)
        );
        text.push_str(&wrapped(&line, "", "  "));
        if device.memory_options_gib.len() > 1 {
            let sizes: Vec<String> = device.memory_options_gib.iter().map(f64::to_string).collect();
            text.push_str(&format!("sold with {} GiB: say yours with --memory\n", sizes.join(", ")));
        }
    }
    text
}

/// Bytes as whole MiB.
fn mib(bytes: u64) -> String {
    format!("{} MiB", tokens((bytes + (1 << 19)) / (1 << 20)))
}

fn verdict(answer: &Answer, terminal: &Terminal) -> String {
    let margin = answer.margin_bytes.unwrap_or(0);
    let strong = |text: &str| terminal.style(Style::Strong, text);
    let fullest = match answer.devices.len() {
        1 => "",
        2 => " on the fuller device",
        _ => " on the fullest device",
    };
    let line = match answer.verdict {
        Some("fits") => format!(
            "{}, with {} to spare{fullest} even if the driver takes the most",
            strong("It fits"),
            mib(margin.unsigned_abs())
        ),
        Some("tight") => format!(
            "{}: {} short{fullest} if the driver takes the most that was seen",
            strong("It is tight"),
            mib(margin.unsigned_abs())
        ),
        Some("no") if answer.plan.is_some() => format!(
            "{}, which is {} short{fullest}. It does with another, see below",
            strong("It does not fit with llama.cpp's own split"),
            mib(margin.unsigned_abs())
        ),
        Some("offload") => format!(
            "{}: {}, as below. Whole it is {} short{fullest}",
            strong("It fits in part"),
            part_of(answer),
            mib(margin.unsigned_abs())
        ),
        Some("no") => {
            let short = match answer.margin_bytes {
                Some(margin) => format!(", {} short{fullest}", mib(margin.unsigned_abs())),
                None => ": weights and cache alone are larger than its memory".to_string(),
            };
            format!("{}{short}", strong("It does not fit"))
        }
        _ => format!(
            "{}: compute buffers of this device are not modeled. Weights and cache are, and leave it {}",
            strong("Not covered"),
            left(answer)
        ),
    };
    format!("\n{}", wrapped(&format!("{line}."), "", ""))
}

/// What has to leave the GPU.
fn part_of(answer: &Answer) -> String {
    let Some(plan) = &answer.plan else { return String::new() };
    let layers = answer.model.layers;
    match plan.settings.cpu_expert_layers {
        0 => format!("{} of {} layers on the GPU, the others in RAM", plan.settings.gpu_layers, layers + 1),
        experts => format!("the experts of {experts} of {layers} layers have to stay in RAM"),
    }
}

/// What weights and cache leave of the fullest device.
fn left(answer: &Answer) -> String {
    let left = answer
        .devices
        .iter()
        .map(|device| device.visible_bytes.saturating_sub(device.other_bytes + device.parts.total_bytes));
    gib(left.min().unwrap_or(0))
}

fn changes(answer: &Answer, remedies: &Remedies, terminal: &Terminal) -> String {
    let mut lines = Vec::new();
    let chosen = &answer.settings;
    if let Some(split) = &remedies.tensor_split {
        let shares: Vec<String> = split.iter().map(u64::to_string).collect();
        lines.push(format!("another split of the layers: -ts {}", shares.join(",")));
    }
    if let Some(moved) = &remedies.cpu_experts {
        lines.push(format!(
            "experts of the first {} of {} layers in RAM: --n-cpu-moe {} ({} of RAM)",
            moved.layers,
            answer.model.layers,
            moved.layers,
            gib(moved.host_bytes)
        ));
    }
    if let Some(quant) = remedies.quant {
        lines.push(format!("a narrower quantization: {quant}"));
    }
    if let Some(kind) = remedies.cache_type {
        lines.push(format!("a narrower cache: --kv-type {kind}"));
    }
    if let Some(context) = remedies.context.filter(|context| *context < chosen.context) {
        lines.push(format!("a shorter context: {} tokens or fewer", tokens(context)));
    }
    if let Some(moved) = &remedies.gpu_layers {
        lines.push(format!(
            "{} of {} layers on the GPU, the others in RAM and slow: --layers {} ({} of RAM)",
            moved.layers,
            answer.model.layers + 1,
            moved.layers,
            gib(moved.host_bytes)
        ));
    }
    if lines.is_empty() {
        let none = "No single change makes it fit: take a smaller model or more memory.";
        return format!("\n{none}\n");
    }
    let title = terminal.style(Style::Strong, "What would fit, each alone");
    let lines: String = lines.iter().map(|line| wrapped(line, "  - ", "    ")).collect();
    format!("\n{title}\n{lines}")
}

fn facts(answer: &Answer, terminal: &Terminal) -> String {
    let mut lines = Vec::new();
    let runs = matches!(answer.verdict, Some("fits" | "tight"));
    if let Some(context) = answer.largest_context.filter(|_| runs) {
        let own = if context == answer.model.max_context { ", the model's own maximum" } else { "" };
        lines.push(format!("largest context: {} tokens{own}", tokens(context)));
    }
    if let Some(quant) = answer.best_quant {
        lines.push(format!("widest quantization at this context: {quant}"));
    }
    lines.push(speed(answer));
    lines.push(vllm(&answer.other_engines.vllm));
    lines.push(transformers(&answer.other_engines.transformers));
    let title = terminal.style(Style::Strong, "On this machine");
    let lines: String = lines.iter().map(|line| wrapped(line, "  ", "    ")).collect();
    format!("\n{title}\n{lines}")
}

fn speed(answer: &Answer) -> String {
    let speed = &answer.speed;
    let (Some(empty), Some(full), Some(share), Some(bandwidth)) =
        (speed.empty_context, speed.full_context, speed.share_of_bandwidth, speed.bandwidth_gbps)
    else {
        return format!("speed: not covered, {}", speed.reason.unwrap_or("nothing is known"));
    };
    format!(
        "speed: {} tokens/s, {} once the context is full. A range: a token reads {} of weights and the \
         cache before it, and such devices reach {} to {} % of their bandwidth, here {bandwidth} GB/s",
        per_second(empty),
        per_second(full),
        gib(speed.weight_bytes_read),
        share[0] / 10,
        share[1] / 10,
    )
}

/// The least rounded down, the most rounded up.
fn per_second([low, high]: [f64; 2]) -> String {
    if high < 10.0 {
        format!("{:.1} to {:.1}", (low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0)
    } else {
        format!("{:.0} to {:.0}", low.floor(), high.ceil())
    }
}

fn vllm(vllm: &Vllm) -> String {
    let (Some(verdict), Some(kind), Some(weights), Some(pool), Some(context)) =
        (vllm.verdict, vllm.weight_type, vllm.weights_bytes, vllm.pool_bytes, vllm.largest_context)
    else {
        return format!("vLLM: not covered, {}", vllm.reason.as_deref().unwrap_or("nothing is known"));
    };
    let word = match verdict {
        "fits" => "fits",
        "tight" => "may fit",
        _ => "does not fit",
    };
    let pool = match pool {
        [_, 0] => "nothing left for its cache".to_string(),
        [0, high] => format!("up to {} left for its cache", gib(high)),
        ends => format!("{} left for its cache", span(ends.map(|bytes| bytes as i64))),
    };
    let longest = match context {
        [_, 0] => String::new(),
        [0, high] => format!(", context up to {} at best", tokens(high)),
        [low, high] if low == high => format!(", context up to {}", tokens(high)),
        [low, high] => format!(", context up to {} to {}", tokens(low), tokens(high)),
    };
    format!("vLLM, {kind}: {word}; {} of weights a card, {pool}{longest}", gib(weights))
}

fn transformers(answer: &Transformers) -> String {
    let (Some(verdict), Some(kind), Some(total)) = (answer.verdict, answer.weight_type, answer.total_bytes)
    else {
        return format!(
            "transformers: not covered, {}",
            answer.reason.as_deref().unwrap_or("nothing is known")
        );
    };
    let word = match verdict {
        "fits" => "fits",
        "tight" => "may fit",
        _ => "does not fit",
    };
    format!("transformers, {kind}: {word}; {} in all", span(total.map(|bytes| bytes as i64)))
}

fn typed(commands: &Commands, answer: &Answer, terminal: &Terminal) -> String {
    let plan = match (answer.verdict, &answer.plan) {
        (Some("offload"), Some(plan)) if plan.settings.cpu_expert_layers > 0 => ", with experts in RAM",
        (Some("offload"), _) => ", with the layers that fit",
        (_, Some(_)) => ", with a split that fits",
        (Some("no"), None) => return String::new(),
        (_, None) => "",
    };
    let mut text = format!("\n{}\n", terminal.style(Style::Strong, &format!("Type this{plan}")));
    text.push_str(&block("llama.cpp", &commands.llama_cpp));
    match commands.ollama_reason {
        Some(reason) => text.push_str(&format!("  Ollama: {reason}.\n")),
        None => text.push_str(&block("Ollama, the server and then the model", &commands.ollama)),
    }
    if !commands.vllm.is_empty() {
        text.push_str(&block("vLLM", &commands.vllm));
    }
    text
}

fn block(name: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| command(line)).collect();
    format!("  {name}:\n{lines}")
}

fn evidence(answer: &Answer, terminal: &Terminal) -> String {
    let chosen = &answer.settings;
    let mut note = format!("{}; {}. ", chosen.runner, chosen.evidence);
    note.push_str(match chosen.runner {
        "llama-server" => "Builds before June 2026 take more for logits: --runner library. ",
        "ollama" => "The batch is 512; Ollama takes up to 2048 where it sees room. ",
        _ => "",
    });
    format!("\n{}", wrapped(&terminal.style(Style::Muted, note.trim_end()), "", ""))
}
