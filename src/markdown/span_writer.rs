//! Writes tokens as HTML spans with one-letter classes; adjacent tokens of one class share a span.

use crate::markdown::html::escape_into;

/// The class of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenClass {
    Keyword,
    String,
    Comment,
    Number,
    Function,
    Variable,
    Operator,
    Type,
    Prompt,
    Error,
    Warning,
    Muted,
}

impl TokenClass {
    /// Returns the CSS class.
    fn letter(self) -> char {
        match self {
            Self::Keyword => 'k',
            Self::String => 's',
            Self::Comment => 'c',
            Self::Number => 'n',
            Self::Function => 'f',
            Self::Variable => 'v',
            Self::Operator => 'o',
            Self::Type => 't',
            Self::Prompt => 'p',
            Self::Error => 'e',
            Self::Warning => 'w',
            Self::Muted => 'm',
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct SpanWriter {
    out: String,
    open: Option<TokenClass>,
    /// White space after the last token; inside its span only if the next token has the same class.
    gap: String,
}

impl SpanWriter {
    /// Escapes code without highlighting.
    pub fn plain(code: &str) -> String {
        let mut out = String::new();
        escape_into(&mut out, code);
        out
    }

    /// Adds a token; `None` is unclassified text.
    pub fn push(&mut self, class: Option<TokenClass>, text: &str) {
        let body = text.trim_end();
        if body.is_empty() {
            return self.gap.push_str(text);
        }
        let start = body.trim_start();
        self.gap.push_str(&body[..body.len() - start.len()]);
        if class != self.open || self.gap.contains('\n') {
            self.close();
            self.out.push_str(&self.gap);
            if let Some(class) = class {
                self.out.push_str("<span class=\"");
                self.out.push(class.letter());
                self.out.push_str("\">");
            }
            self.open = class;
        } else {
            self.out.push_str(&self.gap);
        }
        self.gap.clear();
        escape_into(&mut self.out, start);
        self.gap.push_str(&text[body.len()..]);
    }

    pub fn finish(mut self) -> String {
        self.close();
        self.out + &self.gap
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.out.push_str("</span>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_tokens_share_a_span() {
        let mut spans = SpanWriter::default();
        spans.push(Some(TokenClass::String), "a");
        spans.push(None, " ");
        spans.push(Some(TokenClass::String), "<b ");
        spans.push(Some(TokenClass::Number), "1\n");
        spans.push(None, "  ");
        assert_eq!(spans.finish(), "<span class=\"s\">a &lt;b</span> <span class=\"n\">1</span>\n  ");
    }
}
