//! Parses patterns, expressions and templates of the front matter, and collects their errors.

use kbgen_signature::{Expression, ParseError, Pattern, Template};

use crate::diag::nearest;
use crate::diagnosis::fragment::locate;
use crate::files::{Placed, Sources, Span};

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
    pub fn pattern(&mut self, text: &Placed<String>) -> Option<Pattern> {
        match Pattern::parse(&text.value) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let error = self.locate_error(text, error);
                self.pattern_errors.push(error);
                None
            }
        }
    }

    /// Parses a condition. Reports figures that are not in `figure_names`, if these are known.
    pub fn condition(
        &mut self,
        text: &Placed<String>,
        figure_names: Option<&[String]>,
    ) -> Option<Expression> {
        let expression = self.or_report(text, Expression::parse(&text.value))?;
        self.require_known_names(text, expression.names(), figure_names);
        Some(expression)
    }

    /// Parses an expression with a number as its value; see [`SignatureParser::condition`].
    pub fn value(&mut self, text: &Placed<String>, figure_names: Option<&[String]>) -> Option<Expression> {
        let expression = self.or_report(text, Expression::parse_value(&text.value))?;
        self.require_known_names(text, expression.names(), figure_names);
        Some(expression)
    }

    /// Parses a template; see [`SignatureParser::condition`].
    pub fn template(&mut self, text: &Placed<String>, figure_names: Option<&[String]>) -> Option<Template> {
        let template = self.or_report(text, Template::parse(&text.value))?;
        self.require_known_names(text, template.names(), figure_names);
        Some(template)
    }

    fn or_report<T>(&mut self, text: &Placed<String>, result: Result<T, ParseError>) -> Option<T> {
        result
            .map_err(|error| {
                let error = self.locate_error(text, error);
                self.condition_errors.push(error);
            })
            .ok()
    }

    fn require_known_names(
        &mut self,
        text: &Placed<String>,
        names: Vec<&str>,
        figure_names: Option<&[String]>,
    ) {
        let Some(figure_names) = figure_names else { return };
        for name in names {
            if figure_names.iter().any(|known| known == name) {
                continue;
            }
            let at = text.value.find(name).unwrap_or(0);
            let nearest = nearest(name, figure_names.iter().map(String::as_str));
            self.condition_errors.push(SignatureError {
                span: locate(self.sources, text, &(at..at + name.len())),
                message: format!("nothing reads the figure `{name}`"),
                help: match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("there are {}", figure_names.join(", ")),
                },
            });
        }
    }

    fn locate_error(&self, text: &Placed<String>, error: ParseError) -> SignatureError {
        SignatureError {
            span: locate(self.sources, text, &error.range),
            message: error.message,
            help: error.help,
        }
    }
}
