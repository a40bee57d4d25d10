//! The site's mark, from `static/favicon.svg` as far as that consists of straight lines; any other is left out.

use std::str::FromStr;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::render::social::canvas::{Area, Canvas, Paint};
use crate::render::social::colors::{Color, Colors, color};

type Point = (f32, f32);

/// A mark in the colors of the pictures.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    width: f32,
    height: f32,
    shapes: Vec<Shape>,
}

/// Chains of lines, drawn or filled.
#[derive(Debug, Clone)]
struct Shape {
    chains: Vec<Vec<Point>>,
    /// Width of the line; none for a filled shape.
    line: Option<f32>,
    paint: Paint,
}

impl Mark {
    /// The mark of an SVG; none if it has anything but straight lines and plain colors.
    pub fn read(svg: &str, colors: &Colors) -> Option<Self> {
        let mut reader = Reader::from_str(svg);
        let mut mark = Self::default();
        loop {
            match reader.read_event().ok()? {
                Event::Start(element) | Event::Empty(element) => mark.take(&element, colors)?,
                Event::Eof => return (!mark.shapes.is_empty() && mark.height > 0.0).then_some(mark),
                _ => {}
            }
        }
    }

    fn take(&mut self, element: &BytesStart<'_>, colors: &Colors) -> Option<()> {
        let value = |name: &str| {
            let attribute = element.try_get_attribute(name).ok()??;
            Some(attribute.value.into_owned())
        };
        let number = |name: &str| value(name).and_then(|text| f32::from_str(&text).ok());
        if value("transform").is_some() {
            return None;
        }
        match element.name().as_ref() {
            "svg" => {
                let view = value("viewBox")?;
                let mut sizes = view.split_whitespace().skip(2).map_while(|size| size.parse::<f32>().ok());
                (self.width, self.height) = (sizes.next()?, sizes.next()?);
            }
            "rect" => {
                let (x, y) = (number("x").unwrap_or(0.0), number("y").unwrap_or(0.0));
                let (right, bottom) = (x + number("width")?, y + number("height")?);
                let chain = vec![(x, y), (right, y), (right, bottom), (x, bottom)];
                self.add(vec![chain], None, &value("fill")?, colors)?;
            }
            "path" => {
                let chains = chains(&value("d")?)?;
                if let Some(fill) = value("fill").filter(|fill| fill != "none") {
                    self.add(chains.clone(), None, &fill, colors)?;
                }
                if let Some(stroke) = value("stroke").filter(|stroke| stroke != "none") {
                    self.add(chains, Some(number("stroke-width").unwrap_or(1.0)), &stroke, colors)?;
                }
            }
            "title" | "desc" => {}
            _ => return None,
        }
        Some(())
    }

    fn add(
        &mut self,
        chains: Vec<Vec<Point>>,
        line: Option<f32>,
        paint: &str,
        colors: &Colors,
    ) -> Option<()> {
        let wanted = color(paint)?;
        let paints =
            [(colors.ground, None), (colors.ink, Some(Paint::Ink)), (colors.accent, Some(Paint::Accent))];
        let (_, nearest) = paints.into_iter().min_by_key(|(color, _)| distance(*color, wanted))?;
        // what has the color of the ground is only the plate below the mark
        self.shapes.extend(nearest.map(|paint| Shape { chains, line, paint }));
        Some(())
    }

    /// How wide the mark is at a height.
    pub fn width(&self, height: usize) -> usize {
        if self.height > 0.0 { (self.width * height as f32 / self.height) as usize } else { 0 }
    }

    /// Draws the mark with its upper left corner at a place.
    pub fn draw(&self, canvas: &mut Canvas, at: (usize, usize), height: usize) {
        let area = Area { x: at.0, y: at.1, width: self.width(height), height };
        let unit = height as f32 / self.height.max(1.0);
        for shape in &self.shapes {
            canvas.shade(area, shape.paint, |x, y| 0.5 + shape.depth((x / unit, y / unit)) * unit);
        }
    }
}

impl Shape {
    /// How deep a point lies within the shape; less than nothing outside.
    fn depth(&self, point: Point) -> f32 {
        let (mut nearest, mut inside) = (f32::MAX, false);
        for chain in &self.chains {
            let closing = self.line.is_none().then(|| [chain[chain.len() - 1], chain[0]]);
            for [from, to] in chain.windows(2).map(|pair| [pair[0], pair[1]]).chain(closing) {
                nearest = nearest.min(distance_to_line(point, from, to));
                let crosses = (from.1 > point.1) != (to.1 > point.1);
                let left =
                    crosses && point.0 < from.0 + (to.0 - from.0) * (point.1 - from.1) / (to.1 - from.1);
                inside ^= left;
            }
        }
        match self.line {
            Some(width) => width / 2.0 - nearest,
            None if inside => nearest,
            None => -nearest,
        }
    }
}

