//! The methodology page repeats the estimator's measured accuracy.

use std::fs;

use crate::{expect, speeds};

#[test]
fn the_methodology_page_lists_the_measured_error() {
    let accuracy = fs::read_to_string(expect::repository("crates/kbgen-estimate/ACCURACY.md")).unwrap();
    let (_, rest) = accuracy.split_once("## Memory\n\n").expect("the accuracy of memory figures");
    let (memory, rest) = rest.split_once("\n## Loads of real programs\n\n").expect("the accuracy of loads");
    let (loads, _) = rest.split_once("\n## Loads of other backends\n\n").expect("the list of loads");
    let path = expect::repository("content/pages/methodology.md");
    let page = fs::read_to_string(&path).unwrap();
    let page = with_table(&page, "## Measured error {#measured-error}", memory);
    let page = with_table(&page, "## Loads of real programs {#real-loads}", loads);
    let page = with_table(&page, "## Token speed {#token-speed}", &speeds::section());
    expect::all_well(expect::same(&path, &page).into_iter().collect());
}

/// Returns the page with the text from a heading to the end of the first table replaced.
fn with_table(page: &str, heading: &str, text: &str) -> String {
    let (before, rest) = page.split_once(heading).expect("the page has the section");
    let (table, after) = rest.split_once("|\n\n").expect("a table and a paragraph follow the heading");
    assert!(!table.contains("\n#"), "the table of `{heading}` is gone");
    format!("{before}{heading}\n\n{text}\n{after}")
}
