//! Headings: their ids, and what follows them in braces.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::markdown::fault::{Fault, FaultKind};

/// A heading of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Unique in the text.
    pub id: String,
    /// Whether the author gave the id, `{#id}`.
    pub explicit_id: bool,
    /// Plain text; estimator calls as they are written.
    pub title: String,
    /// The heading with its marks, without the line end.
    pub range: Range<usize>,
}

/// Ids that the pages' templates and scripts use: a heading with one of them would take its place,
/// for links and for scripts alike (DOM clobbering, e.g. CVE-2024-43788).
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

/// Beginnings of ids that are made by rule.
const RESERVED_PREFIXES: [&str; 5] = ["kbgen", "fn-", "fnref-", "cause-", "letter-"];

/// Whether an id belongs to the pages' own parts.
pub fn is_reserved_id(id: &str) -> bool {
    RESERVED.contains(&id) || RESERVED_PREFIXES.iter().any(|prefix| id.starts_with(prefix))
}

/// Gives every heading its id: explicit ones first, the others from their titles, each once. Linear in
/// the number of headings, however many are equal.
pub(crate) fn give_ids(headings: &mut [Heading], faults: &mut Vec<Fault>) {
    let mut taken: HashSet<String> = HashSet::new();
    for heading in headings.iter_mut().filter(|heading| heading.explicit_id) {
        let id = heading.id.clone();
        let kind = if !is_well_spelled(&id) {
            FaultKind::HeadingIdSpelling(id)
        } else if is_reserved_id(&id) {
            FaultKind::ReservedId(id)
        } else if taken.insert(id.clone()) {
            continue;
        } else {
            FaultKind::DuplicateId(id)
        };
        faults.push(Fault { range: heading.range.clone(), kind });
        heading.id = slug(&heading.id);
        heading.explicit_id = false;
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for heading in headings.iter_mut().filter(|heading| !heading.explicit_id) {
        let base = if heading.id.is_empty() { slug(&heading.title) } else { std::mem::take(&mut heading.id) };
        let first = counts.entry(base.clone()).or_insert(0);
        // Two candidates more than there are ids: all differ, and only the first may be reserved, so one is free.
        let (count, id) = (*first..*first + taken.len() + 2)
            .map(|count| (count, numbered(&base, count)))
            .find(|(_, id)| !is_reserved_id(id) && !taken.contains(id))
            .expect("there are more candidates than taken and reserved ids");
        *first = count + 1;
        taken.insert(id.clone());
        heading.id = id;
    }
}

/// The id with a number; 0 is the id without one. A reserved prefix stays reserved whatever follows it, and a number may
/// complete one (`cause`, `cause-1`): such an id gets a prefix of its own.
fn numbered(base: &str, count: usize) -> String {
    if count == 0 {
        return base.to_string();
    }
    let id = format!("{base}-{count}");
    if is_reserved_id(&id) { format!("section-{id}") } else { id }
}

fn is_well_spelled(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_alphabetic())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// A title as an id, as GitHub makes it: lower case, spaces to hyphens, other punctuation left out.
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

/// The braces at the end of a heading, where they hold anything but one id.
pub(crate) fn attribute_fault(source: &str, range: &Range<usize>) -> Option<Fault> {
    // Under the title of the other form stands a line of `=` or `-`.
    let text = source[range.clone()].trim_end().trim_end_matches(['=', '-', '#']).trim_end();
    let open = text.rfind('{')?;
    let braces = &text[open..];
    let inner = braces.strip_prefix('{')?.strip_suffix('}')?.trim();
    let is_one_id = inner.starts_with('#') && !inner.contains(char::is_whitespace);
    (!is_one_id).then(|| Fault {
        range: range.start + open..range.start + text.len(),
        kind: FaultKind::HeadingAttribute(braces.to_string()),
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
        give_ids(&mut headings, &mut Vec::new());
        headings.into_iter().map(|heading| heading.id).collect()
    }

    #[test]
    fn explicit_ids_win_and_equal_titles_are_counted() {
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
    fn a_number_never_makes_a_reserved_id() {
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
    fn only_one_id_may_stand_in_braces() {
        let fault =
            |text: &str| attribute_fault(text, &(0..text.len())).map(|fault| text[fault.range].to_string());
        assert_eq!(fault("## A {#b}\n"), None);
        assert_eq!(fault("## A {#b .c}").as_deref(), Some("{#b .c}"));
        assert_eq!(fault("A {onclick=x}\n---").as_deref(), Some("{onclick=x}"));
    }
}
