//! Geometry of the chart of a model's memory by context, in pixels and percent of the width.

use serde::Serialize;

use crate::files::Spanned;
use crate::i18n::Translations;
use crate::render::views::common::context_label;
use crate::render::views::context::RenderContext;
use crate::site::{Figures, Run, gib};

/// Both axes are logarithmic, which separates weights of different width, and GPU sizes.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    /// Text alternative of the chart.
    summary: String,
    height: u32,
    levels: Vec<Level>,
    contexts: Vec<Tick>,
    curves: Vec<CurveView>,
}

/// A horizontal line: everything below it fits on the GPU.
#[derive(Debug, Serialize)]
struct Level {
    label: String,
    card: bool,
    y: f64,
}

#[derive(Debug, Serialize)]
struct Tick {
    label: String,
    x: f64,
}

/// Memory of one quantization by context.
#[derive(Debug, Serialize)]
struct CurveView {
    name: String,
    /// Value of the `points` attribute of a `polyline`.
    points: String,
    /// Height of the left end, where the label is.
    start: f64,
}

/// Common memory sizes of GPUs, in GiB.
pub(super) const CARD_SIZES: [u64; 7] = [8, 12, 16, 24, 32, 48, 80];

/// More sizes for the scale, in GiB.
const OTHER_SIZES: [u64; 8] = [1, 2, 4, 128, 256, 512, 1024, 2048];

/// Quantizations to draw, by priority; those too close to another are left out.
const QUANTS: [&str; 4] = ["Q4_K_M", "F16", "Q8_0", "Q6_K"];

const GIB: f64 = 1_073_741_824.0;
const HEIGHT: u32 = 300;
/// Minimum distance of two labels, in pixels.
const MIN_LABEL_DISTANCE: f64 = 16.0;
/// First context of most models; models with a shorter maximum start lower.
const FIRST_CONTEXT: u64 = 2048;
/// Maximum number of labels on the horizontal axis, so that they do not touch on a phone.
const MAX_TICKS: usize = 7;

/// Returns the chart of a covered model.
pub(super) fn chart(
    cx: &RenderContext<'_>,
    figures: &Figures,
    released_as: Option<&Spanned<String>>,
) -> Option<Chart> {
    let fits = cx.inputs.fits;
    let contexts = contexts(figures.max_ctx);
    let released = released_as.map(|name| name.value.as_str());
    let totals = released.into_iter().chain(QUANTS).filter_map(|name| {
        let quant = fits.quant(name)?;
        let total = |ctx: &u64| figures.total(quant, Run::plain(0), *ctx);
        Some((name, contexts.iter().map(total).collect::<Option<Vec<u64>>>()?))
    });
    let room = |size: u64| cx.site().visible_of_size(size << 30).saturating_sub(fits.driver.1);
    let rooms = CARD_SIZES.map(|size| (size, room(size)));
    draw(cx.texts(), &contexts, &totals.collect::<Vec<_>>(), &rooms)
}

/// Returns the powers of two up to the maximum context, and the maximum.
fn contexts(max: u64) -> Vec<u64> {
    let first = FIRST_CONTEXT.min(max.max(8).next_power_of_two() / 8);
    let steps = std::iter::successors(Some(first), |ctx| ctx.checked_mul(2));
    // A tick just before the end would be too close to it.
    steps.take_while(|ctx| ctx * 13 / 10 < max).chain([max]).collect()
}

/// Logarithmic scale of the vertical axis.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// Creates a scale with a margin at both ends.
    fn of(totals: impl Iterator<Item = u64> + Clone) -> Option<Self> {
        let (least, most) = (totals.clone().min()?, totals.max()?);
        Some(Self { low: (least as f64).log2() - 0.3, high: (most as f64).log2() + 0.3 })
    }

    fn y(self, bytes: f64) -> f64 {
        tenths(f64::from(HEIGHT) * (self.high - bytes.log2()) / (self.high - self.low))
    }
}

/// Lays out the chart. `totals` has the memory of each quantization for each of `contexts`; `rooms` are GPU sizes in
/// GB with the bytes available to a model.
fn draw(
    texts: &Translations,
    contexts: &[u64],
    totals: &[(&str, Vec<u64>)],
    rooms: &[(u64, u64)],
) -> Option<Chart> {
    let (first, last) = (*contexts.first()? as f64, *contexts.last()? as f64);
    if first >= last {
        return None;
    }
    let scale = Scale::of(totals.iter().flat_map(|(_, bytes)| bytes.iter().copied()))?;
    let x = |ctx: u64| tenths(100.0 * (ctx as f64 / first).log2() / (last / first).log2());
    let mut curves: Vec<CurveView> = Vec::new();
    let mut ranges = Vec::new();
    for (name, bytes) in totals {
        let start = scale.y(bytes[0] as f64);
        if !is_apart(start, curves.iter().map(|curve| curve.start)) {
            continue;
        }
        let point = |(ctx, bytes): (&u64, &u64)| format!("{},{}", x(*ctx), scale.y(*bytes as f64));
        let points: Vec<String> = contexts.iter().zip(bytes).map(point).collect();
        curves.push(CurveView { name: (*name).to_string(), points: points.join(" "), start });
        ranges.push(texts.fill(
            "{quant} from {from} to {to}",
            &[("quant", name), ("from", &gib(bytes[0])), ("to", &gib(bytes[bytes.len() - 1]))],
        ));
    }
    let summary = texts.fill(
        "Contexts from {from} to {to} tokens. {list}.",
        &[
            ("from", &context_label(contexts[0])),
            ("to", &context_label(contexts[contexts.len() - 1])),
            ("list", &ranges.join("; ")),
        ],
    );
    let every = contexts.len().div_ceil(MAX_TICKS);
    let ticks = contexts.iter().rev().step_by(every).rev();
    Some(Chart {
        summary,
        height: HEIGHT,
        levels: levels(scale, rooms),
        contexts: ticks.map(|ctx| Tick { label: context_label(*ctx), x: x(*ctx) }).collect(),
        curves,
    })
}

