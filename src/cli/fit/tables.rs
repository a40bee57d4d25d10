//! Tables of a report: buffers by device, quantizations.

use kbgen_estimate::backend::Backend;
use kbgen_estimate::estimator::BytesRange;

use crate::cli::fit::layout::{paragraph_in, section, size, span};
use crate::cli::fit::report::{BufferSizes, DeviceReport, FitReport, QuantizationRow};
use crate::cli::fit::verdict::FitVerdict;
use crate::escape::{Style, TerminalText};
use crate::site::{format_count, gib};

/// Formats one device with a line per buffer and its accuracy.
pub(super) fn one_device(device: &DeviceReport, ram: &BufferSizes) -> String {
    let mut text = format!("\n  {:<20}{:>20}{:>13}\n", "", "GPU", "RAM");
    let mut line = |name: &str, gpu: String, ram: String, mark: &str| {
        let line = format!("  {name:<20}{gpu:>20}{ram:>13}   {mark}");
        text.push_str(&format!("{}\n", line.trim_end()));
    };
    let gpu = &device.parts;
    let is_mapped = gpu.total_range_bytes[0] + gpu.compute_range_bytes[1]
        < gpu.total_range_bytes[1] + gpu.compute_range_bytes[0];
    let held = if is_mapped { "at most" } else { "exact" };
    line("weights", size(gpu.weights_bytes), size(ram.weights_bytes), held);
    line("KV cache and state", size(gpu.cache_bytes), size(ram.cache_bytes), "exact");
    let [low, high] = gpu.compute_range_bytes;
    match low == high {
        true => {
            let known = if gpu.is_planned { "about" } else { "exact" };
            line("compute buffer", size(high), size(ram.compute_bytes), known);
        }
        false => line(
            "compute buffer",
            span([low, high].map(|bytes| bytes as i64)),
            size(ram.compute_bytes),
            "range",
        ),
    }
    if device.other_bytes > 0 {
        line("other programs", size(device.other_bytes), String::new(), "given");
    }
    if device.desktop_bytes > 0 {
        line("desktop", format!("up to {}", size(device.desktop_bytes)), String::new(), "range");
    }
    line("driver", span(device.driver_bytes.map(|bytes| bytes as i64)), String::new(), "range");
    line("free", span(device.free_bytes), String::new(), "range");
    text
}

/// Formats several devices with a line for each.
pub(super) fn several_devices(devices: &[DeviceReport], host: &BufferSizes) -> String {
    let mut text =
        format!("\n  {:<7}{:>13}{:>13}{:>13}{:>24}\n", "", "weights", "KV cache", "compute", "free");
    let mut line = |name: &str, parts: &BufferSizes, free: String| {
        let [weights, cache, compute] =
            [parts.weights_bytes, parts.cache_bytes, parts.compute_bytes].map(size);
        let line = format!("  {name:<7}{weights:>13}{cache:>13}{compute:>13}{free:>24}");
        text.push_str(&format!("{}\n", line.trim_end()));
    };
    for (place, device) in devices.iter().enumerate() {
        line(&format!("GPU {place}"), &device.parts, span(device.free_bytes));
    }
    line("RAM", host, String::new());
    let drivers = devices.iter().map(|device| device.driver_bytes);
    let driver = drivers.reduce(|all, one| [all[0].min(one[0]), all[1].max(one[1])]).unwrap_or_default();
    let is_exact = devices
        .iter()
        .all(|device| device.parts.compute_range_bytes[0] == device.parts.compute_range_bytes[1]);
    let buffers = if is_exact { "Buffers are exact." } else { "Compute buffers are at most as large." };
    text.push_str(&format!(
        "  {buffers} The driver uses {}, so free memory is a range.\n",
        span(driver.map(|bytes| bytes as i64))
    ));
    text
}

fn drivers_share() -> String {
    let BytesRange { low, high } = Backend::Cuda.profile().driver;
    span([low, high].map(|bytes| bytes.0 as i64))
}

/// Formats a table of all quantizations on these devices.
pub(super) fn quantizations(report: &FitReport) -> TerminalText {
    let mut text = format!("  {:<8}{:>12}{:>12}  {:<16}{}\n", "", "file", "buffers", "", "largest context");
    for row in &report.quantizations {
        let word = match row.verdict {
            Some(FitVerdict::Fits) => "fits",
            Some(FitVerdict::Tight) => "tight",
            Some(FitVerdict::Offload | FitVerdict::No) | None => "does not fit",
        };
        let longest = row.largest_context.map_or_else(|| "-".to_string(), format_count);
        text.push_str(&format!(
            "  {:<8}{:>12}{:>12}  {word:<16}{longest:>15}\n",
            row.quant,
            gib(row.file_bytes),
            gib(row.total_bytes)
        ));
    }
    section("All quantizations with these settings", &text)
}

/// Formats the needs if no device was given.
pub(super) fn needs(report: &FitReport) -> TerminalText {
    let mut text = format!(
        "\n{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}\n",
        "", "file", "weights", "KV cache", "compute", "on the GPU"
    );
    let line = |row: &QuantizationRow| {
        format!(
            "{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}\n",
            row.quant,
            gib(row.file_bytes),
            gib(row.weights_bytes),
            gib(row.cache_bytes),
            gib(row.compute_bytes),
            gib(row.total_bytes)
        )
    };
    text.extend(report.quantizations.iter().map(line));
    let note = format!(
        "Exact sizes for all layers on one CUDA GPU with flash attention. The driver uses {} more. For a verdict, \
         pass a device: --gpu HW or --memory GIB.",
        drivers_share()
    );
    let mut text = TerminalText::from(text);
    text.push(paragraph_in(Style::Muted, &note));
    text
}
