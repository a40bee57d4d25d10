//! The whole knowledge base as one page, for offline machines: all articles, search and diagnosis in one file.
//!
//! 1. Each article is rendered by its template in `templates/bundle/` from the view of its page.
//! 2. `pieces` turns links into fragments.
//! 3. Scripts and style sheets are inlined, with a policy that allows only these.

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
use crate::render::templates::{TemplateEngine, html, view_value};
use crate::render::views::{PageMeta, RenderContext, texts, with_layout};
use crate::render::{diagnose, search, unique_errors};
use crate::site::LISTINGS;

/// First bytes of every bundle, to recognize bundles of earlier builds.
pub const BUNDLE_MARK: &str = "<!doctype html>\n<!-- kbgen bundle -->\n";

/// Page templates whose articles are part of a bundle, in order, each with the template of the article.
const PARTS: [(&str, &str); 12] = [
    ("errors.html", "bundle/errors.html"),
    ("error.html", "bundle/error.html"),
    ("guides.html", "bundle/guides.html"),
    ("guide.html", "bundle/guide.html"),
    ("tools.html", "bundle/tools.html"),
    ("tool.html", "bundle/tool.html"),
    ("entries.html", "bundle/entries.html"),
    ("entry.html", "bundle/entry.html"),
    ("glossary.html", "bundle/glossary.html"),
    ("models.html", "bundle/models.html"),
    ("hardware.html", "bundle/hardware.html"),
    ("quants.html", "bundle/quants.html"),
];

/// Style sheets, in order.
const STYLES: [&str; 3] = ["site.css", "finder.css", "bundle.css"];

/// Script that runs before the first paint.
const FIRST_SCRIPT: &str = "js/theme.js";

/// Scripts, in order: `bundle.js` comes between `site.js` and `names.js`, and those that load files.
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

/// Renders the bundle.
pub(super) fn page(cx: &RenderContext<'_>, engine: &TemplateEngine<'_>) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (lists, pieces) = pieces(cx, engine)?;
    let base_url = &cx.inputs.config.base_url;
    let first_script = script(cx.assets, FIRST_SCRIPT);
    let scripts: Vec<String> = SCRIPTS.iter().map(|name| script(cx.assets, name)).collect();
    let styles: Vec<String> = STYLES.iter().map(|name| style(cx.assets, name)).collect();
    let policy = policy(std::iter::once(&first_script).chain(&scripts), &styles);
    let icon = cx.assets.bytes("favicon.svg").unwrap_or_default();
    let mut tables = diagnose::whole_tables(cx);
    tables.append(search::whole_file(cx));
    let view = BundleView {
        base_url: base_url.clone(),
        start: START,
        policy: html(policy),
        icon: data_address("image/svg+xml", icon),
        styles: styles.into_iter().map(html).collect(),
        first_script: html(first_script),
        scripts: scripts.into_iter().map(html).collect(),
        lists,
        texts: html(Pieces::new(&pieces, cx.assets, base_url).articles()),
        data: data(&tables),
    };
    let title = &cx.inputs.config.title;
    let meta = PageMeta::listing("", "bundle", title, &cx.inputs.config.description);
    let view = with_layout(cx.layout(meta), "bundle", view_value(view));
    let text = engine.render("bundle.html", &view).map_err(|fault| vec![fault])?;
    Ok([BUNDLE_MARK.as_bytes(), &text].concat())
}

/// Renders the articles in order, and lists those that are lists.
fn pieces(
    cx: &RenderContext<'_>,
    engine: &TemplateEngine<'_>,
) -> Result<(Vec<ListView>, Vec<Piece>), Vec<Diagnostic>> {
    let place = |template: &str| PARTS.iter().position(|(page, _)| *page == template);
    let mut pages: Vec<_> =
        texts(cx).into_iter().filter_map(|page| Some((place(&page.template)?, page))).collect();
    pages.sort_by_key(|(place, _)| *place);
    let lists = pages.iter().filter_map(|(_, page)| {
        let listing = LISTINGS.iter().find(|listing| listing.address == page.address);
        let own = || cx.site().collections().iter().find(|own| own.address() == page.address);
        let title = match listing {
            Some(listing) => cx.tr(listing.title),
            None => own()?.title.as_str(),
        };
        Some(ListView {
            title: title.into(),
            href: format!("#{}", page.address.trim_end_matches('/')),
            purpose: search::purpose(&page.address).map(|purpose| cx.tr(purpose)).unwrap_or_default().into(),
        })
    });
    let lists = lists.collect();
    let rendered: Vec<Result<Piece, Diagnostic>> = pages
        .into_par_iter()
        .map(|(place, page)| {
            let text = engine.render(PARTS[place].1, &page.view)?;
            Ok(Piece { address: page.address, html: String::from_utf8_lossy(&text).into_owned() })
        })
        .collect();
    Ok((lists, unique_errors(rendered)?))
}

/// Returns a Content-Security-Policy that allows only the inlined scripts and styles.
fn policy<'t>(scripts: impl Iterator<Item = &'t String>, styles: &[String]) -> String {
    let sources =
        |texts: Vec<&String>| texts.into_iter().map(|text| source(text)).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        sources(scripts.collect()),
        sources(styles.iter().collect())
    )
}

/// Returns a source expression of the policy: `'sha256-…'`.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes())))
}

/// Returns a script as the text of a `script` element; an inserted backslash does not change strings or regular
/// expressions.
fn script(assets: &Assets, name: &str) -> String {
    text(assets, name).replace("</script", "<\\/script").replace("<!--", "<\\!--")
}

/// Returns a style sheet as the text of a `style` element.
fn style(assets: &Assets, name: &str) -> String {
    text(assets, name).replace("</style", "<\\/style")
}

fn text(assets: &Assets, name: &str) -> String {
    String::from_utf8_lossy(assets.bytes(name).unwrap_or_default()).into_owned()
}

/// Returns data files, which assign JSON to a name, as JSON that cannot close its element.
fn data(files: &Outputs) -> Vec<DataView> {
    let parts = files.iter().filter_map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).ok()?;
        let (variable, json) = text.strip_prefix("kbgen.")?.split_once('=')?;
        let json = json.trim_end().trim_end_matches(';').replace('<', "\\u003c");
        Some(DataView { path: path.to_string(), variable: variable.to_string(), json: html(json) })
    });
    parts.collect()
}
