//! Draws share pictures: one monospaced font, so that layout is a matter of columns, and three colors on a
//! background.

use std::collections::BTreeMap;
use std::io;

use ab_glyph::{Font, FontRef, PxScale};
use png::{BitDepth, ColorType, DeflateCompression, Encoder, Filter};

use crate::render::social::card::{Card, CardBody, MemoryFigures};
use crate::render::social::colors::Colors;
use crate::site::gib;

/// Width of a picture in pixels.
pub(super) const WIDTH: usize = 1200;
/// Height of a picture in pixels.
pub(super) const HEIGHT: usize = 630;

/// Horizontal margin, which services may crop.
const MARGIN: usize = 72;
const RIGHT: usize = WIDTH - MARGIN;
const INNER: usize = RIGHT - MARGIN;
/// Baseline of the bottom line.
const BASELINE: usize = 560;
/// Font sizes of the site's title, of labels, of the text below a title and of figures.
const SITE: usize = 36;
const LABEL: usize = 24;
const TEXT: usize = 30;
const FIGURE: usize = 48;
/// Font sizes of titles, each with its maximum number of lines; the largest that fits is used.
const TITLES: [(usize, usize); 4] = [(68, 2), (56, 3), (46, 3), (40, 4)];

/// Colors of pixels, each with [`STEPS`] levels of coverage.
#[derive(Debug, Clone, Copy)]
enum Paint {
    Ink,
    Soft,
    Accent,
}

/// Three colors with five levels and the background are sixteen values, which fit in four bits.
const STEPS: u8 = 5;

/// The font, and its rasterized letters.
pub(super) struct CardRenderer {
    face: FontRef<'static>,
    glyphs: BTreeMap<(usize, char), Glyph>,
}

/// A rasterized letter; its corner is relative to the letter's origin on the baseline.
struct Glyph {
    corner: (i32, i32),
    width: usize,
    steps: Vec<u8>,
}

/// A picture as palette indices, row by row.
pub(super) struct Canvas(Vec<u8>);

/// Returns the advance width of letters in pixels: three fifths of the font size.
fn advance(size: usize) -> usize {
    size * 3 / 5
}

impl CardRenderer {
    /// Loads the font.
    pub fn new() -> Self {
        let face = FontRef::try_from_slice(dejavu::sans_mono::bold()).expect("the crate holds a font");
        Self { face, glyphs: BTreeMap::new() }
    }

    /// Returns whether a text can be drawn letter by letter from left to right. Scripts with ligatures, combining
    /// marks or the opposite direction cannot, even if the font contains them.
    pub fn can_draw(&self, text: &str) -> bool {
        text.chars().all(|letter| is_simple(letter) && self.face.glyph_id(letter).0 != 0)
    }

    /// Draws a picture. Text that cannot be drawn is left out.
    pub fn draw(&mut self, site_title: &str, card: &Card) -> Canvas {
        let mut canvas = Canvas(vec![0; WIDTH * HEIGHT]);
        if card.is_error {
            canvas.stripe();
        }
        let name = wrap(site_title, INNER * 2 / 3 / advance(SITE), 1).concat();
        let end = self.text(&mut canvas, &name, (MARGIN, 98), SITE, Paint::Ink);
        canvas.fill((end + 10, 70), (18, 34), Paint::Accent);
        let label = wrap(&card.kind, (RIGHT - end - 60) / advance(LABEL), 1).concat();
        self.text_to(&mut canvas, &label, (RIGHT, 96), LABEL, Paint::Soft);

        let lines = |size, most| wrap(&card.title, INNER / advance(size), most);
        let (size, most) = TITLES
            .into_iter()
            .find(|(size, most)| lines(*size, usize::MAX).len() <= *most)
            .unwrap_or(TITLES[3]);
        for (line, at) in balanced(&card.title, INNER / advance(size), most).iter().zip(0..) {
            self.text(&mut canvas, line, (MARGIN, 158 + size * 9 / 10 + at * size * 6 / 5), size, Paint::Ink);
        }
        match &card.content {
            CardBody::Message(text) => self.message(&mut canvas, text),
            CardBody::Lead(text) => {
                let lines = wrap(text, INNER / advance(TEXT), 4);
                for (line, at) in lines.iter().rev().zip(0..) {
                    self.text(&mut canvas, line, (MARGIN, BASELINE - at * 42), TEXT, Paint::Soft);
                }
            }
            CardBody::Figures(figures) => self.figures(&mut canvas, figures),
            CardBody::MemoryFigures(memory) => self.memory(&mut canvas, memory),
        }
        canvas
    }

