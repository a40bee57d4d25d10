//! The theme that is compiled into the program; a site's own files take its place, one by one.

use include_dir::{Dir, File, include_dir};

use crate::files::Sources;
use crate::load::compact::compact;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");
static STATIC: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/static");

/// Adds templates and static files of the theme.
pub(super) fn add(sources: &mut Sources) {
    add_folder(sources, &TEMPLATES, "templates");
    add_folder(sources, &STATIC, "static");
}

/// Whether a static file of a site is the theme's own, letter by letter, and so takes nothing's place.
pub(super) fn is_own(path: &str, bytes: &[u8]) -> bool {
    let file = path.strip_prefix("static/").and_then(|inner| STATIC.get_file(inner));
    file.is_some_and(|file| file.contents() == bytes)
}

/// What is published of a static file of the theme.
fn asset(file: &File<'_>) -> Vec<u8> {
    match file.contents_utf8().filter(|_| file.path().extension().is_some_and(|extension| extension == "js"))
    {
        Some(script) => compact(script).into_bytes(),
        None => file.contents().to_vec(),
    }
}

fn add_folder(sources: &mut Sources, folder: &Dir<'_>, prefix: &str) {
    for file in folder.files() {
        let path = format!("{prefix}/{}", file.path().to_string_lossy().replace('\\', "/"));
        match file.contents_utf8().filter(|_| prefix == "templates") {
            Some(text) => {
                sources.add(path, text);
            }
            None => sources.add_asset(path, asset(file)),
        }
    }
    for inner in folder.dirs() {
        add_folder(sources, inner, prefix);
    }
}
