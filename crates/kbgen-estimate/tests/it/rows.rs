//! Tables of measured figures, and the models that they are about.

use std::collections::BTreeMap;

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::field::{FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;

/// A row of a table, by its columns.
pub type Row = BTreeMap<String, String>;

/// Hyperparameters of the measured models.
pub const MODELS: &str = include_str!("../data/measured_models.csv");

/// Parses a table with a line of headings.
pub fn rows(table: &str) -> Vec<Row> {
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

/// The number in a column; an empty or missing one is zero.
pub fn number(row: &Row, column: &str) -> u64 {
    row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The hyperparameters in a row.
pub fn fields(row: &Row) -> ArchitectureFields {
    let mut fields = ArchitectureFields::default();
    for field in ArchitectureFields::ALL {
        let value = match (field.name, field.kind) {
            ("name", _) => FieldValue::Text(row["gguf_arch"].clone()),
            ("layers", _) if row["layer_kinds"].is_empty() => FieldValue::Text(format!("F{}", row["layers"])),
            ("layers", _) => FieldValue::Text(row["layer_kinds"].clone()),
            (name, FieldKind::Text | FieldKind::Word(_)) => FieldValue::Text(row[name].clone()),
            (name, FieldKind::Count { .. }) => FieldValue::Count(number(row, name)),
            (name, FieldKind::Flag) => FieldValue::Flag(row[name] == "1"),
        };
        assert!((field.set)(&mut fields, value), "`{}` is of another type", field.name);
    }
    fields
}

/// The measured models by their slugs.
pub fn models() -> BTreeMap<String, Architecture> {
    let rows = rows(MODELS);
    rows.iter().map(|row| (row["id"].clone(), fields(row).build().unwrap())).collect()
}
