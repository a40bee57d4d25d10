//! Converts Markdown that pages of kbgen do not support. Each finding of the parser has one repair; they are applied until
//! there are no findings.

use std::ops::Range;

use crate::cli::import::html_tags::{OpenTags, code_block};
use crate::cli::import::imported_site::{ImportedPage, Loss, LossKind};
use crate::cli::import::traced_text::Replacement;
use crate::markdown::{self, MarkdownErrorKind as Error, Outline, UnsupportedSyntax};
use crate::schema::title_of;

/// Maximum number of passes; each repair may lead to another finding, such as a heading in HTML.
const MAX_PASSES: usize = 24;

/// Converts the body of a page, and its title if the front matter has none.
pub(super) fn convert(page: &mut ImportedPage, losses: &mut Vec<Loss>) {
    move_title(page);
    let repair = |page: &mut ImportedPage, losses: &mut Vec<Loss>, pass: usize| {
        let outline = markdown::outline(page.body.text());
        let mut repairs = Repairs { page, outline: &outline, pass, edits: Vec::new(), losses };
        repairs.collect();
        let edits = repairs.edits;
        let is_done = edits.is_empty();
        page.body.apply(edits);
        is_done
    };
    if (0..MAX_PASSES).any(|pass| repair(page, losses, pass)) && !has_errors(page.body.text()) {
        return;
    }
    let outline = markdown::outline(page.body.text());
    let first = outline.errors.iter().find(|error| is_error(&error.kind));
    let what = first.map_or_else(|| "markup".to_string(), |error| error.kind.message());
    let line = page.body.line(first.map_or(0, |error| error.range.start));
    losses.push(Loss::new(
        &page.file,
        line,
        LossKind::Markup,
        format!("{what}: the page is shown as source text"),
    ));
    let whole = 0..page.body.text().len();
    let block = code_block("text", page.body.text());
    page.body.apply(vec![(whole, block)]);
}

fn has_errors(text: &str) -> bool {
    markdown::outline(text).errors.iter().any(|error| is_error(&error.kind))
}

/// Returns whether a finding prevents a build.
fn is_error(kind: &Error) -> bool {
    !matches!(kind, Error::BareAddress | Error::UnknownLanguage(_))
}

/// Removes a first heading that is the title, or that becomes it.
fn move_title(page: &mut ImportedPage) {
    let outline = markdown::outline(page.body.text());
    let first = outline.headings.first();
    let is_title =
        |title: &str| !title.is_empty() && (page.title.is_empty() || title.eq_ignore_ascii_case(&page.title));
    if let Some(heading) = first.filter(|heading| heading.level == 1 && is_title(&heading.title)) {
        page.title.clone_from(&heading.title);
        page.body.apply(vec![(heading.range.clone(), String::new())]);
    }
    if page.title.is_empty() {
        let stem = page.path.rsplit('/').next().unwrap_or_default();
        page.title = title_of(stem.split('.').next().unwrap_or(stem));
    }
}

/// Repairs of one pass.
struct Repairs<'p> {
    page: &'p ImportedPage,
    outline: &'p Outline,
    pass: usize,
    edits: Vec<Replacement>,
    losses: &'p mut Vec<Loss>,
}

