//! Samples of extractors without a match or with other figures than expected.

use kbgen_signature::{Expression, Figure, Figures};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::kinds::SampleText;

pub(super) const RULE: Rule = Rule {
    code: "wrong-figure",
    requirement: "samples of an extractor yield the listed figures",
    why: "conclusions from wrong figures mislead readers",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let extractors = context.site.extractors.iter();
    let clear = extractors.filter(|page| context.compiled().is_complete(&page.head.id.slug));
    let samples = clear.flat_map(|page| &page.data.samples);
    samples.flat_map(|sample| wrong(context, sample)).collect()
}

fn wrong(context: &CheckContext<'_>, SampleText { text, figures }: &SampleText) -> Vec<Diagnostic> {
    // The page with the most figures uses the extractor, if any page does.
    let hits = context.compiled().index.diagnose(&text.value).matches;
    let Some(hit) = hits.into_iter().max_by_key(|hit| hit.figures.len()) else {
        if !context.compiled().is_all_complete() {
            return Vec::new();
        }
        let message = "no page matches this sample";
        return vec![
            Diagnostic::error(&RULE, text.span, message)
                .help("add a signature with this extractor that matches it, or remove the sample"),
        ];
    };
    let differs = figures.iter().filter(|(name, wanted)| !is_read(&hit.figures, &name.value, &wanted.value));
    differs
        .map(|(name, wanted)| {
            let read = match hit.figures.get(&name.value) {
                Some(Figure::Number(number)) => format!("has the value {number}"),
                Some(Figure::Text(text)) => format!("has the value `{text}`"),
                None => "is not found".to_string(),
            };
            Diagnostic::error(&RULE, wanted.span, format!("`{}` {read}", name.value))
                .help("fix the patterns of the extractor, or the figure")
        })
        .collect()
}

/// Tolerance in bytes, since a figure and its inputs are rounded to whole bytes.
const ROUNDED: f64 = 4.0;

/// Returns whether a figure has the expected value: a size such as `2.00 GiB`, or a word.
fn is_read(figures: &Figures, name: &str, wanted: &str) -> bool {
    let number = Expression::parse_value(wanted).ok().and_then(|value| value.number(&Figures::default()));
    match (figures.get(name), number) {
        (Some(Figure::Number(read)), Some(number)) => (read - number).abs() <= ROUNDED,
        (Some(Figure::Text(read)), _) => read == wanted,
        _ => false,
    }
}
