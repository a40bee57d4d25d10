//! The extractors of a site, parsed.

use kbgen_signature::{Derived, Extractor, Field, Pattern, Place, Verdict};

use crate::diagnosis::parser::{Parser, PartFault};
use crate::files::{Placed, Sources};
use crate::site::kinds::{ExtractorData, PlaceText, VerdictText};
use crate::site::{Page, Site};

/// The extractors of a site alone; their faults are told with those of the signatures.
pub fn shared(site: &Site, sources: &Sources) -> Vec<Extractor> {
    extractors(&site.extractors, &mut Parser::new(sources))
}

/// Every extractor; what could not be parsed is left out of it.
pub(super) fn extractors(pages: &[Page<ExtractorData>], parser: &mut Parser<'_>) -> Vec<Extractor> {
    pages.iter().map(|page| extractor(page, parser)).collect()
}

fn extractor(page: &Page<ExtractorData>, parser: &mut Parser<'_>) -> Extractor {
    let data = &page.data;
    let mut extractor = Extractor { name: page.head.id.slug.clone(), ..Extractor::default() };
    for figure in &data.figures {
        let name = figure.name.value.clone();
        let patterns = patterns(&figure.wordings, parser);
        for (wording, pattern) in figure.wordings.iter().zip(&patterns) {
            if pattern.names().count() != 1 && patterns.len() == figure.wordings.len() {
                parser.pattern_faults.push(PartFault {
                    span: wording.span,
                    message: "a wording has one named hole".to_owned(),
                    help: "name the hole that takes the figure, as in `{x:bytes} free`".to_owned(),
                });
            }
        }
        extractor.fields.push(Field { name, patterns, repeat: figure.repeats });
    }
    let mut readable: Vec<String> = extractor.names().map(str::to_owned).collect();
    for field in extractor.fields.iter().filter(|field| field.repeat) {
        readable.extend((1..=3).map(|at| format!("{}_{at}", field.name)));
    }
    readable.extend(data.derived.iter().map(|derived| derived.name.value.clone()));
    let readable = page.head.is_read().then_some(readable.as_slice());
    for derived in &data.derived {
        let when = derived.when.as_ref().map(|when| parser.condition(when, readable));
        if let (Some(value), false) = (parser.value(&derived.value, readable), when == Some(None)) {
            let name = derived.name.value.clone();
            extractor.derived.push(Derived { name, value, when: when.flatten() });
        }
    }
    for VerdictText { name, when } in &data.verdicts {
        if let Some(when) = parser.condition(when, readable) {
            extractor.verdicts.push(Verdict { name: name.value.clone(), when });
        }
    }
    for PlaceText { name, fragments } in &data.places {
        extractor.places.push(Place { name: name.value.clone(), fragments: patterns(fragments, parser) });
    }
    extractor
}

fn patterns(texts: &[Placed<String>], parser: &mut Parser<'_>) -> Vec<Pattern> {
    texts.iter().filter_map(|text| parser.pattern(text)).collect()
}
