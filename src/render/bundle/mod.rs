//! The whole knowledge base as one page, for machines without a network: all texts, search and diagnosis in one file.
//!
//! 1. each text is rendered by its template in `templates/bundle/`, from what its page sees too,
//! 2. `pieces` turns links into fragments,
//! 3. scripts and style sheets are put in whole, with a policy that allows these and nothing else.

mod pieces;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::Value;
use rayon::prelude::*;
use serde::Serialize;

use crate::diag::Diagnostic;
use crate::files::Outputs;
use crate::render::assets::Assets;
use crate::render::bundle::pieces::{Piece, Pieces, START, data_address};
use crate::render::templates::{Engine, html, seen};
use crate::render::views::{Plate, Shelf, texts, with_frame};
use crate::render::{diagnose, search};
use crate::site::LISTINGS;

/// What every bundle begins with, so that no other file is taken for one.
pub const BUNDLE_MARK: &str = "<!doctype html>\n<!-- kbgen bundle -->\n";

/// Templates of pages whose texts are in a bundle, in its order, each with the template of the text.
const PARTS: [(&str, &str); 10] = [
    ("errors.html", "bundle/errors.html"),
    ("error.html", "bundle/error.html"),
    ("guides.html", "bundle/guides.html"),
    ("guide.html", "bundle/guide.html"),
    ("tools.html", "bundle/tools.html"),
    ("tool.html", "bundle/tool.html"),
    ("glossary.html", "bundle/glossary.html"),
    ("models.html", "bundle/models.html"),
    ("hardware.html", "bundle/hardware.html"),
    ("quants.html", "bundle/quants.html"),
];

/// Style sheets, in their order.
const STYLES: [&str; 3] = ["site.css", "finder.css", "bundle.css"];

/// The script that runs before the first paint.
const FIRST_SCRIPT: &str = "js/theme.js";

/// Scripts, in their order: `bundle.js` puts itself between `site.js`, `names.js` and those that load files.
const SCRIPTS: [&str; 9] = [
    "js/match.js",
    "js/readings.js",
    "js/search.js",
    "js/case.js",
    "js/names.js",
    "js/site.js",
    "js/bundle.js",
    "js/paste.js",
    "js/finder.js",
];

#[derive(Serialize)]
struct BundleView {
    base_url: String,
    start: &'static str,
    policy: Value,
    icon: String,
    styles: Vec<Value>,
    first_script: Value,
    scripts: Vec<Value>,
    lists: Vec<ListView>,
    texts: Value,
    data: Vec<DataView>,
}

#[derive(Serialize)]
struct ListView {
    title: String,
    href: String,
    purpose: String,
}

#[derive(Serialize)]
struct DataView {
    path: String,
    variable: String,
    json: Value,
}

/// The page.
pub(super) fn page(shelf: &Shelf<'_>, engine: &Engine<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (lists, pieces) = pieces(shelf, engine)?;
    let base_url = &shelf.order.config.base_url;
    let first_script = script(shelf.assets, FIRST_SCRIPT);
    let scripts: Vec<String> = SCRIPTS.iter().map(|name| script(shelf.assets, name)).collect();
    let styles: Vec<String> = STYLES.iter().map(|name| style(shelf.assets, name)).collect();
    let policy = policy(std::iter::once(&first_script).chain(&scripts), &styles);
    let icon = shelf.assets.bytes("favicon.svg").unwrap_or_default();
    let mut tables = diagnose::table(shelf);
    tables.append(search::file(shelf));
    let view = BundleView {
        base_url: base_url.clone(),
        start: START,
        policy: html(policy),
        icon: data_address("image/svg+xml", icon),
        styles: styles.into_iter().map(html).collect(),
        first_script: html(first_script),
        scripts: scripts.into_iter().map(html).collect(),
        lists,
        texts: html(Pieces::new(&pieces, shelf.assets, base_url).articles()),
        data: data(&tables),
    };
    let title = &shelf.order.config.title;
    let plate = Plate::listing("", "bundle", title, &shelf.order.config.description);
    let view = with_frame(shelf.frame(plate, (None, None)), "bundle", seen(view));
    let text = engine.render("bundle.html", &view).map_err(|fault| vec![fault])?;
    Ok([BUNDLE_MARK.as_bytes(), &text].concat())
}

/// The texts in their order, and which of them are lists.
fn pieces(shelf: &Shelf<'_>, engine: &Engine<'_>) -> Result<(Vec<ListView>, Vec<Piece>), Vec<Diagnostic>> {
    let place = |template: &str| PARTS.iter().position(|(page, _)| *page == template);
    let mut leaves: Vec<_> =
        texts(shelf).into_iter().filter_map(|leaf| Some((place(leaf.template)?, leaf))).collect();
    leaves.sort_by_key(|(place, _)| *place);
    let lists = leaves.iter().filter_map(|(_, leaf)| {
        let title = LISTINGS.iter().find(|listing| listing.address == leaf.address)?.title;
        Some(ListView {
            title: shelf.say(title).into(),
            href: format!("#{}", leaf.address.trim_end_matches('/')),
            purpose: search::purpose(&leaf.address)
                .map(|purpose| shelf.say(purpose))
                .unwrap_or_default()
                .into(),
        })
    });
    let lists = lists.collect();
    let rendered: Vec<Result<Piece, Diagnostic>> = leaves
        .into_par_iter()
        .map(|(place, leaf)| {
            let text = engine.render(PARTS[place].1, &leaf.view)?;
            Ok(Piece { address: leaf.address, html: String::from_utf8_lossy(&text).into_owned() })
        })
        .collect();
    let (mut pieces, mut faults) = (Vec::new(), Vec::new());
    for piece in rendered {
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(fault) if !faults.contains(&fault) => faults.push(fault),
            Err(_) => {}
        }
    }
    if faults.is_empty() { Ok((lists, pieces)) } else { Err(faults) }
}

/// A policy that lets run what stands in the file, and nothing else.
fn policy<'t>(scripts: impl Iterator<Item = &'t String>, styles: &[String]) -> String {
    let sources =
        |texts: Vec<&String>| texts.into_iter().map(|text| source(text)).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        sources(scripts.collect()),
        sources(styles.iter().collect())
    )
}

/// A source of a Content-Security-Policy: `'sha256-…'`.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes())))
}

/// A script as the text of its element: in its strings and expressions a backslash changes nothing.
fn script(assets: &Assets, name: &str) -> String {
    text(assets, name).replace("</script", "<\\/script").replace("<!--", "<\\!--")
}

/// A style sheet as the text of its element.
fn style(assets: &Assets, name: &str) -> String {
    text(assets, name).replace("</style", "<\\/style")
}

fn text(assets: &Assets, name: &str) -> String {
    String::from_utf8_lossy(assets.bytes(name).unwrap_or_default()).into_owned()
}

/// Data files, which assign JSON to a name, as JSON that no text can close the element of.
fn data(files: &Outputs) -> Vec<DataView> {
    let parts = files.iter().filter_map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).ok()?;
        let (variable, json) = text.strip_prefix("kbgen.")?.split_once('=')?;
        let json = json.trim_end().trim_end_matches(';').replace('<', "\\u003c");
        Some(DataView { path: path.to_string(), variable: variable.to_string(), json: html(json) })
    });
    parts.collect()
}
