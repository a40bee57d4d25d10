//! Reads a Zola site: `config.toml`, `content/`, `static/` and the shortcodes below `templates/`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tera::{Context, Kwargs, State, Tera};

use crate::cli::import::imported_site::{ImportedPage, ImportedSite, Loss, LossKind, in_order};
use crate::cli::import::page_header::{self, PageHeader};
use crate::cli::import::shortcodes::{self, Conversion, Shortcode, Syntax};
use crate::cli::import::source_tree::SourceTree;

/// Maximum length of what a shortcode renders, in bytes.
const MAX_RENDERED: usize = 256 * 1024;
/// Maximum number of elements of `range()`.
const MAX_RANGE: i128 = 1_000;

pub(super) fn read(tree: &SourceTree) -> Result<ImportedSite> {
    let Some(settings) = tree.first(&["zola.toml", "config.toml"]) else {
        bail!("no `zola.toml` or `config.toml`; pass the folder of a Zola site");
    };
    let config = tree.settings(settings, "toml")?;
    let text = |key: &str| config.get(key).and_then(Value::as_str).map(str::to_string);
    let mut site = ImportedSite {
        title: text("title").unwrap_or_default(),
        url: text("base_url"),
        language: text("default_language"),
        ..ImportedSite::default()
    };
    let languages: Vec<String> = config
        .get("languages")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect();
    let templates = Templates::read(tree, &mut site.losses);
    let mut found = BTreeMap::new();
    for file in tree.files("content", &mut site.losses) {
        let path = file.strip_prefix("content/").unwrap_or(&file).to_string();
        let stem = path.strip_suffix(".md");
        match stem {
            None => site.copy_file(tree, &file, path),
            Some(stem) if languages.iter().any(|code| stem.ends_with(&format!(".{code}"))) => {
                site.losses.push(Loss::new(
                    &file,
                    1,
                    LossKind::File,
                    "translation: only the default language is imported",
                ));
            }
            Some(_) => match tree.text(&file).and_then(|text| PageHeader::split(&file, &text)) {
                Ok((header, body)) => {
                    let address = address(&path, &header);
                    let mut page = header.page(file, path, address, body);
                    page.date = page.date.or_else(|| page.path.rsplit('/').next().and_then(page_header::day));
                    found.insert(page.path.clone(), (page, header.weight()));
                }
                Err(loss) => site.losses.push(loss),
            },
        }
    }
    site.copy_folder(tree, "static/");
    site.pages = in_order(found);
    let assets: Vec<String> = site.files.keys().cloned().collect();
    for page in &mut site.pages {
        templates.convert(page, &config, &assets, &mut site.losses);
    }
    Ok(site)
}

/// Returns the address of a page below the root.
fn address(path: &str, header: &PageHeader) -> String {
    if let Some(given) = header.text("path") {
        return given.trim_matches('/').to_string();
    }
    let stem = path.trim_end_matches(".md");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    if name == "_index" {
        return folder.to_string();
    }
    let (folder, name) =
        if name == "index" { folder.rsplit_once('/').unwrap_or(("", folder)) } else { (folder, name) };
    let undated = page_header::day(name).and_then(|_| name.get("2024-01-01-".len()..));
    let name = header.text("slug").or(undated.filter(|name| !name.is_empty())).unwrap_or(name);
    format!("{folder}/{name}").trim_matches('/').to_string()
}

/// Templates of shortcodes.
struct Templates {
    engine: Tera,
    /// Messages of templates that cannot be parsed, by name.
    faults: BTreeMap<String, String>,
}

