//! The report as text, for a terminal of 80 columns.

use kbgen_estimate::build::Build;
use kbgen_estimate::plan::remedies::{Moved, Remedies};

use crate::cli::arguments::OsName;
use crate::cli::fit::commands::Commands;
use crate::cli::fit::error_page::ErrorPage;
use crate::cli::fit::layout::{command, mib, paragraph_in, section, span, wrap};
use crate::cli::fit::python::{Loader, Server};
use crate::cli::fit::report::FitReport;
use crate::cli::fit::tables::{needs, one_device, quantizations, several_devices};
use crate::cli::fit::verdict::FitVerdict;
use crate::escape::{Style, TerminalText, one_line};
use crate::site::{format_count, gib};

/// Formats a report.
pub(super) fn describe(report: &FitReport, asked_quant: bool) -> TerminalText {
    let mut text = heading(report);
    if report.devices.is_empty() {
        text.push(needs(report));
        return text;
    }
    text.push(verdict(report));
    let (devices, host) = match &report.plan {
        Some(plan) => (&plan.devices, &plan.host),
        None => (&report.devices, &report.host),
    };
    text.push(match devices.as_slice() {
        [device] => one_device(device, host),
        devices => several_devices(devices, host),
    });
    if let Some(page) = &report.error_page {
        text.push(error_line(report, page));
    }
    if let Some(remedies) = &report.remedies {
        text.push(changes(report, remedies));
    }
    text.push(facts(report));
    if !asked_quant && report.quantizations.iter().any(|row| row.largest_context.is_some()) {
        text.push(quantizations(report));
    }
    text.push(commands_section(&report.commands, report));
    text.push(evidence(report));
    text
}

/// Names the error that these settings would cause.
fn error_line(report: &FitReport, page: &ErrorPage) -> String {
    let ends = match report.verdict {
        Some(FitVerdict::Tight) => "If it fails, the error is",
        Some(FitVerdict::Fits | FitVerdict::Offload | FitVerdict::No) | None => {
            "With all layers on the GPU it fails with"
        }
    };
    let line = format!("{ends}: {} (errors/{}/)", one_line(&page.title), page.slug);
    format!("\n{}", wrap(&line, "", "  "))
}

fn heading(report: &FitReport) -> TerminalText {
    let chosen = &report.settings;
    let cache = match chosen.cache_type_k == chosen.cache_type_v {
        true => format!("{} cache", chosen.cache_type_k),
        false => format!("{}/{} cache", chosen.cache_type_k, chosen.cache_type_v),
    };
    let title = match report.model.published {
        Some(name) => format!("{name} (the shape of {})", report.model.title),
        None => report.model.title.clone(),
    };
    let mut line = match report.devices.is_empty() {
        true => title,
        false => format!("{title}, {}", chosen.quant),
    };
    line.push_str(&format!(", context {}, {cache}", format_count(chosen.context)));
    if chosen.slots > 1 {
        line.push_str(&format!(", {} slots", chosen.slots));
    }
    for part in &chosen.described {
        line.push_str(&format!(", {part}"));
    }
    let places = report.model.layers + 1;
    if chosen.gpu_layers < places {
        line.push_str(&format!(", {} of {places} layers on the GPU", chosen.gpu_layers));
    }
    match chosen.cpu_expert_layers {
        0 => {}
        layers if layers == report.model.layers => line.push_str(", all experts in RAM"),
        layers => line.push_str(&format!(", experts of the first {layers} layers in RAM")),
    }
    let mut text = TerminalText::styled(Style::Title, &wrap(&one_line(&line), "", ""));
    for (place, device) in report.devices.iter().enumerate() {
        let number = if report.devices.len() > 1 { format!("GPU {place}: ") } else { "on ".to_string() };
        let shared = if device.unified { " shared with the system" } else { "" };
        let visible = match device.visible_bytes == device.most_visible_bytes {
            true => gib(device.visible_bytes),
            false => span([device.visible_bytes, device.most_visible_bytes].map(|bytes| bytes as i64)),
        };
        let system = match device.system {
            OsName::Linux => "Linux",
            OsName::Windows => "Windows",
            OsName::Macos => "macOS",
            OsName::Macos15 => "macOS before 26",
            OsName::Macos26 => "macOS 26",
        };
        let line = format!(
            "{number}{}, {}{shared} ({visible} visible to programs on {system})",
            one_line(&device.name),
            gib(device.memory_bytes),
        );
        text.push(wrap(&line, "", "  "));
        if device.memory_options_gib.len() > 1 {
            let sizes: Vec<String> = device.memory_options_gib.iter().map(f64::to_string).collect();
            text.push(format!("sold with {} GiB; pass --memory to select one\n", sizes.join(", ")));
        }
    }
    for each in &report.additions {
        let parts = [
            ("weights", each.weights_bytes),
            ("cache", each.cache_bytes),
            ("compute buffer", each.compute_bytes),
            ("driver memory", each.driver_bytes),
        ];
        let parts = parts.iter().filter(|(_, bytes)| *bytes > 0);
        let parts: Vec<String> = parts.map(|(name, bytes)| format!("{} of {name}", gib(*bytes))).collect();
        let line = format!("plus the {} {}: {}", each.kind.name(), one_line(&each.file), parts.join(", "));
        text.push(wrap(&line, "", "  "));
    }
    text
}