    /// Draws a line of a log next to a bar, with its variable parts in another color.
    fn message(&mut self, canvas: &mut Canvas, text: &str) {
        let lines = wrap(text, (INNER - 32) / advance(TEXT), 3);
        canvas.fill((MARGIN, BASELINE + 12 - 44 * lines.len()), (8, 44 * lines.len()), Paint::Accent);
        for (line, at) in lines.iter().rev().zip(0..) {
            let mut x = MARGIN + 32;
            for part in line.split_inclusive('…') {
                let literal = part.trim_end_matches('…');
                x = self.text(canvas, literal, (x, BASELINE - at * 44), TEXT, Paint::Ink);
                x = self.text(canvas, &part[literal.len()..], (x, BASELINE - at * 44), TEXT, Paint::Accent);
            }
        }
    }

    /// Draws figures side by side, each above its name; the first is highlighted.
    fn figures(&mut self, canvas: &mut Canvas, figures: &[(String, String)]) {
        let width = INNER / figures.len().max(1);
        for ((figure, name), at) in figures.iter().zip(0..) {
            let (x, paint) = (MARGIN + at * width, if at == 0 { Paint::Accent } else { Paint::Ink });
            let figure = wrap(figure, width / advance(FIGURE), 1).concat();
            self.text(canvas, &figure, (x, BASELINE - 64), FIGURE, paint);
            for (line, row) in wrap(name, width / advance(LABEL) - 1, 2).iter().zip(0..) {
                self.text(canvas, line, (x, BASELINE - 22 + row * 30), LABEL, Paint::Soft);
            }
        }
    }

    /// Draws a bar to scale: of the GPU's memory, or of the model's if no GPU holds it.
    fn memory(&mut self, canvas: &mut Canvas, memory: &MemoryFigures) {
        let total: u64 = memory.parts.iter().map(|(bytes, _)| bytes).sum();
        self.text(canvas, &gib(total), (MARGIN, BASELINE - 130), FIGURE, Paint::Ink);
        self.text_to(canvas, &memory.answer, (RIGHT, BASELINE - 130), FIGURE, Paint::Accent);
        canvas.fill((MARGIN, BASELINE - 48), (INNER, 2), Paint::Soft);
        let pixels = |bytes: u64| (INNER as f64 * bytes as f64 / memory.size.max(1) as f64) as usize;
        let (mut used, mut key) = (0, MARGIN);
        for ((bytes, name), paint) in memory.parts.iter().zip([Paint::Ink, Paint::Accent, Paint::Soft]) {
            let start = MARGIN + pixels(used);
            used += bytes;
            canvas.fill(
                (start, BASELINE - 102),
                ((MARGIN + pixels(used)).saturating_sub(start + 2).max(2), 56),
                paint,
            );
            canvas.fill((key, BASELINE - 18), (20, 20), paint);
            key = self.text(canvas, name, (key + 32, BASELINE), LABEL, Paint::Soft) + 28;
        }
        let run = wrap(&memory.run, RIGHT.saturating_sub(key) / advance(LABEL), 1).concat();
        self.text_to(canvas, &run, (RIGHT, BASELINE), LABEL, Paint::Soft);
    }

