//! Data of model pages, including the hyperparameters.

use std::collections::BTreeMap;

use jiff::civil::Date;
use kbgen_estimate::field::{ArchitectureField, FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;
use serde_json::json;

use crate::files::{Span, Spanned};
use crate::schema::{Field, Fields, Integer, Need, Record, Shape, Value, record, words};
use crate::site::kinds::common::{ALIASES, ALSO_KNOWN_AS, DRAFT, Evidence, PUBLISH_ON, SOURCES, TITLE};

/// Hyperparameters in front matter and model data, as the estimator declares them.
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

words! {
    /// Special purpose of a model, as stated by its publisher.
    pub enum ModelUse {
        /// Writes program code.
        Coding = "coding",
        /// Writes its reasoning before the answer, always.
        Reasoning = "reasoning",
    }
}

record! {
    /// Front matter of a model page.
    #[derive(Debug, Clone)]
    pub struct ModelData {
        shared TITLE,
        shared also_known_as: Vec<String> = ALSO_KNOWN_AS,
        /// Owner and name on the Hugging Face Hub.
        optional hf_id: Option<String>,
        /// Tag in the Ollama library; its files are Q4_K_M, or of the type in `released_as`.
        optional ollama: Option<String>,
        /// Family that lists group it under.
        required family: String,
        /// Special purposes, as stated by its publisher: `[coding, reasoning]`.
        optional uses: Vec<ModelUse>,
        /// License of the weights.
        optional license: Option<String>,
        /// Alias of `license`.
        optional licence: Option<String>,
        /// Date of the first release.
        optional released: Option<Date>,
        /// Quantization of the released weights, if they are not 16 bits wide: `MXFP4`.
        optional released_as: Option<Spanned<String>>,
        /// Parameter count as published.
        optional parameters: Option<Spanned<u64>> as Integer<1, 100_000_000_000_000>,
        /// Why that count differs from the tensors that are loaded.
        optional parameters_note: Option<String>,
        /// Hyperparameters; the fit table is computed from these.
        required architecture: ArchitectureData,
        shared SOURCES,
        /// Source of the hyperparameters, in words.
        optional note: Option<String>,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}

/// Hyperparameters as written in the front matter; the fit stage checks them.
#[derive(Debug, Clone)]
pub struct ArchitectureData {
    /// Their values.
    pub fields: ArchitectureFields,
    /// Spans of the given values.
    pub spans: BTreeMap<&'static str, Span>,
    /// Span of all hyperparameters.
    pub span: Span,
}

impl Record for ArchitectureData {
    const FIELDS: &'static [Field] = ARCHITECTURE;

    fn of(given: &Fields) -> Self {
        let mut data =
            Self { fields: ArchitectureFields::default(), spans: BTreeMap::new(), span: given.span() };
        for own in ArchitectureFields::ALL {
            let Some(Spanned { value, span }) = given.value(own.name) else { continue };
            let value = match value {
                Value::Text(text) => FieldValue::Text(text.clone()),
                Value::Integer(count) => FieldValue::Count(count.unsigned_abs()),
                Value::Flag(flag) => FieldValue::Flag(*flag),
                _ => continue,
            };
            if (own.set)(&mut data.fields, value) {
                data.spans.insert(own.name, *span);
            }
        }
        data
    }
}

record!(@forms ArchitectureData);

/// Ratio in thousandths of published to modeled parameters above which the checkpoint has further parts.
const EXTRA_PARTS_PER_MILLE: u64 = 1005;

impl ModelData {
    /// Returns the parameters of the checkpoint besides those of the text model, such as those of a vision tower.
    pub fn further_parameters(&self, text: u64) -> u64 {
        let published = self.parameters.as_ref().map_or(0, |count| count.value);
        if published * 1000 > text * EXTRA_PARTS_PER_MILLE { published - text } else { 0 }
    }

    /// Returns whether the model writes text; an embedding model does not.
    pub fn writes_text(&self) -> bool {
        self.architecture.fields.pooling.is_empty()
    }

    /// Returns the license of the weights.
    pub fn license(&self) -> Option<&str> {
        self.license.as_deref().or(self.licence.as_deref())
    }
}

impl ArchitectureData {
    /// Returns all given values.
    pub fn json(&self) -> serde_json::Value {
        let given = ArchitectureFields::ALL.iter().filter(|own| self.spans.contains_key(own.name));
        let values = given.map(|own| match (own.get)(&self.fields) {
            FieldValue::Text(text) => (own.name, json!(text)),
            FieldValue::Count(count) => (own.name, json!(count)),
            FieldValue::Flag(flag) => (own.name, json!(flag)),
        });
        // Sorted by name.
        values
            .collect::<BTreeMap<_, _>>()
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }
}

/// Returns a number, or `None` for zero, the value of a missing number.
pub fn given(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}
