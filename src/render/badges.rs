//! Badges for READMEs: an SVG image per model with the smallest GPU memory size that it runs on.

use quick_xml::Writer;
use quick_xml::events::BytesText;

use crate::files::Outputs;
use crate::i18n::{Translations, text};
use crate::render::views::{RenderContext, RunsOn};
use crate::render::xml;
use crate::site::format_count;

/// Text on the left.
const LABEL: &str = text("runs on");

/// Makes `badges/<slug>.svg` for every covered model.
pub(super) fn files(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    for model in &cx.site().models {
        if let Some(answer) = cx.runs_on(model) {
            let texts = cx.texts();
            let title = sentence(texts, &model.head.title.value, &answer);
            let picture = picture(&title, texts.tr(LABEL), &memory(texts, &answer))
                .expect("writing to memory never fails");
            outputs.add(answer.badge, picture);
        }
    }
    outputs
}

/// Returns the text on the right: `12 GB`, the size as sold.
fn memory(texts: &Translations, answer: &RunsOn<'_>) -> String {
    answer.card.map_or_else(|| texts.tr("several GPUs").into(), |card| format!("{} GB", card.memory_gib))
}

/// Returns the alternative text of a badge.
pub(super) fn sentence(texts: &Translations, model: &str, answer: &RunsOn<'_>) -> String {
    let run = texts.fill(
        "{quant}, {n} tokens of context",
        &[("quant", &answer.run.quant_name), ("n", &format_count(answer.run.ctx))],
    );
    match answer.card {
        Some(card) => texts.fill(
            "{model} runs on a {n} GB GPU ({run})",
            &[("model", &model), ("n", &card.memory_gib), ("run", &run)],
        ),
        None => {
            texts.fill("{model} is larger than any single GPU ({run})", &[("model", &model), ("run", &run)])
        }
    }
}

/// Returns the width of the badge in pixels.
pub(super) fn width_of(texts: &Translations, answer: &RunsOn<'_>) -> usize {
    part(texts.tr(LABEL)) + part(&memory(texts, answer))
}

/// Horizontal margin of a text in pixels.
const MARGIN: usize = 6;

/// Returns the width of one half in pixels.
fn part(text: &str) -> usize {
    width(text) + 2 * MARGIN
}

/// Returns the width of a text in pixels. The image forces this width, since fonts differ between readers.
fn width(text: &str) -> usize {
    text.chars().count() * 13 / 2
}

fn picture(title: &str, label: &str, value: &str) -> std::io::Result<Vec<u8>> {
    let (left, right) = (part(label), part(value));
    let whole = (left + right).to_string();
    let mut writer = Writer::new(Vec::new());
    let svg = writer.create_element("svg").with_attributes([
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", whole.as_str()),
        ("height", "20"),
        ("role", "img"),
        ("aria-label", title),
    ]);
    svg.write_inner_content(|writer| {
        writer.create_element("title").write_text_content(BytesText::new(title))?;
        for (x, width, color) in [(0, left, "#45545d"), (left, right, "#ffb91f")] {
            let (x, width) = (x.to_string(), width.to_string());
            let attributes =
                [("x", x.as_str()), ("width", width.as_str()), ("height", "20"), ("fill", color)];
            writer.create_element("rect").with_attributes(attributes).write_empty()?;
        }
        let texts = writer
            .create_element("g")
            .with_attributes([("font-family", "Verdana,DejaVu Sans,sans-serif"), ("font-size", "11")]);
        texts.write_inner_content(|writer| {
            for (x, text, color) in [(MARGIN, label, "#ffffff"), (left + MARGIN, value, "#15212a")] {
                let (x, width) = (x.to_string(), width(text).to_string());
                let attributes =
                    [("x", x.as_str()), ("y", "14"), ("textLength", width.as_str()), ("fill", color)];
                writer
                    .create_element("text")
                    .with_attributes(attributes)
                    .write_text_content(BytesText::new(text))?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(xml::file(writer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_markup_stays_text() {
        let picture =
            String::from_utf8(picture("<b> & \"c\"", "runs on", "8 GB").expect("memory")).expect("UTF-8");
        assert!(picture.contains("<title>&lt;b&gt; &amp;"), "{picture}");
        assert!(!picture.contains("<b>"), "{picture}");
    }
}
