//! A picture of sixteen colors: the ground, ten steps to the ink, five to the accent. Four bits a pixel pack in no time.

use std::io;

use png::{BitDepth, ColorType, DeflateCompression, Encoder, Filter};

use crate::render::social::colors::{Color, Colors};

/// Width in pixels.
pub(super) const WIDTH: usize = 1200;
/// Height in pixels.
pub(super) const HEIGHT: usize = 630;

/// Steps of coverage that are told apart.
const STEPS: u8 = 10;
/// Colors from the ground to the accent, without the ground.
const ACCENT_STEPS: u8 = 5;

/// What is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    /// Text and lines on the ground.
    Ink,
    /// Text beside the main matter.
    Soft,
    /// The color of the site.
    Accent,
}

impl Paint {
    /// The color where the paint covers this much of a pixel that had another color.
    fn over(self, steps: u8, before: u8) -> u8 {
        let color = match self {
            Self::Ink => steps,
            Self::Soft => (steps * 3).div_ceil(4),
            Self::Accent => accent(steps),
        };
        // the edge of a letter leaves the one beside it as it is
        if steps > STEPS / 2 { color } else { color.max(before) }
    }
}

fn accent(steps: u8) -> u8 {
    match steps.div_ceil(STEPS / ACCENT_STEPS) {
        0 => 0,
        step => STEPS + step,
    }
}

/// Steps of a coverage between 0 and 1.
pub(super) fn steps(coverage: f32) -> u8 {
    (coverage.clamp(0.0, 1.0) * f32::from(STEPS) + 0.5) as u8
}

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

/// The picture, a color a pixel.
#[derive(Debug, Clone)]
pub(super) struct Canvas {
    pixels: Vec<u8>,
}

impl Canvas {
    /// Nothing but ground.
    pub fn new() -> Self {
        Self { pixels: vec![0; WIDTH * HEIGHT] }
    }

    /// Covers a pixel by some steps of ten; what lies outside is left out.
    pub fn cover(&mut self, x: i32, y: i32, paint: Paint, steps: u8) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if steps > 0 && x < WIDTH && y < HEIGHT {
            let pixel = &mut self.pixels[y * WIDTH + x];
            *pixel = paint.over(steps, *pixel);
        }
    }

    /// Covers an area by what `coverage` says of the middle of each pixel, counted from its corner.
    pub fn shade(&mut self, area: Area, paint: Paint, coverage: impl Fn(f32, f32) -> f32) {
        for y in 0..area.height {
            for x in 0..area.width {
                let steps = steps(coverage(x as f32 + 0.5, y as f32 + 0.5));
                self.cover((area.x + x) as i32, (area.y + y) as i32, paint, steps);
            }
        }
    }

    /// Covers the whole of an area.
    pub fn fill(&mut self, area: Area, paint: Paint) {
        self.shade(area, paint, |_, _| 1.0);
    }

    /// Whether nothing was drawn on a pixel.
    #[cfg(test)]
    pub fn is_ground(&self, x: usize, y: usize) -> bool {
        self.pixels[y * WIDTH + x] == 0
    }

    /// The file. Rows as differences to those above them are nearly all zeros, so the fastest packing does.
    pub fn png(&self, colors: &Colors) -> io::Result<Vec<u8>> {
        let packed: Vec<u8> = self.pixels.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, WIDTH as u32, HEIGHT as u32);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Four);
        encoder.set_palette(palette(colors));
        encoder.set_filter(Filter::Up);
        encoder.set_deflate_compression(DeflateCompression::Level(1));
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&packed)?;
        writer.finish()?;
        Ok(file)
    }
}

fn palette(colors: &Colors) -> Vec<u8> {
    let ramp = |to: Color, count: u8| {
        (1..=count).flat_map(move |step| {
            let mix = |channel: usize| {
                let (from, to) = (u32::from(colors.ground[channel]), u32::from(to[channel]));
                let (step, count) = (u32::from(step), u32::from(count));
                ((from * (count - step) + to * step + count / 2) / count) as u8
            };
            [mix(0), mix(1), mix(2)]
        })
    };
    colors
        .ground
        .into_iter()
        .chain(ramp(colors.ink, STEPS))
        .chain(ramp(colors.accent, ACCENT_STEPS))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paint_covers_wholly_what_it_covers_wholly() {
        assert_eq!(Paint::Ink.over(STEPS, 0), STEPS);
        assert_eq!(Paint::Accent.over(STEPS, 3), STEPS + ACCENT_STEPS);
        assert_eq!(Paint::Ink.over(STEPS, STEPS + ACCENT_STEPS), STEPS, "ink over accent");
        assert_eq!(Paint::Ink.over(1, 8), 8, "an edge over a letter");
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut canvas = Canvas::new();
        for (x, y) in [(-1, 0), (0, -1), (WIDTH as i32, 0), (0, HEIGHT as i32)] {
            canvas.cover(x, y, Paint::Ink, STEPS);
        }
        assert!(canvas.pixels.iter().all(|pixel| *pixel == 0));
    }
}
