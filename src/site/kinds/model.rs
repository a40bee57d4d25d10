//! A language model: its hyperparameters as facts.

use std::collections::BTreeMap;

use jiff::civil::Date;
use kbgen_estimate::field::{ArchitectureField, FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;
use serde_json::{Value, json};

use crate::files::{Placed, Span};
use crate::schema::{Field, Fields, Need, Shape};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, SOURCES, TITLE};

/// Hyperparameters in front matter and in the data of a model, as the estimator declares them.
pub const ARCHITECTURE: &[Field] = &{
    let all = ArchitectureFields::ALL;
    let mut fields = [field(&all[0]); ArchitectureFields::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        fields[at] = field(&all[at]);
        at += 1;
    }
    fields
};

const fn field(own: &ArchitectureField) -> Field {
    let shape = match own.kind {
        FieldKind::Text => Shape::Text,
        FieldKind::Word(words) => Shape::Choice(words),
        FieldKind::Count { most } => Shape::Integer { min: 1, max: most.cast_signed() },
        FieldKind::Flag => Shape::Flag,
    };
    let need = if own.is_required { Need::Required } else { Need::Optional };
    Field { name: own.name, shape, need, doc: own.doc }
}

/// Front matter of a model page.
pub const FIELDS: &[Field] = &[
    TITLE,
    ALSO_KNOWN_AS,
    Field::optional("hf_id", Shape::Text, "Owner and name on the Hugging Face hub."),
    Field::required("family", Shape::Text, "Family that lists group it under."),
    Field::optional("licence", Shape::Text, "License of the weights."),
    Field::optional("released", Shape::Date, "Day of the first release."),
    Field::optional(
        "released_as",
        Shape::Text,
        "Quantization that its publisher releases the weights in, where they are not 16 bits wide: `MXFP4`.",
    ),
    Field::optional(
        "parameters",
        Shape::Integer { min: 1, max: 100_000_000_000_000 },
        "Parameters as its publisher counts them.",
    ),
    Field::optional(
        "parameters_note",
        Shape::Text,
        "Why that count differs from the tensors that the runner loads.",
    ),
    Field::required(
        "architecture",
        Shape::Record(ARCHITECTURE),
        "Hyperparameters; the fit table is computed from these.",
    ),
    SOURCES,
    Field::optional("note", Shape::Text, "Where the hyperparameters come from, in words."),
    ALIASES,
    DRAFT,
];

/// What a model page holds besides its head.
#[derive(Debug, Clone)]
pub struct ModelData {
    /// Other names that it is looked up by.
    pub also_known_as: Vec<String>,
    /// Owner and name on the hub.
    pub hf_id: Option<String>,
    /// Family that lists group it under.
    pub family: String,
    /// License of the weights.
    pub licence: Option<String>,
    /// Day of the first release.
    pub released: Option<Date>,
    /// Quantization of the published weights, where it is not a 16-bit type.
    pub released_as: Option<Placed<String>>,
    /// Published count of parameters.
    pub parameters: Option<Placed<u64>>,
    /// Why that count differs from what is loaded.
    pub parameters_note: Option<String>,
    /// Hyperparameters.
    pub architecture: ArchitectureData,
    /// Where the hyperparameters come from.
    pub note: Option<String>,
    /// What the page rests on.
    pub evidence: Evidence,
}

/// Hyperparameters as the front matter gives them; the fit stage checks them.
#[derive(Debug, Clone)]
pub struct ArchitectureData {
    /// Their values.
    pub fields: ArchitectureFields,
    /// Where each value that is given stands.
    pub spans: BTreeMap<&'static str, Span>,
    /// Where they all stand.
    pub span: Span,
}

impl ArchitectureData {
    fn new(given: &Fields) -> Self {
        let mut data =
            Self { fields: ArchitectureFields::default(), spans: BTreeMap::new(), span: given.span() };
        for own in ArchitectureFields::ALL {
            let value = match own.kind {
                FieldKind::Text | FieldKind::Word(_) => {
                    given.text(own.name).map(|text| text.map(FieldValue::Text))
                }
                FieldKind::Count { .. } => given
                    .integer(own.name)
                    .map(|count| count.map(|count| FieldValue::Count(count.unsigned_abs()))),
                FieldKind::Flag => given.flag(own.name).map(|flag| flag.map(FieldValue::Flag)),
            };
            if let Some(Placed { value, span }) = value
                && (own.set)(&mut data.fields, value)
            {
                data.spans.insert(own.name, span);
            }
        }
        data
    }

    /// All values that are given.
    pub fn json(&self) -> Value {
        let given = ArchitectureFields::ALL.iter().filter(|own| self.spans.contains_key(own.name));
        let values = given.map(|own| match (own.get)(&self.fields) {
            FieldValue::Text(text) => (own.name, json!(text)),
            FieldValue::Count(count) => (own.name, json!(count)),
            FieldValue::Flag(flag) => (own.name, json!(flag)),
        });
        // In the order of their names.
        values
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }
}

/// A number, unless it is zero, which means that none is given.
pub fn given(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

impl ModelData {
    /// What the fields of a model page say.
    pub fn new(fields: &Fields) -> Self {
        let word = |name| fields.text(name).map(|placed| placed.value);
        let architecture = fields.record("architecture").map(|placed| placed.value);
        Self {
            also_known_as: fields.texts("also_known_as").into_iter().map(|name| name.value).collect(),
            hf_id: word("hf_id"),
            family: word("family").unwrap_or_default(),
            licence: word("licence"),
            released: fields.date("released").map(|placed| placed.value),
            released_as: fields.text("released_as"),
            parameters: fields.integer("parameters").map(|placed| placed.map(i64::unsigned_abs)),
            parameters_note: word("parameters_note"),
            architecture: ArchitectureData::new(&architecture.unwrap_or_else(|| Fields::none(fields.span()))),
            note: word("note"),
            evidence: Evidence::new(fields),
        }
    }
}
