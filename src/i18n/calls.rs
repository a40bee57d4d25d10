//! Finds translatable texts in templates and scripts: `t("Copy")`, `t("{n} error", "{n} errors", …)`.

use std::ops::Range;

/// A call of `t`, with the source of its texts between the quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'s> {
    /// One text, or its singular and plural.
    pub texts: Vec<&'s str>,
    /// Range from the name to the end of the last text.
    pub range: Range<usize>,
}

/// Start of a call.
const START: &str = "t(";

/// Returns the calls of `t` in a template or a script.
pub fn calls(source: &str) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    let mut at = 0;
    while let Some(found) = source[at..].find(START) {
        let start = at + found;
        at = start + START.len();
        // Skips other names, such as `set("` and `name.t("`.
        if source[..start].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')) {
            continue;
        }
        let arguments = source[at..].trim_start();
        if !arguments.starts_with('"') {
            continue;
        }
        let (mut texts, mut end) = (Vec::new(), source.len() - arguments.len());
        while let Some((text, behind)) = quoted(source, end) {
            texts.push(text);
            end = behind;
            match source[end..].trim_start().strip_prefix(',').map(str::trim_start) {
                Some(rest) if rest.starts_with('"') => end = source.len() - rest.len(),
                _ => break,
            }
        }
        at = end.max(at);
        if !texts.is_empty() {
            calls.push(Call { texts, range: start..end });
        }
    }
    calls
}

/// Returns the text of the string literal at `start`, and the offset after it.
fn quoted(source: &str, start: usize) -> Option<(&str, usize)> {
    let inner = source[start..].strip_prefix('"')?;
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some((&inner[..at], start + at + 2)),
            b'\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_only_calls_of_t() {
        let source = "set(\"a\"); x.t(\"b\"); (t(\n  \"c \\\" d\")); t(\"one\", \"many\", {n: 1}); t(e)";
        let found: Vec<_> = calls(source).into_iter().map(|call| (call.texts, &source[call.range])).collect();
        assert_eq!(
            found,
            [(vec![r#"c \" d"#], "t(\n  \"c \\\" d\""), (vec!["one", "many"], "t(\"one\", \"many\"")]
        );
    }
}
