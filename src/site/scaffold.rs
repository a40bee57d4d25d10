//! Templates of new pages, and the phrases in them that must not be published.

use std::collections::BTreeSet;

/// Template of an error page. In all of them `%NAME%` is a value, and `⟦…⟧` a phrase that the author replaces.
pub const ERROR: &str = include_str!("scaffold/error.md");
/// Template of a model page.
pub const MODEL: &str = include_str!("scaffold/model.md");
/// Template of a hardware page.
pub const HARDWARE: &str = include_str!("scaffold/hardware.md");
/// Template of a guide.
pub const GUIDE: &str = include_str!("scaffold/guide.md");
/// A sample of an error page without a log. The name makes that of each page another one.
pub const SAMPLE: &str = "⟦replace this with a line that the program really printed⟧ for %SLUG%";

/// A template with these values; one that it does not name is left out.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let template = template.replace(['⟦', '⟧'], "");
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    let parts = template.split('%').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { value(part) } else { part }).collect()
}

/// The phrases of all templates that an author replaces, the longest first.
pub fn placeholders() -> Vec<&'static str> {
    let templates = [ERROR, MODEL, HARDWARE, GUIDE, SAMPLE].into_iter();
    let phrases = templates.flat_map(|template| template.split('⟦').skip(1));
    let unique: BTreeSet<&str> = phrases.filter_map(|rest| rest.split('⟧').next()).collect();
    let mut phrases: Vec<_> = unique.into_iter().collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    phrases
}
