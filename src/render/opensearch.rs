//! OpenSearch description, which lets browsers offer the site's search.
//!
//! Elements and their maximum lengths: <https://github.com/dewitt/opensearch/blob/master/opensearch-1-1-draft-6.md>.

use quick_xml::events::BytesText;

use crate::files::Outputs;
use crate::render::views::RenderContext;
use crate::render::xml;

/// Makes `opensearch.xml`.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add("opensearch.xml", description(cx));
    outputs
}

fn description(cx: &RenderContext<'_>) -> Vec<u8> {
    let config = cx.inputs.config;
    let base = &config.base_url;
    xml::document(|writer| {
        let root = writer
            .create_element("OpenSearchDescription")
            .with_attribute(("xmlns", "http://a9.com/-/spec/opensearch/1.1/"));
        root.write_inner_content(|writer| {
            let mut text = |name: &str, content: &str| {
                writer.create_element(name).write_text_content(BytesText::new(content)).map(|_| ())
            };
            text("ShortName", &truncate_at_word(&config.title, 16))?;
            text("LongName", &truncate_at_word(&config.title, 48))?;
            text("Description", &truncate_at_word(&config.description, 1024))?;
            text("Language", &config.language)?;
            text("InputEncoding", "UTF-8")?;
            text("OutputEncoding", "UTF-8")?;
            let mut url = |kind: &str, role: &str, template: &str| {
                let attributes = [("type", kind), ("rel", role), ("template", template)];
                writer.create_element("Url").with_attributes(attributes).write_empty().map(|_| ())
            };
            url("text/html", "results", &format!("{base}search/?q={{searchTerms}}"))?;
            url("application/opensearchdescription+xml", "self", &format!("{base}opensearch.xml"))?;
            if let Some(icon) = cx.assets.path("favicon.svg") {
                writer
                    .create_element("Image")
                    .with_attributes([("width", "16"), ("height", "16"), ("type", "image/svg+xml")])
                    .write_text_content(BytesText::new(&format!("{base}{icon}")))?;
            }
            Ok(())
        })?;
        Ok(())
    })
}

/// Returns the words of a text that fit into a number of characters; truncates a longer first word.
fn truncate_at_word(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let cut: String = text.chars().take(most + 1).collect();
    let end = cut.rfind(' ').unwrap_or_else(|| cut.char_indices().last().map_or(0, |(at, _)| at));
    cut[..end].trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::truncate_at_word;

    #[test]
    fn truncates_long_names_at_words() {
        assert_eq!(truncate_at_word("Local LLM Errors", 16), "Local LLM Errors");
        assert_eq!(truncate_at_word("Errors of local models", 16), "Errors of local");
        assert_eq!(truncate_at_word("Unausstehlichkeiten", 16), "Unausstehlichkei");
    }
}
