//! Static files, with a content hash in their names, so that browsers can cache them forever.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::config::Config;
use crate::diag::Diagnostic;
use crate::facts::Fingerprint;
use crate::files::{Outputs, Sources, Span, picture_size};
use crate::i18n::{TextPart, Translations, calls, parts};
use crate::pack::Pack;
use crate::render::templates::TEMPLATE_ERROR;

/// Output paths and contents of static files, by their path in the site: `static/js/site.js`, `content/guides/a.png`.
#[derive(Debug)]
pub(super) struct Assets {
    files: BTreeMap<String, (String, Vec<u8>)>,
}

/// Number of hexadecimal digits of the hash in a name.
const DIGITS: usize = 12;

impl Assets {
    /// Collects all static files, with scripts of the theme translated. The style sheets `css/*.css` are joined in
    /// order of their names, followed by the theme settings. Files in `root/` keep their names.
    ///
    /// # Errors
    /// Every text of a script with a placeholder but no values in the call.
    pub fn new(sources: &Sources, config: &Config) -> Result<Self, Vec<Diagnostic>> {
        let mut files = BTreeMap::new();
        let mut faults = Vec::new();
        let is_unused =
            |name: &str| !config.declared.has(Some(Pack::Llm)) && Pack::Llm.static_files().contains(&name);
        for (id, script) in sources.under("static/") {
            let name = below(STATIC, &script.path);
            if is_unused(name) {
                continue;
            }
            let bytes = match translated(&script.text, &config.texts) {
                Ok(script) => script.into_bytes(),
                Err((range, message)) => {
                    faults.push(
                        Diagnostic::error(&TEMPLATE_ERROR, Span::new(id, range.start, range.end), message)
                            .help("write `t(\"text\")`, or `t(\"{n} of {all}\", { n: …, all: … })`"),
                    );
                    continue;
                }
            };
            files.insert(script.path.clone(), (hashed(STATIC, name, &bytes), bytes));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut style = Vec::new();
        for asset in sources.assets_under("static/") {
            let name = below(STATIC, &asset.path);
            if name.starts_with("css/") && name.ends_with(".css") {
                style.extend_from_slice(&asset.bytes);
                style.push(b'\n');
                continue;
            }
            if is_unused(name) {
                continue;
            }
            let path = match name.strip_prefix("root/") {
                Some(path) => path.to_string(),
                None => hashed(STATIC, name, &asset.bytes),
            };
            files.insert(asset.path.clone(), (path, asset.bytes.clone()));
        }
        style.extend_from_slice(config.theme.style.as_bytes());
        if !style.is_empty() {
            files.insert(key("site.css"), (hashed(STATIC, "site.css", &style), style));
        }
        for asset in sources.assets_under("content/") {
            let path = hashed("static/content/", below("content/", &asset.path), &asset.bytes);
            files.insert(asset.path.clone(), (path, asset.bytes.clone()));
        }
        Ok(Self { files })
    }

    /// Returns the output path of a static file (`js/site.js`, `static/js/site.js`) or of a file next to a page (`content/…`).
    pub fn path(&self, name: &str) -> Option<&str> {
        self.files.get(&key(name)).map(|(path, _)| path.as_str())
    }

    /// Returns the content of a file; names as in [`Assets::path`].
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.files.get(&key(name)).map(|(_, bytes)| bytes.as_slice())
    }

    /// Returns the content of the static file with this output path.
    pub fn at(&self, output: &str) -> Option<&[u8]> {
        self.files.values().find(|(path, _)| path == output).map(|(_, bytes)| bytes.as_slice())
    }

    /// Returns width and height of an image in pixels.
    pub fn size(&self, name: &str) -> Option<(u32, u32)> {
        picture_size(self.bytes(name)?)
    }

    /// Returns the fingerprint of what pages depend on: the output paths.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.files.iter().flat_map(|(name, (path, _))| [name, path]))
    }

    /// Iterates over the names of all files in templates, those of static files without `static/`, and their output paths.
    pub fn named_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, (output, _))| (below(STATIC, path), output.as_str()))
    }

    /// Returns the files with their output paths. Equal files in `static/content/` and `content/` have one path.
    pub fn outputs(&self) -> Outputs {
        let mut outputs = Outputs::default();
        let files: BTreeMap<&str, &[u8]> =
            self.files.values().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        for (path, bytes) in files {
            outputs.add(path, bytes);
        }
        outputs
    }
}

/// Folder of static files.
const STATIC: &str = "static/";

/// Returns the path of a file in the site by its name in templates and links.
fn key(name: &str) -> String {
    let is_path = name.starts_with(STATIC) || name.starts_with("content/");
    if is_path { name.to_string() } else { format!("{STATIC}{name}") }
}

/// Returns a path below a folder that may contain it.
fn below<'p>(folder: &str, path: &'p str) -> &'p str {
    path.strip_prefix(folder).unwrap_or(path)
}

/// Translates the texts in a script's calls of `t`: `t("Copied")` becomes `t("Kopiert")`.
fn translated(script: &str, texts: &Translations) -> Result<String, (Range<usize>, String)> {
    let mut out = String::with_capacity(script.len());
    let mut at = 0;
    for call in calls(script) {
        if script[call.range.end..].trim_start().starts_with(')') {
            let hole =
                call.texts.iter().flat_map(|text| parts(text)).find(|part| matches!(part, TextPart::Hole(_)));
            if let Some(hole) = hole {
                return Err((call.range, format!("missing value for `{}`", hole.source())));
            }
        }
        let quoted: Vec<String> = call.texts.iter().map(|text| quoted(text, texts)).collect();
        out.push_str(&script[at..call.range.start]);
        out.push_str("t(");
        out.push_str(&quoted.join(", "));
        at = call.range.end;
    }
    out.push_str(&script[at..]);
    Ok(out)
}

/// Translates a string literal; keeps it if there is no translation.
fn quoted(text: &str, texts: &Translations) -> String {
    let source = format!("\"{text}\"");
    let english: Option<String> = serde_json::from_str(&source).ok();
    match english.as_deref().map(|english| (english, texts.tr(english))) {
        Some((english, translation)) if english != translation => {
            serde_json::Value::from(translation).to_string()
        }
        _ => source,
    }
}

fn hashed(folder: &str, name: &str, bytes: &[u8]) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
    format!("{folder}{stem}.{}.{extension}", digest(bytes))
}

/// Returns a content hash that is short enough for an address.
pub(super) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..DIGITS].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_texts_in_scripts() {
        let pairs =
            [("Copied", "Kopiert"), ("{n} match", "{n} Treffer"), ("No \"{name}\"", "„{name}“ fehlt")];
        let texts =
            Translations::new(pairs.map(|(english, own)| (english.to_string(), own.to_string())).into());
        for (script, german) in [
            ("say(t(\"Copied\"));", "say(t(\"Kopiert\"));"),
            ("t(\"{n} match\",\n \"{n} hits\", { n })", "t(\"{n} Treffer\", \"{n} hits\", { n })"),
            (
                "t(\"No \\\"{name}\\\"\", { name: t(\"Copied\") })",
                "t(\"„{name}“ fehlt\", { name: t(\"Kopiert\") })",
            ),
            ("format(\"Copied\")", "format(\"Copied\")"),
        ] {
            assert_eq!(translated(script, &texts).as_deref(), Ok(german));
        }
    }
}
