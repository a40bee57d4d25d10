//! Reads an mdBook: `book.toml`, the chapters of `SUMMARY.md`, and the files that they include.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::cli::import::imported_site::{ImportedPage, ImportedSite, Loss, LossKind};
use crate::cli::import::source_tree::SourceTree;
use crate::cli::import::traced_text::TracedText;
use crate::link::join;
use crate::markdown;

/// Maximum nesting of included files.
const MAX_DEPTH: usize = 8;
/// Maximum bytes of all files that a chapter includes, in any depth: files that include each other double at each level.
const MAX_INCLUDED: usize = 1 << 20;

pub(super) fn read(tree: &SourceTree) -> Result<ImportedSite> {
    let Some(settings) = tree.first(&["book.toml"]) else {
        bail!("no `book.toml`; pass the folder of an mdBook")
    };
    let config = tree.settings(settings, "toml")?;
    let text = |table: &Value, key: &str| table.get(key).and_then(Value::as_str).map(str::to_string);
    let book = config.get("book").cloned().unwrap_or_default();
    let source = format!("{}/", text(&book, "src").unwrap_or_else(|| "src".into()).trim_matches('/'));
    let html = config.get("output").and_then(|output| output.get("html")).cloned().unwrap_or_default();
    let mut site = ImportedSite {
        title: text(&book, "title").unwrap_or_default(),
        repository: text(&html, "git-repository-url"),
        language: text(&book, "language"),
        ..ImportedSite::default()
    };
    let summary = format!("{source}SUMMARY.md");
    let list = match tree.text(&summary) {
        Ok(list) => list,
        Err(loss) => bail!("{}:{}: {}", loss.file, loss.line, loss.message),
    };
    let lines = TracedText::new(&list, 1);
    for link in markdown::outline(lines.text())
        .links
        .iter()
        .filter(|link| !link.image && !link.destination.is_empty())
    {
        let path = join("", &link.destination);
        if !path.ends_with(".md") || site.pages.iter().any(|page| page.path == path) {
            continue;
        }
        let file = format!("{source}{path}");
        match tree.text(&file) {
            Ok(text) => {
                let title = link.text.trim().to_string();
                let mut body = TracedText::new(text.trim_start_matches('\u{feff}'), 1);
                Includes { tree, left: MAX_INCLUDED, losses: &mut site.losses }.replace(&mut body, &file, 0);
                hide_lines(&mut body);
                let address = html_address(&path);
                site.pages.push(ImportedPage { file, path, address, title, body, ..ImportedPage::default() });
            }
            Err(loss) => {
                site.losses.push(Loss { line: lines.line(link.range.start), file: summary.clone(), ..loss })
            }
        }
    }
    for file in tree.files(&source, &mut site.losses) {
        let path = file.strip_prefix(&source).unwrap_or(&file).to_string();
        if path.ends_with(".md") {
            if path != "SUMMARY.md" && !site.pages.iter().any(|page| page.path == path) {
                site.losses.push(Loss::new(
                    &file,
                    1,
                    LossKind::File,
                    "no chapter of `SUMMARY.md`: not imported",
                ));
            }
            continue;
        }
        site.copy_file(tree, &file, path);
    }
    if !site.pages.is_empty() {
        let message = "addresses of chapters end in `.html`: the new pages have no redirects from them";
        site.losses.push(Loss::new(&summary, 1, LossKind::Address, message));
    }
    Ok(site)
}

fn html_address(path: &str) -> String {
    let stem = path.trim_end_matches(".md");
    let is_readme = stem == "README" || stem.ends_with("/README");
    if is_readme { format!("{}index.html", stem.trim_end_matches("README")) } else { format!("{stem}.html") }
}

/// The files that a chapter includes.
struct Includes<'t> {
    tree: &'t SourceTree,
    /// Bytes that may still be included.
    left: usize,
    losses: &'t mut Vec<Loss>,
}

