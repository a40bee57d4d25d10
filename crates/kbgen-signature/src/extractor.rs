//! Extracts the figures around a message that has no fixed layout.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::figure::{Figure, Figures};
use crate::matcher::{MatchSpan, Matcher};
use crate::normal::NormalText;
use crate::pattern::Pattern;
use crate::step_budget::StepBudget;

/// Range of the fields after the start of the message, in characters of normal text.
const FIELD_RANGE: usize = 1500;
/// Range of the traceback before the message.
pub(crate) const PLACE_RANGE_BEFORE: usize = 6000;
/// Range after the message that is searched if nothing before it matches.
pub(crate) const PLACE_RANGE_AFTER: usize = 3000;
/// The first line of a Python traceback, in normal form.
const TRACEBACK: &[u8] = b"traceback(mostrecentcalllast)";

/// Name of the figure that [`Extractor::verdicts`] set.
pub const VERDICT_FIGURE: &str = "verdict";
/// Name of the figure that [`Extractor::places`] set.
pub const PLACE_FIGURE: &str = "place";

/// A named set of rules that extract figures from a message with many layouts, such as that of PyTorch's allocator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extractor {
    /// The value of `extract` in signatures.
    pub name: String,
    /// Figures that the message contains.
    pub fields: Vec<FigureField>,
    /// Figures computed from others, in this order, unless the message contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<DerivedFigure>,
    /// Conclusions from the figures; the first one whose condition is true sets the figure `verdict`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// Parts of the program; the first match sets the figure `place`, or `unknown` if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlaceRule>,
}

/// A figure that the message contains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureField {
    /// Name of the figure, or of the sum if it repeats.
    pub name: String,
    /// Alternative wordings with one named placeholder, which is the figure; the first match counts.
    pub patterns: Vec<Pattern>,
    /// Whether the figure may occur several times: `name` is then the sum, and `name_1`, `name_2` and so on are the values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repeat: bool,
}

/// A figure that is computed from others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DerivedFigure {
    /// Name of the figure; a later rule of the same name applies if this one has no value.
    pub name: String,
    /// The size in bytes; rounded, and 0 if negative.
    pub value: Expression,
    /// A condition for this computation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
}

/// A conclusion and its condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The value of `verdict`.
    pub name: String,
    /// A condition on the figures, the derived ones included.
    pub when: Expression,
}

/// A part of a program, recognized by its traceback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlaceRule {
    /// The value of `place`.
    pub name: String,
    /// Alternative patterns; one match is enough.
    pub fragments: Vec<Pattern>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Extractor {
    /// Iterates over the names of all figures, without the `name_1` and so on of repeated fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let fields = self.fields.iter().map(|field| field.name.as_str());
        let derived = self.derived.iter().map(|derived| derived.name.as_str());
        let verdict = (!self.verdicts.is_empty()).then_some(VERDICT_FIGURE);
        fields.chain(derived).chain(verdict).chain((!self.places.is_empty()).then_some(PLACE_FIGURE))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CompiledExtractor {
    fields: Vec<(String, Vec<Matcher>, bool)>,
    derived: Vec<DerivedFigure>,
    verdicts: Vec<Verdict>,
    places: Vec<(String, Vec<Matcher>)>,
}

impl CompiledExtractor {
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

    /// Extracts the figures of the message at `span`, up to the next match of the same pattern.
    pub fn extract(
        &self,
        text: &NormalText,
        original: &str,
        message: &Matcher,
        span: &MatchSpan,
        known: &Figures,
        budget: &mut StepBudget,
    ) -> Figures {
        let mut figures = known.clone();
        let limit = text.len().min(span.start + FIELD_RANGE);
        let limit = message.find(text, span.end..limit, budget).map_or(limit, |next| next.start);
        for (name, matchers, repeat) in &self.fields {
            let mut values = field_values(matchers, text, original, span.start..limit, *repeat, budget);
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
            figures.add(VERDICT_FIGURE, Figure::Text(verdict.name.clone()));
        }
        if !self.places.is_empty() {
            figures.add(PLACE_FIGURE, Figure::Text(self.place(text, span, budget).to_owned()));
        }
        figures
    }

    /// Returns the part of the program in the last traceback before the message, or else in the text after it.
    fn place(&self, text: &NormalText, span: &MatchSpan, budget: &mut StepBudget) -> &str {
        let first = span.start.saturating_sub(PLACE_RANGE_BEFORE);
        let before = &text.bytes[first..span.start];
        let traceback = before.windows(TRACEBACK.len()).rposition(|window| window == TRACEBACK).unwrap_or(0);
        let after = span.end..text.len().min(span.end + PLACE_RANGE_AFTER);
        for range in [first + traceback..span.start, after] {
            for (name, matchers) in &self.places {
                if matchers.iter().any(|matcher| matcher.find(text, range.clone(), budget).is_some()) {
                    return name;
                }
            }
        }
        "unknown"
    }
}

fn field_values(
    matchers: &[Matcher],
    text: &NormalText,
    original: &str,
    range: Range<usize>,
    repeat: bool,
    budget: &mut StepBudget,
) -> Vec<f64> {
    let mut values = Vec::new();
    for matcher in matchers {
        let mut at = range.start;
        while let Some(span) = matcher.find(text, at..range.end, budget) {
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
