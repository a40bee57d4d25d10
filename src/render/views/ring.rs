//! Groups of points around a circle and the curves between them: the geometry of a map, in whole units from its middle.
//!
//! Curves between two groups share the points that bend them, so that they run together as a bundle: D. Holten,
//! “Hierarchical Edge Bundles”, 2006, with one level of groups.

use std::f64::consts::{PI, TAU};

use serde::Serialize;

/// Half of the picture's width and height.
const HALF: (f64, f64) = (520.0, 350.0);
/// Where curves end, where strokes begin, and how long the longest and the shortest of them are.
const INNER: f64 = 272.0;
const RIM: f64 = 280.0;
const STROKE: (f64, f64) = (7.0, 30.0);
/// Share of the circle that is left open between groups, and the most of it between two.
const OPEN: f64 = 0.2;
const GAP: f64 = 0.05;
/// Where names of groups stand beside the circle, the height of a line, and the room between two names.
const BESIDE: f64 = 346.0;
const LINE: f64 = 19.0;
const APART: f64 = 12.0;
/// Most letters of a line.
const LETTERS: usize = 20;

/// A group of points, and how much of the circle each of them takes.
#[derive(Debug)]
pub(super) struct Group<'s> {
    /// Its name.
    pub title: &'s str,
    /// A number a point.
    pub weights: Vec<usize>,
}

/// A line between two points, counted through all groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    /// Its ends.
    pub ends: (usize, usize),
    /// How many links it stands for.
    pub links: usize,
    /// Whether it stands for likeness alone.
    pub alike: bool,
}

/// All that is drawn.
#[derive(Debug, Serialize)]
pub(super) struct Ring {
    width: f64,
    height: f64,
    rim: f64,
    strokes: Vec<Stroke>,
    sectors: Vec<Sector>,
    curves: Vec<Curve>,
}

/// A point: a stroke at the rim, the longer the more ties it has.
#[derive(Debug, Serialize)]
struct Stroke {
    /// Clockwise from the top, in degrees.
    at: f64,
    length: f64,
    /// Of the circle, as wide as it may be met.
    width: f64,
}

/// A group: an arc below its strokes, and a name beside the circle with a line that leads to it.
#[derive(Debug, Serialize)]
struct Sector {
    arc: String,
    name: Option<Name>,
}

#[derive(Debug, Serialize)]
struct Name {
    lines: Vec<String>,
    lead: String,
    x: f64,
    y: f64,
    /// As `text-anchor` takes it.
    anchor: &'static str,
}

#[derive(Debug, Serialize)]
struct Curve {
    from: usize,
    to: usize,
    path: String,
    width: f64,
    alike: bool,
}

/// Where a group begins and ends, clockwise from the top in radians.
#[derive(Clone, Copy)]
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    fn middle(self) -> f64 {
        f64::midpoint(self.from, self.to)
    }
}