    /// Draws a line of text from a point on its baseline; returns its end.
    fn text(
        &mut self,
        canvas: &mut Canvas,
        text: &str,
        at: (usize, usize),
        size: usize,
        paint: Paint,
    ) -> usize {
        let (mut x, y) = at;
        for letter in text.chars() {
            let glyph =
                self.glyphs.entry((size, letter)).or_insert_with(|| Glyph::new(&self.face, letter, size));
            for (row, y) in glyph.steps.chunks_exact(glyph.width).zip(y as i32 + glyph.corner.1..) {
                for (steps, x) in row.iter().zip(x as i32 + glyph.corner.0..) {
                    canvas.cover(x as usize, y as usize, paint, *steps);
                }
            }
            x += advance(size);
        }
        x
    }

    /// Draws a line of text that ends at a point on its baseline.
    fn text_to(&mut self, canvas: &mut Canvas, text: &str, at: (usize, usize), size: usize, paint: Paint) {
        let start = at.0.saturating_sub(text.chars().count() * advance(size));
        self.text(canvas, text, (start, at.1), size, paint);
    }
}

impl Glyph {
    fn new(face: &FontRef<'static>, letter: char, size: usize) -> Self {
        let em = face.units_per_em().expect("the face names its unit");
        let scale = PxScale::from(size as f32 * face.height_unscaled() / em);
        let Some(outline) = face.outline_glyph(face.glyph_id(letter).with_scale(scale)) else {
            return Self { corner: (0, 0), width: 1, steps: Vec::new() };
        };
        let bounds = outline.px_bounds();
        let width = (bounds.width().ceil() as usize).max(1);
        let mut steps = vec![0; width * bounds.height().ceil() as usize];
        outline.draw(|x, y, coverage| {
            if let Some(pixel) = steps.get_mut(y as usize * width + x as usize) {
                *pixel = (coverage.clamp(0.0, 1.0) * f32::from(STEPS) + 0.5) as u8;
            }
        });
        Self { corner: (bounds.min.x as i32, bounds.min.y as i32), width, steps }
    }
}

impl Canvas {
    /// Covers a pixel; where two colors overlap, the higher value remains.
    fn cover(&mut self, x: usize, y: usize, paint: Paint, steps: u8) {
        if x < WIDTH && y < HEIGHT && steps > 0 {
            let pixel = &mut self.0[y * WIDTH + x];
            *pixel = (*pixel).max(paint as u8 * STEPS + steps);
        }
    }

    fn fill(&mut self, corner: (usize, usize), size: (usize, usize), paint: Paint) {
        for y in corner.1..corner.1 + size.1 {
            (corner.0..corner.0 + size.0).for_each(|x| self.cover(x, y, paint, STEPS));
        }
    }

    /// Draws the hazard stripe of error pages at the top.
    fn stripe(&mut self) {
        for y in 0..14 {
            (0..WIDTH).filter(|x| (x + y) % 40 < 20).for_each(|x| self.cover(x, y, Paint::Accent, STEPS));
        }
    }

    /// Encodes the picture. With the `Up` filter nearly all bytes are zero, so the fastest compression suffices.
    pub fn png(&self, colors: &Colors) -> io::Result<Vec<u8>> {
        let paints = [colors.ink, colors.soft(), colors.accent];
        let shades =
            paints.iter().flat_map(|paint| (1..=STEPS).map(|step| colors.mixed(*paint, step, STEPS)));
        let palette: Vec<u8> = std::iter::once(colors.shared).chain(shades).flatten().collect();
        let packed: Vec<u8> = self.0.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, WIDTH as u32, HEIGHT as u32);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Four);
        encoder.set_palette(palette);
        encoder.set_filter(Filter::Up);
        encoder.set_deflate_compression(DeflateCompression::FdeflateUltraFast);
        encoder.write_header()?.write_image_data(&packed)?;
        Ok(file)
    }
}

/// Returns whether a letter is Latin, Greek, Cyrillic or a symbol, and not a combining mark.
fn is_simple(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{1e00}'..='\u{1fff}' | '\u{2000}'..='\u{200a}' | '\u{2010}'..='\u{2027}' | '\u{202f}'..='\u{205f}'
        | '\u{2070}'..='\u{20bf}' | '\u{2100}'..='\u{2bff}')
}

