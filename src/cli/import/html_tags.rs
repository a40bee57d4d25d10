//! Converts HTML tags to Markdown, as far as Markdown has a form for them.

/// Tags without a visible effect of their own besides style; their text stays, and they are not reported.
const PLAIN: [&str; 12] =
    ["p", "div", "span", "br", "center", "section", "article", "figure", "picture", "source", "small", "wbr"];
/// Elements whose content is not text.
const OPAQUE: [&str; 4] = ["script", "style", "svg", "template"];

/// Links whose end tag has not been read yet.
#[derive(Debug, Default)]
pub(super) struct OpenTags {
    links: Vec<Option<String>>,
}

impl OpenTags {
    /// Converts HTML and calls `lost` with each tag that has no form in Markdown.
    pub fn convert(&mut self, html: &str, is_block: bool, lost: &mut dyn FnMut(&str)) -> String {
        let mut out = String::new();
        let (mut rest, lower) = (html, html.to_ascii_lowercase());
        while let Some(start) = rest.find('<') {
            push_text(&mut out, &rest[..start], is_block);
            rest = &rest[start..];
            if let Some(after) = rest.strip_prefix("<!--") {
                rest = after.find("-->").map_or("", |end| &after[end + 3..]);
                continue;
            }
            let Some(end) = tag_end(rest) else {
                push_text(&mut out, "\\<", is_block);
                rest = &rest[1..];
                continue;
            };
            let tag = &rest[1..end];
            rest = &rest[end + 1..];
            let is_end = tag.starts_with('/');
            let name: String = tag
                .trim_start_matches('/')
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect::<String>()
                .to_ascii_lowercase();
            if !is_end && (OPAQUE.contains(&name.as_str()) || (is_block && name == "pre")) {
                let close = format!("</{name}");
                let length = lower[html.len() - rest.len()..].find(&close).unwrap_or(rest.len());
                match name.as_str() {
                    "pre" => out.push_str(&fenced(&rest[..length])),
                    name => lost(name),
                }
                rest = rest[length..].find('>').map_or("", |at| &rest[length + at + 1..]);
                continue;
            }
            out.push_str(&self.tag(&name, tag, is_end, is_block, lost));
        }
        push_text(&mut out, rest, is_block);
        if is_block { format!("\n{}\n\n", out.trim()) } else { out }
    }

    fn tag(
        &mut self,
        name: &str,
        tag: &str,
        is_end: bool,
        is_block: bool,
        lost: &mut dyn FnMut(&str),
    ) -> String {
        match name {
            "a" if is_end => match self.links.pop().flatten() {
                Some(href) => format!("]({})", destination(&href)),
                None => String::new(),
            },
            "a" => {
                let href = attribute(tag, "href");
                let open = if href.is_some() { "[" } else { "" };
                self.links.push(href);
                open.into()
            }
            "img" => match attribute(tag, "src") {
                Some(source) => {
                    let alt = attribute(tag, "alt").unwrap_or_default().replace(['[', ']', '\n'], " ");
                    format!("![{}]({})", alt.trim(), destination(&source))
                }
                None => String::new(),
            },
            "strong" | "b" | "summary" | "dt" => "**".into(),
            "em" | "i" | "cite" | "dfn" => "*".into(),
            "code" | "kbd" | "samp" | "tt" => "`".into(),
            "del" | "s" => "~~".into(),
            "li" if is_block && !is_end => "\n- ".into(),
            "hr" if is_block => "\n\n---\n\n".into(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if is_block && !is_end => {
                let level = name[1..].parse().unwrap_or(2);
                format!("\n\n{} ", "#".repeat(level))
            }
            "ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if is_block => "\n\n".into(),
            "p" | "div" | "section" | "article" | "figure" if is_block => "\n\n".into(),
            "br" => " ".into(),
            name => {
                if !is_end && !PLAIN.contains(&name) {
                    lost(name);
                }
                String::new()
            }
        }
    }
}

/// Adds text; lines of a block lose their indentation, which would be code.
fn push_text(out: &mut String, text: &str, is_block: bool) {
    if !is_block {
        return out.push_str(text);
    }
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(if index > 0 { line.trim_start() } else { line });
    }
}

/// Returns the offset of the `>` that ends a tag; quotes may contain `>`.
fn tag_end(text: &str) -> Option<usize> {
    let first = text[1..].chars().next()?;
    if !first.is_ascii_alphabetic() && !matches!(first, '/' | '!' | '?') {
        return None;
    }
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    text.find('>')
}

/// Returns the value of an attribute.
pub(super) fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let is_start =
        |at: usize| tag[..at].ends_with(|c: char| c.is_ascii_whitespace() || c == '"' || c == '\'');
    let (at, _) = lower
        .match_indices(name)
        .find(|(at, _)| is_start(*at) && lower[at + name.len()..].trim_start().starts_with('='))?;
    let value = tag[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(|c: char| c.is_ascii_whitespace() || c == '>').next()?,
    };
    Some(decode(value.trim()))
}

/// Formats a destination; one with spaces or parentheses is put in angle brackets.
pub(super) fn destination(address: &str) -> String {
    let address: String = address.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect();
    let needs_brackets = address.is_empty() || address.contains([' ', '(', ')']);
    if needs_brackets { format!("<{address}>") } else { address }
}

/// Returns preformatted text as a code block.
fn fenced(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        match tag_end(&rest[start..]) {
            Some(end) => rest = &rest[start + end + 1..],
            None => {
                text.push('<');
                rest = &rest[start + 1..];
            }
        }
    }
    text.push_str(rest);
    code_block("text", &decode(&text))
}

/// Formats a code block; its fence is longer than each run of backticks in the code.
pub(super) fn code_block(language: &str, code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(runs + 1));
    format!("\n\n{fence}{language}\n{}\n{fence}\n\n", code.trim_matches('\n'))
}

/// Decodes the common entities.
fn decode(text: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_string(), |text, (entity, character)| text.replace(entity, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_become_markdown() {
        let convert = |html: &str, is_block: bool| {
            let mut lost = Vec::new();
            let text =
                OpenTags::default().convert(html, is_block, &mut |tag: &str| lost.push(tag.to_string()));
            (text.trim().to_string(), lost.join(" "))
        };
        assert_eq!(
            convert("<a href='/a b'>x <b>y</b></a><br><img src=i.png alt=\"I > J\">", false),
            ("[x **y**](</a b>) ![I > J](i.png)".into(), String::new())
        );
        let html = "<div>\n    <h3>T</h3>\n    <pre>a &lt; <i>b</i></pre>\n<iframe src=x></iframe> <script>1 < 2</script>end\n</div>";
        let (text, lost) = convert(html, true);
        assert_eq!(lost, "iframe script");
        assert!(
            text.starts_with("### T") && text.contains("```text\na < b\n```") && text.ends_with("end"),
            "{text}"
        );
    }
}