/// The picture of some groups.
pub(super) fn ring(groups: &[Group<'_>], ties: &[Tie]) -> Ring {
    let spans = spans(groups);
    let points = points(groups, &spans);
    let mut counts = vec![0; points.len()];
    for tie in ties {
        counts[tie.ends.0] += tie.links;
        counts[tie.ends.1] += tie.links;
    }
    let most = counts.iter().copied().max().unwrap_or_default().max(1) as f64;
    let strokes = points.iter().zip(&counts).map(|((_, span), count)| Stroke {
        at: hundredths(span.middle().to_degrees()),
        length: (STROKE.0 + (STROKE.1 - STROKE.0) * (*count as f64 / most).sqrt()).round(),
        width: hundredths((span.to - span.from) * RIM).min(120.0),
    });
    let heaviest = ties.iter().map(|tie| tie.links).max().unwrap_or(1) as f64;
    let curves = ties.iter().map(|tie| Curve {
        from: tie.ends.0,
        to: tie.ends.1,
        path: curve(points[tie.ends.0], points[tie.ends.1], &spans),
        width: if heaviest > 1.0 { hundredths(1.0 + 9.0 * tie.links as f64 / heaviest) } else { 1.0 },
        alike: tie.alike,
    });
    Ring {
        width: 2.0 * HALF.0,
        height: 2.0 * HALF.1,
        rim: RIM,
        strokes: strokes.collect(),
        sectors: sectors(groups, &spans),
        curves: curves.collect(),
    }
}

fn spans(groups: &[Group<'_>]) -> Vec<Span> {
    let total: usize = groups.iter().flat_map(|group| &group.weights).sum();
    let gap = match groups.len() {
        0 | 1 => 0.0,
        several => (TAU * OPEN / several as f64).min(GAP),
    };
    let unit = (TAU - gap * groups.len() as f64) / total.max(1) as f64;
    let mut at = gap / 2.0;
    groups
        .iter()
        .map(|group| {
            let span = Span { from: at, to: at + unit * group.weights.iter().sum::<usize>() as f64 };
            at = span.to + gap;
            span
        })
        .collect()
}

/// The group of every point, and its part of the circle.
fn points(groups: &[Group<'_>], spans: &[Span]) -> Vec<(usize, Span)> {
    let mut points = Vec::new();
    for (number, (group, span)) in groups.iter().zip(spans).enumerate() {
        let unit = (span.to - span.from) / group.weights.iter().sum::<usize>().max(1) as f64;
        let mut at = span.from;
        for weight in &group.weights {
            let to = at + unit * *weight as f64;
            points.push((number, Span { from: at, to }));
            at = to;
        }
    }
    points
}

/// From rim to rim: within a group a shallow bow, else past a point of each group, the nearer the middle the further
/// the two are apart.
fn curve(from: (usize, Span), to: (usize, Span), spans: &[Span]) -> String {
    let (start, end) = (from.1.middle(), to.1.middle());
    let ends = (place(start, INNER), place(end, INNER));
    if from.0 == to.0 {
        let bend = place(f64::midpoint(start, end), INNER * (0.86 - 0.5 * apart(start, end) / PI));
        return format!("M{}Q{} {}", ends.0, bend, ends.1);
    }
    let middles = (spans[from.0].middle(), spans[to.0].middle());
    let depth = INNER * (0.72 - 0.62 * apart(middles.0, middles.1) / PI);
    format!("M{}C{} {} {}", ends.0, place(middles.0, depth), place(middles.1, depth), ends.1)
}

/// The angle between two angles, at most half a circle.
fn apart(one: f64, other: f64) -> f64 {
    let angle = (one - other).abs() % TAU;
    angle.min(TAU - angle)
}

fn sectors(groups: &[Group<'_>], spans: &[Span]) -> Vec<Sector> {
    let mut names = names(groups, spans);
    let arc = |span: &Span| {
        let edge = RIM - 4.0;
        // an arc that ends where it begins would not be drawn
        let to = span.to.min(span.from + TAU - 0.01);
        let long = usize::from(to - span.from > PI);
        format!("M{}A{edge} {edge} 0 {long} 1 {}", place(span.from, edge), place(to, edge))
    };
    spans.iter().enumerate().map(|(at, span)| Sector { arc: arc(span), name: names[at].take() }).collect()
}

/// Names to the right and to the left, each as near to its group as the others let it; where there are too many, those
/// of the smallest groups are left out.
fn names(groups: &[Group<'_>], spans: &[Span]) -> Vec<Option<Name>> {
    let mut names: Vec<Option<Name>> = groups.iter().map(|_| None).collect();
    for (side, anchor) in [(1.0, "start"), (-1.0, "end")] {
        let is_here = |at: &usize| (spans[*at].middle() < PI) == (side > 0.0);
        let mut here: Vec<usize> = (0..groups.len()).filter(is_here).collect();
        let lines: Vec<Vec<String>> = groups.iter().map(|group| lines(group.title)).collect();
        let tall = |at: &usize| lines[*at].len() as f64 * LINE + APART;
        while here.iter().map(tall).sum::<f64>() > 2.0 * HALF.1 {
            let size = |at: &usize| groups[*at].weights.iter().sum::<usize>();
            let Some(least) = here.iter().copied().min_by_key(size) else { break };
            here.retain(|at| *at != least);
        }
        here.sort_by(|a, b| height(spans[*a]).total_cmp(&height(spans[*b])));
        let wanted: Vec<(f64, f64)> = here.iter().map(|at| (height(spans[*at]), tall(at))).collect();
        for (at, y) in here.iter().zip(settle(&wanted)) {
            let knee = side * (BESIDE - 18.0);
            let lead = format!(
                "M{}L{knee} {}H{}",
                place(spans[*at].middle(), RIM + STROKE.1 + 4.0),
                y.round(),
                side * (BESIDE - 6.0)
            );
            let first = y - (lines[*at].len() as f64 - 1.0) * LINE / 2.0 + 5.0;
            names[*at] =
                Some(Name { lines: lines[*at].clone(), lead, x: side * BESIDE, y: first.round(), anchor });
        }
    }
    names
}

fn height(span: Span) -> f64 {
    -(RIM + STROKE.1) * span.middle().cos()
}

/// Middles of names, from the top, that do not touch: each asks for a place and has a height.
fn settle(wanted: &[(f64, f64)]) -> Vec<f64> {
    let mut places: Vec<f64> = wanted.iter().map(|(y, _)| *y).collect();
    let mut free = -HALF.1;
    for (place, (_, tall)) in places.iter_mut().zip(wanted) {
        *place = place.max(free + tall / 2.0);
        free = *place + tall / 2.0;
    }
    let mut free = HALF.1;
    for (place, (_, tall)) in places.iter_mut().zip(wanted).rev() {
        *place = place.min(free - tall / 2.0);
        free = *place - tall / 2.0;
    }
    places
}

/// A name in lines, broken between its words.
fn lines(title: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in title.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + word.chars().count() < LETTERS) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}

/// A place on the picture, as paths take it.
fn place(angle: f64, radius: f64) -> String {
    let (x, y) = ((radius * angle.sin()).round(), (-radius * angle.cos()).round());
    // no `-0`
    format!("{} {}", x + 0.0, y + 0.0)
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(title: &str, count: usize) -> Group<'_> {
        Group { title, weights: vec![1; count] }
    }

    fn numbers(path: &str) -> Vec<f64> {
        let parts = path.split(|letter: char| !letter.is_ascii_digit() && letter != '-' && letter != '.');
        parts.filter_map(|part| part.parse().ok()).collect()
    }

    #[test]
    fn strokes_go_round_the_circle_in_order_and_never_touch() {
        let ring = ring(&[group("A", 40), group("B", 2), group("C", 1)], &[]);
        let strokes = &ring.strokes;
        for pair in strokes.windows(2) {
            let way = (pair[1].at - pair[0].at).to_radians() * RIM;
            assert!(way + 0.5 >= f64::midpoint(pair[0].width, pair[1].width).min(way), "{pair:?}");
            assert!(pair[0].at < pair[1].at);
        }
        assert_eq!(strokes.len(), 43);
        assert!(strokes.iter().all(|stroke| (0.0..360.0).contains(&stroke.at)));
    }

    #[test]
    fn curves_begin_and_end_inside_the_rim_and_those_of_two_groups_run_together() {
        let tie = |from, to| Tie { ends: (from, to), links: 1, alike: false };
        let ring = ring(&[group("A", 4), group("B", 4)], &[tie(0, 4), tie(1, 5), tie(0, 1)]);
        let bends: Vec<Vec<f64>> =
            ring.curves[..2].iter().map(|curve| numbers(&curve.path)[2..6].to_vec()).collect();
        assert_eq!(bends[0], bends[1]);
        for curve in &ring.curves {
            let ends = numbers(&curve.path);
            for end in [&ends[..2], &ends[ends.len() - 2..]] {
                assert!((end[0].hypot(end[1]) - INNER).abs() < 1.5, "{}", curve.path);
            }
        }
    }

    #[test]
    fn names_stand_inside_the_picture_and_apart() {
        let titles: Vec<String> = (0..30).map(|at| format!("A category with a long name {at}")).collect();
        let groups: Vec<Group<'_>> =
            titles.iter().enumerate().map(|(at, title)| group(title, 1 + at % 7)).collect();
        let ring = ring(&groups, &[]);
        let named: Vec<&Name> = ring.sectors.iter().filter_map(|sector| sector.name.as_ref()).collect();
        assert!(named.len() > 20, "{} names", named.len());
        for name in &named {
            let bottom = name.y + LINE * (name.lines.len() as f64 - 1.0);
            assert!(name.y - 12.0 >= -HALF.1 && bottom <= HALF.1, "{name:?}");
            let touching = named
                .iter()
                .filter(|other| other.anchor == name.anchor && other.y >= name.y && other.y < bottom + LINE);
            assert_eq!(touching.count(), 1, "{name:?}");
        }
    }

    #[test]
    fn a_single_point_and_none_at_all_are_drawn_too() {
        assert_eq!(ring(&[], &[]).strokes.len(), 0);
        let one = ring(&[group("A", 1)], &[]);
        assert!(one.sectors[0].arc.contains(" 1 1 "), "{}", one.sectors[0].arc);
    }
}