fn distance_to_line(point: Point, from: Point, to: Point) -> f32 {
    let (along, off) = ((to.0 - from.0, to.1 - from.1), (point.0 - from.0, point.1 - from.1));
    let length = along.0 * along.0 + along.1 * along.1;
    let part =
        if length > 0.0 { ((off.0 * along.0 + off.1 * along.1) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (x, y) = (off.0 - part * along.0, off.1 - part * along.1);
    (x * x + y * y).sqrt()
}

fn distance(one: Color, other: Color) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

/// The chains of a path that moves and draws straight lines only.
fn chains(path: &str) -> Option<Vec<Vec<Point>>> {
    let mut chains: Vec<Vec<Point>> = Vec::new();
    let mut here: Point = (0.0, 0.0);
    if !path.is_ascii() {
        return None;
    }
    let mut rest = path.trim_start();
    while let Some(command) = rest.chars().next() {
        let end =
            rest[1..].find(|c: char| c.is_ascii_alphabetic() && c != 'e').map_or(rest.len(), |at| at + 1);
        let numbers = numbers(rest.get(1..end)?)?;
        rest = &rest[end..];
        let is_relative = command.is_ascii_lowercase();
        let from = |here: Point| if is_relative { here } else { (0.0, 0.0) };
        match command.to_ascii_uppercase() {
            'M' | 'L' => {
                for (at, pair) in numbers.chunks(2).enumerate() {
                    let [x, y] = pair else { return None };
                    here = (from(here).0 + x, from(here).1 + y);
                    if command.eq_ignore_ascii_case(&'M') && at == 0 {
                        chains.push(Vec::new());
                    }
                    chains.last_mut()?.push(here);
                }
            }
            'Z' => {
                let chain = chains.last_mut()?;
                here = *chain.first()?;
                chain.push(here);
            }
            _ => return None,
        }
    }
    Some(chains)
}

/// Numbers of a path: a sign or a second point begins the next one.
fn numbers(text: &str) -> Option<Vec<f32>> {
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    for letter in text.chars() {
        if letter.is_ascii_whitespace() || letter == ',' {
            begins = true;
            continue;
        }
        let has_point = words.last().is_some_and(|word| word.contains('.'));
        if begins || letter == '-' || (letter == '.' && has_point) {
            words.push(String::new());
        }
        begins = false;
        words.last_mut()?.push(letter);
    }
    words.iter().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Sources;

    fn read(svg: &str) -> Option<Mark> {
        Mark::read(svg, &Colors::of(&Sources::default()))
    }

    #[test]
    fn a_path_may_be_written_tersely() {
        let chains = chains("M20.4 6.2 29.6 5.8l.4 10.9-9.2.5z").expect("only straight lines");
        let wanted = [(20.4, 6.2), (29.6, 5.8), (30.0, 16.7), (20.8, 17.2), (20.4, 6.2)];
        assert_eq!(chains.len(), 1);
        for (point, wanted) in chains[0].iter().zip(wanted) {
            assert!((point.0 - wanted.0).abs() + (point.1 - wanted.1).abs() < 0.001, "{point:?} {wanted:?}");
        }
    }

    #[test]
    fn the_mark_of_the_theme_is_read_whole() {
        let mark = read(include_str!("../../../static/favicon.svg")).expect("it has straight lines only");
        let paints: Vec<(Paint, Option<f32>)> =
            mark.shapes.iter().map(|shape| (shape.paint, shape.line)).collect();
        assert_eq!(paints, [(Paint::Accent, None), (Paint::Ink, None), (Paint::Ink, Some(2.6))]);
    }

    #[test]
    fn a_mark_with_curves_is_left_out() {
        assert!(
            read("<svg viewBox=\"0 0 9 9\"><path fill=\"#ffffff\" d=\"M1 1c2 2 3 3 4 4z\"/></svg>").is_none()
        );
        assert!(read("<svg viewBox=\"0 0 9 9\"><circle r=\"4\"/></svg>").is_none());
        assert!(read("<svg viewBox=\"0 0 9 9\"></svg>").is_none());
        assert!(read("no <svg").is_none());
    }
}
