//! Shortcodes of Zola and Hugo: finds them, converts the common ones, and keeps unknown ones as text.

use std::ops::Range;

use serde_json::Value;

use crate::cli::import::html_tags::{code_block, destination};
use crate::cli::import::imported_site::{Loss, LossKind};
use crate::cli::import::page_header;
use crate::cli::import::traced_text::TracedText;
use crate::markdown;

/// Maximum nesting of shortcodes, including those that come from templates.
const MAX_ROUNDS: usize = 100;
/// Maximum growth of a page by its shortcodes, as a factor, and the size in bytes up to which it may grow anyway.
const MAX_GROWTH: usize = 4;
const MIN_LIMIT: usize = 1 << 20;

/// Syntax of shortcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `{{ name(key="value") }}`, `{% name() %} … {% end %}`.
    Zola,
    /// `{{< name "value" >}}`, `{{% name key=value %}} … {{% /name %}}`.
    Hugo,
}

/// A shortcode.
#[derive(Debug, Clone)]
pub(super) struct Shortcode {
    /// Byte range of the tag.
    pub range: Range<usize>,
    /// Name; of an escaped shortcode, its text without the comment marks.
    pub name: String,
    /// Arguments; those without a key have their position, from `0`.
    pub arguments: Vec<(String, Value)>,
    /// Function of the tag.
    pub role: Role,
}

/// Text that replaces a shortcode, or why there is none; `None` for an unknown shortcode.
pub(super) type Conversion = Option<Result<String, String>>;

/// Function of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Has a body if there is an end tag for it.
    Start {
        /// Whether the body is Markdown.
        is_markdown: bool,
    },
    /// Has no body.
    Alone,
    /// Ends the nearest start tag.
    End,
    /// Shows the syntax of a shortcode.
    Escaped,
}

impl Shortcode {
    /// Returns an argument as text.
    pub fn text(&self, key: &str) -> Option<String> {
        let (_, value) = self.arguments.iter().find(|(name, _)| name == key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_string))
    }
}

/// Converts the shortcodes of a text. `own` converts those of the site; `None` leaves a shortcode to the common ones.
///
/// Each round converts the shortcodes that contain no other, so that its time is linear.
pub(super) fn convert(
    body: &mut TracedText,
    syntax: Syntax,
    file: &str,
    losses: &mut Vec<Loss>,
    own: &mut dyn FnMut(&Shortcode, Option<&str>) -> Conversion,
) {
    let kept = ('\u{E000}'..='\u{F8FF}').find(|mark| !body.text().contains(*mark)).unwrap_or('\u{E000}');
    let most = body.text().len().saturating_mul(MAX_GROWTH).max(MIN_LIMIT);
    for round in 1.. {
        let found = scan(body.text(), syntax);
        if found.is_empty() {
            break;
        }
        let is_last = round == MAX_ROUNDS || body.text().len() > most;
        let tags = if is_last { found.iter().map(|tag| (tag, None)).collect() } else { innermost(&found) };
        let code = CodeRanges::new(body.text());
        let mut edits = Vec::new();
        for (first, end) in tags {
            let inner = end.map(|end| &body.text()[first.range.end..end.range.start]);
            let whole = first.range.start..end.map_or(first.range.end, |end| end.range.end);
            let converted = match first.role {
                Role::Start { .. } | Role::Alone if is_last => Some(Err("nested too deeply".to_string())),
                Role::Start { .. } | Role::Alone => {
                    own(first, inner).or_else(|| common(first, inner).map(Ok))
                }
                Role::Escaped | Role::End => None,
            };
            let fault = match converted {
                Some(Ok(new)) => {
                    edits.push((whole, new));
                    continue;
                }
                Some(Err(fault)) => fault,
                None => "unknown".to_string(),
            };
            edits.extend(keep(body.text(), &code, kept, first, end));
            if first.role != Role::Escaped {
                let message = format!("shortcode `{}` is {fault}: kept as text", first.name);
                losses.push(Loss::new(file, body.line(first.range.start), LossKind::Shortcode, message));
            }
        }
        body.apply(edits);
        if is_last {
            break;
        }
    }
    body.remove(kept);
}

/// Returns the shortcodes that contain no other, each with its end tag.
fn innermost(found: &[Shortcode]) -> Vec<(&Shortcode, Option<&Shortcode>)> {
    let (mut open, mut ready) = (Vec::new(), Vec::new());
    for (at, tag) in found.iter().enumerate() {
        let start = match tag.role {
            Role::Start { .. } => {
                open.push(at);
                continue;
            }
            Role::Alone | Role::Escaped => None,
            Role::End => open.iter().rposition(|start| tag.name.is_empty() || found[*start].name == tag.name),
        };
        let Some(start) = start else {
            ready.push((tag, None));
            continue;
        };
        // Those behind it have no end tag.
        ready.extend(open.drain(start + 1..).map(|inner| (&found[inner], None)));
        ready.extend(open.pop().filter(|start| start + 1 == at).map(|start| (&found[start], Some(tag))));
    }
    ready.extend(open.into_iter().map(|start| (&found[start], None)));
    ready
}

