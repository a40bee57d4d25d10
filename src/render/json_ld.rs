//! Structured data for search engines: what a page is, and where it stands.

use minijinja::value::Value;
use serde_json::json;

use crate::config::Config;
use crate::render::templates::seen;
use crate::render::views::Plate;

/// JSON-LD of a page: an article where it is one, and its breadcrumbs.
pub(super) fn page(config: &Config, plate: &Plate<'_>, canonical: &str) -> Value {
    let mut graph = vec![what(config, plate, canonical)];
    if !plate.address.is_empty() && !plate.noindex {
        graph.push(breadcrumbs(config, plate, canonical));
    }
    seen(json!({"@context": "https://schema.org", "@graph": graph}))
}

fn what(config: &Config, plate: &Plate<'_>, canonical: &str) -> serde_json::Value {
    let kind = match plate.kind {
        "error" | "guide" | "tool" | "quant" => "TechArticle",
        "home" => "WebSite",
        "calculator" | "compare" | "choose-gpu" | "cost" => "WebApplication",
        "errors" | "category" | "tools" | "guides" | "models" | "hardware" | "quants" | "changes" => {
            "CollectionPage"
        }
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
            object.insert("publisher".into(), json!({"@type": "Organization", "name": config.title}));
            if let Some(verified) = plate.head.and_then(|head| head.verified.as_ref()) {
                object.insert("dateModified".into(), json!(verified.value.to_string()));
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
        _ => {
            object.insert("name".into(), json!(plate.title));
        }
    }
    thing
}

fn breadcrumbs(config: &Config, plate: &Plate<'_>, canonical: &str) -> serde_json::Value {
    let home = ("Home".to_string(), config.base_url.clone());
    let trail =
        plate.trail.iter().map(|(title, address)| (title.clone(), format!("{}{address}", config.base_url)));
    let here = (plate.title.to_string(), canonical.to_string());
    let items: Vec<_> = std::iter::once(home)
        .chain(trail)
        .chain(std::iter::once(here))
        .zip(1..)
        .map(|((name, item), position)| json!({"@type": "ListItem", "position": position, "name": name, "item": item}))
        .collect();
    json!({"@type": "BreadcrumbList", "itemListElement": items})
}
