//! Atom feeds (RFC 4287) of recently written, verified or changed pages.

use std::cmp::Reverse;

use jiff::civil::Date;
use quick_xml::Writer;
use quick_xml::events::BytesText;

use crate::files::Outputs;
use crate::render::views::RenderContext;
use crate::render::xml;
use crate::site::{Head, Kind};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 60;

/// A feed: address, title, the page that it belongs to, and its pages.
struct Feed<'f> {
    address: String,
    title: String,
    subtitle: String,
    page: String,
    heads: Vec<&'f Head>,
}

/// A page in a feed, with the date of its latest verification or change, and that change.
struct FeedEntry<'f> {
    head: &'f Head,
    day: Date,
    change: Option<&'f str>,
}

/// Returns the address of the feed of a category.
pub(super) fn of_category(address: &str) -> String {
    format!("{address}feed.xml")
}

/// Makes `feed.xml` with all pages, and `categories/<slug>/feed.xml` with the errors of each category.
pub(super) fn files(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let config = cx.inputs.config;
    let site = cx.site();
    let everything = Feed {
        address: "feed.xml".into(),
        title: config.title.clone(),
        subtitle: config.description.clone(),
        page: String::new(),
        heads: site.heads().filter(|head| matches!(head.id.kind, Kind::Error | Kind::Guide)).collect(),
    };
    let categories = site.categories.iter().map(|category| {
        let page = category.head.id.address();
        Feed {
            address: of_category(&page),
            title: format!("{}: {}", config.title, category.head.title.value),
            subtitle: cx.describe(&category.head),
            heads: cx.errors_of(&category.head.id.slug).iter().map(|error| &error.head).collect(),
            page,
        }
    });
    for feed in std::iter::once(everything).chain(categories) {
        let bytes = document(cx, &feed);
        outputs.add(feed.address, bytes);
    }
    outputs
}

fn document(cx: &RenderContext<'_>, feed: &Feed<'_>) -> Vec<u8> {
    let config = cx.inputs.config;
    let base = &config.base_url;
    let mut entries: Vec<FeedEntry<'_>> = feed
        .heads
        .iter()
        .filter_map(|head| cx.updated(head).map(|(day, change)| FeedEntry { head, day, change }))
        .collect();
    entries.sort_by_key(|entry| (Reverse(entry.day), &entry.head.id));
    entries.truncate(MAX_ENTRIES);
    let updated = entries.first().map_or(Date::constant(1970, 1, 1), |entry| entry.day);
    xml::document(|writer| {
        let root = writer.create_element("feed").with_attributes([
            ("xmlns", "http://www.w3.org/2005/Atom"),
            ("xml:lang", config.language.as_str()),
        ]);
        root.write_inner_content(|writer| {
            text(writer, "title", &feed.title)?;
            if !feed.subtitle.is_empty() {
                text(writer, "subtitle", &feed.subtitle)?;
            }
            let page = format!("{base}{}", feed.page);
            text(writer, "id", &page)?;
            text(writer, "updated", &instant(updated))?;
            let own = format!("{base}{}", feed.address);
            writer
                .create_element("link")
                .with_attributes([("rel", "self"), ("type", "application/atom+xml"), ("href", own.as_str())])
                .write_empty()?;
            writer.create_element("link").with_attribute(("href", page.as_str())).write_empty()?;
            writer
                .create_element("author")
                .write_inner_content(|writer| text(writer, "name", &config.title))?;
            text(writer, "rights", &config.license)?;
            for each in &entries {
                entry(writer, cx, each)?;
            }
            Ok(())
        })?;
        Ok(())
    })
}

fn entry(writer: &mut Writer<Vec<u8>>, cx: &RenderContext<'_>, entry: &FeedEntry<'_>) -> std::io::Result<()> {
    let head = entry.head;
    let url = format!("{}{}", cx.inputs.config.base_url, head.id.address());
    writer.create_element("entry").write_inner_content(|writer| {
        text(writer, "title", &head.title.value)?;
        text(writer, "id", &url)?;
        text(writer, "updated", &instant(entry.day))?;
        writer.create_element("link").with_attribute(("href", url.as_str())).write_empty()?;
        let about = cx.describe(head);
        match entry.change {
            Some(change) => {
                text(writer, "summary", &format!("Changed: {}. {about}", change.trim_end_matches('.')))
            }
            None => text(writer, "summary", &about),
        }
    })?;
    Ok(())
}

fn instant(day: Date) -> String {
    format!("{day}T00:00:00Z")
}

fn text(writer: &mut Writer<Vec<u8>>, name: &str, content: &str) -> std::io::Result<()> {
    writer.create_element(name).write_text_content(BytesText::new(content))?;
    Ok(())
}