fn verdict(report: &FitReport) -> TerminalText {
    let margin = report.margin_bytes.unwrap_or(0);
    let fullest = match report.devices.len() {
        1 => "",
        2 => " on the fuller device",
        _ => " on the fullest device",
    };
    let is_exact = report.devices.iter().all(|device| {
        let [low, high] = device.parts.total_range_bytes;
        low == high && device.visible_bytes == device.most_visible_bytes && device.desktop_bytes == 0
    });
    let (most, measured) = match is_exact {
        true => ("the driver's maximum", "the driver's measured maximum"),
        false => ("the upper end of all ranges", "the upper end of all ranges"),
    };
    let [free, short] = [margin, -margin].map(|bytes| mib(u64::try_from(bytes).unwrap_or(0)));
    let line = match report.verdict {
        _ if report.shared.is_some_and(|shared| !shared.suffices()) => "It does not fit".to_string(),
        Some(FitVerdict::Fits) => format!("It fits, with {free} free{fullest} at {most}"),
        Some(FitVerdict::Tight) => format!("It is tight: {short} short{fullest} at {measured}"),
        Some(FitVerdict::No) if report.plan.is_some() => format!(
            "It does not fit with the default split of llama.cpp, which is {short} short{fullest}. It fits with the split below"
        ),
        Some(FitVerdict::Offload) => format!(
            "It fits in part: {}. All layers on the GPU would be {short} short{fullest}",
            part_of(report)
        ),
        Some(FitVerdict::No) | None => format!("It does not fit, {short} short{fullest}"),
    };
    let together = report.shared.map_or(String::new(), |shared| format!(" {}", shared.in_words()));
    let paragraph = wrap(&format!("{line}.{together}"), "", "");
    let (verdict, rest) = paragraph.split_at(paragraph.find([',', ':', '.']).unwrap_or(paragraph.len()));
    let mut text = TerminalText::from("\n");
    text.push(TerminalText::styled(Style::Strong, verdict));
    text.push(rest);
    text
}

/// Describes which layers or experts stay in RAM.
fn part_of(report: &FitReport) -> String {
    let Some(plan) = &report.plan else { return String::new() };
    let layers = report.model.layers;
    match plan.settings.cpu_expert_layers {
        0 => format!("{} of {} layers on the GPU, the others in RAM", plan.settings.gpu_layers, layers + 1),
        experts => format!("the experts of {experts} of {layers} layers stay in RAM"),
    }
}

fn changes(report: &FitReport, remedies: &Remedies) -> TerminalText {
    let mut lines = Vec::new();
    let chosen = &report.settings;
    if let Some(split) = &remedies.tensor_split {
        lines.push(format!("another split of the layers: --tensor-split {}", shares(split)));
    }
    if let Some(moved) = &remedies.cpu_experts {
        lines.push(format!(
            "experts of the first {} of {} layers in RAM: --n-cpu-moe {}{} ({} of RAM)",
            moved.layers,
            report.model.layers,
            moved.layers,
            split_option(moved),
            gib(moved.host_bytes)
        ));
    }
    if let Some(quant) = remedies.quant {
        lines.push(format!("a smaller quantization: {quant}"));
    }
    if let Some(kind) = remedies.cache_type {
        lines.push(format!("a smaller cache type: --kv-type {kind}"));
    }
    if let Some(context) = remedies.context.filter(|context| *context < chosen.context) {
        lines.push(format!("a shorter context: {} tokens or fewer", format_count(context)));
    }
    if let Some(moved) = &remedies.gpu_layers {
        lines.push(format!(
            "{} of {} layers on the GPU, the others in RAM, which is slow: --layers {}{} ({} of RAM)",
            moved.layers,
            report.model.layers + 1,
            moved.layers,
            split_option(moved),
            gib(moved.host_bytes)
        ));
    }
    if lines.is_empty() {
        let none = "No single change makes it fit. Use a smaller model or more memory.";
        return format!("\n{none}\n").into();
    }
    let lines: String = lines.iter().map(|line| wrap(line, "  - ", "    ")).collect();
    section("Changes that make it fit, each on its own", &lines)
}

