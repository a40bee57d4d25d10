//! Where everything stands on a picture. All of it keeps a margin, which services that crop pictures may eat.

use crate::render::social::canvas::{Area, Canvas, HEIGHT, Paint, WIDTH};
use crate::render::social::card::{Card, Matter, Memory, Mood};
use crate::render::social::lettering::{Lettering, Style, code, display};
use crate::render::social::mark::Mark;
use crate::site::gib;

/// Room at each side.
const MARGIN: usize = 72;
const LEFT: i32 = MARGIN as i32;
const RIGHT: i32 = (WIDTH - MARGIN) as i32;
const INNER: i32 = RIGHT - LEFT;
/// Base line of the last line.
const FOOT: i32 = (HEIGHT - MARGIN + 4) as i32;

/// Height of the stripe at the upper edge.
const STRIPE: usize = 14;
const MARK_HEIGHT: usize = 76;
const MARK_TOP: usize = 48;
/// Base line of the name of the site.
const HEAD: i32 = 98;
const NAME: Style = display(36);
const LABEL: Style = code(24);
/// Base line of the first line of a title in its largest size, less that size.
const TITLE_TOP: i32 = 158;
/// Sizes of titles and the lines that each may have: as large as it fits.
const TITLES: [(u16, usize); 4] = [(80, 2), (64, 3), (56, 3), (50, 3)];

const MESSAGE: Style = code(30);
const MESSAGE_LINE: i32 = 44;
const MESSAGE_LINES: usize = 3;
const LEAD: Style = code(28);
const LEAD_LINE: i32 = 42;
const LEAD_LINES: usize = 4;

/// What all pictures of a site share: the mark, its name, and the letters drawn so far.
pub(super) struct Easel {
    begun: Canvas,
    lettering: Lettering,
    /// Where the name of the site ends.
    name_end: i32,
}

impl Easel {
    /// Draws what all pictures begin with.
    pub fn new(site_title: &str, mark: &Mark) -> Self {
        let (mut begun, mut lettering) = (Canvas::new(), Lettering::new());
        mark.draw(&mut begun, (MARGIN, MARK_TOP), MARK_HEIGHT);
        let mut name_end = LEFT + mark.width(MARK_HEIGHT) as i32;
        if lettering.can_write(site_title) {
            let gap = if name_end > LEFT { 22 } else { 0 };
            let name = lettering.cut(site_title, NAME, INNER / 2);
            name_end = lettering.write(&mut begun, &name, (name_end + gap, HEAD), NAME, Paint::Ink);
        }
        Self { begun, lettering, name_end }
    }

    /// The picture of a card. What cannot be written is left out; whoever asks has made sure of the title.
    pub fn draw(&mut self, card: &Card) -> Canvas {
        let mut canvas = self.begun.clone();
        if card.mood == Mood::Alarm {
            stripe(&mut canvas);
        }
        if self.lettering.can_write(&card.kind) {
            let kind = self.lettering.cut(&card.kind, LABEL, RIGHT - self.name_end - 40);
            let start = RIGHT - self.lettering.width(&kind, LABEL);
            self.lettering.write(&mut canvas, &kind, (start, HEAD - 3), LABEL, Paint::Soft);
        }
        if self.lettering.can_write(&card.title) {
            self.title(&mut canvas, &card.title);
        }
        match &card.matter {
            Matter::Message(text) => self.message(&mut canvas, text),
            Matter::Memory(memory) => self.memory(&mut canvas, memory),
            Matter::Figures(figures) => self.figures(&mut canvas, figures),
            Matter::Lead(text) => self.lead(&mut canvas, text),
        }
        canvas
    }

    fn title(&mut self, canvas: &mut Canvas, title: &str) {
        let tried =
            TITLES.map(|(size, most)| (size, most, self.lettering.lines(title, display(size), INNER)));
        let fitting = tried.iter().find(|(_, most, lines)| lines.len() <= *most);
        let (size, lines) = match fitting {
            Some((size, _, _)) => (*size, self.lettering.balanced(title, display(*size), INNER)),
            None => {
                let (size, most) = TITLES[TITLES.len() - 1];
                (size, self.first(title, display(size), INNER, most))
            }
        };
        let (height, style) = (i32::from(size), display(size));
        for (line, at) in lines.iter().zip(1..) {
            let base = TITLE_TOP + height * 9 / 10 + (at - 1) * height * 112 / 100;
            self.lettering.write(canvas, line, (LEFT, base), style, Paint::Ink);
        }
    }

    /// The first lines of a text, with `…` where there are more.
    fn first(&self, text: &str, style: Style, width: i32, most: usize) -> Vec<String> {
        let mut lines = self.lettering.lines(text, style, width);
        if lines.len() > most {
            let rest = lines.split_off(most - 1).join(" ");
            lines.push(self.lettering.cut(&rest, style, width));
        }
        lines
    }

