//! Tables of measured figures, and their models.

use std::collections::BTreeMap;

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::field::{FieldKind, FieldValue};
use kbgen_estimate::fields::ArchitectureFields;

/// Row of a table, by column.
pub type Row = BTreeMap<String, String>;

/// Hyperparameters of the measured models.
pub const MODELS: &str = include_str!("../data/measured_models.csv");

/// Parses a table with a header row.
pub fn rows(table: &str) -> Vec<Row> {
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

/// Returns the number in a column; zero if it is empty or missing.
pub fn number(row: &Row, column: &str) -> u64 {
    row.get(column).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the hyperparameters in a row.
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

/// Returns the measured models by slug.
pub fn models() -> BTreeMap<String, Architecture> {
    let rows = rows(MODELS);
    rows.iter().map(|row| (row["id"].clone(), fields(row).build().unwrap())).collect()
}
