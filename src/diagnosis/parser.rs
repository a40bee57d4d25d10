//! Texts of front matter become patterns and expressions; what is wrong with them is kept with its place.

use std::ops::Range;

use kbgen_signature::{Expression, Fault, Pattern, Template};

use crate::diag::nearest;
use crate::files::{Placed, Sources, Span};

/// What is wrong with a pattern or a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFault {
    /// Where.
    pub span: Span,
    /// What, as a phrase.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Reads texts one after another and gathers their faults.
pub(super) struct Parser<'s> {
    pub sources: &'s Sources,
    pub pattern_faults: Vec<PartFault>,
    pub condition_faults: Vec<PartFault>,
}

impl<'s> Parser<'s> {
    pub fn new(sources: &'s Sources) -> Self {
        Self { sources, pattern_faults: Vec::new(), condition_faults: Vec::new() }
    }
}

impl Parser<'_> {
    pub fn pattern(&mut self, text: &Placed<String>) -> Option<Pattern> {
        match Pattern::parse(&text.value) {
            Ok(pattern) => Some(pattern),
            Err(fault) => {
                let fault = self.placed(text, fault);
                self.pattern_faults.push(fault);
                None
            }
        }
    }

    /// A condition on figures, all of which are among the `readable` ones; without a list it is not known which there are.
    pub fn condition(&mut self, text: &Placed<String>, readable: Option<&[String]>) -> Option<Expression> {
        let expression = self.parsed(text, Expression::parse(&text.value))?;
        self.require_readable(text, expression.names(), readable);
        Some(expression)
    }

    /// An expression that yields a number.
    pub fn value(&mut self, text: &Placed<String>, readable: Option<&[String]>) -> Option<Expression> {
        let expression = self.parsed(text, Expression::parse_value(&text.value))?;
        self.require_readable(text, expression.names(), readable);
        Some(expression)
    }

    /// A text with values in braces.
    pub fn template(&mut self, text: &Placed<String>, readable: Option<&[String]>) -> Option<Template> {
        let template = self.parsed(text, Template::parse(&text.value))?;
        self.require_readable(text, template.names(), readable);
        Some(template)
    }

    fn parsed<T>(&mut self, text: &Placed<String>, parsed: Result<T, Fault>) -> Option<T> {
        parsed
            .map_err(|fault| {
                let fault = self.placed(text, fault);
                self.condition_faults.push(fault);
            })
            .ok()
    }

    fn require_readable(&mut self, text: &Placed<String>, names: Vec<&str>, readable: Option<&[String]>) {
        let Some(readable) = readable else { return };
        for name in names {
            if readable.iter().any(|known| known == name) {
                continue;
            }
            let at = text.value.find(name).unwrap_or(0);
            let near = nearest(name, readable.iter().map(String::as_str));
            self.condition_faults.push(PartFault {
                span: place(self.sources, text, &(at..at + name.len())),
                message: format!("nothing reads the figure `{name}`"),
                help: match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", readable.join(", ")),
                },
            });
        }
    }

    fn placed(&self, text: &Placed<String>, fault: Fault) -> PartFault {
        PartFault { span: place(self.sources, text, &fault.range), message: fault.message, help: fault.help }
    }
}

/// The place of `range` inside a text that was read at `text.span`, which may stand in quotes.
///
/// Where escapes or line breaks make the written text differ from what it says, it is the whole text.
fn place(sources: &Sources, text: &Placed<String>, range: &Range<usize>) -> Span {
    let written = sources.text(text.span);
    let quotes = usize::from(written.starts_with(['"', '\'']));
    match written.get(quotes..quotes + text.value.len()) {
        Some(inner) if inner == text.value => text.span.part(quotes + range.start, quotes + range.end),
        _ => text.span,
    }
}
