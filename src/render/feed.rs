//! The Atom feed of what was written or verified lately.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::files::Outputs;
use crate::render::views::Shelf;
use crate::site::{Head, Kind};

/// Most entries.
const ENTRIES: usize = 60;

/// `feed.xml`.
pub(super) fn file(shelf: &Shelf<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add("feed.xml", feed(shelf).expect("writing to memory never fails"));
    outputs
}

fn feed(shelf: &Shelf<'_>) -> std::io::Result<Vec<u8>> {
    let config = shelf.order.config;
    let mut heads: Vec<&Head> = shelf
        .site()
        .heads()
        .filter(|head| matches!(head.id.kind, Kind::Error | Kind::Guide) && head.verified.is_some())
        .collect();
    let day = |head: &Head| head.verified.as_ref().map(|date| date.value.to_string()).unwrap_or_default();
    heads.sort_by(|a, b| (day(b), &a.id).cmp(&(day(a), &b.id)));
    heads.truncate(ENTRIES);
    let updated = heads.first().map_or("1970-01-01".to_string(), |head| day(head));
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    let root = writer.create_element("feed").with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
    root.write_inner_content(|writer| {
        text(writer, "title", &config.title)?;
        text(writer, "subtitle", &config.description)?;
        text(writer, "id", &config.base_url)?;
        text(writer, "updated", &instant(&updated))?;
        let own = format!("{}feed.xml", config.base_url);
        writer
            .create_element("link")
            .with_attributes([("rel", "self"), ("type", "application/atom+xml"), ("href", own.as_str())])
            .write_empty()?;
        writer.create_element("link").with_attribute(("href", config.base_url.as_str())).write_empty()?;
        writer.create_element("author").write_inner_content(|writer| text(writer, "name", &config.title))?;
        for head in &heads {
            entry(writer, shelf, head, &day(head))?;
        }
        Ok(())
    })?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

fn entry(writer: &mut Writer<Vec<u8>>, shelf: &Shelf<'_>, head: &Head, day: &str) -> std::io::Result<()> {
    let url = format!("{}{}", shelf.order.config.base_url, head.id.address());
    writer.create_element("entry").write_inner_content(|writer| {
        text(writer, "title", &head.title.value)?;
        text(writer, "id", &url)?;
        text(writer, "updated", &instant(day))?;
        writer.create_element("link").with_attribute(("href", url.as_str())).write_empty()?;
        text(writer, "summary", &shelf.describe(head))
    })?;
    Ok(())
}

fn instant(day: &str) -> String {
    format!("{day}T00:00:00Z")
}

fn text(writer: &mut Writer<Vec<u8>>, name: &str, content: &str) -> std::io::Result<()> {
    writer.create_element(name).write_text_content(BytesText::new(content))?;
    Ok(())
}
