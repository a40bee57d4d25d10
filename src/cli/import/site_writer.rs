//! Writes an imported site as guides of a new knowledge base.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::civil::Date;
use serde::Serialize;

use crate::cli::import::imported_site::{ImportedPage, ImportedSite, Loss, LossKind};
use crate::config::FORMAT;
use crate::markdown::{self, Fence};
use crate::schema::is_slug;
use crate::site::{FILE_FOLDERS, Kind, LISTINGS, PageId, is_alias, is_device, why_reserved};

/// Folder of copied files; links name it without `static/`.
const FILES: &str = "static/files";
/// Extensions of files that belong to the theme of the old site.
const THEME: [&str; 16] = [
    "css", "scss", "sass", "less", "js", "mjs", "ts", "map", "html", "htm", "woff", "woff2", "ttf", "otf",
    "eot", "xml",
];
/// Maximum length of a slug.
const MAX_SLUG: usize = 80;
/// Maximum length of the path of a copied file.
const MAX_PATH: usize = 150;
/// Maximum number of folders in the path of a copied file.
const MAX_FOLDERS: usize = 5;
/// Languages of the interface.
const LANGUAGES: [&str; 2] = ["en", "de"];

/// Front matter of a guide.
#[derive(Serialize)]
struct GuideHeader<'p> {
    title: &'p str,
    order: usize,
    verified: String,
    sources: [String; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    draft: bool,
}

/// Returns the slug of each page: the name of its file, with the names of its folders where it is not unique.
pub(super) fn names(pages: &[ImportedPage]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |page: &ImportedPage| {
        let stem = page.path.trim_end_matches(".markdown").trim_end_matches(".md");
        let stem =
            ["_index", "index", "README"].iter().find_map(|name| stem.strip_suffix(name)).unwrap_or(stem);
        let parts: Vec<String> = stem.split('/').map(slug).filter(|part| !part.is_empty()).collect();
        let long = (1..=parts.len()).map(|count| slug(&parts[parts.len() - count..].join("-")));
        let base = parts.last().cloned().unwrap_or_else(|| "home".into());
        let numbered = (2..).map(|number| format!("{}-{number}", &base));
        let is_free = |name: &String| {
            is_slug(name) && why_reserved(Kind::Guide, name).is_none() && !taken.contains(name)
        };
        let name = long.chain([base.clone()]).chain(numbered).find(is_free).expect("numbers do not end");
        taken.insert(name.clone());
        name
    };
    pages.iter().map(&mut name).collect()
}

/// Returns a text as lower-case letters, digits and hyphens.
fn slug(text: &str) -> String {
    let plain = text.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-").chars().take(MAX_SLUG).collect::<String>().trim_end_matches('-').to_string()
}

/// Returns the new paths of the files, by their old ones. Files of the theme are left out.
pub(super) fn file_names(site: &mut ImportedSite) -> BTreeMap<String, String> {
    let (mut names, mut taken) = (BTreeMap::new(), BTreeSet::new());
    for path in site.files.keys() {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        if THEME.contains(&ending.as_str()) {
            site.losses.push(Loss::new(path, 1, LossKind::Theme, "file of the theme: not imported"));
            continue;
        }
        let parts: Vec<String> = path.split('/').map(portable).collect();
        let folders = parts.len().saturating_sub(1).min(MAX_FOLDERS);
        let name = format!("{FILES}/{}/{}", parts[..folders].join("/"), parts[folders..].join("-"))
            .replace("//", "/");
        if name.len() > MAX_PATH || !taken.insert(name.to_lowercase()) {
            let message = "the path is too long, or differs from another only in case: not imported";
            site.losses.push(Loss::new(path, 1, LossKind::File, message));
            continue;
        }
        names.insert(path.clone(), name);
    }
    names
}

/// Returns a file name that all file systems can have.
fn portable(name: &str) -> String {
    let plain = name.replace(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)), "-");
    let plain = plain.trim_matches('.');
    if plain.is_empty() || is_device(plain) { format!("file-{plain}") } else { plain.to_string() }
}

