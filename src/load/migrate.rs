//! Rewrites the front matter of error pages in the current format. Comments and all that does not change stay byte for
//! byte.

use std::ops::Range;

use serde_json::Value;

use crate::custom::Vocabularies;
use crate::diag::{Diagnostic, Severity};
use crate::files::{Source, SourceId, Sources, Span, Spanned, replace_ranges};
use crate::load::front_matter;
use crate::load::rules::OLD_FORMAT;
use crate::load::split::{Certainty, split};
use crate::markdown;
use crate::schema::{self, Node, NodeKind, Record as _, Syntax};
use crate::site::kinds::{Cost, DRAFT, ErrorData, MORE_SOURCES, Solution, key};
use crate::site::{Kind, Site};

/// Keys that may be left out, with their default.
const DEFAULTS: [(&str, &str); 4] = [
    (key!(ErrorData.kind), "cause"),
    (key!(ErrorData.severity), "fatal"),
    (key!(ErrorData.status), "active"),
    (DRAFT.field.name, "false"),
];

/// A page with its new text.
#[derive(Debug)]
pub struct MigratedPage {
    /// Path in the site.
    pub path: String,
    /// The whole file.
    pub text: String,
}

/// Returns the pages that differ in the current format; of a site that has it, only pages with keys of format 1.
///
/// # Errors
/// Every place that has to be edited by hand first.
pub fn migrate(sources: &Sources, is_current: bool) -> Result<Vec<MigratedPage>, Vec<Diagnostic>> {
    let (mut pages, mut found) = (Vec::new(), Vec::new());
    for (file, source) in sources.under("content/errors/") {
        if !source.path.ends_with(".md") || source.path.ends_with("/_index.md") {
            continue;
        }
        match migrate_page(source, file, is_current) {
            Ok(None) => {}
            Ok(Some(text)) => pages.push(MigratedPage { path: source.path.clone(), text }),
            Err(faults) => found.extend(faults),
        }
    }
    if found.is_empty() { Ok(pages) } else { Err(found) }
}

/// Returns the findings on keys of format 1: one for a site of that format, else one for each key.
pub fn old_keys(site: &Site, is_current: bool, settings: Span) -> Vec<Diagnostic> {
    let titles =
        site.errors.iter().map(|error| error.data.solutions.iter().filter_map(|one| one.title.as_ref()));
    if is_current {
        let report = |title: &Spanned<String>| {
            Diagnostic::error(&OLD_FORMAT, title.span, "a solution has the key `title` of format 1").help(
                "delete it: the title is the heading in the body; `kbgen migrate` does it for all pages",
            )
        };
        return titles.flatten().map(report).collect();
    }
    match titles.filter(|titles| titles.clone().next().is_some()).count() {
        0 => Vec::new(),
        count => {
            let pages = if count == 1 { "1 page has".into() } else { format!("{count} pages have") };
            let message = format!("{pages} keys of format 1");
            vec![Diagnostic::warning(&OLD_FORMAT, settings, message).help("run `kbgen migrate`")]
        }
    }
}

/// A parsed error page.
struct Parsed {
    front: Node,
    data: ErrorData,
}

fn parse(source: &Source, file: SourceId) -> Result<Parsed, Vec<Diagnostic>> {
    let cut = split(source, file);
    let mut found = cut.faults;
    let front = front_matter::parse(&source.text[cut.front.start..cut.front.end], cut.front, &mut found);
    let fields =
        schema::read(&front.node, ErrorData::FIELDS, Kind::Error.with_article(), Syntax::Yaml, &mut found);
    found.retain(|finding| finding.severity == Severity::Error);
    if cut.certainty == Certainty::Guessed || !found.is_empty() {
        return Err(found);
    }
    let outline = markdown::outline(&source.text[cut.body.start..cut.body.end]);
    Ok(Parsed { data: ErrorData::new("", &fields, &outline, &Vocabularies::default()), front: front.node })
}

