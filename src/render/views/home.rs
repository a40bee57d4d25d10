//! The home page.

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::common::Ref;
use crate::render::views::lists::ordered;
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::site::{Kind, PageId};

#[derive(Serialize)]
struct HomeView {
    categories: Vec<CategoryCard>,
    recent: Vec<Recent>,
    common: Vec<Ref>,
    guides: Vec<Ref>,
    tools: Vec<ToolCount>,
}

#[derive(Serialize)]
struct CategoryCard {
    title: String,
    href: String,
    description: String,
    count: usize,
    slug: String,
    top: Vec<Ref>,
}

#[derive(Serialize)]
struct Recent {
    title: String,
    href: String,
    date: String,
    category: String,
}

#[derive(Serialize)]
struct ToolCount {
    title: String,
    href: String,
    count: usize,
}

/// How many entries the short lists have.
const SHORT: usize = 6;

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let root = root("");
    let view = HomeView {
        categories: categories(shelf, &root),
        recent: recent(shelf, &root),
        common: common(shelf, &root),
        guides: shelf.references(&root, Kind::Guide, shelf.site().slugs(Kind::Guide)),
        tools: tools(shelf, &root),
    };
    let config = shelf.order.config;
    let plate = Plate::listing("", "home", &config.title, &config.description);
    let frame = shelf.frame(plate, (None, None));
    vec![Leaf { address: String::new(), template: "home.html", view: with_frame(frame, "home", seen(view)) }]
}

fn categories(shelf: &Shelf<'_>, root: &str) -> Vec<CategoryCard> {
    ordered(shelf)
        .into_iter()
        .map(|category| {
            let errors = shelf.errors_of(&category.head.id.slug);
            let mut by_weight = errors.to_vec();
            by_weight.sort_by_cached_key(|error| std::cmp::Reverse(pointers(shelf, &error.head.id.slug)));
            let top = by_weight.iter().take(4).map(|error| error.head.id.slug.as_str());
            CategoryCard {
                title: category.head.title.value.clone(),
                href: href(root, &category.head.id.address()),
                description: shelf.describe(&category.head),
                count: errors.len(),
                slug: category.head.id.slug.clone(),
                top: shelf.references(root, Kind::Error, top),
            }
        })
        .collect()
}

/// How many pages point at an error.
fn pointers(shelf: &Shelf<'_>, slug: &str) -> usize {
    let id = PageId::new(Kind::Error, slug);
    shelf.order.links.backlinks.get(&id.address()).map_or(0, Vec::len)
}

/// The errors that most pages point at.
fn common(shelf: &Shelf<'_>, root: &str) -> Vec<Ref> {
    let mut slugs: Vec<&str> = shelf.site().slugs(Kind::Error).collect();
    slugs.sort_by_cached_key(|slug| (std::cmp::Reverse(pointers(shelf, slug)), slug.to_string()));
    shelf.references(root, Kind::Error, slugs.into_iter().take(SHORT))
}

fn recent(shelf: &Shelf<'_>, root: &str) -> Vec<Recent> {
    let mut errors: Vec<_> = shelf
        .site()
        .errors
        .iter()
        .filter_map(|error| shelf.updated(&error.head).map(|(day, change)| (error, day, change)))
        .collect();
    // what changed says more than what was only held against its sources again
    errors.sort_by_key(|(error, day, change)| {
        (std::cmp::Reverse(*day), change.is_none(), error.head.id.slug.as_str())
    });
    errors
        .into_iter()
        .take(SHORT)
        .map(|(error, day, _)| Recent {
            title: error.head.title.value.clone(),
            href: href(root, &error.head.id.address()),
            date: day.to_string(),
            category: shelf
                .reference(root, &PageId::new(Kind::Category, error.data.category.to_lowercase()))
                .map(|category| category.title)
                .unwrap_or_default(),
        })
        .collect()
}

fn tools(shelf: &Shelf<'_>, root: &str) -> Vec<ToolCount> {
    let mut tools: Vec<ToolCount> = shelf
        .site()
        .tools
        .iter()
        .map(|tool| ToolCount {
            title: tool.head.title.value.clone(),
            href: href(root, &tool.head.id.address()),
            count: shelf.errors_naming(&tool.head.id.slug).len(),
        })
        .filter(|tool| tool.count > 0)
        .collect();
    tools.sort_by_key(|tool| (std::cmp::Reverse(tool.count), tool.title.to_lowercase()));
    tools.truncate(2 * SHORT);
    tools
}
