//! Structured data for search engines: type and breadcrumbs of a page.
//!
//! It claims nothing that a reader would not see: an error page is an article, not a list of questions, so no page is
//! a `FAQPage`; the glossary is a set of terms. Types and properties: <https://schema.org/docs/full.html>.

use minijinja::value::Value;

use crate::render::views::{PageMeta, RenderContext};
use crate::site::kinds::TermData;
use crate::site::{Kind, Page, PageId};

/// Returns the JSON-LD of a page: its type, its data files and its breadcrumbs.
pub(super) fn page(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> Value {
    let mut graph = vec![page_node(cx, meta, canonical)];
    match meta.kind {
        "calculator" | "models" => graph.push(models(cx)),
        "hardware" => graph.push(devices(cx)),
        _ => {}
    }
    if !meta.address.is_empty() && !meta.noindex {
        graph.push(breadcrumbs(cx, meta, canonical));
    }
    object([("@context", "https://schema.org".into()), ("@graph", graph.into())])
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::from_pairs(fields)
}

fn page_node(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> Value {
    let config = cx.inputs.config;
    let kind = match meta.kind {
        "error" | "guide" | "tool" | "quant" | "entry" => "TechArticle",
        "home" => "WebSite",
        "calculator" | "compare" | "choose-gpu" | "cost" => "WebApplication",
        "errors" | "category" | "tools" | "guides" | "models" | "hardware" | "quants" | "changes"
        | "entries" => "CollectionPage",
        "glossary" => "DefinedTermSet",
        _ => "WebPage",
    };
    let title = if kind == "TechArticle" { "headline" } else { "name" };
    let mut thing: Vec<(&'static str, Value)> = vec![
        ("@type", kind.into()),
        ("@id", canonical.into()),
        ("url", canonical.into()),
        ("description", meta.description.as_str().into()),
        ("inLanguage", config.language.as_str().into()),
        (title, meta.title.into()),
    ];
    match kind {
        "TechArticle" => {
            thing.push(("publisher", publisher(cx)));
            if let Some((day, _)) = meta.head.and_then(|head| cx.updated(head)) {
                thing.push(("dateModified", day.to_string().into()));
            }
            if let Some(license) = &config.license_url {
                thing.push(("license", license.as_str().into()));
            }
        }
        "WebApplication" => thing.extend([
            ("applicationCategory", "UtilitiesApplication".into()),
            ("operatingSystem", "Any".into()),
            ("browserRequirements", "Requires JavaScript".into()),
            ("isAccessibleForFree", true.into()),
        ]),
        "DefinedTermSet" => thing.push(("hasDefinedTerm", terms(cx, canonical))),
        _ => {}
    }
    object(thing)
}

fn publisher(cx: &RenderContext<'_>) -> Value {
    let config = cx.inputs.config;
    object([
        ("@type", "Organization".into()),
        ("name", config.title.as_str().into()),
        ("url", config.base_url.as_str().into()),
    ])
}

fn terms(cx: &RenderContext<'_>, canonical: &str) -> Value {
    let term = |term: &Page<TermData>| {
        object([
            ("@type", "DefinedTerm".into()),
            ("@id", format!("{canonical}#{}", term.head.id.slug).into()),
            ("name", term.head.title.value.as_str().into()),
            ("description", cx.describe(&term.head).into()),
        ])
    };
    cx.site().terms.iter().map(term).collect()
}

/// Returns the data set of the calculator and the tables of the models.
fn models(cx: &RenderContext<'_>) -> Value {
    let count = cx.site().models.len();
    let description = cx.fill(
        "Hyperparameters of {n} language models and their GPU memory requirements: weights by quantization, cache and compute buffer by context.",
        &[("n", &count)],
    );
    let measured: Value =
        [cx.tr("weights"), cx.tr("KV cache"), cx.tr("compute buffer")].into_iter().collect();
    let mut further = vec![("variableMeasured", measured)];
    let methodology = PageId::new(Kind::Document, "methodology");
    if cx.head(&methodology).is_some() {
        let address = format!("{}{}", cx.inputs.config.base_url, methodology.address());
        further.push(("measurementTechnique", address.into()));
    }
    dataset(cx, "models", cx.tr("Memory requirements of language models"), description, further)
}

fn devices(cx: &RenderContext<'_>) -> Value {
    let count = cx.site().devices.len();
    let description = cx.fill(
        "Memory, bandwidth, power limit and generation of {n} devices, each with its sources.",
        &[("n", &count)],
    );
    dataset(cx, "hardware", cx.tr("Devices that run language models"), description, Vec::new())
}

/// Returns the description of a data file: `data/<name>.json`.
fn dataset(
    cx: &RenderContext<'_>,
    name: &str,
    title: &str,
    description: String,
    further: Vec<(&'static str, Value)>,
) -> Value {
    let config = cx.inputs.config;
    let base = &config.base_url;
    let distribution = object([
        ("@type", "DataDownload".into()),
        ("contentUrl", format!("{base}data/{name}.json").into()),
        ("encodingFormat", "application/json".into()),
    ]);
    let own = [
        ("@type", "Dataset".into()),
        ("@id", format!("{base}{name}/#data").into()),
        ("url", format!("{base}{name}/").into()),
        ("name", title.into()),
        ("description", description.into()),
        ("creator", publisher(cx)),
        ("isAccessibleForFree", true.into()),
        ("distribution", distribution),
    ];
    let license = config.license_url.as_ref().map(|license| ("license", license.as_str().into()));
    object(own.into_iter().chain(license).chain(further))
}

fn breadcrumbs(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> Value {
    let base_url = &cx.inputs.config.base_url;
    let home = (cx.tr("Home").to_string(), base_url.to_string());
    let trail = meta.trail.iter().map(|(title, address)| (title.clone(), format!("{base_url}{address}")));
    let here = (meta.title.to_string(), canonical.to_string());
    let steps = std::iter::once(home).chain(trail).chain(std::iter::once(here));
    let item = |((name, address), position): ((String, String), usize)| {
        object([
            ("@type", "ListItem".into()),
            ("position", position.into()),
            ("name", name.into()),
            ("item", address.into()),
        ])
    };
    let items: Value = steps.zip(1..).map(item).collect();
    object([("@type", "BreadcrumbList".into()), ("itemListElement", items)])
}