/// Ranges of the code of a text, in order.
struct CodeRanges(Vec<Range<usize>>);

impl CodeRanges {
    fn new(text: &str) -> Self {
        let outline = markdown::outline(text);
        let fences = outline.fences.into_iter().map(|fence| fence.range);
        let mut ranges: Vec<_> = outline.code.into_iter().chain(fences).collect();
        ranges.sort_by_key(|range| range.start);
        Self(ranges)
    }

    fn contains(&self, at: usize) -> bool {
        let before = self.0.partition_point(|range| range.start <= at);
        before.checked_sub(1).is_some_and(|last| self.0[last].contains(&at))
    }
}

/// Returns the edits that keep a shortcode as text: as code in prose, and its body as code unless it is Markdown. The
/// mark `kept` follows its first brace, so that later rounds do not find it.
fn keep(
    body: &str,
    code: &CodeRanges,
    kept: char,
    tag: &Shortcode,
    end: Option<&Shortcode>,
) -> Vec<(Range<usize>, String)> {
    let in_code = |at: usize| code.contains(at) || body[..at].ends_with('(');
    let text = |tag: &Shortcode| {
        let written = match tag.role {
            Role::Escaped => tag.name.as_str(),
            _ => &body[tag.range.clone()],
        };
        let kept = format!("{{{kept}{}", &written[1..]);
        if in_code(tag.range.start) || kept.contains('`') {
            kept
        } else {
            format!("`{}`", kept.replace('\n', " "))
        }
    };
    let mut edits = vec![(tag.range.clone(), text(tag))];
    if let Some(end) = end {
        edits.push((end.range.clone(), text(end)));
        let inner = tag.range.end..end.range.start;
        let is_code = tag.role == (Role::Start { is_markdown: false }) && body[inner.clone()].contains('\n');
        if is_code && !in_code(tag.range.start) {
            edits.push((inner.clone(), code_block("text", &body[inner])));
        }
    }
    edits
}

/// Finds all shortcodes, in order.
fn scan(text: &str, syntax: Syntax) -> Vec<Shortcode> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        let tag = match syntax {
            Syntax::Zola => zola_tag(text, start),
            Syntax::Hugo => hugo_tag(text, start),
        };
        at = tag.as_ref().map_or(start + 1, |tag| tag.range.end);
        found.extend(tag);
    }
    found
}

/// Returns the offset of `mark` after `from`, outside quotes, at most 4 KB away.
fn find_outside_quotes(text: &str, from: usize, mark: &str) -> Option<usize> {
    let mut quote = None;
    for (offset, c) in text[from..].char_indices().take_while(|(offset, _)| *offset < 4096) {
        match (quote, c) {
            (None, _) if text[from + offset..].starts_with(mark) => return Some(from + offset),
            (None, '"' | '`') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn zola_tag(text: &str, start: usize) -> Option<Shortcode> {
    let rest = &text[start..];
    let (close, is_pair) = if rest.starts_with("{{") {
        ("}}", false)
    } else if rest.starts_with("{%") {
        ("%}", true)
    } else {
        return None;
    };
    let inner_start = start + 2;
    if text[inner_start..].starts_with("/*") {
        let end = inner_start + text[inner_start..].find(&format!("*/{close}"))?;
        let shown = format!("{}{}{close}", &rest[..2], &text[inner_start + 2..end]);
        return Some(Shortcode {
            range: start..end + 4,
            name: shown,
            arguments: Vec::new(),
            role: Role::Escaped,
        });
    }
    let end = find_outside_quotes(text, inner_start, close)?;
    let inner = text[inner_start..end].trim_matches(['-', ' ', '\n', '\t']);
    let range = start..end + 2;
    if is_pair && inner.starts_with("end") && inner.chars().all(char::is_alphanumeric) {
        return Some(Shortcode { range, name: String::new(), arguments: Vec::new(), role: Role::End });
    }
    let (name, arguments) = inner.split_once('(')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if name.is_empty() || !name.trim_end().chars().all(is_name) {
        return None;
    }
    let arguments = arguments.trim_end().strip_suffix(')')?.trim().trim_end_matches(',');
    // Zola's arguments have the form of an inline table, except for quotes `…`.
    let table = format!("x = {{{}}}", arguments.replace('\n', " ").replace('`', "\""));
    let parsed = page_header::parse(&table, "toml").ok()?;
    let arguments = parsed["x"].as_object()?.clone().into_iter().collect();
    let role = if is_pair { Role::Start { is_markdown: true } } else { Role::Alone };
    Some(Shortcode { range, name: name.trim().into(), arguments, role })
}

fn hugo_tag(text: &str, start: usize) -> Option<Shortcode> {
    let rest = &text[start..];
    let (close, is_markdown) = if rest.starts_with("{{<") {
        (">}}", false)
    } else if rest.starts_with("{{%") {
        ("%}}", true)
    } else {
        return None;
    };
    let inner_start = start + 3;
    if text[inner_start..].trim_start().starts_with("/*") {
        let end = inner_start + text[inner_start..].find(close)?;
        let shown = text[inner_start..end].trim().trim_start_matches("/*").trim_end_matches("*/");
        let name = format!("{}{shown}{close}", &rest[..3]);
        return Some(Shortcode { range: start..end + 3, name, arguments: Vec::new(), role: Role::Escaped });
    }
    let end = find_outside_quotes(text, inner_start, close)?;
    let range = start..end + 3;
    let inner = text[inner_start..end].trim();
    let (inner, role) = match inner.strip_prefix('/') {
        Some(inner) => (inner.trim(), Role::End),
        None => (inner.trim_end_matches('/'), Role::Start { is_markdown }),
    };
    let mut words = words(inner).into_iter();
    let name = words.next().filter(|name| !name.is_empty())?;
    let key = |word: &str| {
        let (key, value) = word.split_once('=')?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        is_key.then(|| (key.to_string(), Value::from(unquoted(value))))
    };
    let named =
        |(at, word): (usize, String)| key(&word).unwrap_or_else(|| (at.to_string(), unquoted(&word).into()));
    Some(Shortcode { range, name, arguments: words.enumerate().map(named).collect(), role })
}

/// Splits at white space outside quotes.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()))
            }
            (None, '"' | '`') => {
                quote = Some(c);
                word.push(c);
            }
            (Some(open), c) if open == c => {
                quote = None;
                word.push(c);
            }
            (_, c) => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '`']).replace("\\\"", "\"")
}

