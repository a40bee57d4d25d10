//! The theme that is compiled into the program; a site's own files take its place, one by one.

use include_dir::{Dir, include_dir};

use crate::files::Sources;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");
static STATIC: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/static");

/// Adds templates and static files of the theme.
pub(super) fn add(sources: &mut Sources) {
    add_folder(sources, &TEMPLATES, "templates");
    add_folder(sources, &STATIC, "static");
}

fn add_folder(sources: &mut Sources, folder: &Dir<'_>, prefix: &str) {
    for file in folder.files() {
        let path = format!("{prefix}/{}", file.path().to_string_lossy().replace('\\', "/"));
        match file.contents_utf8().filter(|_| prefix == "templates") {
            Some(text) => {
                sources.add(path, text);
            }
            None => sources.add_asset(path, file.contents().to_vec()),
        }
    }
    for inner in folder.dirs() {
        add_folder(sources, inner, prefix);
    }
}