fn migrate_page(
    source: &Source,
    file: SourceId,
    is_current: bool,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let Parsed { front, data } = parse(source, file)?;
    let has_old_keys = data.solutions.iter().any(|solution| solution.title.is_some());
    if is_current && !has_old_keys {
        return Ok(None);
    }
    let found = differing_titles(&data);
    if !found.is_empty() {
        return Err(found);
    }
    let NodeKind::Map(pairs) = &front.kind else { return Ok(None) };
    let mut editor = Editor { text: &source.text, edits: Vec::new() };
    for (key, value) in pairs {
        match &value.kind {
            NodeKind::Scalar { text, .. } if DEFAULTS.contains(&(key.value.as_str(), text.as_str())) => {
                editor.remove_pair(key, value);
            }
            NodeKind::List(items) if key.value == key!(ErrorData.solutions) => {
                match is_default(&data) && !editor.has_comment(value) {
                    true => editor.remove_pair(key, value),
                    false => items.iter().for_each(|item| editor.compact(item)),
                }
            }
            NodeKind::List(items) if key.value == MORE_SOURCES.field.name => {
                editor.remove_sources(key, value, items, &data);
            }
            _ => {}
        }
    }
    if editor.edits.is_empty() && !has_old_keys {
        return Ok(None);
    }
    let text = editor.finish();
    match has_same_meaning(&source.path, &text, &data) {
        true => Ok(Some(text)),
        false => Err(vec![
            Diagnostic::error(
                &OLD_FORMAT,
                Span::top(file),
                "this front matter cannot be migrated automatically",
            )
            .help("delete `title:` in its `solutions:` by hand"),
        ]),
    }
}

/// Returns the titles that are not the heading of their solution.
fn differing_titles(data: &ErrorData) -> Vec<Diagnostic> {
    let report = |(title, heading): (&Spanned<String>, &str)| {
        let message = format!("the title of this solution differs from its heading `{heading}`");
        Diagnostic::error(&OLD_FORMAT, title.span, message)
            .help("write the same words in both places, then migrate again")
    };
    let titles = data.solutions.iter().filter_map(|one| Some((one.title.as_ref()?, one.heading.as_str())));
    let differs = |(title, heading): &(&Spanned<String>, &str)| {
        title.value != *heading && markdown::plain_inline(&title.value) != *heading
    };
    titles.filter(differs).map(report).collect()
}

/// Whether `solutions:` may be left out.
fn is_default(data: &ErrorData) -> bool {
    let ids = data.solutions.iter().map(|solution| &solution.id.value);
    data.solutions.iter().all(|solution| solution.cost == Cost::None.name())
        && ids.eq(data.named_solutions().into_iter().map(|id| &id.value))
}

/// Whether a new text is read as before, and has no key of format 1.
fn has_same_meaning(path: &str, text: &str, before: &ErrorData) -> bool {
    let mut sources = Sources::default();
    let file = sources.add(path, text);
    let meaning = |data: &ErrorData| {
        let mut value = serde_json::to_value(data).expect("plain data is always JSON");
        remove_positions(&mut value);
        value
    };
    parse(sources.get(file), file).is_ok_and(|after| {
        after.data.solutions.iter().all(|solution| solution.title.is_none())
            && meaning(&after.data) == meaning(before)
    })
}

/// Removes positions in the file, and the titles that headings replace.
fn remove_positions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("span");
            if map.contains_key("heading") {
                map.remove(key!(Solution.title));
            }
            map.values_mut().for_each(remove_positions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_positions),
        _ => {}
    }
}

/// Collects edits of a text.
struct Editor<'t> {
    text: &'t str,
    edits: Vec<(Range<usize>, String)>,
}