fn shares(split: &[u64]) -> String {
    split.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Formats the split that a change needs on several devices.
fn split_option(moved: &Moved) -> String {
    moved.tensor_split.as_ref().map_or(String::new(), |split| format!(" --tensor-split {}", shares(split)))
}

fn facts(report: &FitReport) -> TerminalText {
    let mut lines = Vec::new();
    let runs = report.verdict.is_some_and(FitVerdict::runs);
    if let Some(context) = report.largest_context.filter(|_| runs) {
        let own = if context == report.model.max_context { ", the maximum of the model" } else { "" };
        lines.push(format!("largest context: {} tokens{own}", format_count(context)));
    }
    if let Some(quant) = &report.best_quant {
        lines.push(format!("largest quantization at this context: {quant}"));
    }
    lines.push(speed(report));
    lines.extend(other_engines(report));
    let lines: String = lines.iter().map(|line| wrap(line, "  ", "    ")).collect();
    section("On this machine", &lines)
}

fn speed(report: &FitReport) -> String {
    let speed = &report.speed;
    let (Some(empty), Some(full), Some(share), Some(layer), Some(bandwidth)) = (
        speed.empty_context,
        speed.full_context,
        speed.share_of_bandwidth,
        speed.layer_microseconds,
        speed.bandwidth_gbps,
    ) else {
        return format!("speed: not covered, {}", speed.reason.unwrap_or("no data"));
    };
    let ram = speed.ram_gbps.map_or(String::new(), |rate| {
        let weights = gib(speed.host_bytes_read);
        match (speed.host_bytes_read, speed.is_cache_in_ram) {
            (0, _) => format!(", the cache from RAM at {rate} GB/s"),
            (_, true) => format!(", {weights} of the weights and the cache from RAM at {rate} GB/s"),
            (_, false) => format!(", {weights} of them from RAM at {rate} GB/s"),
        }
    });
    format!(
        "speed: {} tokens/s, {} with a full context. Each token reads {} of weights and the cache{ram}; such \
         devices reach {} % of their bandwidth of {bandwidth} GB/s and need {layer} µs more for each layer",
        per_second(empty),
        per_second(full),
        gib(speed.weight_bytes_read),
        share / 10,
    )
}

/// Formats a range with its minimum rounded down and its maximum rounded up.
fn per_second([low, high]: [f64; 2]) -> String {
    if high < 10.0 {
        format!("{:.1} to {:.1}", (low * 10.0).floor() / 10.0, (high * 10.0).ceil() / 10.0)
    } else {
        format!("{:.0} to {:.0}", low.floor(), high.ceil())
    }
}

/// Formats the other programs that can use these devices: MLX on Apple silicon, the rest elsewhere.
fn other_engines(report: &FitReport) -> Vec<String> {
    let engines = &report.other_engines;
    let is_macos = |system| matches!(system, OsName::Macos | OsName::Macos15 | OsName::Macos26);
    if report.devices.iter().any(|device| is_macos(device.system)) {
        return vec![loader("MLX", &engines.mlx)];
    }
    vec![
        server("vLLM", &engines.vllm),
        server("SGLang", &engines.sglang),
        loader("ExLlamaV3", &engines.exllamav3),
        loader("transformers", &engines.transformers),
    ]
}

/// Describes the verdict on another program, whose need is a range.
fn in_words(verdict: FitVerdict) -> &'static str {
    match verdict {
        FitVerdict::Fits => "fits",
        FitVerdict::Tight => "may fit",
        FitVerdict::Offload | FitVerdict::No => "does not fit",
    }
}