    /// A line of a log beside a bar, as pages show it; what differs from case to case stands out.
    fn message(&mut self, canvas: &mut Canvas, text: &str) {
        const INDENT: i32 = 32;
        if text.is_empty() || !self.lettering.can_write(text) {
            return;
        }
        let lines = self.first(text, MESSAGE, INNER - INDENT, MESSAGE_LINES);
        let height = MESSAGE_LINE * lines.len() as i32;
        let top = FOOT + 12 - height;
        canvas.fill(area(LEFT, top, 8, height), Paint::Accent);
        for (line, at) in lines.iter().zip(0..) {
            let base = FOOT - MESSAGE_LINE * (lines.len() as i32 - 1 - at);
            let mut x = LEFT + INDENT;
            for part in line.split_inclusive('…') {
                let known = part.trim_end_matches('…');
                x = self.lettering.write(canvas, known, (x, base), MESSAGE, Paint::Ink);
                if known.len() < part.len() {
                    x = self.lettering.write(canvas, "…", (x, base), MESSAGE, Paint::Accent);
                }
            }
        }
    }

    fn lead(&mut self, canvas: &mut Canvas, text: &str) {
        if !self.lettering.can_write(text) {
            return;
        }
        let lines = self.first(text, LEAD, INNER, LEAD_LINES);
        for (line, at) in lines.iter().rev().zip(0..) {
            self.lettering.write(canvas, line, (LEFT, FOOT - at * LEAD_LINE), LEAD, Paint::Soft);
        }
    }

    /// Figures side by side, each above its name; the first is the one that matters.
    fn figures(&mut self, canvas: &mut Canvas, figures: &[(String, String)]) {
        const SIZES: [u16; 4] = [80, 72, 64, 56];
        const GAP: i32 = 56;
        let widths = |size: u16| {
            let width = |(figure, name): &(String, String)| {
                self.lettering.width(figure, display(size)).max(self.lettering.width(name, LABEL))
            };
            figures.iter().map(width).collect::<Vec<i32>>()
        };
        let is_narrow = |widths: &[i32]| widths.iter().map(|width| width + GAP).sum::<i32>() - GAP <= INNER;
        let tried = SIZES.map(|size| (size, widths(size)));
        let Some((size, widths)) = tried.into_iter().find(|(_, widths)| is_narrow(widths)) else { return };
        let paints = std::iter::once(Paint::Accent).chain(std::iter::repeat(Paint::Ink));
        let mut x = LEFT;
        for (((figure, name), width), paint) in figures.iter().zip(widths).zip(paints) {
            self.lettering.write(canvas, figure, (x, FOOT - 46), display(size), paint);
            self.lettering.write(canvas, name, (x, FOOT), LABEL, Paint::Soft);
            x += width + GAP;
        }
    }

    /// The bar of memory, to scale: of the card that holds the model, or of what the model takes.
    fn memory(&mut self, canvas: &mut Canvas, memory: &Memory) {
        const FIGURE: Style = display(52);
        const BAR: i32 = 56;
        let total: u64 = memory.parts.iter().sum();
        let (answer, whole) = match memory.card_gib {
            Some(size) => (format!("fits in {size} GB"), size * 1_073_741_824.0),
            None => ("no single card holds it".to_string(), total as f64),
        };
        let top = FOOT - 46 - BAR;
        let end = self.lettering.write(canvas, &gib(total), (LEFT, top - 28), FIGURE, Paint::Ink);
        let start = RIGHT - self.lettering.width(&answer, FIGURE);
        self.lettering.write(canvas, &answer, (start.max(end + 40), top - 28), FIGURE, Paint::Accent);

        let names = ["Weights", "Cache", "Compute", "Driver"];
        let lengths = memory.parts.into_iter().chain(memory.card_gib.map(|_| memory.driver));
        let (mut x, mut used) = (LEFT, 0);
        let mut key = LEFT;
        for ((bytes, name), part) in lengths.zip(names).zip(PARTS) {
            used += bytes;
            let next = LEFT + (INNER as f64 * used as f64 / whole).round() as i32;
            part(canvas, area(x, top, (next - x - 2).max(1), BAR));
            x = next;
            part(canvas, area(key, FOOT - 18, 20, 20));
            key = self.lettering.write(canvas, name, (key + 32, FOOT), LABEL, Paint::Soft) + 36;
        }
        if x < RIGHT {
            free(canvas, area(x, top, RIGHT - x, BAR));
        }
        let run = self.lettering.cut(&memory.run, LABEL, RIGHT - key);
        let start = RIGHT - self.lettering.width(&run, LABEL);
        self.lettering.write(canvas, &run, (start, FOOT), LABEL, Paint::Soft);
    }
}

/// How the parts of a bar are hatched, in the order of [`Memory::parts`], and last the driver.
const PARTS: [fn(&mut Canvas, Area); 4] = [
    |canvas, area| canvas.fill(area, Paint::Ink),
    |canvas, area| canvas.fill(area, Paint::Accent),
    |canvas, area| canvas.shade(area, Paint::Ink, |x, y| band(x + y, 12.0)),
    |canvas, area| {
        let dot = |at: f32| at.rem_euclid(8.0) - 4.0;
        canvas.shade(area, Paint::Soft, |x, y| 2.5 - (dot(x).powi(2) + dot(y).powi(2)).sqrt());
    },
];