impl Repairs<'_> {
    fn lose(&mut self, at: usize, kind: LossKind, message: String) {
        self.losses.push(Loss::new(&self.page.file, self.page.body.line(at), kind, message));
    }

    fn edit(&mut self, range: Range<usize>, new: impl Into<String>) {
        self.edits.push((range, new.into()));
    }

    /// Escapes the character at an offset.
    fn escape(&mut self, at: usize) {
        self.edit(at..at, "\\");
    }

    fn collect(&mut self) {
        let outline = self.outline;
        let mut open = OpenTags::default();
        if self.pass == 0 {
            self.fences();
        }
        for call in &outline.calls {
            self.escape(call.range.start);
        }
        if outline.errors.iter().any(|error| error.kind == Error::HeadingLevelOne) {
            for heading in &outline.headings {
                self.set_level(&heading.range, (heading.level + 1).min(6));
            }
        }
        for error in &outline.errors {
            self.repair(&error.kind, error.range.clone(), &mut open);
        }
    }

    fn repair(&mut self, kind: &Error, range: Range<usize>, open: &mut OpenTags) {
        let body = self.page.body.text();
        let written = &body[range.clone()];
        match kind {
            Error::HtmlComment if written.trim_end().ends_with("-->") => self.edit(range, ""),
            Error::RawHtml(_) | Error::HtmlComment => {
                let is_block =
                    body[..range.start].rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
                        && (written.contains('\n')
                            || body[range.end..].starts_with('\n')
                            || range.end == body.len());
                let mut tags = Vec::new();
                let new = open.convert(written, is_block, &mut |tag: &str| tags.push(tag.to_string()));
                tags.sort();
                tags.dedup();
                for tag in tags {
                    self.lose(
                        range.start,
                        LossKind::Html,
                        format!("HTML `<{tag}>`: only its text is imported"),
                    );
                }
                self.edit(range, new);
            }
            Error::LinkScheme(scheme) if scheme == "//" => self.edit(range.start..range.start, "https:"),
            Error::LinkScheme(_) | Error::LinkHost(_) => {
                self.lose(
                    range.start,
                    LossKind::Link,
                    format!("{}: leads to the top of the page", kind.message()),
                );
                self.edit(range, "#top");
            }
            Error::BareAddress if self.pass < 2 => {
                // Emphasis may end after the address.
                let address = written.trim_end_matches(['_', '*', '~']);
                self.edit(range.start..range.start + address.len(), format!("<{address}>"));
            }
            Error::HeadingAttribute(_) => self.reduce_braces_to_id(range.start),
            Error::HeadingIdSpelling(_) | Error::DuplicateId(_) | Error::ReservedId(_) => {
                self.replace_braces(range.start, |_| String::new());
            }
            Error::HeadingSkipsLevel { before, .. } => self.set_level(&range, before + 1),
            Error::HeadingNested => {
                let title = written.trim_start_matches('#').lines().next().unwrap_or_default();
                let title = title.split("{#").next().unwrap_or(title).trim().trim_end_matches('#').trim();
                self.edit(range, if title.is_empty() { String::new() } else { format!("**{title}**") });
            }
            Error::UnknownFenceAttribute(_) | Error::UnknownSystem(_) => self.edit(range, ""),
            Error::UnclosedFence { .. } => {
                let line = written.lines().next().unwrap_or_default().trim_start();
                let fence: String = line.chars().take_while(|c| matches!(c, '`' | '~')).collect();
                let end = body.len();
                self.edit(end..end, format!("\n{fence}\n"));
            }
            Error::UnclosedCall => self.escape(range.start),
            Error::DirectionOverride(character) | Error::HiddenCharacter(character) => {
                self.lose(range.start, LossKind::Markup, format!("{}: removed", kind.message()));
                let new = match written.contains(*character) {
                    true => written.replace(*character, ""),
                    false => without_entities(written),
                };
                self.edit(range, new);
            }
            Error::UnsupportedSyntax(UnsupportedSyntax::TableColumns { header, .. }) => {
                self.edit(range, format!("|{}", " --- |".repeat(*header)));
            }
            Error::UnsupportedSyntax(_) => self.unsupported(range),
            Error::UndefinedReference(_) => self.escape(range.start),
            Error::UndefinedFootnote(_) | Error::UnusedFootnote(_) | Error::DuplicateFootnote(_) => {
                self.lose(range.start, LossKind::Markup, format!("{}: shown as text", kind.message()));
                let start = body[..(range.start + 1).min(body.len())].rfind('[').unwrap_or(range.start);
                self.escape(start);
            }
            _ => {}
        }
    }

    /// Reduces the attributes of code blocks to language and title.
    fn fences(&mut self) {
        for fence in &self.outline.fences {
            let line = self.page.body.text()[fence.range.clone()].lines().next().unwrap_or_default();
            let info = line.trim_start_matches(['`', '~']);
            let start = fence.range.start + line.len() - info.len();
            let marks = |c: char| c.is_whitespace() || ",{}:".contains(c);
            let language = info.trim().trim_matches(['{', '}', '.']).split(marks).next().unwrap_or_default();
            let language = if language.contains(['=', '"']) { "" } else { language };
            let title = info.split_once("title=\"").and_then(|(_, rest)| rest.split('"').next());
            let language = if language.is_empty() && !info.trim().is_empty() { "text" } else { language };
            let new = match title {
                Some(title) => format!("{language} title=\"{title}\""),
                None => language.to_string(),
            };
            let is_flagged = info.contains([' ', '{', '=']);
            if new != info.trim_end() && is_flagged {
                self.lose(
                    fence.range.start,
                    LossKind::Markup,
                    format!("code block attributes `{}`: reduced to `{new}`", info.trim()),
                );
            }
            if new != info.trim_end() {
                self.edit(start..start + info.len(), new);
            }
        }
    }

    /// Reduces the braces after a heading to the id in them; without one, removes them.
    fn reduce_braces_to_id(&mut self, at: usize) {
        self.replace_braces(at, |braces| {
            let mut words = braces.trim_matches(['{', '}', ' ']).split_whitespace();
            words.find_map(|word| word.strip_prefix('#')).map(|id| format!("{{#{id}}}")).unwrap_or_default()
        });
    }

    /// Replaces the braces after a heading.
    fn replace_braces(&mut self, at: usize, new: impl Fn(&str) -> String) {
        let body = self.page.body.text();
        let end = body[at..].find('\n').map_or(body.len(), |length| at + length);
        let start = body[..at].rfind('\n').map_or(0, |start| start + 1);
        let Some(open) = body[start..end].rfind('{').map(|offset| start + offset) else { return };
        let new = new(&body[open..end]);
        self.edit(open..end, new);
    }

    fn set_level(&mut self, range: &Range<usize>, level: u8) {
        let written = &self.page.body.text()[range.clone()];
        let marks = "#".repeat(level.into());
        let new = match written.strip_prefix('#') {
            Some(rest) => format!("{marks}{}", rest.trim_start_matches('#')),
            None => {
                let lines: Vec<&str> = written.lines().map(str::trim).collect();
                format!("{marks} {}", lines[..lines.len().saturating_sub(1)].join(" "))
            }
        };
        self.edit(range.clone(), new);
    }

    fn unsupported(&mut self, range: Range<usize>) {
        let written = &self.page.body.text()[range.clone()];
        let is_math = written.starts_with('$');
        let what = if is_math { "math" } else { "unsupported syntax" };
        let shown: String = written.chars().take(40).collect();
        self.lose(range.start, LossKind::Markup, format!("{what} `{shown}`: shown as text"));
        if is_math || written.starts_with(char::is_alphabetic) {
            let marks = if written.contains('`') { "``" } else { "`" };
            return self.edit(range.clone(), format!("{marks}{written}{marks}"));
        }
        self.escape(range.start);
    }
}

/// Removes character references, except those of Markdown's own characters.
fn without_entities(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once(';') {
            Some((name, rest)) if !matches!(name, "amp" | "lt" | "gt" | "quot") && !name.contains(' ') => {
                out.push_str(rest);
            }
            _ => {
                out.push('&');
                out.push_str(part);
            }
        }
    }
    out
}
