//! Figures that stand around a message in no fixed layout, each read on its own.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::effort::Effort;
use crate::expression::Expression;
use crate::figure::{Figure, Figures};
use crate::find::{Matcher, Span};
use crate::normal::NormalText;
use crate::pattern::Pattern;

/// How far behind the beginning of the message figures are looked for, in characters without white space.
const FIGURES_BEHIND: usize = 1500;
/// How far before the message the place is looked for.
pub(crate) const PLACE_BEFORE: usize = 6000;
/// How far behind the message the place is looked for, if none stands before it.
pub(crate) const PLACE_BEHIND: usize = 3000;
/// The line that opens every Python traceback, in normal form.
const TRACEBACK: &[u8] = b"traceback(mostrecentcalllast)";

/// The figure that a rule sets which holds.
pub const VERDICT: &str = "verdict";
/// The figure that tells the part of the program.
pub const PLACE: &str = "place";

/// A named set of figures for a message with many layouts, such as that of PyTorch's allocator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extractor {
    /// The name that a signature gives after `extract`.
    pub name: String,
    /// Figures that are read from the message.
    pub fields: Vec<Field>,
    /// Figures that are reckoned from others, in this order, unless they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<Derived>,
    /// What an expert concludes from the figures; the first that holds sets the figure `verdict`, so that the pages
    /// which share the extractor need not repeat the rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// Where in the program the message arose, most telling first; sets the figure `place`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
}

/// A figure that is read from the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The name of the figure.
    pub name: String,
    /// Wordings; the named hole is the figure. The first wording that stands in the message counts.
    pub patterns: Vec<Pattern>,
    /// Whether the figure may stand several times. Then `name` is the sum, and `name_1`, `name_2` and so on
    /// are the single ones.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repeat: bool,
}

/// A figure that is reckoned from others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Derived {
    /// The name of the figure.
    pub name: String,
    /// An expression that yields a size; unknown where a figure that it needs is, and never below zero.
    pub value: Expression,
    /// Without which the figure is not reckoned in this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
}

/// A conclusion and the condition under which it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The value of `verdict`.
    pub name: String,
    /// The condition.
    pub when: Expression,
}

/// A part of the program, known by what stands in the traceback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The value of `place`.
    pub name: String,
    /// Any of these tells the place.
    pub fragments: Vec<Pattern>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Extractor {
    /// The names of the figures that may be read; those of a repeated field also stand for `name_1` and so on.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().map(|field| field.name.as_str());
        let derived = self.derived.iter().map(|derived| derived.name.as_str());
        let verdict = (!self.verdicts.is_empty()).then_some(VERDICT);
        fields.chain(derived).chain(verdict).chain((!self.places.is_empty()).then_some(PLACE))
    }
}

/// An extractor that is ready to read.
#[derive(Debug, Clone)]
pub(crate) struct Gatherer {
    fields: Vec<(String, Vec<Matcher>, bool)>,
    derived: Vec<Derived>,
    verdicts: Vec<Verdict>,
    places: Vec<(String, Vec<Matcher>)>,
}

impl Gatherer {
    /// Prepares an extractor.
    pub fn new(extractor: &Extractor) -> Self {
        let matchers = |patterns: &[Pattern]| patterns.iter().map(Matcher::within_message).collect();
        Self {
            fields: extractor
                .fields
                .iter()
                .map(|field| (field.name.clone(), matchers(&field.patterns), field.repeat))
                .collect(),
            derived: extractor.derived.clone(),
            verdicts: extractor.verdicts.clone(),
            places: extractor
                .places
                .iter()
                .map(|place| (place.name.clone(), matchers(&place.fragments)))
                .collect(),
        }
    }

    /// Reads the figures of the message that stands at `span`; another message with the same beginning ends it.
    pub fn read(
        &self,
        text: &NormalText,
        original: &str,
        message: &Matcher,
        span: &Span,
        known: &Figures,
        effort: &mut Effort,
    ) -> Figures {
        let mut figures = known.clone();
        let limit = text.len().min(span.start + FIGURES_BEHIND);
        let limit = message.first_in(text, span.end, limit, effort).map_or(limit, |next| next.start);
        for (name, matchers, repeat) in &self.fields {
            let mut values = read_field(matchers, text, original, span.start..limit, *repeat, effort);
            if values.len() > 1 {
                figures.add(name, Figure::Number(values.iter().sum()));
                values.iter().enumerate().for_each(|(at, value)| {
                    figures.add(&format!("{name}_{}", at + 1), Figure::Number(*value))
                });
            } else if let Some(value) = values.pop() {
                figures.add(name, Figure::Number(value));
            }
        }
        for derived in &self.derived {
            if derived.when.as_ref().is_none_or(|when| when.holds(&figures))
                && let Some(value) = derived.value.number(&figures)
            {
                figures.add(&derived.name, Figure::Number((value + 0.5).floor().max(0.0)));
            }
        }
        if let Some(verdict) = self.verdicts.iter().find(|verdict| verdict.when.holds(&figures)) {
            figures.add(VERDICT, Figure::Text(verdict.name.clone()));
        }
        if !self.places.is_empty() {
            figures.add(PLACE, Figure::Text(self.place(text, span, effort).to_owned()));
        }
        figures
    }

    /// The place that the traceback before the message tells, else what stands behind it.
    fn place(&self, text: &NormalText, span: &Span, effort: &mut Effort) -> &str {
        let first = span.start.saturating_sub(PLACE_BEFORE);
        let before = &text.bytes[first..span.start];
        let traceback = before.windows(TRACEBACK.len()).rposition(|window| window == TRACEBACK).unwrap_or(0);
        let behind = span.end..text.len().min(span.end + PLACE_BEHIND);
        for range in [first + traceback..span.start, behind] {
            for (name, matchers) in &self.places {
                let mut first_in = |matcher: &Matcher| matcher.first_in(text, range.start, range.end, effort);
                if matchers.iter().any(|matcher| first_in(matcher).is_some()) {
                    return name;
                }
            }
        }
        "unknown"
    }
}

fn read_field(
    matchers: &[Matcher],
    text: &NormalText,
    original: &str,
    range: Range<usize>,
    repeat: bool,
    effort: &mut Effort,
) -> Vec<f64> {
    let mut values = Vec::new();
    for matcher in matchers {
        let mut at = range.start;
        while let Some(span) = matcher.first_in(text, at, range.end, effort) {
            if let Some(Figure::Number(value)) = matcher.named_figure(text, original, &span) {
                values.push(value);
            }
            at = span.end;
            if !repeat && !values.is_empty() {
                return values;
            }
        }
    }
    values
}