/// Returns the levels of GPUs, and of other sizes, that are within the scale.
fn levels(scale: Scale, rooms: &[(u64, u64)]) -> Vec<Level> {
    let cards = rooms.iter().map(|(size, room)| Level {
        label: format!("{size} GB"),
        card: true,
        y: scale.y(*room as f64),
    });
    let others = OTHER_SIZES.iter().map(|size| Level {
        label: format!("{size} GiB"),
        card: false,
        y: scale.y(*size as f64 * GIB),
    });
    let mut levels: Vec<Level> = Vec::new();
    for level in cards.chain(others) {
        let inside = (MIN_LABEL_DISTANCE..f64::from(HEIGHT)).contains(&level.y);
        if inside && is_apart(level.y, levels.iter().map(|level| level.y)) {
            levels.push(level);
        }
    }
    levels
}

fn is_apart(y: f64, mut others: impl Iterator<Item = f64>) -> bool {
    others.all(|other| (other - y).abs() >= MIN_LABEL_DISTANCE)
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns GPU sizes with the memory that remains if the driver uses this much.
    fn rooms(driver: u64) -> [(u64, u64); 7] {
        CARD_SIZES.map(|size| (size, (size << 30) - driver))
    }

    /// Converts a height to bytes, using two levels of known size.
    fn bytes_at(chart: &Chart, y: f64) -> f64 {
        let size = |level: &Level| level.label.split(' ').next().and_then(|n| n.parse::<f64>().ok());
        let (upper, lower) = (&chart.levels[chart.levels.len() - 1], &chart.levels[0]);
        let (high, low) = (size(upper).expect("a size").log2(), size(lower).expect("a size").log2());
        (low + (high - low) * (lower.y - y) / (lower.y - upper.y)).exp2() * GIB
    }

    #[test]
    fn points_match_their_figures() {
        let (contexts, gibs) = ([2048, 4096, 8192, 32_768], [5.0, 6.5, 9.0, 30.0]);
        let bytes: Vec<u64> = gibs.iter().map(|size| (size * GIB) as u64).collect();
        let chart = draw(&Translations::default(), &contexts, &[("Q4_K_M", bytes)], &rooms(0))
            .expect("there is something to draw");
        let points: Vec<(f64, f64)> = chart.curves[0]
            .points
            .split(' ')
            .filter_map(|point| point.split_once(','))
            .map(|(x, y)| (x.parse().expect("a number"), y.parse().expect("a number")))
            .collect();
        assert_eq!(points.iter().map(|(x, _)| *x).collect::<Vec<_>>(), [0.0, 25.0, 50.0, 100.0]);
        for ((_, y), size) in points.iter().zip(gibs) {
            let read = bytes_at(&chart, *y) / GIB;
            assert!((read / size - 1.0).abs() < 0.005, "{size} GiB is drawn at {read} GiB");
        }
    }

    #[test]
    fn levels_exclude_driver_memory() {
        let totals = [("Q4_K_M", vec![6 << 30, 20 << 30])];
        let y = |driver: u64| {
            let chart = draw(&Translations::default(), &[2048, 4096], &totals, &rooms(driver))
                .expect("there is something to draw");
            chart.levels.iter().find(|level| level.label == "12 GB").map(|level| level.y)
        };
        let without =
            draw(&Translations::default(), &[2048, 4096], &[("Q4_K_M", vec![6 << 30, 20 << 30])], &rooms(0))
                .map(|chart| {
                    (bytes_at(&chart, y(1 << 30).expect("12 GB is within")) / GIB * 10.0).round() / 10.0
                });
        assert_eq!(without, Some(11.0));
    }

    #[test]
    fn omits_overlapping_labels() {
        let near = [("MXFP4", vec![100 << 30, 120 << 30]), ("Q4_K_M", vec![101 << 30, 121 << 30])];
        let chart = draw(&Translations::default(), &[2048, 4096], &near, &rooms(0))
            .expect("there is something to draw");
        assert_eq!(chart.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["MXFP4"]);
    }

    #[test]
    fn contexts_end_with_the_maximum() {
        assert_eq!(contexts(16_384), [2048, 4096, 8192, 16_384]);
        assert_eq!(contexts(40_960), [2048, 4096, 8192, 16_384, 40_960]);
        assert_eq!(contexts(2048), [256, 512, 1024, 2048]);
        assert_eq!(contexts(1), [1]);
    }
}
