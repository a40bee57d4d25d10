//! Parses patterns, expressions and templates of the front matter, and collects their errors.

use std::ops::Range;

use kbgen_signature::{Expression, ParseError, Pattern, Template};

use crate::diag::nearest;
use crate::files::{Sources, Span, Spanned};

/// An error in a pattern, an expression or a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureError {
    /// Location in the front matter.
    pub span: Span,
    /// A lowercase phrase without a full stop.
    pub message: String,
    /// One action that fixes the error.
    pub help: String,
}

/// Collects the errors of the values it parses.
pub(super) struct SignatureParser<'s> {
    pub sources: &'s Sources,
    pub pattern_errors: Vec<SignatureError>,
    pub condition_errors: Vec<SignatureError>,
}

impl<'s> SignatureParser<'s> {
    pub fn new(sources: &'s Sources) -> Self {
        Self { sources, pattern_errors: Vec::new(), condition_errors: Vec::new() }
    }
}

impl SignatureParser<'_> {
    pub fn pattern(&mut self, text: &Spanned<String>) -> Option<Pattern> {
        let result = Pattern::parse(&text.value);
        result.map_err(|error| self.pattern_errors.push(locate_error(self.sources, text, error))).ok()
    }

    /// Parses a condition. Reports figures that are not in `figures`, if these are known.
    pub fn condition(&mut self, text: &Spanned<String>, figures: Option<&[String]>) -> Option<Expression> {
        self.checked(text, Expression::parse(&text.value), Expression::names, figures)
    }

    /// Parses an expression with a number as its value; see [`SignatureParser::condition`].
    pub fn value(&mut self, text: &Spanned<String>, figures: Option<&[String]>) -> Option<Expression> {
        self.checked(text, Expression::parse_value(&text.value), Expression::names, figures)
    }

    /// Parses a template; see [`SignatureParser::condition`].
    pub fn template(&mut self, text: &Spanned<String>, figures: Option<&[String]>) -> Option<Template> {
        self.checked(text, Template::parse(&text.value), Template::names, figures)
    }

    /// Returns a parsed value after a check of its figures, or collects its error.
    fn checked<T>(
        &mut self,
        text: &Spanned<String>,
        result: Result<T, ParseError>,
        names: fn(&T) -> Vec<&str>,
        figures: Option<&[String]>,
    ) -> Option<T> {
        let report = |error| self.condition_errors.push(locate_error(self.sources, text, error));
        let value = result.map_err(report).ok()?;
        for name in names(&value) {
            let Some(figures) = figures.filter(|known| !known.iter().any(|known| known == name)) else {
                continue;
            };
            let at = text.value.find(name).unwrap_or(0);
            let nearest = nearest(name, figures.iter().map(String::as_str));
            self.condition_errors.push(SignatureError {
                span: locate(self.sources, text, &(at..at + name.len())),
                message: format!("undefined figure `{name}`"),
                help: match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("use one of {}", figures.join(", ")),
                },
            });
        }
        Some(value)
    }
}

fn locate_error(sources: &Sources, text: &Spanned<String>, error: ParseError) -> SignatureError {
    SignatureError { span: locate(sources, text, &error.range), message: error.message, help: error.help }
}

/// Returns the span of `range` of a value, which may be quoted in the file; of the whole value if escapes or line breaks make
/// the source text differ from it.
fn locate(sources: &Sources, text: &Spanned<String>, range: &Range<usize>) -> Span {
    let source = sources.text(text.span);
    let quotes = usize::from(source.starts_with(['"', '\'']));
    match source.get(quotes..quotes + text.value.len()) {
        Some(inner) if inner == text.value => text.span.part(quotes + range.start, quotes + range.end),
        _ => text.span,
    }
}