/// Converts shortcodes that most sites use in the same way.
fn common(tag: &Shortcode, inner: Option<&str>) -> Option<String> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| tag.text(key));
    match (tag.name.as_str(), inner) {
        ("figure" | "img" | "image" | "imgproc", None) => {
            let source = first(&["src", "path", "url", "link", "0"])?;
            let caption = first(&["caption", "title"]).unwrap_or_default();
            let alt = first(&["alt"]).unwrap_or_else(|| caption.clone()).replace(['[', ']', '\n'], " ");
            let shown = if caption.is_empty() { String::new() } else { format!("\n\n*{}*", caption.trim()) };
            Some(format!("![{alt}]({}){shown}", destination(&source)))
        }
        ("highlight" | "code", Some(code)) => {
            let language = first(&["0", "lang", "language"]).unwrap_or_else(|| "text".into());
            Some(code_block(&language, code))
        }
        ("youtube", None) => {
            let id = first(&["id", "0"])?;
            Some(format!("<https://www.youtube.com/watch?v={}>", id.replace(['<', '>', ' '], "")))
        }
        ("vimeo", None) => {
            Some(format!("<https://vimeo.com/{}>", first(&["id", "0"])?.replace(['<', '>', ' '], "")))
        }
        ("details", Some(text)) => {
            let title = first(&["summary", "title", "0"]).unwrap_or_else(|| "Details".into());
            Some(format!("\n\n**{title}**\n\n{}\n\n", text.trim()))
        }
        (name, Some(text)) => {
            let level = alert_level(name).or_else(|| {
                let is_alert =
                    ["admonition", "alert", "callout", "notice", "aside", "admonish"].contains(&name);
                let kind = first(&["type", "kind", "level", "color", "class", "0"]);
                let flag = || tag.arguments.iter().find_map(|(key, _)| alert_level(key));
                is_alert.then(|| kind.and_then(|kind| alert_level(&kind)).or_else(flag).unwrap_or("NOTE"))
            })?;
            let title = first(&["title"]).map(|title| format!("**{title}**\n\n")).unwrap_or_default();
            let text = format!("{title}{}", text.trim());
            let lines: Vec<String> = text.lines().map(|line| format!("> {}", line.trim_end())).collect();
            Some(format!("\n\n> [!{level}]\n{}\n\n", lines.join("\n").replace("> \n", ">\n")))
        }
        _ => None,
    }
}

/// Returns the alert of a name.
fn alert_level(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "note" | "info" | "primary" | "secondary" => "NOTE",
        "tip" | "hint" | "success" => "TIP",
        "important" => "IMPORTANT",
        "warning" | "warn" => "WARNING",
        "caution" | "danger" | "error" => "CAUTION",
        _ => return None,
    })
}