/// Writes the site. Each page names its old address as its source.
pub(super) fn write(
    site: &mut ImportedSite,
    names: &[String],
    files: &BTreeMap<String, String>,
    today: Date,
    into: &Path,
) -> Result<()> {
    let mut texts = BTreeMap::from([("site.toml".to_string(), settings(site))]);
    let mut aliases = aliases(site, names);
    for (order, (page, name)) in site.pages.iter().zip(names).enumerate() {
        let source = match (&site.url, &site.repository) {
            (Some(url), _) => format!("{url}{}", page.address),
            (None, repository) => repository.clone().unwrap_or_default(),
        };
        let header = GuideHeader {
            title: &page.title.split_whitespace().collect::<Vec<_>>().join(" "),
            order: order.min(9999),
            verified: page.date.unwrap_or(today).min(today).to_string(),
            sources: [source.replace(|c: char| c.is_whitespace() || "<>\"".contains(c), "-")],
            aliases: aliases.remove(name).unwrap_or_default(),
            draft: page.draft,
        };
        let header = serde_yaml::to_string(&header)
            .with_context(|| format!("cannot write the title of `{}`", page.file))?;
        let body = body(page, &site.pages, names);
        texts.insert(
            format!("content/{}/{name}.md", Kind::Guide.folder()),
            format!("---\n{header}---\n{body}\n"),
        );
    }
    for (path, text) in &texts {
        let path = created(into, path)?;
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    for (old, new) in files {
        let path = created(into, new)?;
        fs::copy(&site.files[old], &path)
            .with_context(|| format!("cannot copy `{old}` to `{}`", path.display()))?;
    }
    Ok(())
}

/// Returns the path of a file whose folder exists.
fn created(into: &Path, path: &str) -> Result<std::path::PathBuf> {
    let path = into.join(path);
    let folder = path.parent().expect("the file is in a folder");
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    Ok(path)
}

/// Returns the body of a page. A page without text has its summary, and a section lists its pages.
fn body(page: &ImportedPage, pages: &[ImportedPage], names: &[String]) -> String {
    let text = page.body.text().trim();
    let outline = markdown::outline(text);
    if outline.has_body {
        return without_gaps(text, &outline.fences);
    }
    let folder = page.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let is_inside = |other: &ImportedPage| {
        let rest = other.path.strip_prefix(&folder).filter(|_| other.path != page.path).unwrap_or("//");
        !rest.contains('/')
            || rest.split_once('/').is_some_and(|(_, file)| matches!(file, "_index.md" | "index.md"))
    };
    let escape = |text: &str| text.replace(['[', ']', '<', '>', '\n', '`', '{'], " ").trim().to_string();
    let is_section = page.path.ends_with("_index.md");
    let listed = pages.iter().zip(names).filter(|(other, _)| is_section && !other.draft && is_inside(other));
    let links: Vec<String> =
        listed.map(|(other, name)| format!("- [{}]({name}.md)", escape(&other.title))).collect();
    let summary = escape(if page.description.is_empty() { &page.title } else { &page.description });
    let summary = summary.trim_start_matches(['#', '|', '-', '+', '*', '>', ':', '!', '$', ' ']);
    let summary = if summary.is_empty() { "Page without text." } else { summary };
    format!("{summary}\n\n{}", links.join("\n")).trim().to_string()
}

/// Reduces several empty lines to one, except in code.
fn without_gaps(text: &str, fences: &[Fence]) -> String {
    let (mut out, mut at, mut was_empty) = (String::new(), 0, false);
    let mut fences = fences.iter().map(|fence| &fence.range).peekable();
    for line in text.split_inclusive('\n') {
        while fences.next_if(|range| range.end <= at).is_some() {}
        let in_code = fences.peek().is_some_and(|range| range.start <= at);
        let is_empty = line.trim().is_empty() && !in_code;
        if !(is_empty && was_empty) {
            out.push_str(line);
        }
        was_empty = is_empty;
        at += line.len();
    }
    out.trim_end().to_string()
}

/// Returns the old addresses that become aliases, by slug. Reports those that cannot.
fn aliases(site: &mut ImportedSite, names: &[String]) -> BTreeMap<String, Vec<String>> {
    let own = |name: &str| PageId::new(Kind::Guide, name).address();
    let mut taken: BTreeSet<String> = names.iter().map(|name| own(name)).collect();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (page, name) in site.pages.iter().zip(names) {
        for address in [&page.address].into_iter().chain(&page.aliases) {
            let alias = format!("{}/", address.trim_matches('/'));
            if alias == own(name) || address.is_empty() || address.ends_with(".html") {
                continue;
            }
            let old = format!("/{alias}");
            if is_alias(&old) && is_free(&alias) && taken.insert(alias) {
                found.entry(name.clone()).or_default().push(old);
            } else {
                let message = format!("old address `{old}`: no redirect from it");
                site.losses.push(Loss::new(&page.file, 1, LossKind::Address, message));
            }
        }
    }
    found
}

/// Returns whether no file or list of kbgen has this address or one above it.
fn is_free(address: &str) -> bool {
    let is_reserved = FILE_FOLDERS.iter().any(|folder| address.starts_with(&format!("{folder}/")));
    let is_listing = LISTINGS.iter().any(|listing| listing.address == address);
    !is_reserved && !is_listing
}

fn settings(site: &ImportedSite) -> String {
    let quoted = |text: &str| serde_json::Value::from(text.replace(char::is_control, " ").trim()).to_string();
    let title = if site.title.trim().is_empty() { "Imported site" } else { &site.title };
    let url = match &site.url {
        Some(url) => format!("base_url = {}\n", quoted(url)),
        None => "base_url = \"https://kb.example/\" # a placeholder, which `kbgen build --publish` rejects\n"
            .into(),
    };
    let language = site.language.as_deref().and_then(|code| code.split(['-', '_']).next());
    let language =
        language.filter(|code| LANGUAGES.contains(code)).map(|code| format!("language = \"{code}\"\n"));
    format!("title = {}\n{url}{}format = {FORMAT}\n", quoted(title), language.unwrap_or_default())
}
