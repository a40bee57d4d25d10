//! Text in two open faces, drawn letter by letter: sizes, lines, and letters kept once they are drawn.

use std::collections::BTreeMap;

use ab_glyph::{Font, FontRef, PxScale};

use crate::render::social::canvas::{Canvas, Paint, steps};

/// A face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Face {
    /// Titles and figures: DejaVu Sans Condensed Bold.
    Display,
    /// Messages and labels: DejaVu Sans Mono.
    Code,
}

/// A face in a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Style {
    pub face: Face,
    /// Pixels of the em square.
    pub size: u16,
}

/// A style of titles and figures.
pub(super) const fn display(size: u16) -> Style {
    Style { face: Face::Display, size }
}

/// A style of messages and labels.
pub(super) const fn code(size: u16) -> Style {
    Style { face: Face::Code, size }
}

/// A letter as it is drawn, from the place of the pen.
#[derive(Debug)]
struct Stamp {
    left: i32,
    top: i32,
    width: usize,
    steps: Vec<u8>,
}

/// The faces, and the letters drawn so far.
#[derive(Debug)]
pub(super) struct Lettering {
    display: FontRef<'static>,
    code: FontRef<'static>,
    stamps: BTreeMap<(Style, char), Stamp>,
}

impl Lettering {
    /// The faces.
    pub fn new() -> Self {
        let face = |bytes| FontRef::try_from_slice(bytes).expect("the crate holds a font");
        Self {
            display: face(dejavu::sans_condensed::bold()),
            code: face(dejavu::sans_mono::regular()),
            stamps: BTreeMap::new(),
        }
    }

    /// Whether a text can be written letter by letter from left to right: scripts that join letters, stack them or
    /// run the other way cannot, whatever a face holds.
    pub fn can_write(&self, text: &str) -> bool {
        text.chars().all(|letter| {
            is_plain(letter) && [&self.display, &self.code].iter().all(|face| face.glyph_id(letter).0 != 0)
        })
    }

    /// How wide a text is. Letters stand on whole pixels, so that each is drawn once.
    pub fn width(&self, text: &str, style: Style) -> i32 {
        let mut before = None;
        text.chars()
            .map(|letter| self.kern(before.replace(letter), letter, style) + self.advance(letter, style))
            .sum()
    }

    /// Writes a line from a place on its base line, and says where it ends.
    pub fn write(
        &mut self,
        canvas: &mut Canvas,
        text: &str,
        at: (i32, i32),
        style: Style,
        paint: Paint,
    ) -> i32 {
        let (mut x, y) = at;
        if let (Some(first), Face::Display) = (text.chars().next(), style.face) {
            // large letters stand flush by their ink
            x -= self.stamp(first, style).left;
        }
        let mut before = None;
        for letter in text.chars() {
            x += self.kern(before.replace(letter), letter, style);
            self.stamp(letter, style).press(canvas, (x, y), paint);
            x += self.advance(letter, style);
        }
        x
    }

    /// A text in lines of at most this width; a word that is too long for a line is broken.
    pub fn lines(&self, text: &str, style: Style, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
            if let Some(line) = lines.last_mut() {
                let longer = format!("{line} {word}");
                if self.width(&longer, style) <= width {
                    *line = longer;
                    continue;
                }
            }
            let mut rest = word;
            while self.width(rest, style) > width {
                let end = self.break_of(rest, style, width);
                lines.push(rest[..end].to_string());
                rest = &rest[end..];
            }
            lines.push(rest.to_string());
        }
        lines
    }

    /// Bytes of the longest beginning that fits, one letter at least.
    fn break_of(&self, word: &str, style: Style, width: i32) -> usize {
        let ends = word.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let mut fitting = ends.clone().take_while(|end| self.width(&word[..*end], style) <= width);
        fitting.by_ref().last().or_else(|| ends.clone().next()).unwrap_or(word.len())
    }

    /// The same number of lines, about equally long: no word is left alone on the last.
    pub fn balanced(&self, text: &str, style: Style, width: i32) -> Vec<String> {
        const STEP: i32 = 16;
        let lines = self.lines(text, style, width);
        let narrower = (1..).map(|step| self.lines(text, style, width - step * STEP));
        let balanced =
            narrower.take(width as usize / STEP as usize / 2).take_while(|tried| tried.len() == lines.len());
        balanced.last().unwrap_or(lines)
    }

    /// The text, or as many of its words as fit with `…` behind them; of a single word, its letters.
    pub fn cut(&self, text: &str, style: Style, width: i32) -> String {
        if self.width(text, style) <= width {
            return text.to_string();
        }
        let with_dots =
            |end: usize| format!("{}…", text[..end].trim_end_matches([' ', ',', ';', ':', '.', '…']));
        let fits = |text: &String| self.width(text, style) <= width;
        let words = text.rmatch_indices(' ').map(|(end, _)| end).filter(|end| *end > 0);
        let letters = text.char_indices().rev().map(|(end, _)| end);
        words.chain(letters).map(with_dots).find(fits).unwrap_or_default()
    }

    fn face(&self, style: Style) -> &FontRef<'static> {
        match style.face {
            Face::Display => &self.display,
            Face::Code => &self.code,
        }
    }

    /// Pixels of a length that a face gives in its own units.
    fn pixels(&self, units: f32, style: Style) -> i32 {
        let em = self.face(style).units_per_em().expect("the face names its unit");
        (units * f32::from(style.size) / em).round() as i32
    }

    fn advance(&self, letter: char, style: Style) -> i32 {
        let face = self.face(style);
        self.pixels(face.h_advance_unscaled(face.glyph_id(letter)), style)
    }

    fn kern(&self, before: Option<char>, letter: char, style: Style) -> i32 {
        let (Some(before), Face::Display) = (before, style.face) else { return 0 };
        let face = self.face(style);
        self.pixels(face.kern_unscaled(face.glyph_id(before), face.glyph_id(letter)), style)
    }

    fn stamp(&mut self, letter: char, style: Style) -> &Stamp {
        if !self.stamps.contains_key(&(style, letter)) {
            let stamp = Stamp::of(self.face(style), letter, style.size);
            self.stamps.insert((style, letter), stamp);
        }
        &self.stamps[&(style, letter)]
    }
}

