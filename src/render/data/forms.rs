//! The types of data files, each with its JSON Schema.

use crate::pack::Pack;
use crate::render::data::entries::{DEVICE, ENTRY, ERROR, GUIDE, MODEL, TOOL, WHOLE_MODEL};
use crate::schema::{Field, Shape};

/// A type of data file.
pub(in crate::render) struct Form {
    /// Name of the schema: `schema/<name>.json`.
    pub name: &'static str,
    /// Title of the schema.
    pub title: &'static str,
    /// Fields of the file.
    pub fields: Vec<Field>,
    /// Whether the files are alternates of pages.
    pub is_alternate: bool,
    /// Pack with the files.
    pub pack: Option<Pack>,
}

/// Returns all types of data files.
pub(in crate::render) fn forms() -> [Form; 6] {
    let collection = |name, title, fields: &[Field], pack| {
        let fields = [COLLECTION, fields].concat();
        Form { name, title, fields, is_alternate: false, pack }
    };
    let alternate = |name, title, fields: &[Field], pack| {
        let fields = [FILE, fields].concat();
        Form { name, title, fields, is_alternate: true, pack }
    };
    let llm = Some(Pack::Llm);
    [
        collection("kb", "The knowledge base as data", KB, None),
        collection("models", "All models with what they need, as data", MODELS, llm),
        collection("devices", "All devices as data", DEVICES, llm),
        alternate("error-data", "An error page as data", ERROR, None),
        alternate("model-data", "A model with what it needs, as data", WHOLE_MODEL, llm),
        alternate("hardware-data", "A device as data", DEVICE, llm),
    ]
}

const FILE: &[Field] = &[
    Field::required("$schema", Shape::Text, "Address of the schema of this file, relative to it."),
    Field::required(
        "version",
        Shape::Integer { min: 1, max: i64::MAX },
        "Version of the form; grows when a reader would have to change.",
    ),
];

const COLLECTION: &[Field] = &[
    FILE[0],
    FILE[1],
    Field::required(
        "generated_for",
        Shape::Url,
        "Address of the published site, with which addresses begin.",
    ),
    Field::required("title", Shape::Text, "Title."),
    Field::required("licence", Shape::Text, "License of the content."),
];

const MODELS: &[Field] = &[Field::required("models", Shape::any(&Shape::Record(WHOLE_MODEL)), "All models.")];

const DEVICES: &[Field] = &[Field::required("hardware", Shape::any(&Shape::Record(DEVICE)), "All devices.")];

const KB: &[Field] = &[
    Field::required("errors", Shape::any(&Shape::Record(ERROR)), "All errors."),
    Field::required(
        "models",
        Shape::any(&Shape::Record(MODEL)),
        "All models; `data/models.json` has what they need.",
    ),
    DEVICES[0],
    Field::required("tools", Shape::any(&Shape::Record(TOOL)), "All tools."),
    Field::optional("entries", Shape::any(&Shape::Record(ENTRY)), "All entries of declared collections."),
    Field::required("guides", Shape::any(&Shape::Record(GUIDE)), "All guides."),
];