impl Editor<'_> {
    fn finish(self) -> String {
        replace_ranges(self.text, self.edits)
    }

    /// Removes the lines of a key and its value; a comment behind the value stays.
    fn remove_pair(&mut self, key: &Spanned<String>, value: &Node) {
        let end = self.end(value);
        let line = self.line_start(key.span.start);
        let next = self.line_end(end);
        let rest = self.text[end..next].trim();
        if !self.text[line..key.span.start].trim().is_empty() || self.has_comment(value) {
            return;
        }
        if rest.is_empty() {
            self.edits.push((line..next, String::new()));
        } else if rest.starts_with('#') {
            let comment = end + self.text[end..next].find('#').unwrap_or_default();
            self.edits.push((key.span.start..comment, String::new()));
        }
    }

    /// Writes a solution on one line, without its title and without a cost of `none`.
    fn compact(&mut self, item: &Node) {
        let NodeKind::Map(pairs) = &item.kind else { return };
        let raw = |name: &str| {
            let (_, value) = pairs.iter().find(|(key, _)| key.value == name)?;
            Some(self.raw(value))
        };
        let cost = raw(key!(Solution.cost)).filter(|cost| *cost != Cost::None.name());
        let is_compact = self.text[item.span.start..].starts_with('{');
        let Some(id) = raw(key!(Solution.id)) else { return };
        if self.has_comment(item) {
            let is_superfluous = |(key, value): &&(Spanned<String>, Node)| {
                let text = self.raw(value);
                key.value == key!(Solution.title)
                    || key.value == key!(Solution.cost) && text == Cost::None.name()
            };
            let superfluous: Vec<_> = pairs.iter().filter(is_superfluous).collect();
            return superfluous.into_iter().for_each(|(key, value)| self.remove_pair(key, value));
        }
        if is_compact && raw(key!(Solution.title)).is_none() && raw(key!(Solution.cost)) == cost {
            return;
        }
        let new = match cost {
            Some(cost) => format!("{{id: {id}, cost: {cost}}}"),
            None => format!("{{id: {id}}}"),
        };
        self.edits.push((item.span.start..self.end(item), new));
    }

    /// Removes the sources that signatures have.
    fn remove_sources(&mut self, key: &Spanned<String>, value: &Node, items: &[Node], data: &ErrorData) {
        let is_known = |item: &&Node| {
            matches!(&item.kind, NodeKind::Scalar { text, .. }
                if data.signatures.iter().any(|signature| signature.source == *text))
        };
        let kept: Vec<&str> =
            items.iter().filter(|item| !is_known(item)).map(|item| self.raw(item)).collect();
        if kept.len() == items.len() || self.has_comment(value) {
            return;
        }
        if kept.is_empty() {
            self.remove_pair(key, value);
        } else if self.text[value.span.start..].starts_with('[') {
            self.edits.push((value.span.start..self.end(value), format!("[{}]", kept.join(", "))));
        } else {
            for item in items.iter().filter(is_known) {
                let lines = self.line_start(item.span.start)..self.line_end(self.end(item));
                if self.text[self.end(item)..lines.end].trim().is_empty() {
                    self.edits.push((lines, String::new()));
                }
            }
        }
    }

    /// Returns the end of a value without the comments that follow it, which the parser counts to it.
    fn end(&self, node: &Node) -> usize {
        let last = match &node.kind {
            NodeKind::List(items) => items.last(),
            NodeKind::Map(pairs) => pairs.last().map(|(_, value)| value),
            _ => None,
        };
        let start = node.span.start;
        let inner = last.map_or(start + 1, |last| self.end(last));
        match self.text.as_bytes().get(start) {
            Some(b'{' | b'[') => {
                self.text[inner..].find(['}', ']']).map_or(node.span.end, |at| inner + at + 1)
            }
            Some(quote @ (b'"' | b'\'')) if last.is_none() => self.quoted_end(start, *quote),
            _ if last.is_some() => inner,
            _ => node.span.end,
        }
    }

    /// Returns the end of a quoted scalar.
    fn quoted_end(&self, start: usize, quote: u8) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        while at < bytes.len() {
            let is_escape = match quote {
                b'"' => bytes[at] == b'\\',
                _ => bytes[at..].starts_with(b"''"),
            };
            match bytes[at] == quote && !is_escape {
                true => return at + 1,
                false => at += if is_escape { 2 } else { 1 },
            }
        }
        bytes.len()
    }

    /// Returns a value as it is written.
    fn raw(&self, node: &Node) -> &str {
        &self.text[node.span.start..self.end(node)]
    }

    /// Whether a comment stands inside a value.
    fn has_comment(&self, node: &Node) -> bool {
        let mut scalars = Vec::new();
        self.collect_scalars(node, &mut scalars);
        let starts = scalars.iter().map(|scalar| scalar.start).chain([self.end(node)]);
        let ends = std::iter::once(node.span.start).chain(scalars.iter().map(|scalar| scalar.end));
        ends.zip(starts).any(|(end, start)| self.text.get(end..start).is_some_and(|gap| gap.contains('#')))
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |end| at + end + 1)
    }

    /// Collects the ranges of keys and scalars, in order.
    fn collect_scalars(&self, node: &Node, scalars: &mut Vec<Range<usize>>) {
        match &node.kind {
            NodeKind::List(items) => items.iter().for_each(|item| self.collect_scalars(item, scalars)),
            NodeKind::Map(pairs) => {
                for (key, value) in pairs {
                    scalars.push(key.span.start..key.span.end);
                    self.collect_scalars(value, scalars);
                }
            }
            _ => scalars.push(node.span.start..self.end(node)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "---\nText.\n\n## Wait a bit {#wait}\n\nWait.\n\n## Restart {#restart}\n\nRestart.\n";

    /// Returns a page in the current format, or the messages of its findings.
    fn migrated(front: &str) -> Result<String, Vec<String>> {
        let text = format!("---\n{front}{BODY}");
        let mut sources = Sources::default();
        let file = sources.add("content/errors/a/b.md", text.as_str());
        let new = migrate_page(sources.get(file), file, false);
        let new =
            new.map_err(|found| found.into_iter().map(|finding| finding.message).collect::<Vec<_>>())?;
        let new = new.unwrap_or(text);
        let again = sources.add("content/errors/a/b.md", new.as_str());
        assert!(migrate_page(sources.get(again), again, false).is_ok_and(|again| again.is_none()), "{new}");
        Ok(new.trim_start_matches("---\n").trim_end_matches(BODY).to_string())
    }

    const START: &str = "title: A\ntools: [x]\ncauses:\n  - {id: a, title: A, tell: b, solutions: [wait, restart]}\n\
                         verified: 2026-01-01\n";

    #[test]
    fn comments_and_other_lines_stay() {
        let front = "sources:\n- https://a.example/ # one\n# end\nseverity: \"fatal\" # bad\nkind: wrapper\n\
                     solutions:\n  # first\n  - {id: wait, title: Wait a bit, cost: none} # short\n  # second\n\
                     \x20 - id: restart\n    # costly\n    title: Restart\n    cost: speed\n";
        assert_eq!(
            migrated(&format!("{START}{front}")).unwrap(),
            format!(
                "{START}sources:\n- https://a.example/ # one\n# end\n# bad\nkind: wrapper\nsolutions:\n  # first\n  \
                 - {{id: wait}} # short\n  # second\n  - id: restart\n    # costly\n    cost: speed\n"
            )
        );
    }

    #[test]
    fn sources_of_signatures_and_default_solutions_go() {
        let signature = "signatures:\n  - {pattern: p, source: \"https://s.example/#1\", samples: [p]}\n";
        let listed = "solutions:\n- id: wait\n  title: Wait a bit\n  cost: none\n- id: restart\n  title: \"Restart\"\n";
        for (sources, kept) in [
            ("sources: [\"https://s.example/#1\"]\n", ""),
            ("sources: [https://a.example/, 'https://s.example/#1']\n", "sources: [https://a.example/]\n"),
            (
                "sources:\n  - https://s.example/#1\n  - https://a.example/\n",
                "sources:\n  - https://a.example/\n",
            ),
        ] {
            for end in ["\n", "\r\n"] {
                let lines = |text: &str| text.replace('\n', end);
                let front = lines(&format!("{START}{signature}{listed}{sources}"));
                assert_eq!(
                    migrated(&front).unwrap(),
                    lines(&format!("{START}{signature}{kept}")),
                    "{sources}"
                );
            }
        }
    }

    #[test]
    fn a_title_that_is_not_the_heading_is_refused() {
        let front = format!("{START}solutions:\n  - {{id: wait, title: Wait}}\n  - {{id: restart}}\n");
        assert_eq!(
            migrated(&front),
            Err(vec!["the title of this solution differs from its heading `Wait a bit`".into()])
        );
        let commented = format!(
            "{START}solutions:\n  - title: Wait a bit\n    # why\n    id: wait\n  - {{id: restart}}\n"
        );
        assert_eq!(
            migrated(&commented),
            Err(vec!["this front matter cannot be migrated automatically".into()])
        );
    }
}
