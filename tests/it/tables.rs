//! Package indexes of PyTorch and values of ROCm's override on pages occur in the included tables.

use std::collections::BTreeSet;
use std::fs;

use crate::expect::repository;

const INDEX: &str = "download.pytorch.org/whl/";
const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION=";

fn include(name: &str) -> String {
    fs::read_to_string(repository(&format!("content/includes/{name}.md"))).expect("the text exists")
}

/// Names or versions that directly follow `prefix`, without quotes.
fn values<'a>(text: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let value = |rest: &'a str| {
        let rest = rest.trim_start_matches('"');
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    };
    text.split(prefix).skip(1).map(value).filter(|value| !value.is_empty()).collect()
}

/// Values in the bodies of pages and included texts that `tables` does not contain in backticks.
fn unlisted(prefix: &str, is_checked: impl Fn(&str) -> bool, tables: &str) -> Vec<String> {
    let mut unlisted = Vec::new();
    let mut count = 0;
    for entry in walkdir::WalkDir::new(repository("content")).sort_by_file_name() {
        let path = entry.expect("the folder can be read").into_path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("the page is text");
        // Samples in the front matter quote users.
        let body = page.split_once("\n---\n").map_or("", |(_, body)| body);
        for value in values(body, prefix).into_iter().filter(|value| is_checked(value)) {
            count += 1;
            if !tables.contains(&format!("`{value}`")) {
                unlisted.push(format!("{}: {value}", path.display()));
            }
        }
    }
    assert!(count > 2, "{prefix} occurs on pages");
    unlisted
}

#[test]
fn pages_name_only_indexes_of_the_table() {
    let is_gpu = |value: &str| value.starts_with("cu") || value.starts_with("rocm");
    let tables = include("pytorch-indexes") + &include("pytorch-install-rocm");
    assert_eq!(unlisted(INDEX, is_gpu, &tables), Vec::<String>::new());
}

#[test]
fn pages_name_only_overrides_of_the_table() {
    let is_version = |value: &str| value.contains('.');
    assert_eq!(unlisted(OVERRIDE, is_version, &include("rocm-targets")), Vec::<String>::new());
}
