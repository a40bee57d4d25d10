//! One small site: its files match the expected ones, its links resolve, and output is independent of the base URL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::date;
use kbgen::engine::Engine;
use kbgen::files::{MemorySink, Outputs, Sources};
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use kbgen::progress::NoProgress;
use kbgen::render::Audience;

use crate::expect::{all_well, options, repository, same};
use crate::html::{Tag, tags};

/// Builds the site for a base URL.
fn site(base_url: &str) -> Outputs {
    let (sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    let options = SiteOptions {
        today: date(2026, 6, 30),
        drafts: Drafts::Exclude,
        base_url: Some(base_url.to_string()),
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    };
    let built = pipeline::build(&sources, faults, &options).expect("the base URL is valid");
    assert_eq!(built.analysis.findings, [], "the site has no fault");
    built.outputs.expect("without a fault there is a site")
}

const BASE: &str = "https://kb.example/";

fn text(outputs: &Outputs, path: &str) -> String {
    let bytes = outputs.get(path).unwrap_or_else(|| panic!("no output `{path}`"));
    String::from_utf8(bytes.to_vec()).expect("it is text")
}

/// Returns the path and the tags of every page.
fn pages(outputs: &Outputs) -> BTreeMap<String, Vec<Tag>> {
    let html = outputs.iter().filter(|(path, _)| path.ends_with(".html"));
    html.map(|(path, _)| (path.to_string(), tags(&text(outputs, path)))).collect()
}

/// Removes content hashes from names of static files, so that a new style sheet is not a new site.
fn without_hash(path: &str) -> String {
    let parts: Vec<&str> = path.split('.').collect();
    match parts[..] {
        [.., hash, _] if path.starts_with("static/") && hash.len() == 12 => path.replace(hash, "[hash]"),
        _ => path.to_string(),
    }
}

/// Removes content hashes from the text.
fn nameless(text: &str, outputs: &Outputs) -> String {
    let files = outputs.iter().filter(|(path, _)| path.starts_with("static/"));
    files.fold(text.to_string(), |text, (path, _)| text.replace(path, &without_hash(path)))
}

#[test]
fn no_alias_takes_the_place_of_an_output_or_lies_below_a_file() {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    let analysis =
        pipeline::analyze(&sources, faults.clone(), &options(), &NoProgress).expect("the base URL is valid");
    let pictures = MemorySink::default();
    pipeline::pictures(&sources, &analysis, &options(), &NoProgress, &pictures);
    let page = sources.find("content/errors/memory/slow-start.md").expect("the page exists");
    let text = sources.get(page).text.to_string();
    for at in 0..=200 {
        sources.add(format!("content/errors/memory/slow-{at}.md"), text.clone());
    }
    let built = pipeline::build(&sources, faults.clone(), &options()).expect("the base URL is valid");
    let (site, pictures) = (built.outputs.expect("the site has no error"), pictures.into_outputs());
    assert!(site.get("categories/memory/2/index.html").is_some(), "the category has a second page");
    let paths = site.iter().chain(pictures.iter()).map(|(path, _)| path.to_string());
    let aliases: BTreeSet<String> = paths
        .flat_map(|path| match path.strip_suffix("index.html") {
            Some(folder) => [format!("/{folder}"), format!("/{path}/")],
            None => [format!("/{path}/"), format!("/{path}/below/")],
        })
        .collect();
    let aliases: Vec<String> = aliases.into_iter().collect();
    for (at, few) in aliases.chunks(50).enumerate() {
        let page = format!("---\ntitle: Old\naliases: {few:?}\n---\nText.\n");
        sources.add(format!("content/pages/old-{at}.md"), page);
    }
    let found =
        pipeline::analyze(&sources, faults, &options(), &NoProgress).expect("the base URL is valid").findings;
    let refused: BTreeSet<&str> = found
        .iter()
        .filter(|finding| finding.code == "alias-clash")
        .map(|finding| sources.text(finding.span).trim_matches('"'))
        .collect();
    let taken: Vec<&String> = aliases.iter().filter(|alias| !refused.contains(alias.as_str())).collect();
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn every_file_matches_the_expected_output() {
    let outputs = site(BASE);
    let list: String = outputs.iter().map(|(path, _)| format!("{}\n", without_hash(path))).collect();
    let expected = |name: &str| repository("tests/golden/expected").join(name);
    let mut faults = Vec::from_iter(same(&expected("files.txt"), &list));
    for path in [
        "_headers",
        "_redirects",
        "badges/small.svg",
        "categories/memory/feed.xml",
        "data/devices.js",
        "data/runs.js",
        "errors/card-full.json",
        "errors/card-full.md",
        "feed.xml",
        "hardware/card.json",
        "kb.json",
        "llms-full.txt",
        "llms.txt",
        "models/small.json",
        "opensearch.xml",
        "robots.txt",
        "schema/error-data.json",
        "sitemap.xml",
    ] {
        faults.extend(same(&expected(path), &nameless(&text(&outputs, path), &outputs)));
    }
    for (page, name) in [
        ("errors/card-full", "card-full"),
        ("compare", "compare"),
        ("choose-gpu", "choose-gpu"),
        ("cost-vs-cloud", "cost-vs-cloud"),
    ] {
        let page = text(&outputs, &format!("{page}/index.html"));
        let start = page.find("<main").expect("a page has a main part");
        let end = page.find("</main>").expect("it is closed") + "</main>\n".len();
        // Data of scripts change with every figure; other tests compare them with the program.
        let is_data = |line: &&str| line.starts_with("<script type=\"application/json\"");
        let main: String =
            page[start..end].lines().filter(|line| !is_data(line)).flat_map(|line| [line, "\n"]).collect();
        let main = nameless(&main, &outputs);
        faults.extend(same(&expected(&format!("{name}.main.html")), &main));
    }
    all_well(faults);
}

/// Returns the pages in the search index: all but search pages and redirects.
#[test]
fn the_search_knows_every_page() {
    let outputs = site(BASE);
    let script = text(&outputs, "data/search.js");
    let data = script.trim_start_matches("kbgen.pages=").trim_end().trim_end_matches(';');
    let data: serde_json::Value = serde_json::from_str(data).expect("it is one assignment of JSON");
    let documents = data["index"]["documents"][0].as_array().expect("the index has documents");
    let addresses = documents.iter().map(|document| document[0].as_str().expect("an address is text"));
    let known: BTreeSet<String> = addresses
        .map(|address| format!("{}index.html", address.split('#').next().unwrap_or_default()))
        .collect();
    let is_redirect = |path: &str| text(&outputs, path).contains("http-equiv=\"refresh\"");
    let starts = ["index.html", "search/index.html", "404.html"];
    let pages: BTreeSet<String> = pages(&outputs)
        .into_keys()
        .filter(|path| !starts.contains(&path.as_str()) && !is_redirect(path))
        .collect();
    assert_eq!(known, pages);
    let notes = data["notes"][0].as_array().expect("each has a note");
    assert_eq!(notes.len(), documents.len());
}

#[test]
fn two_builds_give_the_same_bytes() {
    assert!(site(BASE) == site(BASE), "a second build gave other bytes");
}

#[test]
fn only_what_names_the_address_of_the_site_differs_between_two_addresses() {
    let (here, there) = (site("https://a.example/kb/"), site("https://b.test/"));
    let names = |outputs: &Outputs| outputs.iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&here), names(&there), "the files have the same names");
    let differing: BTreeSet<&str> =
        here.iter().filter(|(path, bytes)| there.get(path) != Some(bytes)).map(|(path, _)| path).collect();
    let schemas = here.iter().map(|(path, _)| path).filter(|path| path.starts_with("schema/"));
    let other: BTreeSet<&str> = differing.iter().copied().filter(|path| !path.ends_with(".html")).collect();
    let wanted: BTreeSet<&str> = [
        "categories/memory/feed.xml",
        "data/hardware.json",
        "data/models.json",
        "feed.xml",
        "kb.json",
        "llms-full.txt",
        "llms.txt",
        "opensearch.xml",
        "robots.txt",
        "sitemap.xml",
    ]
    .into_iter()
    .chain(schemas)
    .collect();
    assert_eq!(other, wanted);
    let (here, there) = (pages(&here), pages(&there));
    for (path, tags) in &here {
        let others = &there[path];
        assert_eq!(tags.len(), others.len(), "{path}");
        for (tag, other) in tags.iter().zip(others).filter(|(tag, other)| tag != other) {
            let may_differ = path == "404.html"
                || tag.is("rel", "canonical")
                || tag.get("property").is_some_and(|property| property.starts_with("og:"))
                || tag.is("type", "application/ld+json")
                // The code to embed a badge contains the base URL.
                || (tag.name == "code" && tag.text.contains("/badges/"));
            assert!(may_differ, "{path}: {tag:?}\nis elsewhere {other:?}");
        }
    }
}

