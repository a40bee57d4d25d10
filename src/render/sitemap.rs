//! The sitemap: all pages that search engines may list.

use quick_xml::events::BytesText;

use crate::files::Outputs;
use crate::render::views::{RenderContext, category_addresses};
use crate::render::xml;
use crate::site::Head;

/// Makes `sitemap.xml`.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add("sitemap.xml", sitemap(cx));
    outputs
}

fn sitemap(cx: &RenderContext<'_>) -> Vec<u8> {
    let base = &cx.inputs.config.base_url;
    let mut entries: Vec<(String, Option<String>)> =
        cx.site().list_addresses().map(|address| (address, None)).collect();
    entries.extend(
        cx.site()
            .heads()
            .filter(|head| head.id.kind.has_address())
            .map(|head: &Head| (head.id.address(), cx.updated(head).map(|(day, _)| day.to_string()))),
    );
    let further = |category| category_addresses(cx, category).into_iter().skip(1);
    entries.extend(cx.site().categories.iter().flat_map(further).map(|address| (address, None)));
    entries.sort();
    xml::document(|writer| {
        let root = writer
            .create_element("urlset")
            .with_attribute(("xmlns", "http://www.sitemaps.org/schemas/sitemap/0.9"));
        root.write_inner_content(|writer| {
            for (address, day) in &entries {
                writer.create_element("url").write_inner_content(|writer| {
                    let loc = format!("{base}{address}");
                    writer.create_element("loc").write_text_content(BytesText::new(&loc))?;
                    if let Some(day) = day {
                        writer.create_element("lastmod").write_text_content(BytesText::new(day))?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(())
    })
}
