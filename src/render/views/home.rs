//! The home page.

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::common::Ref;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::lists::ordered_categories;
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

/// Maximum length of short lists.
const MAX_ENTRIES: usize = 6;

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let root = root("");
    let view = HomeView {
        categories: categories(cx, &root),
        recent: recent(cx, &root),
        common: most_linked(cx, &root),
        guides: cx.references(&root, Kind::Guide, cx.site().slugs(Kind::Guide)),
        tools: tools(cx, &root),
    };
    let config = cx.inputs.config;
    let meta = PageMeta::listing("", "home", &config.title, &config.description);
    let layout = cx.layout(meta, (None, None));
    vec![TemplatePage {
        address: String::new(),
        template: "home.html",
        view: with_layout(layout, "home", view_value(view)),
    }]
}

fn categories(cx: &RenderContext<'_>, root: &str) -> Vec<CategoryCard> {
    ordered_categories(cx)
        .into_iter()
        .map(|category| {
            let errors = cx.errors_of(&category.head.id.slug);
            let mut by_weight = errors.to_vec();
            by_weight.sort_by_cached_key(|error| std::cmp::Reverse(count_backlinks(cx, &error.head.id.slug)));
            let top = by_weight.iter().take(4).map(|error| error.head.id.slug.as_str());
            CategoryCard {
                title: category.head.title.value.clone(),
                href: href(root, &category.head.id.address()),
                description: cx.describe(&category.head),
                count: errors.len(),
                slug: category.head.id.slug.clone(),
                top: cx.references(root, Kind::Error, top),
            }
        })
        .collect()
}

/// Returns the number of pages that link to an error.
fn count_backlinks(cx: &RenderContext<'_>, slug: &str) -> usize {
    let id = PageId::new(Kind::Error, slug);
    cx.inputs.links.backlinks.get(&id.address()).map_or(0, Vec::len)
}

/// Returns the errors that most pages link to.
fn most_linked(cx: &RenderContext<'_>, root: &str) -> Vec<Ref> {
    let mut slugs: Vec<&str> = cx.site().slugs(Kind::Error).collect();
    slugs.sort_by_cached_key(|slug| (std::cmp::Reverse(count_backlinks(cx, slug)), slug.to_string()));
    cx.references(root, Kind::Error, slugs.into_iter().take(MAX_ENTRIES))
}

fn recent(cx: &RenderContext<'_>, root: &str) -> Vec<Recent> {
    let mut errors: Vec<_> = cx
        .site()
        .errors
        .iter()
        .filter_map(|error| cx.updated(&error.head).map(|(day, change)| (error, day, change)))
        .collect();
    // Changes are more informative than mere verifications.
    errors.sort_by_key(|(error, day, change)| {
        (std::cmp::Reverse(*day), change.is_none(), error.head.id.slug.as_str())
    });
    errors
        .into_iter()
        .take(MAX_ENTRIES)
        .map(|(error, day, _)| Recent {
            title: error.head.title.value.clone(),
            href: href(root, &error.head.id.address()),
            date: day.to_string(),
            category: cx
                .reference(root, &PageId::new(Kind::Category, error.data.category.to_lowercase()))
                .map(|category| category.title)
                .unwrap_or_default(),
        })
        .collect()
}

fn tools(cx: &RenderContext<'_>, root: &str) -> Vec<ToolCount> {
    let mut tools: Vec<ToolCount> = cx
        .site()
        .tools
        .iter()
        .map(|tool| ToolCount {
            title: tool.head.title.value.clone(),
            href: href(root, &tool.head.id.address()),
            count: cx.errors_naming(&tool.head.id.slug).len(),
        })
        .filter(|tool| tool.count > 0)
        .collect();
    tools.sort_by_key(|tool| (std::cmp::Reverse(tool.count), tool.title.to_lowercase()));
    tools.truncate(2 * MAX_ENTRIES);
    tools
}
