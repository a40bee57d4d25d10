//! Reads a Hugo site: its settings, `content/` in the default language, page bundles and `static/`.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::cli::import::imported_site::{ImportedSite, in_order};
use crate::cli::import::links::REFERENCE;
use crate::cli::import::page_header::PageHeader;
use crate::cli::import::shortcodes::{self, Conversion, Shortcode, Syntax};
use crate::cli::import::source_tree::SourceTree;
use crate::link::join;

/// Settings files, the preferred first.
const SETTINGS: [&str; 12] = [
    "hugo.toml",
    "hugo.yaml",
    "hugo.yml",
    "hugo.json",
    "config.toml",
    "config.yaml",
    "config.yml",
    "config.json",
    "config/_default/hugo.toml",
    "config/_default/hugo.yaml",
    "config/_default/config.toml",
    "config/_default/config.yaml",
];

pub(super) fn read(tree: &SourceTree) -> Result<ImportedSite> {
    let Some(settings) = tree.first(&SETTINGS) else {
        bail!("no `hugo.toml` or other settings file; pass the folder of a Hugo site");
    };
    let format = if settings.ends_with("ml") && !settings.ends_with("toml") {
        "yaml"
    } else {
        settings.rsplit('.').next().unwrap_or("toml")
    };
    let config = tree.settings(settings, format)?;
    let key = |value: &Value, wanted: &str| {
        let found = value.as_object()?.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.clone())
    };
    let text = |wanted: &str| key(&config, wanted).and_then(|value| value.as_str().map(str::to_string));
    let language = text("defaultContentLanguage").unwrap_or_else(|| "en".into());
    let of_language =
        key(&config, "languages").and_then(|languages| key(&languages, &language)).unwrap_or_default();
    let in_language =
        |wanted: &str| key(&of_language, wanted).and_then(|value| value.as_str().map(str::to_string));
    let base = text("contentDir").unwrap_or_else(|| "content".into());
    let content =
        in_language("contentDir").unwrap_or_else(|| match tree.has_folder(&format!("{base}/{language}")) {
            true => format!("{base}/{language}"),
            false => base,
        });
    let mut site = ImportedSite {
        title: in_language("title").or(text("title")).unwrap_or_default(),
        url: text("baseURL"),
        language: Some(language),
        ..ImportedSite::default()
    };
    let content = format!("{}/", content.trim_matches('/'));
    let mut found = BTreeMap::new();
    let mut snippets = BTreeMap::new();
    for file in tree.files(&content, &mut site.losses) {
        let path = file.strip_prefix(&content).unwrap_or(&file).to_string();
        if !path.ends_with(".md") && !path.ends_with(".markdown") {
            site.copy_file(tree, &file, path);
            continue;
        }
        match tree.text(&file).and_then(|text| PageHeader::split(&file, &text)) {
            Ok((_, body))
                if path.split('/').any(|part| part.starts_with('_') && !part.starts_with("_index.")) =>
            {
                snippets.insert(path, body.text().to_string());
            }
            Ok((header, body)) => {
                let address = address(&path, &header);
                found.insert(path.clone(), (header.page(file, path, address, body), header.weight()));
            }
            Err(loss) => site.losses.push(loss),
        }
    }
    site.copy_folder(tree, "static/");
    site.pages = in_order(found);
    let texts: BTreeMap<String, String> = site
        .pages
        .iter()
        .map(|page| (page.path.clone(), page.body.text().to_string()))
        .chain(snippets)
        .collect();
    for page in &mut site.pages {
        let (path, title) = (page.path.clone(), page.title.clone());
        let mut own = |tag: &Shortcode, inner: Option<&str>| of_hugo(tag, inner, &path, &title, &texts);
        shortcodes::convert(&mut page.body, Syntax::Hugo, &page.file, &mut site.losses, &mut own);
    }
    Ok(site)
}

/// Converts the shortcodes that are part of Hugo and depend on pages.
fn of_hugo(
    tag: &Shortcode,
    inner: Option<&str>,
    path: &str,
    title: &str,
    texts: &BTreeMap<String, String>,
) -> Conversion {
    let first = || tag.text("0").or_else(|| tag.text("path"));
    match (tag.name.as_str(), inner) {
        // The resolver of links finds the page.
        ("ref" | "relref", None) => Some(Ok(format!("{REFERENCE}{}", first()?))),
        ("param", None) if first()? == "title" => Some(Ok(title.to_string())),
        ("include" | "readfile", None) => {
            let wanted = first()?;
            let near = join(path, &wanted);
            let text = texts.get(wanted.trim_start_matches('/')).or_else(|| texts.get(&near));
            // A text that includes itself stays a shortcode.
            let text = text.filter(|text| !text.contains("{{% include") && !text.contains("{{< include"));
            text.map(|text| Ok(text.trim().to_string()))
        }
        _ => None,
    }
}

/// Returns the address of a page below the root.
fn address(path: &str, header: &PageHeader) -> String {
    if let Some(url) = header.text("url") {
        return url.trim_matches('/').to_string();
    }
    let stem = path.trim_end_matches(".markdown").trim_end_matches(".md").to_lowercase();
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", &stem));
    if name == "_index" {
        return folder.to_string();
    }
    let (folder, name) =
        if name == "index" { folder.rsplit_once('/').unwrap_or(("", folder)) } else { (folder, name) };
    format!("{folder}/{}", header.text("slug").unwrap_or(name)).trim_matches('/').to_string()
}
