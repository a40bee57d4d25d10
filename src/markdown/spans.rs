//! Tokens as HTML: a class of one letter each, neighbors of one class in one span.

use crate::markdown::html::escape_into;

/// What a token is; the letter is its class in HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
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

impl Class {
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

/// HTML that grows token by token.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    out: String,
    open: Option<Class>,
    /// White space whose class shows when the next token comes.
    gap: String,
}

impl Spans {
    /// A text without tokens.
    pub fn plain(code: &str) -> String {
        let mut out = String::new();
        escape_into(&mut out, code);
        out
    }

    /// Adds a token.
    pub fn push(&mut self, class: Option<Class>, text: &str) {
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

    /// The HTML.
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
    fn neighbours_share_a_span_and_white_space_has_none() {
        let mut spans = Spans::default();
        spans.push(Some(Class::String), "a");
        spans.push(None, " ");
        spans.push(Some(Class::String), "<b ");
        spans.push(Some(Class::Number), "1\n");
        spans.push(None, "  ");
        assert_eq!(spans.finish(), "<span class=\"s\">a &lt;b</span> <span class=\"n\">1</span>\n  ");
    }
}
