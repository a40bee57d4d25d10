//! What the data files hold, field by field: their JSON Schemas are made from it.

use crate::schema::{Field, Shape};
use crate::site::kinds::{ARCHITECTURE, CLASS, COST, KIND, PLATFORM, SEVERITY, STATUS, VENDOR};

/// A data file that has a schema.
pub(in crate::render) struct Form {
    /// Name of the schema: `schema/<name>.json`.
    pub name: &'static str,
    /// Title of the schema.
    pub title: &'static str,
    /// All fields of the file.
    pub fields: Vec<Field>,
}

/// The forms of all data files.
pub(in crate::render) fn forms() -> [Form; 6] {
    let form =
        |name, title, head: &[Field], fields: &[Field]| Form { name, title, fields: [head, fields].concat() };
    [
        form("kb", "The knowledge base as data", COLLECTION, KB),
        form("models", "All models with what they need, as data", COLLECTION, MODELS),
        form("devices", "All devices as data", COLLECTION, DEVICES),
        form("error-data", "An error page as data", FILE, ERROR),
        form("model-data", "A model with what it needs, as data", FILE, WHOLE_MODEL),
        form("hardware-data", "A device as data", FILE, DEVICE),
    ]
}

const BYTES: Shape = Shape::Integer { min: 0, max: i64::MAX };
const COUNT: Shape = Shape::Integer { min: 1, max: i64::MAX };
const TEXTS: Shape = Shape::any(&Shape::Text);
const SLUGS: Shape = Shape::any(&Shape::Slug);

const FILE: &[Field] = &[
    Field::required("$schema", Shape::Text, "Where the schema of this file is, from here."),
    Field::required("version", COUNT, "Version of the form; grows when a reader would have to change."),
];

const COLLECTION: &[Field] = &[
    FILE[0],
    FILE[1],
    Field::required("generated_for", Shape::Url, "Where the site is published; addresses begin there."),
    TITLE,
    Field::required("licence", Shape::Text, "License of the content."),
];

const ID: Field =
    Field::required("id", Shape::Slug, "The slug: unique within its kind, never changed or reused.");
const SLUG: Field =
    Field::required("slug", Shape::Slug, "Last part of the page's address; the same as `id`.");
const TITLE: Field = Field::required("title", Shape::Text, "Title.");
const URL: Field =
    Field::required("url", Shape::Text, "Address below the site's root, with a slash in front.");
const ALIASES: Field = Field::required("aliases", TEXTS, "Old addresses that lead to the page.");
const RELATED: Field = Field::required("related", SLUGS, "Slugs of errors that belong to it.");
const SOURCES: Field =
    Field::required("sources", TEXTS, "What it rests on: addresses, or names of publications.");
const RELEASED: Field = Field::or_null("released", Shape::Date, "Day of the release.");
const NOTE: Field = Field::or_null("note", Shape::Text, "What a reader of the figures has to know.");

const SIGNATURE: &[Field] = &[
    Field::optional("pattern", Shape::Text, "Literal text with typed holes."),
    Field::optional("all", TEXTS, "Instead of `pattern`: fragments that must all occur."),
    Field::optional("not", TEXTS, "Fragments of which none may occur."),
    Field::or_null("extract", Shape::Slug, "A shared extractor that reads more figures."),
    Field::or_null("when", Shape::Text, "A condition on the figures that chooses between pages."),
    Field::required("source", Shape::Url, "Where the message was really seen."),
    Field::required("versions", Shape::Map(&Shape::Text), "Versions that print it, by tool."),
    Field::required("samples", TEXTS, "Real output that it matches."),
];

const CAUSE: &[Field] = &[
    Field::required("id", Shape::Slug, "Name of the cause within the page."),
    Field::required("title", Shape::Text, "What went wrong."),
    Field::required(
        "tell",
        Shape::Text,
        "How to tell that it is this cause, one line of Markdown; its links count from the site's root.",
    ),
    Field::or_null("when", Shape::Text, "A condition on the figures that points to it."),
    Field::or_null("case", Shape::Text, "What answers call it, with values in braces."),
    Field::required("solutions", SLUGS, "Ids of solutions, the best first."),
];

const SOLUTION: &[Field] = &[
    Field::required("id", Shape::Slug, "Name of the solution within the page, and of its section."),
    Field::required("title", Shape::Text, "What to do."),
    Field::required("cost", COST, "What it costs."),
];

const CHANGE: &[Field] = &[
    Field::required("date", Shape::Date, "Day of the change."),
    Field::required("what", Shape::Text, "What readers should know of it."),
];

const ERROR: &[Field] = &[
    ID,
    SLUG,
    TITLE,
    URL,
    ALIASES,
    Field::or_null("description", Shape::Text, "The first sentences of the page."),
    Field::required("category", Shape::Slug, "Slug of its category."),
    Field::required("kind", KIND, "What sort of message it is."),
    Field::required("severity", SEVERITY, "How bad it is."),
    Field::required("status", STATUS, "Whether people meet it today."),
    Field::or_null("retired", Shape::Text, "Of a retired error: since when, and what replaced it."),
    Field::required("tools", SLUGS, "Slugs of the tools that print it."),
    Field::required("platforms", Shape::any(&PLATFORM), "Where it is met; empty: everywhere."),
    Field::required("signatures", Shape::any(&Shape::Record(SIGNATURE)), "Messages that lead to the page."),
    Field::required("causes", Shape::any(&Shape::Record(CAUSE)), "Causes, the most likely first."),
    Field::required("solutions", Shape::any(&Shape::Record(SOLUTION)), "Solutions."),
    RELATED,
    Field::required(
        "changes",
        Shape::any(&Shape::Record(CHANGE)),
        "What changed on the page, the latest first.",
    ),
    Field::or_null("verified", Shape::Date, "The day on which all of the page was held against its sources."),
    Field::required("verified_with", Shape::Map(&Shape::Text), "Versions it was verified with, by tool."),
    SOURCES,
];

