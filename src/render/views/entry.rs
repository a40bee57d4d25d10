//! Entries of declared collections, their lists, and declared fields.

use minijinja::value::Value;
use serde::Serialize;

use crate::custom::{Collection, FieldKind, OwnField, OwnItem, OwnValues};
use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::{SourceView, VerifiedView, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::site::kinds::EntryData;
use crate::site::{Kind, Page, PageId};

/// Values of a declared field.
#[derive(Debug, Serialize)]
pub(super) struct FieldView {
    name: String,
    label: String,
    items: Vec<ItemView>,
}

#[derive(Debug, Serialize)]
struct ItemView {
    text: String,
    href: Option<String>,
}

#[derive(Serialize)]
struct EntryView {
    title: String,
    collection: String,
    fields: Vec<FieldView>,
    body_html: Value,
    backlinks: Vec<Value>,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

#[derive(Serialize)]
struct CollectionView {
    name: String,
    entries: Vec<EntryRow>,
}

#[derive(Serialize)]
struct EntryRow {
    title: String,
    href: String,
    description: String,
    fields: Vec<FieldView>,
}

/// Returns the values of declared fields for a page with this root.
pub(super) fn field_views(
    cx: &RenderContext<'_>,
    root: &str,
    declared: &[OwnField],
    own: &[OwnValues],
) -> Vec<FieldView> {
    let view = |values: &OwnValues| {
        let field = declared.iter().find(|field| field.name.value == values.name)?;
        let items = values.items.iter().map(|item| item_view(cx, root, field, &item.value)).collect();
        Some(FieldView { name: values.name.clone(), label: field.label.clone(), items })
    };
    own.iter().filter_map(view).collect()
}

fn item_view(cx: &RenderContext<'_>, root: &str, field: &OwnField, item: &OwnItem) -> ItemView {
    let plain = |text: String| ItemView { text, href: None };
    match item {
        OwnItem::Text(url) if field.kind == FieldKind::Url => {
            let text = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest).to_string();
            ItemView { text, href: Some(url.clone()) }
        }
        OwnItem::Text(text) => {
            let label = field.words.iter().find(|(word, _)| word == text).map(|(_, label)| label);
            plain(label.unwrap_or(text).clone())
        }
        OwnItem::Integer(number) => plain(number.to_string()),
        OwnItem::Number(number) => plain(number.to_string()),
        OwnItem::Flag(true) => plain(cx.tr("yes").into()),
        OwnItem::Flag(false) => plain(cx.tr("no").into()),
        OwnItem::Entry(slug) => {
            let id = PageId::new(Kind::Entry, slug.as_str());
            match cx.head(&id) {
                Some(head) => {
                    ItemView { text: head.title.value.clone(), href: Some(href(root, &id.address())) }
                }
                None => plain(slug.clone()),
            }
        }
    }
}

/// Returns the entries of a collection, sorted by title.
pub(in crate::render) fn entries_of<'s>(
    cx: &RenderContext<'s>,
    collection: &str,
) -> Vec<&'s Page<EntryData>> {
    let entries = cx.site().entries.iter();
    let mut entries: Vec<_> = entries.filter(|entry| entry.head.id.folder() == collection).collect();
    entries.sort_by_cached_key(|entry| entry.head.title.value.to_lowercase());
    entries
}

/// Makes the list of each collection.
pub(super) fn lists(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    cx.site().collections().iter().map(|collection| list(cx, collection)).collect()
}

fn list(cx: &RenderContext<'_>, collection: &Collection) -> TemplatePage {
    let address = collection.address();
    let root = root(&address);
    let row = |entry: &Page<EntryData>| EntryRow {
        title: entry.head.title.value.clone(),
        href: href(&root, &entry.head.id.address()),
        description: cx.describe(&entry.head),
        fields: field_views(cx, &root, &collection.fields, &entry.data.own),
    };
    let name = collection.name.value.clone();
    let entries = entries_of(cx, &name).into_iter().map(row).collect();
    let meta = PageMeta::listing(&address, "entries", &collection.title, &collection.description);
    let layout = cx.layout(meta);
    let view = with_layout(layout, "collection", view_value(CollectionView { name, entries }));
    TemplatePage { view, template: "entries.html".into(), address }
}

/// Makes the page of an entry, by its index in the list of all entries.
pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let entry = &cx.site().entries[at];
    let address = entry.head.id.address();
    let root = root(&address);
    let collection = cx.inputs.config.declared.collection(entry.head.id.folder());
    let collection = collection.expect("only pages in the folders of collections are entries");
    let list = collection.address();
    let view = EntryView {
        title: entry.head.title.value.clone(),
        collection: collection.name.value.clone(),
        fields: field_views(cx, &root, &collection.fields, &entry.data.own),
        body_html: html(cx.body(&entry.head).html()),
        backlinks: cx.backlinks(&root, &entry.head.id, &[]),
        verified: cx.verified(&entry.head, None, &entry.data.evidence),
        sources: sources(cx.texts(), &entry.data.evidence),
    };
    let meta = PageMeta {
        address: &address,
        kind: "entry",
        title: &entry.head.title.value,
        description: cx.describe(&entry.head),
        trail: vec![(collection.title.clone(), &list)],
        head: Some(&entry.head),
        toc: cx.toc(&entry.head),
        noindex: false,
    };
    let layout = cx.layout(meta);
    let template = collection.template.as_ref().map_or("entry.html", |template| template.value.as_str());
    TemplatePage {
        view: with_layout(layout, "entry", view_value(view)),
        template: template.to_string().into(),
        address,
    }
}
