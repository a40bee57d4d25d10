//! Parses the extractors of a site.

use kbgen_signature::{DerivedFigure, Extractor, FigureField, Pattern, PlaceRule, Verdict};

use crate::diagnosis::signature_parser::{SignatureError, SignatureParser};
use crate::files::{Sources, Spanned};
use crate::site::kinds::{ExtractorData, PlaceText, VerdictText};
use crate::site::{Page, Site};

/// Parses the extractors of a site and ignores their errors, which [`CompiledSignatures`] reports.
///
/// [`CompiledSignatures`]: crate::diagnosis::CompiledSignatures
pub fn shared_extractors(site: &Site, sources: &Sources) -> Vec<Extractor> {
    parse_extractors(&site.extractors, &mut SignatureParser::new(sources))
}

/// Parses extractors, without the parts that have errors.
pub(super) fn parse_extractors(
    pages: &[Page<ExtractorData>],
    parser: &mut SignatureParser<'_>,
) -> Vec<Extractor> {
    pages.iter().map(|page| parse_extractor(page, parser)).collect()
}

fn parse_extractor(page: &Page<ExtractorData>, parser: &mut SignatureParser<'_>) -> Extractor {
    let data = &page.data;
    let mut extractor = Extractor { name: page.head.id.slug.clone(), ..Extractor::default() };
    for figure in &data.figures {
        let name = figure.name.value.clone();
        let patterns = parse_patterns(&figure.wordings, parser);
        for (wording, pattern) in figure.wordings.iter().zip(&patterns) {
            if pattern.names().count() != 1 && patterns.len() == figure.wordings.len() {
                parser.pattern_errors.push(SignatureError {
                    span: wording.span,
                    message: "expected one named placeholder".to_owned(),
                    help: "name the placeholder of the figure, as in `{x:bytes} free`".to_owned(),
                });
            }
        }
        extractor.fields.push(FigureField { name, patterns, repeat: figure.repeats });
    }
    let mut figure_names: Vec<String> = extractor.names().map(str::to_owned).collect();
    for field in extractor.fields.iter().filter(|field| field.repeat) {
        figure_names.extend((1..=3).map(|at| format!("{}_{at}", field.name)));
    }
    figure_names.extend(data.derived.iter().map(|derived| derived.name.value.clone()));
    let figure_names = page.head.is_read().then_some(figure_names.as_slice());
    for derived in &data.derived {
        let when = derived.when.as_ref().map(|when| parser.condition(when, figure_names));
        if let (Some(value), false) = (parser.value(&derived.value, figure_names), when == Some(None)) {
            let name = derived.name.value.clone();
            extractor.derived.push(DerivedFigure { name, value, when: when.flatten() });
        }
    }
    for VerdictText { name, when } in &data.verdicts {
        if let Some(when) = parser.condition(when, figure_names) {
            extractor.verdicts.push(Verdict { name: name.value.clone(), when });
        }
    }
    for PlaceText { name, fragments } in &data.places {
        extractor
            .places
            .push(PlaceRule { name: name.value.clone(), fragments: parse_patterns(fragments, parser) });
    }
    extractor
}

fn parse_patterns(texts: &[Spanned<String>], parser: &mut SignatureParser<'_>) -> Vec<Pattern> {
    texts.iter().filter_map(|text| parser.pattern(text)).collect()
}
