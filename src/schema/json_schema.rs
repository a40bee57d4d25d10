//! Converts field definitions to JSON Schema, for completion and checks in editors and for readers of the data files.

use serde_json::{Map, Value, json};

use crate::schema::field::{FieldOf, Need, ShapeOf};

/// Returns the JSON Schema (2020-12) of a mapping with these fields.
pub fn json_schema(id: &str, title: &str, fields: &[FieldOf<'_>]) -> Value {
    let mut schema = record(fields);
    let object = schema.as_object_mut().expect("a record is an object");
    object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("$id".into(), json!(id));
    object.insert("title".into(), json!(title));
    schema
}

fn record(fields: &[FieldOf<'_>]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = match field.need {
            Need::OrNull => json!({"anyOf": [shape(&field.shape), {"type": "null"}]}),
            Need::Required | Need::Optional => shape(&field.shape),
        };
        let object = schema.as_object_mut().expect("a shape is an object");
        object.insert("description".into(), json!(field.doc));
        properties.insert(field.name.into(), schema);
    }
    let required: Vec<_> =
        fields.iter().filter(|field| field.need != Need::Optional).map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn shape(shape: &ShapeOf<'_>) -> Value {
    match shape {
        ShapeOf::Text => json!({"type": "string", "minLength": 1}),
        ShapeOf::Slug => json!({"type": "string", "pattern": "^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$"}),
        ShapeOf::Url => json!({"type": "string", "format": "uri", "pattern": "^https?://"}),
        ShapeOf::Date => json!({"type": "string", "format": "date"}),
        ShapeOf::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        ShapeOf::Number => json!({"type": "number", "exclusiveMinimum": 0}),
        ShapeOf::Flag => json!({"type": "boolean"}),
        ShapeOf::Choice(choices) => json!({
            "oneOf": choices
                .iter()
                .map(|(word, doc)| json!({"const": word, "description": doc}))
                .collect::<Vec<_>>(),
        }),
        ShapeOf::List { of, at_least, at_most } => {
            let mut schema = json!({"type": "array", "items": self::shape(of), "minItems": at_least});
            if *at_most < usize::MAX {
                schema["maxItems"] = json!(at_most);
                schema["uniqueItems"] = json!(true);
            }
            schema
        }
        ShapeOf::Record(fields) => record(fields),
        ShapeOf::Map(of) => json!({"type": "object", "additionalProperties": self::shape(of)}),
    }
}