impl Includes<'_> {
    /// Replaces the directives of a text: `{{#include file}}` and its variants by the file, `{{#title}}` by nothing.
    fn replace(&mut self, body: &mut TracedText, file: &str, depth: usize) {
        let mut edits = Vec::new();
        for (start, _) in body.text().match_indices("{{#") {
            let Some(length) = body.text()[start..].find("}}") else { break };
            let end = start + length + 2;
            if body.text()[..start].ends_with('\\') {
                // The text shows the directive.
                continue;
            }
            let mut words = body.text()[start + 3..end - 2].split_whitespace();
            let (name, argument) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let lost = |what: String| {
                let what = format!("directive `{{{{#{name}}}}}`: {what}");
                Loss::new(file, body.line(start), LossKind::Shortcode, what)
            };
            match name {
                "title" => edits.push((start..end, String::new())),
                "include" | "rustdoc_include" | "playground" | "playpen" => {
                    let (path, part) = argument.split_once(':').unwrap_or((argument, ""));
                    match self.tree.text(&join(file, path)) {
                        Ok(text) if text.len() > self.left => {
                            self.left = 0;
                            let limit = MAX_INCLUDED >> 20;
                            self.losses
                                .push(lost(format!("the chapter includes more than {limit} MiB, left out")));
                            edits.push((start..end, String::new()));
                        }
                        Ok(text) => {
                            self.left -= text.len();
                            let mut text = TracedText::new(&selected(&text, part), 1);
                            if depth < MAX_DEPTH && path.ends_with(".md") {
                                self.replace(&mut text, &join(file, path), depth + 1);
                            }
                            let text = text.text().trim_end_matches('\n').to_string();
                            edits.push((
                                start..end,
                                if name.starts_with("play") { format!("```rust\n{text}\n```") } else { text },
                            ));
                        }
                        Err(loss) => {
                            self.losses.push(lost(format!("`{}`: {}", loss.file, loss.message)));
                            edits.push((start..end, String::new()));
                        }
                    }
                }
                _ => {
                    self.losses.push(lost("unknown, kept as text".into()));
                    edits.push((start..end, format!("`{}`", &body.text()[start..end])));
                }
            }
        }
        body.apply(edits);
    }
}

/// Returns the lines of a part: `3`, `2:5`, `:5`, `2:`, or the name of an anchor. Lines with anchors are left out.
fn selected(text: &str, part: &str) -> String {
    let is_mark = |line: &&str| line.contains("ANCHOR: ") || line.contains("ANCHOR_END: ");
    let numbers: Vec<&str> = part.split(':').collect();
    let lines: Vec<&str> = text.lines().collect();
    let is_number = |text: &str| text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit());
    let lines = if part.is_empty() || numbers.iter().all(|number| is_number(number)) {
        let from = numbers[0].parse::<usize>().unwrap_or(1).max(1) - 1;
        let to = match numbers.get(1) {
            Some(end) => end.parse().unwrap_or(usize::MAX),
            None if part.is_empty() => usize::MAX,
            None => from + 1,
        };
        lines.get(from..to.clamp(from.min(lines.len()), lines.len())).unwrap_or_default().to_vec()
    } else {
        let named = |line: &str, mark: &str| {
            line.split_once(mark).is_some_and(|(_, name)| name.split_whitespace().next() == Some(numbers[0]))
        };
        let from = lines.iter().position(|line| named(line, "ANCHOR: ")).map_or(lines.len(), |at| at + 1);
        let rest = &lines[from..];
        rest[..rest.iter().position(|line| named(line, "ANCHOR_END: ")).unwrap_or(rest.len())].to_vec()
    };
    lines.into_iter().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

/// Removes the lines of Rust code that mdBook hides.
fn hide_lines(body: &mut TracedText) {
    let mut edits = Vec::new();
    for fence in
        markdown::outline(body.text()).fences.iter().filter(|fence| fence.language.starts_with("rust"))
    {
        let mut at = fence.range.start;
        for line in body.text()[fence.range.clone()].split_inclusive('\n') {
            let text = line.trim();
            if text == "#" || text.starts_with("# ") {
                edits.push((at..at + line.len(), String::new()));
            } else if text.starts_with("##") {
                let mark = at + line.len() - line.trim_start().len();
                edits.push((mark..mark + 1, String::new()));
            }
            at += line.len();
        }
    }
    body.apply(edits);
}

#[cfg(test)]
mod tests {
    use super::selected;

    #[test]
    fn parts_of_included_files_are_lines_or_anchors() {
        let text = "1\n// ANCHOR: a\n3\n// ANCHOR: b\n5\n// ANCHOR_END: a\n7\n";
        for (part, lines) in [
            ("", "1\n3\n5\n7"),
            ("1", "1"),
            ("5:", "5\n7"),
            (":3", "1\n3"),
            ("3:5", "3\n5"),
            ("a", "3\n5"),
            ("b", "5\n7"),
            ("c", ""),
            ("9", ""),
        ] {
            assert_eq!(selected(text, part), lines, "{part}");
        }
    }
}