const FAMILY: Field = Field::required("family", Shape::Text, "Family that lists group it under.");
const HF_ID: Field = Field::or_null("hf_id", Shape::Text, "Owner and name on the Hugging Face hub.");
const WEIGHTS_LICENCE: Field = Field::or_null("licence", Shape::Text, "License of the weights.");
const PARAMETERS: Field = Field::or_null("parameters", COUNT, "Parameters as its publisher counts them.");
const MAX_CTX: Field = Field::or_null("max_ctx", COUNT, "Largest context, in tokens.");

const MODEL: &[Field] =
    &[ID, SLUG, TITLE, URL, ALIASES, FAMILY, HF_ID, WEIGHTS_LICENCE, RELEASED, PARAMETERS, MAX_CTX, SOURCES];

const WHOLE_MODEL: &[Field] = &[
    ID,
    SLUG,
    TITLE,
    URL,
    ALIASES,
    FAMILY,
    HF_ID,
    WEIGHTS_LICENCE,
    RELEASED,
    PARAMETERS,
    MAX_CTX,
    SOURCES,
    NOTE,
    Field::or_null(
        "released_as",
        Shape::Text,
        "Quantization of the published weights, where it is no 16-bit type.",
    ),
    Field::required("architecture", Shape::Record(ARCHITECTURE), "Hyperparameters."),
    Field::or_null("memory", Shape::Record(MEMORY), "What it needs; null where that is not covered."),
    Field::or_null("not_covered", Shape::Text, "Why nothing is said of its memory."),
    Field::or_null("runs_on", Shape::Record(RUNS_ON), "The smallest card that holds all of it."),
];

const MEMORY: &[Field] = &[
    Field::required(
        "driver_bytes",
        Shape::Record(&[
            Field::required("least", BYTES, "The least."),
            Field::required("most", BYTES, "The most."),
        ]),
        "What the driver takes on a card beside the buffers.",
    ),
    Field::required(
        "weights",
        Shape::any(&Shape::Record(&[
            Field::required("quantization", Shape::Text, "Name of the type in GGUF files."),
            Field::required("file_bytes", BYTES, "All tensors of the file."),
            Field::required("gpu_bytes", BYTES, "Weights on the GPU, with all layers there."),
        ])),
        "Weights by quantization; they do not depend on the context.",
    ),
    Field::required(
        "buffers",
        Shape::any(&Shape::Record(&[
            Field::required("cache_type", Shape::Text, "Type of K and of V."),
            Field::required("ctx", COUNT, "Context in tokens."),
            Field::required("cache_bytes", BYTES, "K/V cache and state."),
            Field::required("compute_bytes", BYTES, "Compute buffer."),
        ])),
        "What is added to the weights, by type of cache and context, for one sequence: the sum is the need.",
    ),
];

const RUNS_ON: &[Field] = &[
    Field::required("quantization", Shape::Text, "Of the weights."),
    Field::required("ctx", COUNT, "Context in tokens."),
    Field::required("needs_bytes", BYTES, "Weights, cache and compute buffer."),
    Field::or_null(
        "memory_gib",
        Shape::Number,
        "Memory of the smallest card; null where no single card holds it.",
    ),
    Field::required("badge", Shape::Text, "Address of a picture that says so, below the site's root."),
];

const DEVICE: &[Field] = &[
    ID,
    SLUG,
    TITLE,
    URL,
    ALIASES,
    Field::required("vendor", VENDOR, "Who makes it."),
    Field::required("class", CLASS, "What sort of device it is."),
    Field::or_null("architecture", Shape::Text, "Name of the architecture."),
    Field::or_null("generation", Shape::Text, "Name of the product line."),
    Field::required("memory_bytes", BYTES, "Memory; of unified memory the largest option."),
    Field::required("visible_bytes", BYTES, "Memory that programs see; verdicts are for this much."),
    Field::required(
        "memory_options_gib",
        Shape::any(&Shape::Number),
        "Sizes it is sold with, where there are several.",
    ),
    Field::required("unified", Shape::Flag, "Whether GPU and system share the memory."),
    Field::or_null("memory_type", Shape::Text, "Kind of memory."),
    Field::or_null("bus_bits", COUNT, "Width of the memory bus."),
    Field::or_null(
        "bandwidth_gbps",
        Shape::Number,
        "Memory bandwidth in GB/s, where a second source confirms it.",
    ),
    Field::or_null("tdp_w", COUNT, "Power limit in watts."),
    Field::or_null("compute_capability", Shape::Text, "CUDA compute capability."),
    RELEASED,
    NOTE,
    SOURCES,
];

const TOOL: &[Field] =
    &[ID, SLUG, TITLE, URL, ALIASES, Field::required("homepage", Shape::Url, "Where the tool lives.")];

const GUIDE: &[Field] = &[ID, SLUG, TITLE, URL, ALIASES, RELATED];

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
    Field::required("guides", Shape::any(&Shape::Record(GUIDE)), "All guides."),
];
