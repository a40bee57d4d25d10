//! The map: which errors belong together, as a picture and as a list that says the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::error::look_alikes;
use crate::render::views::lists::ordered;
use crate::render::views::ring::{Group, Ring, Tie, ring};
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Page};

const ADDRESS: &str = "errors/map/";

/// Most errors that are drawn one by one; of more than these the map shows their categories.
const MOST: usize = 400;

#[derive(Serialize)]
struct MapView {
    /// Whether its points are categories instead of errors.
    by_category: bool,
    links: usize,
    /// None where nothing is tied to anything.
    picture: Option<Ring>,
    sections: Vec<Section>,
}

/// A category with its points, or with itself as the only one.
#[derive(Serialize)]
struct Section {
    id: String,
    title: String,
    href: String,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    id: String,
    title: String,
    href: String,
    neighbours: Vec<Neighbour>,
}

#[derive(Serialize)]
struct Neighbour {
    id: String,
    title: String,
    /// Links between the two.
    links: usize,
    /// Whether their messages alone tie them.
    alike: bool,
}

/// Ties by their ends, the lower number first.
type Ties = BTreeMap<(usize, usize), Tie>;

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let description = shelf.say("Which errors belong together, and which messages are taken for each other.");
    let mut plate = Plate::listing(ADDRESS, "map", shelf.say("Map of the errors"), description);
    plate.trail = vec![(shelf.say("Errors").into(), "errors/")];
    let frame = shelf.frame(plate, (None, None));
    let view = with_frame(frame, "map", seen(view(shelf)));
    vec![Leaf { address: ADDRESS.into(), template: "map.html", view }]
}

/// Where the map shows an error, from a page with this root.
pub(super) fn place_of(shelf: &Shelf<'_>, root: &str, error: &Page<ErrorData>) -> String {
    let slug = if is_by_category(shelf) { &error.data.category } else { &error.head.id.slug };
    href(root, &format!("{ADDRESS}#{}", id(slug)))
}

/// The prefix keeps names of pages away from the ids that every page has.
fn id(slug: &str) -> String {
    format!("at-{slug}")
}

fn is_by_category(shelf: &Shelf<'_>) -> bool {
    shelf.site().errors.len() > MOST
}

fn view(shelf: &Shelf<'_>) -> MapView {
    let by_category = is_by_category(shelf);
    let root = root(ADDRESS);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut heads: Vec<&Head> = Vec::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    for category in ordered(shelf) {
        let slug = category.head.id.slug.as_str();
        let errors = shelf.errors_of(slug);
        let first = heads.len();
        if by_category {
            heads.push(&category.head);
            numbers.extend(errors.iter().map(|error| (error.head.id.slug.as_str(), first)));
        } else {
            heads.extend(errors.iter().map(|error| &error.head));
            numbers.extend(errors.iter().map(|error| error.head.id.slug.as_str()).zip(first..));
        }
        let title = &category.head.title.value;
        let weights = if by_category { vec![errors.len()] } else { vec![1; errors.len()] };
        groups.push(Group { title, weights });
        sections.push(Section {
            id: format!("of-{slug}"),
            title: title.clone(),
            href: href(&root, &category.head.id.address()),
            points: heads[first..].iter().map(|head| point(head, &root)).collect(),
        });
    }
    let ties = ties(shelf, &numbers);
    let mut points: Vec<&mut Point> = sections.iter_mut().flat_map(|section| &mut section.points).collect();
    for tie in ties.values() {
        for (own, other) in [tie.ends, (tie.ends.1, tie.ends.0)] {
            points[own].neighbours.push(Neighbour {
                id: id(&heads[other].id.slug),
                title: heads[other].title.value.clone(),
                links: tie.links,
                alike: tie.alike,
            });
        }
    }
    let drawn: Vec<Tie> = ties.into_values().collect();
    MapView {
        by_category,
        links: drawn.iter().map(|tie| tie.links).sum(),
        picture: (!drawn.is_empty()).then(|| ring(&groups, &drawn)),
        sections,
    }
}

fn point(head: &Head, root: &str) -> Point {
    Point {
        id: id(&head.id.slug),
        title: head.title.value.clone(),
        href: href(root, &head.id.address()),
        neighbours: Vec::new(),
    }
}

/// What ties points together, each pair of errors once; `numbers` has the point of each error.
fn ties(shelf: &Shelf<'_>, numbers: &BTreeMap<&str, usize>) -> Ties {
    let mut ties = Ties::new();
    let mut pairs = BTreeSet::new();
    for alike in [false, true] {
        for error in &shelf.site().errors {
            let slug = error.head.id.slug.as_str();
            let others: Vec<&str> = match alike {
                true => look_alikes(shelf, error),
                false => error.data.related.iter().map(|other| other.value.as_str()).collect(),
            };
            for other in others {
                let (Some(from), Some(to)) = (numbers.get(slug), numbers.get(other)) else { continue };
                if !pairs.insert((slug.min(other), slug.max(other))) || from == to {
                    continue;
                }
                let ends = (*from.min(to), *from.max(to));
                let tie = ties.entry(ends).or_insert(Tie { ends, links: 0, alike });
                tie.links += 1;
            }
        }
    }
    ties
}