impl Templates {
    fn read(tree: &SourceTree, losses: &mut Vec<Loss>) -> Self {
        let mut engine = Tera::new();
        let path = |arguments: &Kwargs| arguments.must_get::<String>("path");
        engine.register_function("get_url", move |arguments: Kwargs, _: &State| path(&arguments));
        // Images are imported at their full size.
        engine.register_function("resize_image", move |arguments: Kwargs, _: &State| {
            let address = format!("/{}", path(&arguments)?.trim_start_matches('/'));
            let image = BTreeMap::from([("url", address.clone()), ("static_path", address)]);
            Ok::<_, tera::Error>(tera::Value::from_serializable(&image))
        });
        engine.register_function("get_image_metadata", |_: Kwargs, _: &State| {
            tera::Value::from_serializable(&BTreeMap::from([("width", 0), ("height", 0)]))
        });
        engine.register_function("range", |arguments: Kwargs, _: &State| {
            let start = arguments.get::<i128>("start")?.unwrap_or_default();
            let end = arguments.must_get::<i128>("end")?.min(start.saturating_add(MAX_RANGE));
            Ok::<_, tera::Error>((start..end).collect::<Vec<_>>())
        });
        engine.register_filter("markdown", |text: &str, _: Kwargs, _: &State| text.to_string());
        let mut templates = Self { engine, faults: BTreeMap::new() };
        let files = if tree.has_folder("templates/shortcodes") {
            tree.files("templates/shortcodes", losses)
        } else {
            Vec::new()
        };
        let themes =
            if tree.has_folder("themes") { tree.files("themes", &mut Vec::new()) } else { Vec::new() };
        let themes = themes.into_iter().filter(|file| file.contains("/templates/shortcodes/"));
        for file in themes.chain(files) {
            let Some((_, name)) = file.split_once("templates/shortcodes/") else { continue };
            let Some(name) = name.strip_suffix(".html").or_else(|| name.strip_suffix(".md")) else {
                continue;
            };
            let name = name.replace('/', "::");
            let added = tree.text(&file).map_err(|loss| loss.message).and_then(|text| {
                let autoescaped = format!("{name}{}", if file.ends_with(".html") { ".html" } else { ".md" });
                templates.engine.add_raw_template(&autoescaped, &text).map_err(|error| error.to_string())
            });
            match added {
                Ok(()) => drop(templates.faults.remove(&name)),
                Err(fault) => drop(templates.faults.insert(name, fault)),
            }
        }
        templates
    }

    fn convert(&self, page: &mut ImportedPage, config: &Value, assets: &[String], losses: &mut Vec<Loss>) {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own: Vec<&String> = assets
            .iter()
            .filter(|asset| asset.rsplit_once('/').map_or("", |(one, _)| one) == folder)
            .collect();
        let shared = json!({
            "title": page.title, "path": format!("/{}/", page.address), "relative_path": page.path,
            "permalink": format!("/{}/", page.address), "assets": own, "colocated_path": format!("{folder}/"),
        });
        let mut number = 0;
        let mut render = |tag: &Shortcode, inner: Option<&str>| {
            number += 1;
            self.render(tag, inner, number, &shared, config)
        };
        shortcodes::convert(&mut page.body, Syntax::Zola, &page.file, losses, &mut render);
    }

    /// Renders a shortcode by its template; `None` if it has none.
    fn render(
        &self,
        tag: &Shortcode,
        inner: Option<&str>,
        number: usize,
        page: &Value,
        config: &Value,
    ) -> Conversion {
        if let Some(fault) = self.faults.get(&tag.name) {
            return Some(Err(format!("not rendered (template: {})", one_line(fault))));
        }
        let endings = [".html", ".md"];
        let template = endings.map(|ending| format!("{}{ending}", tag.name));
        let template = template.iter().find(|name| self.engine.contains_template(name))?;
        let mut context = Context::new();
        tag.arguments.iter().for_each(|(key, value)| context.insert(key.clone(), value));
        if let Some(inner) = inner {
            context.insert("body", inner.trim());
        }
        context.insert("nth", &number);
        context.insert("page", page);
        context.insert("config", config);
        context.insert("lang", &config.get("default_language").and_then(Value::as_str).unwrap_or("en"));
        let mut out = Limited(Vec::new());
        let rendered = self.engine.render_to(template, &context, &mut out);
        Some(match rendered {
            Ok(()) => Ok(String::from_utf8_lossy(&out.0).trim().to_string()),
            Err(error) => Err(format!("not rendered ({})", one_line(&error.to_string()))),
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect()
}

/// A writer of limited length.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_RENDERED {
            return Err(io::Error::other(format!("output longer than {MAX_RENDERED} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
