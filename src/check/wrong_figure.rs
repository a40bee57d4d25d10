//! Samples of extractors without a match or with other figures than expected.

use kbgen_signature::{Expression, Figure, Figures};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::kinds::SampleText;

pub(super) const RULE: Rule = Rule {
    code: "wrong-figure",
    demands: "the figures beside a sample of an extractor are those that are read from it",
    why: "a conclusion from a figure that was read wrongly sends people the wrong way",
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
        let message = "this sample leads to no page";
        return vec![
            Diagnostic::error(&RULE, text.span, message)
                .help("let a signature with this extractor match it, or take the sample out"),
        ];
    };
    let differs = figures.iter().filter(|(name, wanted)| !is_read(&hit.figures, &name.value, &wanted.value));
    differs
        .map(|(name, wanted)| {
            let read = match hit.figures.get(&name.value) {
                Some(Figure::Number(number)) => format!("is read as {number}"),
                Some(Figure::Text(text)) => format!("is read as `{text}`"),
                None => "is not read".to_string(),
            };
            Diagnostic::error(&RULE, wanted.span, format!("`{}` {read}", name.value))
                .help("mend the wordings of the extractor, or the figure")
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