impl Stamp {
    fn of(face: &FontRef<'static>, letter: char, size: u16) -> Self {
        let em = face.units_per_em().expect("the face names its unit");
        let scale = PxScale::from(f32::from(size) * face.height_unscaled() / em);
        let Some(outline) = face.outline_glyph(face.glyph_id(letter).with_scale(scale)) else {
            return Self { left: 0, top: 0, width: 1, steps: Vec::new() };
        };
        let bounds = outline.px_bounds();
        let width = (bounds.width().ceil() as usize).max(1);
        let mut stamp = Self {
            left: bounds.min.x as i32,
            top: bounds.min.y as i32,
            width,
            steps: vec![0; width * bounds.height().ceil() as usize],
        };
        outline.draw(|x, y, coverage| {
            if let Some(pixel) = stamp.steps.get_mut(y as usize * width + x as usize) {
                *pixel = steps(coverage);
            }
        });
        stamp
    }

    fn press(&self, canvas: &mut Canvas, pen: (i32, i32), paint: Paint) {
        for (row, y) in self.steps.chunks_exact(self.width).zip(pen.1 + self.top..) {
            for (steps, x) in row.iter().zip(pen.0 + self.left..) {
                canvas.cover(x, y, paint, *steps);
            }
        }
    }
}

/// Latin, Greek, Cyrillic, and signs; no marks that are put on the letter before.
fn is_plain(letter: char) -> bool {
    matches!(letter, ' '..='~' | '\u{a0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{1e00}'..='\u{1fff}' | '\u{2000}'..='\u{200a}' | '\u{2010}'..='\u{2027}' | '\u{202f}'..='\u{205f}'
        | '\u{2070}'..='\u{20bf}' | '\u{2100}'..='\u{2bff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_letter_by_letter_can_be_written() {
        let lettering = Lettering::new();
        for text in ["CUDA: out of memory (…)", "131\u{202f}072 × ≥ → λ", "Größe, Größe", "Память", "μs €"]
        {
            assert!(lettering.can_write(text), "{text}");
        }
        for text in [
            "内存不足",
            "メモリ",
            "نفدت الذاكرة",
            "אין זיכרון",
            "e\u{301}",
            "หน่วยความจำ",
            "🔥",
            "a\u{200d}b",
            "\u{202e}",
        ] {
            assert!(!lettering.can_write(text), "{text}");
        }
    }

    #[test]
    fn lines_keep_to_their_width_and_lose_no_word() {
        let (lettering, style) = (Lettering::new(), display(60));
        let text = "Failed to import transformers because of the following error: libcudart.so.12_is_missing_everywhere";
        for width in [80, 300, 700, 1056] {
            let lines = lettering.lines(text, style, width);
            assert!(lines.iter().all(|line| lettering.width(line, style) <= width), "{width}: {lines:?}");
            let letters = |text: &str| text.chars().filter(|letter| *letter != ' ').collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(text));
        }
        let lines = lettering.balanced("CUDA out of memory when loading a model", style, 1056);
        assert_eq!(lines, ["CUDA out of memory", "when loading a model"]);
    }

    #[test]
    fn a_cut_text_ends_in_dots_and_fits() {
        let (lettering, style) = (Lettering::new(), code(28));
        assert_eq!(lettering.cut("all of it", style, 500), "all of it");
        let cut = lettering.cut("CUDA out of memory. Tried to allocate", style, 340);
        assert_eq!(cut, "CUDA out of memory…");
        assert!(lettering.width(&cut, style) <= 340);
        assert_eq!(lettering.cut("unbroken_unbroken_unbroken", style, 340), "unbroken_unbroken_u…");
    }
}
