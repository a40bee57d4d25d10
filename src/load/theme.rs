//! The built-in theme; a site can override its files one by one.

use include_dir::{Dir, include_dir};

use crate::files::Sources;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");
static STATIC: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/static");
static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/i18n");

/// Adds templates, static files and translations of the theme. Its translations get a folder of their own, because
/// those of a site are merged with them.
pub(super) fn add(sources: &mut Sources) {
    add_folder(sources, &TEMPLATES, "templates");
    add_folder(sources, &STATIC, "static");
    add_folder(sources, &TEXTS, "theme/i18n");
    sources.mark_shipped();
}

/// Returns whether a file overrides a script of the theme, and may therefore contain translatable texts.
pub(super) fn is_script(path: &str) -> bool {
    let inner = path.strip_prefix("static/").filter(|inner| inner.ends_with(".js"));
    inner.is_some_and(|inner| STATIC.contains(inner))
}

/// Returns whether a static file is identical to that of the theme.
pub(super) fn is_own(path: &str, bytes: &[u8]) -> bool {
    let file = path.strip_prefix("static/").and_then(|inner| STATIC.get_file(inner));
    file.is_some_and(|file| file.contents() == bytes)
}

/// Removes comments and needless white space from a script.
fn minified(script: &str) -> String {
    minifier::js::minify(script).map_or_else(|_| script.to_string(), |script| script.to_string())
}

/// Removes comments and indentation from a style sheet.
fn unindented(style: &str) -> String {
    let mut text = String::with_capacity(style.len());
    let mut rest = style;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

fn add_folder(sources: &mut Sources, folder: &Dir<'_>, prefix: &str) {
    for file in folder.files() {
        let path = format!("{prefix}/{}", file.path().to_string_lossy().replace('\\', "/"));
        match file.contents_utf8() {
            Some(script) if is_script(&path) => {
                sources.add(path, minified(script));
            }
            Some(style) if path.ends_with(".css") => sources.add_asset(path, unindented(style).into_bytes()),
            Some(text) if prefix != "static" => {
                sources.add(path, text);
            }
            _ => sources.add_asset(path, file.contents().to_vec()),
        }
    }
    for inner in folder.dirs() {
        add_folder(sources, inner, prefix);
    }
}