fn server(name: &str, report: &Server) -> String {
    let (Some(verdict), Some(kind), Some(weights), Some(pool), Some(context)) =
        (report.verdict, report.weight_type, report.weights_bytes, report.pool_bytes, report.largest_context)
    else {
        return format!("{name}: not covered, {}", report.reason.as_deref().unwrap_or("no data"));
    };
    let pool = match pool {
        [_, 0] => "no memory left for the cache".to_string(),
        [0, high] => format!("up to {} left for the cache", gib(high)),
        ends => format!("{} left for the cache", span(ends.map(|bytes| bytes as i64))),
    };
    let longest = match context {
        [_, 0] => String::new(),
        [0, high] => format!(", context up to {} at best", format_count(high)),
        [low, high] if low == high => format!(", context up to {}", format_count(high)),
        [low, high] => format!(", context up to {} to {}", format_count(low), format_count(high)),
    };
    format!("{name}, {kind}: {}; {} of weights per GPU, {pool}{longest}", in_words(verdict), gib(weights))
}

fn loader(name: &str, report: &Loader) -> String {
    let (Some(verdict), Some(kind), Some(total)) = (report.verdict, report.weight_type, report.total_bytes)
    else {
        return format!("{name}: not covered, {}", report.reason.as_deref().unwrap_or("no data"));
    };
    format!("{name}, {kind}: {}; {} total", in_words(verdict), span(total.map(|bytes| bytes as i64)))
}

fn commands_section(commands: &Commands, report: &FitReport) -> TerminalText {
    let plan = match (report.verdict, &report.plan) {
        (Some(FitVerdict::Offload), Some(plan)) if plan.settings.cpu_expert_layers > 0 => {
            ", with experts in RAM"
        }
        (Some(FitVerdict::Offload), _) => ", with the layers that fit on the GPU",
        (_, Some(_)) => ", with a split that fits",
        (Some(FitVerdict::No), None) => return TerminalText::default(),
        (Some(FitVerdict::Fits | FitVerdict::Tight) | None, None) => "",
    };
    let is_windows = report.devices.iter().any(|device| device.system == OsName::Windows);
    let (llama_cpp, ollama, wrap_mark) = match is_windows {
        true => (&commands.powershell.llama_cpp, &commands.powershell.ollama, '`'),
        false => (&commands.llama_cpp, &commands.ollama, '\\'),
    };
    let mut text = block("llama.cpp", llama_cpp, wrap_mark);
    for each in &report.additions {
        text.extend(each.command.iter().map(|line| block(&each.file, std::slice::from_ref(line), wrap_mark)));
    }
    match commands.ollama_reason {
        Some(reason) => text.push_str(&format!("  Ollama: {reason}.\n")),
        None => text.push_str(&block("Ollama: server, then model", ollama, wrap_mark)),
    }
    if let Some(line) = &commands.ollama_run {
        text.push_str(&block("Ollama with its own settings", std::slice::from_ref(line), wrap_mark));
    }
    if let [get, settings] = commands.lm_studio.as_slice() {
        text.push_str(&block("LM Studio", std::slice::from_ref(get), wrap_mark));
        text.push_str(&wrap(&format!("then load it with {settings}"), "    ", "    "));
    }
    for (name, lines) in [("vLLM", &commands.vllm), ("SGLang", &commands.sglang), ("MLX", &commands.mlx)] {
        if !lines.is_empty() {
            text.push_str(&block(name, lines, '\\'));
        }
    }
    section(&format!("Commands{plan}"), &text)
}

fn block(name: &str, lines: &[String], wrap_mark: char) -> String {
    let lines: String = lines.iter().map(|line| command(line, wrap_mark)).collect();
    format!("  {name}:\n{lines}")
}

fn evidence(report: &FitReport) -> TerminalText {
    let chosen = &report.settings;
    let mut note = format!("{}; {}. ", chosen.runner, chosen.evidence);
    if let Some(mixture) = &chosen.mixture {
        note.push_str(&format!(
            "{mixture} is a mixture of its own; {} is at least as large. For exact figures, pass the file. ",
            chosen.quant
        ));
    }
    note.push_str(match chosen.runner {
        "llama-server" if chosen.build == Build::default().to_string() => {
            "Earlier builds use other buffers: --build 2026-05. "
        }
        "ollama" => "Estimated for a batch size of 512; Ollama uses up to 2048 if memory is free. ",
        _ => "",
    });
    paragraph_in(Style::Muted, note.trim_end())
}