/// What is left of a card: a dashed frame.
fn free(canvas: &mut Canvas, area: Area) {
    let (width, height) = (area.width as f32, area.height as f32);
    canvas.shade(area, Paint::Soft, |x, y| {
        let is_edge = x > width - 2.0 || y < 2.0 || y > height - 2.0;
        let dash = if x > width - 2.0 { y } else { x };
        if is_edge && dash.rem_euclid(10.0) < 6.0 { 1.0 } else { 0.0 }
    });
}

/// The hazard stripe of pages about errors.
fn stripe(canvas: &mut Canvas) {
    let stripe = Area { x: 0, y: 0, width: WIDTH, height: STRIPE };
    canvas.shade(stripe, Paint::Accent, |x, y| band(x + y, 40.0));
}

/// Coverage of a band that takes the first half of each period.
fn band(along: f32, period: f32) -> f32 {
    let at = along.rem_euclid(period);
    // half a pixel on each side makes an edge at 45 degrees smooth
    0.5 + at.min(period / 2.0 - at) / 1.5
}

/// An area at whole places of the picture.
fn area(x: i32, y: i32, width: i32, height: i32) -> Area {
    let size = |number: i32| usize::try_from(number).unwrap_or(0);
    Area { x: size(x), y: size(y), width: size(width), height: size(height) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(title: &str, matter: Matter) -> Canvas {
        let card =
            Card { kind: "A category of errors".into(), title: title.into(), mood: Mood::Alarm, matter };
        Easel::new("The name of a site that is longer than a name should be", &Mark::default()).draw(&card)
    }

    fn memory(card_gib: Option<f64>) -> Matter {
        let parts = [5 << 30, 1 << 30, 1 << 29];
        Matter::Memory(Memory {
            run: "Q4_K_M, 8192 tokens of context".into(),
            parts,
            card_gib,
            driver: 1 << 29,
        })
    }

    fn rows_with_ink(canvas: &Canvas, columns: std::ops::Range<usize>) -> Vec<usize> {
        (STRIPE..HEIGHT).filter(|y| columns.clone().any(|x| !canvas.is_ground(x, *y))).collect()
    }

    #[test]
    fn nothing_runs_into_the_margins() {
        let long = "Failed to import transformers because of the following error, which is told ".repeat(4);
        let unbroken = "W".repeat(300);
        let figure = |text: &str| (text.to_string(), "name of the figure".to_string());
        for title in [long.as_str(), unbroken.as_str(), "A", ""] {
            let matters = [
                Matter::Message(long.clone()),
                Matter::Message(unbroken.clone()),
                Matter::Lead(long.clone()),
                Matter::Figures(vec![figure("1400 GB"), figure("12345.6 GB/s"), figure("190 of 191")]),
                memory(Some(8.0)),
                memory(None),
            ];
            for matter in matters {
                let told = format!("{matter:?}");
                let canvas = draw(title, matter);
                assert!(rows_with_ink(&canvas, 0..MARGIN).is_empty(), "left of {title} {told}");
                assert!(
                    rows_with_ink(&canvas, WIDTH - MARGIN + 3..WIDTH).is_empty(),
                    "right of {title} {told}"
                );
                let lowest = rows_with_ink(&canvas, 0..WIDTH).last().copied();
                assert!(lowest.is_some_and(|row| row < HEIGHT - 48), "{lowest:?}: {title} {told}");
            }
        }
    }

    #[test]
    fn a_long_title_keeps_apart_from_what_stands_below() {
        let long = "Ag ".repeat(200);
        for matter in [Matter::Message(long.clone()), Matter::Lead(long.clone()), memory(Some(8.0))] {
            let told = format!("{matter:?}");
            let titled = rows_with_ink(&draw(&long, Matter::Lead(String::new())), 0..WIDTH);
            let below = rows_with_ink(&draw("", matter), 0..WIDTH);
            let end = titled.last().copied().unwrap_or_default();
            let start = below.iter().find(|row| **row > 200).copied().unwrap_or_default();
            assert!(end + 8 < start, "the title ends at {end}, the rest begins at {start}: {told}");
        }
    }

    #[test]
    fn a_bar_is_drawn_to_scale() {
        let canvas = draw("", memory(Some(16.0)));
        // below the frame's upper edge and above its lower one: only the parts are drawn
        let row = (FOOT - 46 - 30) as usize;
        let filled = (MARGIN..WIDTH).take_while(|x| !canvas.is_ground(*x, row)).count();
        let wanted = INNER as usize * 5 / 16;
        assert!(filled.abs_diff(wanted) < 4, "weights take {filled} pixels, not {wanted}");
    }
}
