//! Ids and attributes of headings.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};
use crate::markdown::outline::Outline;
use crate::markdown::unsupported::UnsupportedSyntax;

/// A heading outside lists and quotations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Level from 1 to 6.
    pub level: u8,
    /// Id, unique in the text.
    pub id: String,
    /// Whether the id is explicit: `{#id}`.
    pub explicit_id: bool,
    /// Plain text; estimator calls as source text.
    pub title: String,
    /// Byte range of the heading with its marks, without the line end.
    pub range: Range<usize>,
}

impl Outline {
    /// Returns whether levels and ids of all headings are known: no heading has an error, and none is lost in a code
    /// block.
    pub fn knows_headings(&self) -> bool {
        let is_unclear = |error: &MarkdownError| {
            matches!(
                error.kind,
                Kind::UnclosedFence { hides_heading: true }
                    | Kind::HeadingLevelOne
                    | Kind::HeadingSkipsLevel { .. }
                    | Kind::HeadingNested
                    | Kind::HeadingAttribute(_)
                    | Kind::HeadingIdSpelling(_)
                    | Kind::UnsupportedSyntax(UnsupportedSyntax::Heading)
            )
        };
        !self.errors.iter().any(is_unclear)
    }
}

/// Ids that the templates and scripts use. A heading with one of them would replace the element for links and scripts (DOM
/// clobbering, e.g. CVE-2024-43788).
const RESERVED: [&str; 14] = [
    "main",
    "filter",
    "filter-count",
    "theme",
    "sources",
    "paste",
    "paste-text",
    "paste-go",
    "paste-out",
    "say",
    "next",
    "is-this-it",
    "which-cause",
    "fit-data",
];

/// Prefixes of generated ids.
const RESERVED_PREFIXES: [&str; 5] = ["kbgen", "fn-", "fnref-", "cause-", "letter-"];

/// Returns whether templates, scripts or generated elements use an id.
pub fn is_reserved_id(id: &str) -> bool {
    RESERVED.contains(&id) || RESERVED_PREFIXES.iter().any(|prefix| id.starts_with(prefix))
}

/// Assigns a unique id to each heading: explicit ids first, then ids from titles. Takes time linear in the number of headings,
/// also if many are equal.
pub(crate) fn assign_ids(headings: &mut [Heading], errors: &mut Vec<MarkdownError>) {
    let mut taken: HashSet<String> = HashSet::new();
    for heading in headings.iter_mut().filter(|heading| heading.explicit_id) {
        let id = heading.id.clone();
        let kind = if !is_valid_id(&id) {
            Kind::HeadingIdSpelling(id)
        } else if is_reserved_id(&id) {
            Kind::ReservedId(id)
        } else if taken.insert(id.clone()) {
            continue;
        } else {
            Kind::DuplicateId(id)
        };
        errors.push(MarkdownError { range: heading.range.clone(), kind });
        heading.id = slug(&heading.id);
        heading.explicit_id = false;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for heading in headings.iter_mut().filter(|heading| !heading.explicit_id) {
        let base = if heading.id.is_empty() { slug(&heading.title) } else { std::mem::take(&mut heading.id) };
        let first = counts.entry(base.clone()).or_insert(0);
        // There are two more candidates than assigned ids. They are distinct, and only the first can be reserved.
        let (count, id) = (*first..*first + taken.len() + 2)
            .map(|count| (count, numbered(&base, count)))
            .find(|(_, id)| !is_reserved_id(id) && !taken.contains(id))
            .expect("there are more candidates than taken and reserved ids");
        *first = count + 1;
        taken.insert(id.clone());
        heading.id = id;
    }
}

/// Returns the id with a number, or without it for 0. Adds a prefix to a reserved id: a number can make an id reserved (`cause`,
/// `cause-1`).
fn numbered(base: &str, count: usize) -> String {
    if count == 0 {
        return base.to_string();
    }
    let id = format!("{base}-{count}");
    if is_reserved_id(&id) { format!("section-{id}") } else { id }
}

fn is_valid_id(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphabetic())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Converts a title to an id as GitHub does: lower case, hyphens for spaces, no other punctuation.
pub(crate) fn slug(title: &str) -> String {
    let slug: String = title
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .filter_map(|character| match character {
            '-' | '_' => Some(character),
            other if other.is_whitespace() => Some('-'),
            other => other.is_alphanumeric().then_some(other),
        })
        .take(120)
        .collect();
    if slug.is_empty() { "section".to_string() } else { slug }
}

/// Reports braces at the end of a heading with anything but one id.
pub(crate) fn attribute_error(source: &str, range: &Range<usize>) -> Option<MarkdownError> {
    // A setext heading ends with a line of `=` or `-`.
    let text = source[range.clone()].trim_end().trim_end_matches(['=', '-', '#']).trim_end();
    let open = text.rfind('{')?;
    let braces = &text[open..];
    let inner = braces.strip_prefix('{')?.strip_suffix('}')?.trim();
    let is_one_id = inner.starts_with('#') && !inner.contains(char::is_whitespace);
    (!is_one_id).then(|| MarkdownError {
        range: range.start + open..range.start + text.len(),
        kind: Kind::HeadingAttribute(braces.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(titles: &[(&str, &str)]) -> Vec<String> {
        let mut headings: Vec<_> = titles
            .iter()
            .map(|(title, id)| Heading {
                level: 2,
                id: (*id).to_string(),
                explicit_id: !id.is_empty(),
                title: (*title).to_string(),
                range: 0..0,
            })
            .collect();
        assign_ids(&mut headings, &mut Vec::new());
        headings.into_iter().map(|heading| heading.id).collect()
    }

    #[test]
    fn explicit_ids_take_precedence_and_equal_titles_are_numbered() {
        assert_eq!(
            ids(&[("Foo Bar!", ""), ("Foo Bar", ""), ("x", "foo-bar"), ("Foo bar-1", "")]),
            ["foo-bar-1", "foo-bar-2", "foo-bar", "foo-bar-1-1"]
        );
        assert_eq!(
            ids(&[("Main", ""), ("???", ""), ("Über C++", ""), ("kbgen rocks", "")]),
            ["main-1", "section", "über-c", "section-kbgen-rocks-1"]
        );
    }

    #[test]
    fn numbers_never_make_an_id_reserved() {
        assert_eq!(
            ids(&[("Cause", ""), ("Cause", ""), ("Fn", ""), ("Fn", ""), ("Section cause 1", "")]),
            ["cause", "section-cause-1", "fn", "section-fn-1", "section-cause-1-1"]
        );
        assert_eq!(ids(&[("x", "cause"), ("Cause", "")]), ["cause", "section-cause-1"]);
        for reserved in RESERVED.iter().chain(&RESERVED_PREFIXES) {
            assert!(!is_reserved_id(&numbered(reserved, 1)), "{reserved}");
        }
    }

    #[test]
    fn reports_braces_without_exactly_one_id() {
        let error =
            |text: &str| attribute_error(text, &(0..text.len())).map(|error| text[error.range].to_string());
        assert_eq!(error("## A {#b}\n"), None);
        assert_eq!(error("## A {#b .c}").as_deref(), Some("{#b .c}"));
        assert_eq!(error("A {onclick=x}\n---").as_deref(), Some("{onclick=x}"));
    }
}
