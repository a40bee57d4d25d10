//! The home page.

use minijinja::value::Value;
use serde::Serialize;

use crate::custom::Collection;
use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::entry::entries_of;
use crate::render::views::lists::{ordered_categories, ordered_guides};
use crate::site::kinds::CategoryData;
use crate::site::{Kind, Page, PageId};

#[derive(Serialize)]
struct HomeView {
    sections: Vec<String>,
    categories: Vec<CategoryCount>,
    common: Vec<Value>,
    guides: Vec<Value>,
    tools: Vec<ToolCount>,
    collections: Vec<CollectionView>,
}

#[derive(Serialize)]
struct CollectionView {
    name: String,
    title: String,
    href: String,
    entries: Vec<Value>,
}

#[derive(Serialize)]
struct CategoryCount {
    title: String,
    href: String,
    count: usize,
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
        sections: cx.inputs.config.declared.home.clone(),
        categories: categories(cx, &root),
        common: most_linked(cx, &root),
        guides: guides(cx, &root),
        tools: tools(cx, &root),
        collections: cx.site().collections().iter().map(|own| collection(cx, &root, own)).collect(),
    };
    let config = cx.inputs.config;
    let meta = PageMeta::listing("", "home", &config.title, &config.description);
    let layout = cx.layout(meta);
    vec![TemplatePage {
        address: String::new(),
        template: "home.html".into(),
        view: with_layout(layout, "home", view_value(view)),
    }]
}

fn categories(cx: &RenderContext<'_>, root: &str) -> Vec<CategoryCount> {
    let count = |category: &Page<CategoryData>| CategoryCount {
        title: category.head.title.value.clone(),
        href: href(root, &category.head.id.address()),
        count: cx.errors_of(&category.head.id.slug).len(),
    };
    ordered_categories(cx).into_iter().map(count).collect()
}

/// Returns the first guides in the order of the list of guides.
fn guides(cx: &RenderContext<'_>, root: &str) -> Vec<Value> {
    let slugs = ordered_guides(cx).into_iter().map(|guide| guide.head.id.slug.as_str());
    cx.references(root, Kind::Guide, slugs.take(MAX_ENTRIES))
}

/// Returns a collection with its first entries.
fn collection(cx: &RenderContext<'_>, root: &str, collection: &Collection) -> CollectionView {
    let name = collection.name.value.clone();
    let entries = entries_of(cx, &name).into_iter().take(MAX_ENTRIES);
    CollectionView {
        entries: entries.filter_map(|entry| cx.reference(root, &entry.head.id)).collect(),
        title: collection.title.clone(),
        href: href(root, &collection.address()),
        name,
    }
}

/// Returns the number of pages that link to an error.
fn count_backlinks(cx: &RenderContext<'_>, slug: &str) -> usize {
    let id = PageId::new(Kind::Error, slug);
    cx.inputs.links.backlinks.get(&id.address()).map_or(0, Vec::len)
}

/// Returns the errors that most pages link to.
fn most_linked(cx: &RenderContext<'_>, root: &str) -> Vec<Value> {
    let mut slugs: Vec<&str> = cx.site().slugs(Kind::Error).collect();
    slugs.sort_by_cached_key(|slug| (std::cmp::Reverse(count_backlinks(cx, slug)), slug.to_string()));
    cx.references(root, Kind::Error, slugs.into_iter().take(MAX_ENTRIES))
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
