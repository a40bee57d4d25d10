//! Structured data for search engines: type and breadcrumbs of a page.
//!
//! It claims nothing that a reader would not see: an error page is an article, not a list of questions, so no page is
//! a `FAQPage`; the glossary is a set of terms. Types and properties: <https://schema.org/docs/full.html>.

use minijinja::value::Value;
use serde_json::json;

use crate::render::templates::view_value;
use crate::render::views::{PageMeta, RenderContext};
use crate::site::{Kind, PageId};

/// Returns the JSON-LD of a page: its type, its data files and its breadcrumbs.
pub(super) fn page(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> Value {
    let mut graph = vec![what(cx, meta, canonical)];
    match meta.kind {
        "calculator" | "models" => graph.push(models(cx)),
        "hardware" => graph.push(devices(cx)),
        _ => {}
    }
    if !meta.address.is_empty() && !meta.noindex {
        graph.push(breadcrumbs(cx, meta, canonical));
    }
    view_value(json!({"@context": "https://schema.org", "@graph": graph}))
}

fn what(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> serde_json::Value {
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
    let mut thing = json!({
        "@type": kind,
        "@id": canonical,
        "url": canonical,
        "description": meta.description,
        "inLanguage": config.language,
    });
    let object = thing.as_object_mut().expect("an object");
    match kind {
        "TechArticle" => {
            object.insert("headline".into(), json!(meta.title));
            object.insert("publisher".into(), publisher(cx));
            if let Some((day, _)) = meta.head.and_then(|head| cx.updated(head)) {
                object.insert("dateModified".into(), json!(day.to_string()));
            }
            if let Some(license) = &config.license_url {
                object.insert("license".into(), json!(license));
            }
        }
        "WebApplication" => {
            object.insert("name".into(), json!(meta.title));
            object.insert("applicationCategory".into(), json!("UtilitiesApplication"));
            object.insert("operatingSystem".into(), json!("Any"));
            object.insert("browserRequirements".into(), json!("Requires JavaScript"));
            object.insert("isAccessibleForFree".into(), json!(true));
        }
        "DefinedTermSet" => {
            object.insert("name".into(), json!(meta.title));
            object.insert("hasDefinedTerm".into(), terms(cx, canonical));
        }
        _ => {
            object.insert("name".into(), json!(meta.title));
        }
    }
    thing
}

fn publisher(cx: &RenderContext<'_>) -> serde_json::Value {
    let config = cx.inputs.config;
    json!({"@type": "Organization", "name": config.title, "url": config.base_url})
}

fn terms(cx: &RenderContext<'_>, canonical: &str) -> serde_json::Value {
    cx.site()
        .terms
        .iter()
        .map(|term| {
            json!({
                "@type": "DefinedTerm",
                "@id": format!("{canonical}#{}", term.head.id.slug),
                "name": term.head.title.value,
                "description": cx.describe(&term.head),
            })
        })
        .collect()
}

/// Returns the data set of the calculator and the tables of the models.
fn models(cx: &RenderContext<'_>) -> serde_json::Value {
    let count = cx.site().models.len();
    let mut data = dataset(
        cx,
        "models",
        cx.tr("Memory requirements of language models"),
        &cx.fill(
            "Hyperparameters of {n} language models and their GPU memory requirements: weights by quantization, cache and compute buffer by context.",
            &[("n", &count)],
        ),
    );
    data["variableMeasured"] = json!([cx.tr("weights"), cx.tr("KV cache"), cx.tr("compute buffer")]);
    let methodology = PageId::new(Kind::Document, "methodology");
    if cx.head(&methodology).is_some() {
        data["measurementTechnique"] =
            json!(format!("{}{}", cx.inputs.config.base_url, methodology.address()));
    }
    data
}

fn devices(cx: &RenderContext<'_>) -> serde_json::Value {
    let count = cx.site().devices.len();
    dataset(
        cx,
        "hardware",
        cx.tr("Devices that run language models"),
        &cx.fill(
            "Memory, bandwidth, power limit and generation of {n} devices, each with its sources.",
            &[("n", &count)],
        ),
    )
}

/// Returns the description of a data file: `data/<name>.json`.
fn dataset(cx: &RenderContext<'_>, name: &str, title: &str, description: &str) -> serde_json::Value {
    let config = cx.inputs.config;
    let base = &config.base_url;
    let mut data = json!({
        "@type": "Dataset",
        "@id": format!("{base}{name}/#data"),
        "url": format!("{base}{name}/"),
        "name": title,
        "description": description,
        "creator": publisher(cx),
        "isAccessibleForFree": true,
        "distribution": {
            "@type": "DataDownload",
            "contentUrl": format!("{base}data/{name}.json"),
            "encodingFormat": "application/json",
        },
    });
    if let Some(license) = &config.license_url {
        data["license"] = json!(license);
    }
    data
}

fn breadcrumbs(cx: &RenderContext<'_>, meta: &PageMeta<'_>, canonical: &str) -> serde_json::Value {
    let (base_url, home) = (&cx.inputs.config.base_url, cx.tr("Home"));
    let home = (home.to_string(), base_url.to_string());
    let trail = meta.trail.iter().map(|(title, address)| (title.clone(), format!("{base_url}{address}")));
    let here = (meta.title.to_string(), canonical.to_string());
    let items: Vec<_> = std::iter::once(home)
        .chain(trail)
        .chain(std::iter::once(here))
        .zip(1..)
        .map(|((name, item), position)| json!({"@type": "ListItem", "position": position, "name": name, "item": item}))
        .collect();
    json!({"@type": "BreadcrumbList", "itemListElement": items})
}
