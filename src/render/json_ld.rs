//! Structured data for search engines: what a page is, and where it stands.
//!
//! Nothing is claimed that a reader would not see: an error page is an article and no list of questions, so no page is
//! a `FAQPage`; the glossary is a set of terms. Types and properties: <https://schema.org/docs/full.html>.

use minijinja::value::Value;
use serde_json::json;

use crate::render::templates::seen;
use crate::render::views::{Plate, Shelf};
use crate::site::{Kind, PageId};

/// JSON-LD of a page: what it is, what data go with it, and its breadcrumbs.
pub(super) fn page(shelf: &Shelf<'_>, plate: &Plate<'_>, canonical: &str) -> Value {
    let mut graph = vec![what(shelf, plate, canonical)];
    match plate.kind {
        "calculator" | "models" => graph.push(models(shelf)),
        "hardware" => graph.push(devices(shelf)),
        _ => {}
    }
    if !plate.address.is_empty() && !plate.noindex {
        graph.push(breadcrumbs(shelf, plate, canonical));
    }
    seen(json!({"@context": "https://schema.org", "@graph": graph}))
}

fn what(shelf: &Shelf<'_>, plate: &Plate<'_>, canonical: &str) -> serde_json::Value {
    let config = shelf.order.config;
    let kind = match plate.kind {
        "error" | "guide" | "tool" | "quant" => "TechArticle",
        "home" => "WebSite",
        "calculator" | "compare" | "choose-gpu" | "cost" => "WebApplication",
        "errors" | "category" | "tools" | "guides" | "models" | "hardware" | "quants" | "changes" => {
            "CollectionPage"
        }
        "glossary" => "DefinedTermSet",
        _ => "WebPage",
    };
    let mut thing = json!({
        "@type": kind,
        "@id": canonical,
        "url": canonical,
        "description": plate.description,
        "inLanguage": config.language,
    });
    let object = thing.as_object_mut().expect("an object");
    match kind {
        "TechArticle" => {
            object.insert("headline".into(), json!(plate.title));
            object.insert("publisher".into(), publisher(shelf));
            if let Some((day, _)) = plate.head.and_then(|head| shelf.updated(head)) {
                object.insert("dateModified".into(), json!(day.to_string()));
            }
            if let Some(licence) = &config.licence_url {
                object.insert("license".into(), json!(licence));
            }
        }
        "WebApplication" => {
            object.insert("name".into(), json!(plate.title));
            object.insert("applicationCategory".into(), json!("UtilitiesApplication"));
            object.insert("operatingSystem".into(), json!("Any"));
            object.insert("browserRequirements".into(), json!("Requires JavaScript"));
            object.insert("isAccessibleForFree".into(), json!(true));
        }
        "DefinedTermSet" => {
            object.insert("name".into(), json!(plate.title));
            object.insert("hasDefinedTerm".into(), terms(shelf, canonical));
        }
        _ => {
            object.insert("name".into(), json!(plate.title));
        }
    }
    thing
}

fn publisher(shelf: &Shelf<'_>) -> serde_json::Value {
    let config = shelf.order.config;
    json!({"@type": "Organization", "name": config.title, "url": config.base_url})
}

fn terms(shelf: &Shelf<'_>, canonical: &str) -> serde_json::Value {
    shelf
        .site()
        .terms
        .iter()
        .map(|term| {
            json!({
                "@type": "DefinedTerm",
                "@id": format!("{canonical}#{}", term.head.id.slug),
                "name": term.head.title.value,
                "description": shelf.describe(&term.head),
            })
        })
        .collect()
}

/// What the calculator rests on, and the tables of the models with it.
fn models(shelf: &Shelf<'_>) -> serde_json::Value {
    let count = shelf.site().models.len();
    let mut data = dataset(
        shelf,
        "models",
        shelf.say("Memory that language models need"),
        &shelf.fill(
            "Hyperparameters of {n} language models and what they need on a GPU, computed from these: weights by \
             quantization, cache and compute buffer by context.",
            &[("n", &count)],
        ),
    );
    data["variableMeasured"] =
        json!([shelf.say("weights"), shelf.say("K/V cache"), shelf.say("compute buffer")]);
    let methodology = PageId::new(Kind::Document, "methodology");
    if shelf.head(&methodology).is_some() {
        data["measurementTechnique"] =
            json!(format!("{}{}", shelf.order.config.base_url, methodology.address()));
    }
    data
}

fn devices(shelf: &Shelf<'_>) -> serde_json::Value {
    let count = shelf.site().devices.len();
    dataset(
        shelf,
        "hardware",
        shelf.say("Devices that run language models"),
        &shelf.fill(
            "Memory, bandwidth, power limit and generation of {n} devices, each with its sources.",
            &[("n", &count)],
        ),
    )
}

/// A file of data that anyone may download: `data/<name>.json`.
fn dataset(shelf: &Shelf<'_>, name: &str, title: &str, description: &str) -> serde_json::Value {
    let config = shelf.order.config;
    let base = &config.base_url;
    let mut data = json!({
        "@type": "Dataset",
        "@id": format!("{base}{name}/#data"),
        "url": format!("{base}{name}/"),
        "name": title,
        "description": description,
        "creator": publisher(shelf),
        "isAccessibleForFree": true,
        "distribution": {
            "@type": "DataDownload",
            "contentUrl": format!("{base}data/{name}.json"),
            "encodingFormat": "application/json",
        },
    });
    if let Some(licence) = &config.licence_url {
        data["license"] = json!(licence);
    }
    data
}

fn breadcrumbs(shelf: &Shelf<'_>, plate: &Plate<'_>, canonical: &str) -> serde_json::Value {
    let (base_url, home) = (&shelf.order.config.base_url, shelf.say("Home"));
    let home = (home.to_string(), base_url.to_string());
    let trail = plate.trail.iter().map(|(title, address)| (title.clone(), format!("{base_url}{address}")));
    let here = (plate.title.to_string(), canonical.to_string());
    let items: Vec<_> = std::iter::once(home)
        .chain(trail)
        .chain(std::iter::once(here))
        .zip(1..)
        .map(|((name, item), position)| json!({"@type": "ListItem", "position": position, "name": name, "item": item}))
        .collect();
    json!({"@type": "BreadcrumbList", "itemListElement": items})
}
