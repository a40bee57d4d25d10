//! What leads through the site from every page.

use crate::render::address::href;
use crate::render::views::common::Step;
use crate::render::views::shelf::Plate;

/// Main menu: title and address.
pub(super) const MENU: &[(&str, &str)] = &[
    ("Errors", "errors/"),
    ("Diagnose", "diagnose/"),
    ("Will it run?", "will-it-run/"),
    ("Models", "models/"),
    ("Hardware", "hardware/"),
    ("Guides", "guides/"),
    ("Glossary", "glossary/"),
];

/// Menu at the end of a page.
pub(super) const FOOTER: &[(&str, &str)] = &[
    ("Compare devices", "compare/"),
    ("Choose a GPU", "choose-gpu/"),
    ("Cost against the cloud", "cost-vs-cloud/"),
    ("Tools", "tools/"),
    ("Quantizations", "quants/"),
    ("Models by memory", "models-by-memory/"),
    ("Map of the errors", "errors/map/"),
    ("What changed", "changes/"),
    ("Feed", "feed.xml"),
    ("Data", "kb.json"),
];

/// The way from the home page to a page.
pub(super) fn breadcrumbs(root: &str, plate: &Plate<'_>) -> Vec<Step> {
    if plate.address.is_empty() || plate.kind == "not-found" {
        return Vec::new();
    }
    let home = Step { title: "Home".into(), href: Some(href(root, "")) };
    let trail =
        plate.trail.iter().map(|(title, to)| Step { title: title.clone(), href: Some(href(root, to)) });
    let here = Step { title: plate.title.to_string(), href: None };
    std::iter::once(home).chain(trail).chain(std::iter::once(here)).collect()
}
