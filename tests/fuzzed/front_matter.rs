//! Fuzzes error pages: every finding has a location in the file, and all output formats are well formed.

use kbgen::diag::{Diagnostic, github, human, json, sarif};
use kbgen::escape::ColorChoice;
use kbgen::files::Sources;
use serde_json::Value;

use super::site;

/// Parses and checks the page.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    site::with_page(text, |sources, found| {
        found.iter().for_each(|finding| lies_within(sources, finding));
        forms_are_well_formed(sources, found);
    });
}

fn lies_within(sources: &Sources, finding: &Diagnostic) {
    for span in [finding.span].into_iter().chain(finding.related.iter().map(|(span, _)| *span)) {
        let text = &sources.get(span.source).text;
        assert!(
            text.get(span.start..span.end).is_some(),
            "{span:?} is no place of {} bytes: {finding:?}",
            text.len()
        );
        let position = sources.get(span.source).position(span.start);
        assert!(position.line <= text.split('\n').count(), "{position:?}: {finding:?}");
    }
}

/// Quoted content must not contain terminal control codes or workflow commands.
fn forms_are_well_formed(sources: &Sources, found: &[Diagnostic]) {
    let shown = human(found, sources, ColorChoice::Off);
    assert!(!shown.contains('\u{1b}'), "a terminal code comes through: {shown}");
    let rows: Value = serde_json::from_str(&json(found, sources)).expect("JSON");
    assert_eq!(rows.as_array().map(Vec::len), Some(found.len()));
    let log: Value = serde_json::from_str(&sarif(found, sources, &[])).expect("SARIF is JSON");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(found.len()));
    let commands = github(found, sources).to_string();
    assert_eq!(commands.lines().count(), found.len(), "one command a finding: {commands}");
    assert!(!commands.contains('\u{1b}'), "a terminal code comes through: {commands}");
    assert!(commands.lines().all(|line| line.starts_with("::error ") || line.starts_with("::warning ")));
}