#[test]
fn the_data_file_differs_only_in_the_address_it_was_made_for() {
    let read = |base: &str| -> serde_json::Value {
        serde_json::from_str(&text(&site(base), "kb.json")).expect("kb.json is JSON")
    };
    let (mut here, mut there) = (read("https://a.example/kb/"), read("https://b.test/"));
    assert_eq!(here["generated_for"], "https://a.example/kb/");
    here["generated_for"].take();
    there["generated_for"].take();
    assert_eq!(here, there);
}

/// Resolves a reference on a page to an output file and an id.
fn resolve(from: &str, reference: &str) -> (String, Option<String>) {
    let (path, id) = match reference.split_once('#') {
        Some((path, id)) => (path, Some(id.to_string())),
        None => (reference, None),
    };
    let path = path.split('?').next().unwrap_or_default();
    if path.is_empty() {
        return (from.to_string(), id);
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => assert!(parts.pop().is_some(), "{from}: `{reference}` leads out of the site"),
            part => parts.push(part),
        }
    }
    (parts.join("/"), id)
}

#[test]
fn every_link_leads_to_a_file_and_a_place_in_it() {
    let outputs = site(BASE);
    let pages = pages(&outputs);
    let ids: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, tags)| (path.as_str(), tags.iter().filter_map(|tag| tag.get("id")).collect()))
        .collect();
    let mut checked = 0;
    for (path, tags) in &pages {
        for tag in tags {
            for (name, value) in &tag.attributes {
                if !["href", "src", "srcset", "poster", "action", "data-search", "data-table"]
                    .contains(&name.as_str())
                {
                    continue;
                }
                let outside = value.starts_with("https://")
                    || value.starts_with("http://")
                    || value.starts_with("mailto:");
                if outside {
                    let leaves = tag.name == "a" || tag.is("rel", "canonical");
                    assert!(leaves, "{path}: a request leaves the site: {tag:?}");
                    continue;
                }
                if value.starts_with("data:") {
                    continue;
                }
                // The 404 page is served at any depth, so its links start at the root.
                let value = match (path.as_str(), value.strip_prefix('/')) {
                    ("404.html", Some(rest)) => rest,
                    ("404.html", None) if !value.starts_with('#') => {
                        panic!("404.html: `{value}` is relative")
                    }
                    (_, Some(_)) => panic!("{path}: `{value}` is not relative"),
                    _ => value,
                };
                let (file, id) = resolve(path, value);
                assert!(outputs.get(&file).is_some(), "{path}: `{value}` names no file (`{file}`)");
                if let Some(id) = id.filter(|id| !id.is_empty() && !id.contains('=')) {
                    assert!(ids[file.as_str()].contains(id.as_str()), "{path}: no id `{id}` in `{file}`");
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "only {checked} links were looked at");
}

#[test]
fn links_in_the_markdown_of_an_error_lead_to_files() {
    let outputs = site(BASE);
    let mut checked = 0;
    for (path, _) in outputs.iter().filter(|(path, _)| path.ends_with(".md")) {
        let twin = text(&outputs, path);
        let outline = kbgen::markdown::outline(&twin);
        for link in outline.links.iter().filter(|link| !link.destination.starts_with("https://")) {
            let (file, id) = resolve(path, &link.destination);
            assert!(outputs.get(&file).is_some(), "{path}: `{}` names no file", link.destination);
            if file == path {
                let id = id.expect("a link to the page itself names a place");
                assert!(outline.headings.iter().any(|heading| heading.id == id), "{path}: no heading `{id}`");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 7);
}

#[test]
fn ids_are_given_once_on_a_page() {
    for (path, tags) in pages(&site(BASE)) {
        let mut seen = BTreeSet::new();
        for id in tags.iter().filter_map(|tag| tag.get("id")) {
            assert!(seen.insert(id.to_string()), "{path}: the id `{id}` is given twice");
        }
    }
}

#[test]
fn pages_have_no_inline_styles_or_scripts() {
    for (path, tags) in pages(&site(BASE)) {
        for tag in &tags {
            let is_data = tag.get("type").is_some_and(|kind| kind.ends_with("json"));
            let is_inline =
                tag.name == "style" || (tag.name == "script" && !is_data && tag.get("src").is_none());
            assert!(!is_inline, "{path}: inline {}", tag.name);
            for (name, value) in &tag.attributes {
                assert!(name != "style" && !name.starts_with("on"), "{path}: `{name}` in {}", tag.name);
                assert!(!value.trim_start().to_lowercase().starts_with("javascript:"), "{path}: {tag:?}");
            }
        }
    }
}

#[test]
fn nothing_that_a_page_says_becomes_markup() {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    let path = "content/errors/memory/card-full.md";
    let file = sources.find(path).expect("the page is there");
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} {% raw %} & 'x'";
    let page = sources.get(file).text.replace("Loader: the card is full", hostile);
    let page = page.replace("Another program holds the memory", &format!("\"{hostile}\""));
    // HTML in `tell` is rejected; in backticks it is text.
    let page = page.replace("It works after a restart", &format!("\"`{hostile}`\""));
    let page = page.replace(
        "cannot put 2.00 GiB on the card, 0.50 GiB free",
        &format!("cannot put 2.00 GiB on the card, 0.50 GiB free {hostile}"),
    );
    sources.add(path, page);
    let built = pipeline::build(&sources, faults, &options()).expect("the base URL is valid");
    assert_eq!(built.analysis.findings, []);
    let pages = pages(&built.outputs.expect("without a fault there is a site"));
    let heading = pages["errors/card-full/index.html"].iter().find(|tag| tag.name == "h1");
    assert_eq!(heading.expect("a page has a heading").text.trim(), hostile);
    for (path, tags) in &pages {
        for tag in tags {
            assert!(tag.get("onerror").is_none() && !tag.is("src", "x"), "{path}: {tag:?}");
            assert!(tag.name != "script" || !tag.text.starts_with("alert"), "{path}: {tag:?}");
            if tag.is("type", "application/ld+json") {
                serde_json::from_str::<serde_json::Value>(&tag.text)
                    .unwrap_or_else(|fault| panic!("{path}: {fault}"));
            }
        }
    }
}

#[test]
fn every_page_says_what_it_is() {
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    for (path, tags) in pages(&site(BASE)) {
        let named = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
        // SVG parts have titles too.
        let before_body = tags.iter().take_while(|tag| tag.name != "body");
        // Redirect pages are not read.
        let leads_on = tags.iter().any(|tag| tag.is("http-equiv", "refresh"));
        assert_eq!(before_body.filter(|tag| tag.name == "title").count(), 1, "{path}: titles");
        assert!(leads_on || named("h1") == 1, "{path}: {} level-1 headings", named("h1"));
        let html = tags.iter().find(|tag| tag.name == "html").expect("a page begins with html");
        assert!(html.is("lang", "en"), "{path}: no language");
        let title = tags.iter().find(|tag| tag.name == "title").map(|tag| tag.text.trim().to_string());
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| panic!("{path}: no title"));
        let description =
            tags.iter().find(|tag| tag.is("name", "description")).and_then(|tag| tag.get("content"));
        assert!(leads_on || description.is_some_and(|text| text.len() > 3), "{path}: no description");
        if !leads_on && let Some(other) = titles.insert(title.clone(), path.clone()) {
            panic!("{path} and {other} are both called `{title}`");
        }
    }
}

#[test]
fn examples_of_the_paste_box_match_pages() {
    let outputs = site(BASE);
    let script = text(&outputs, "data/page-texts.js");
    let json = script.trim_end().strip_prefix("kbgen.pageTexts=").and_then(|rest| rest.strip_suffix(';'));
    let texts: serde_json::Value = serde_json::from_str(json.expect("an assignment")).expect("JSON");
    let pages = texts.as_object().expect("pages by slug");
    assert_eq!(pages.keys().collect::<Vec<_>>(), ["card-full", "slow-start"]);
    for slug in pages.keys() {
        assert!(outputs.get(&format!("errors/{slug}/index.html")).is_some(), "{slug}");
    }
    let expected = serde_json::json!({"too-large": "loader -ngl 20 --name \"<model> & co\""});
    assert_eq!(pages["card-full"]["first_commands"], expected);
}

/// Builds the site with one file changed, including pictures.
fn pictured(change: impl Fn(&mut Sources)) -> (Outputs, Outputs) {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    change(&mut sources);
    let options = options();
    let built = pipeline::build(&sources, faults, &options).expect("the base URL is valid");
    let pictures = MemorySink::default();
    pipeline::pictures(&sources, &built.analysis, &options, &NoProgress, &pictures);
    (built.outputs.expect("without a fault there is a site"), pictures.into_outputs())
}

/// Returns the path of the picture of a page.
fn picture_of(outputs: &Outputs, page: &str) -> Option<String> {
    let tags = tags(&text(outputs, page));
    let named = tags.iter().find(|tag| tag.is("property", "og:image"))?.get("content")?;
    Some(named.strip_prefix(BASE).expect("the address is whole").to_string())
}

fn with_title(sources: &mut Sources, title: &str) {
    let path = "content/errors/memory/card-full.md";
    let file = sources.find(path).expect("the page is there");
    let page = sources.get(file).text.replace("Loader: the card is full", title);
    sources.add(path, page);
}

#[test]
fn every_page_names_a_picture_that_is_there() {
    let (outputs, pictures) = pictured(|_| {});
    let mut named = BTreeSet::new();
    for (path, tags) in pages(&outputs) {
        if tags.iter().any(|tag| tag.is("http-equiv", "refresh")) {
            continue;
        }
        let picture = picture_of(&outputs, &path).unwrap_or_else(|| panic!("{path} names no picture"));
        let bytes = pictures.get(&picture).unwrap_or_else(|| panic!("{path}: `{picture}` is not there"));
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n", "{picture}");
        assert_eq!(bytes[16..24], [0, 0, 4, 176, 0, 0, 2, 118], "{picture} is 1200 by 630");
        assert!(bytes.len() < 40 * 1024, "{picture} has {} bytes", bytes.len());
        assert!(tags.iter().any(|tag| tag.is("content", "summary_large_image")), "{path}");
        named.insert(picture);
    }
    let drawn: BTreeSet<String> = pictures.iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(named, drawn, "a picture is drawn that no page names");
    let wanted = [
        "errors/card-full",
        "errors/slow-start",
        "guides/free-memory",
        "hardware/card",
        "models/small",
        "site",
    ];
    assert_eq!(drawn, wanted.map(|name| format!("social/{name}.png")).into());
}

#[test]
fn another_title_is_another_picture() {
    let (_, before) = pictured(|_| {});
    let (_, after) = pictured(|sources| with_title(sources, "Loader: the card is fuller"));
    let changed: Vec<&str> =
        before.iter().filter(|(path, bytes)| after.get(path) != Some(bytes)).map(|(path, _)| path).collect();
    assert_eq!(changed, ["social/errors/card-full.png"]);
}

#[test]
fn a_title_that_cannot_be_drawn_has_the_picture_of_the_site() {
    let (outputs, pictures) = pictured(|sources| with_title(sources, "显存不足"));
    assert_eq!(picture_of(&outputs, "errors/card-full/index.html").as_deref(), Some("social/site.png"));
    assert!(pictures.get("social/errors/card-full.png").is_none());
}

#[test]
fn a_site_may_bring_its_own_picture_or_have_none() {
    let (outputs, pictures) = pictured(|sources| {
        let other = sources.asset("content/errors/memory/types.png").expect("a picture").bytes.clone();
        sources.add_asset("static/social.png", other);
    });
    assert!(pictures.get("social/site.png").is_none());
    let own = picture_of(&outputs, "index.html").expect("the home page names a picture");
    assert!(own.starts_with("static/social.") && outputs.get(&own).is_some(), "{own}");

    let (outputs, pictures) = pictured(|sources| {
        let file = sources.find("site.toml").expect("the settings are there");
        let settings = format!("social_images = false\n{}", sources.get(file).text.as_str());
        sources.add("site.toml", settings);
    });
    assert!(pictures.is_empty());
    assert!(pages(&outputs).keys().all(|path| picture_of(&outputs, path).is_none()));
}
