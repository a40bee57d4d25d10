//! A language model: its hyperparameters as facts.

use std::collections::BTreeMap;

use jiff::civil::Date;
use kbgen_estimate::field::{ArchitectureField, FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;
use serde_json::json;

use crate::files::{Span, Spanned};
use crate::schema::{Field, Fields, Integer, Need, Record, Shape, Value, record};
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

record! {
    /// What a model page holds besides its head.
    #[derive(Debug, Clone)]
    pub struct ModelData {
        shared TITLE,
        shared also_known_as: Vec<String> = ALSO_KNOWN_AS,
        /// Owner and name on the Hugging Face hub.
        optional hf_id: Option<String>,
        /// Family that lists group it under.
        required family: String,
        /// License of the weights.
        optional licence: Option<String>,
        /// Day of the first release.
        optional released: Option<Date>,
        /// Quantization that its publisher releases the weights in, where they are not 16 bits wide: `MXFP4`.
        optional released_as: Option<Spanned<String>>,
        /// Parameters as its publisher counts them.
        optional parameters: Option<Spanned<u64>> as Integer<1, 100_000_000_000_000>,
        /// Why that count differs from the tensors that the runner loads.
        optional parameters_note: Option<String>,
        /// Hyperparameters; the fit table is computed from these.
        required architecture: ArchitectureData,
        shared SOURCES,
        /// Where the hyperparameters come from, in words.
        optional note: Option<String>,
        shared ALIASES,
        shared DRAFT,
        /// What the page rests on.
        apart evidence: Evidence = Evidence::of,
    }
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

impl ArchitectureData {
    /// All values that are given.
    pub fn json(&self) -> serde_json::Value {
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