/// Breaks a text into at most `most` lines of `columns` letters, breaking long words. Ends with `…` if truncated.
fn wrap(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = Vec::new();
    for word in text.split_whitespace().map(|word| word.chars().collect::<Vec<_>>()) {
        for part in word.chunks(columns.max(1)) {
            match lines.last_mut().filter(|line| line.len() + 1 + part.len() <= columns) {
                Some(line) => line.extend(std::iter::once(&' ').chain(part)),
                None => lines.push(part.to_vec()),
            }
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(line) = lines.last_mut() {
            line.truncate(columns.saturating_sub(1));
            line.push('…');
        }
    }
    lines.into_iter().map(String::from_iter).collect()
}

/// As [`wrap`], with lines of similar length, so that the last line is not a single word.
fn balanced(text: &str, columns: usize, most: usize) -> Vec<String> {
    let count = wrap(text, columns, most).len();
    let narrowest = (columns / 2..columns).find(|fewer| wrap(text, *fewer, usize::MAX).len() == count);
    wrap(text, narrowest.unwrap_or(columns), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_only_text_without_joined_or_reversed_letters() {
        let renderer = CardRenderer::new();
        for text in ["CUDA: out of memory (…)", "131\u{202f}072 × ≥ → λ", "Größe, Größe", "Память", "μs €"]
        {
            assert!(renderer.can_draw(text), "{text}");
        }
        let others = [
            "内存不足",
            "メモリ",
            "نفدت الذاكرة",
            "אין זיכרון",
            "e\u{301}",
            "หน่วยความจำ",
            "🔥",
            "a\u{200d}b",
            "\u{202e}",
        ];
        assert!(others.iter().all(|text| !renderer.can_draw(text)));
    }

    #[test]
    fn wraps_lines_at_the_column_limit() {
        assert_eq!(wrap("CUDA out of memory when loading", 20, 3), ["CUDA out of memory", "when loading"]);
        assert_eq!(wrap("unbroken_unbroken and more", 10, 2), ["unbroken_u", "nbroken…"]);
        assert_eq!(
            balanced("CUDA out of memory when loading a model", 32, 2),
            ["CUDA out of memory", "when loading a model"]
        );
    }

    #[test]
    fn draws_nothing_in_the_margins() {
        let long = "Failed to import transformers because of the following error: Größe, ".repeat(4);
        let unbroken = "W".repeat(300);
        let figure = |text: &str| (text.to_string(), "name of the figure".repeat(9));
        let memory = |size| {
            let parts =
                [(5 << 30, "Gewichte".into()), (1 << 30, "Cache".into()), (1 << 29, "Rechenpuffer".into())];
            CardBody::MemoryFigures(MemoryFigures {
                run: long.clone(),
                parts,
                size,
                answer: "no single GPU holds it".into(),
            })
        };
        for title in [long.as_str(), unbroken.as_str(), "A", ""] {
            let contents = [
                CardBody::Message(long.clone()),
                CardBody::Message(unbroken.clone()),
                CardBody::Lead(long.clone()),
                CardBody::Figures(vec![figure("1400 GB"), figure("12345.6 GB/s"), figure("190 of 191")]),
                memory(8 << 30),
                memory(13 << 29),
            ];
            for content in contents {
                let shown = format!("{title}: {content:?}");
                let card = Card { kind: long.clone(), title: title.into(), is_error: false, content };
                let Canvas(pixels) = CardRenderer::new().draw(&long, &card);
                let painted = pixels.iter().enumerate().filter(|(_, pixel)| **pixel > 0).map(|(at, _)| at);
                for (x, y) in painted.map(|at| (at % WIDTH, at / WIDTH)) {
                    assert!(
                        (MARGIN..=RIGHT).contains(&x) && (48..HEIGHT - 48).contains(&y),
                        "({x}, {y}): {shown}"
                    );
                }
            }
        }
    }
}
