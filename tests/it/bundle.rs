//! The knowledge base as one file: it is self-contained, and text of pages cannot become markup.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::date;
use kbgen::emit::{Permission, SingleFile};
use kbgen::engine::Engine;
use kbgen::files::{Outputs, Sources};
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use kbgen::render::{Audience, BUNDLE_MARK};

use crate::expect::repository;
use crate::html::{Tag, tags};

const BASE: &str = "https://kb.example/below/";

/// Builds the site and its bundle.
fn built(sources: &Sources) -> (Outputs, String) {
    let options = SiteOptions {
        today: date(2026, 6, 30),
        drafts: Drafts::Exclude,
        base_url: Some(BASE.into()),
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    };
    let built = pipeline::build(sources, Vec::new(), &options).expect("the base URL is valid");
    assert_eq!(built.analysis.findings, [], "the site has no fault");
    let bytes = pipeline::bundle(sources, &built.analysis, &options).expect("the templates are right");
    (built.outputs.expect("without a fault there is a site"), String::from_utf8(bytes).expect("it is text"))
}

fn sources() -> Sources {
    let (sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    assert_eq!(faults, []);
    sources
}

/// Returns the elements with a name: opening tag and text, as browsers parse them.
fn elements<'t>(page: &'t str, name: &str) -> Vec<(&'t str, &'t str)> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find(&open) {
        let (tag, text) = rest[at..].split_once('>').expect("a tag ends");
        let (text, behind) = text.split_once(&close).expect("it is closed");
        found.push((tag, text));
        rest = behind;
    }
    found
}

/// Returns the tags outside of scripts and styles.
fn markup(page: &str) -> Vec<Tag> {
    let mut rest = page.to_string();
    for name in ["script", "style"] {
        for (tag, text) in elements(page, name) {
            rest = rest.replacen(&format!("{tag}>{text}</{name}>"), "", 1);
        }
    }
    assert!(!rest.contains("<script") && !rest.contains("<style"));
    tags(&rest)
}

#[test]
fn every_link_leads_to_a_place_in_the_file_or_names_its_host() {
    let (_, page) = built(&sources());
    assert!(page.starts_with(BUNDLE_MARK));
    let tags = markup(&page);
    let mut ids = BTreeSet::new();
    for id in tags.iter().filter_map(|tag| tag.get("id")) {
        assert!(ids.insert(id), "the id `{id}` is given twice");
    }
    let mut leads = BTreeSet::new();
    for tag in &tags {
        for (name, value) in &tag.attributes {
            match name.as_str() {
                "href" | "src" => match value.strip_prefix('#') {
                    Some(place) => {
                        assert!(ids.contains(place), "no place `{place}`: {tag:?}");
                        leads.insert(place);
                    }
                    None if value.starts_with("data:") => {}
                    None => {
                        assert!(
                            tag.name == "a" && value.starts_with("https://"),
                            "it asks the world: {tag:?}"
                        );
                    }
                },
                "style" | "srcset" | "data-page" => panic!("{tag:?}"),
                name => assert!(!name.starts_with("on"), "{tag:?}"),
            }
        }
    }
    // A page, a fragment, a heading of a guide, a term, rows of tables.
    for place in [
        "errors/card-full",
        "errors/card-full/smaller-quant",
        "guides/free-memory/close",
        "glossary/kv-cache",
        "models/small",
        "quants/q4-k-m",
        "categories/memory",
        "tools/loader",
    ] {
        assert!(leads.contains(place), "nothing leads to `{place}`");
    }
    assert!(ids.contains("errors/card-full/cause-too-large"), "the paste box leads there");
    assert!(
        tags.iter()
            .any(|tag| tag.name == "img" && tag.get("src").is_some_and(|s| s.starts_with("data:image/png")))
    );
}

#[test]
fn every_error_is_there_with_its_fixes() {
    let (outputs, page) = built(&sources());
    let knowledge: serde_json::Value =
        serde_json::from_slice(outputs.get("kb.json").expect("there are data")).expect("they are JSON");
    let mut articles = elements(&page, "article").into_iter();
    for error in knowledge["errors"].as_array().expect("a list") {
        let opened = format!("id=\"errors/{}\"", error["slug"].as_str().expect("a name"));
        let (_, text) = articles.find(|(tag, _)| tag.ends_with(&opened)).expect("it has a text");
        for part in error["causes"].as_array().into_iter().chain(error["solutions"].as_array()).flatten() {
            let title = part["title"].as_str().expect("a title");
            assert!(text.contains(title), "{opened}: no `{title}`");
        }
    }
}

#[test]
fn the_tables_are_those_of_the_site() {
    let (outputs, page) = built(&sources());
    let data = elements(&page, "script").into_iter().filter(|(tag, _)| tag.contains("application/json"));
    let mut paths = Vec::new();
    for (tag, text) in data {
        let tag = tags(&format!("{tag}></script>")).remove(0);
        let path = tag.get("id").expect("it has a name").to_string();
        let file = std::str::from_utf8(outputs.get(&path).expect("the site has it")).expect("it is text");
        let start = format!("kbgen.{}=", tag.get("data-variable").expect("it has a variable"));
        let json = file.trim_end().trim_end_matches(';').strip_prefix(&start).expect("it is an assignment");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
        assert_eq!(read(text), read(json));
        paths.push(path);
    }
    assert_eq!(
        paths,
        [
            "data/catalog.js",
            "data/diagnose.js",
            "data/page-texts.js",
            "data/reading-texts.js",
            "data/search.js",
            "data/similar.js"
        ]
    );
}

#[test]
fn the_policy_names_each_script_and_style_and_nothing_else() {
    let (_, page) = built(&sources());
    let policy = markup(&page).into_iter().find(|tag| tag.is("http-equiv", "Content-Security-Policy"));
    let policy = policy.expect("it has a policy").get("content").expect("it says something").to_string();
    let run = elements(&page, "script").iter().filter(|(tag, _)| *tag == "<script").count();
    let hashes = |kind: &str| {
        let part = policy.split(';').find(|part| part.trim().starts_with(kind)).expect("it is named");
        part.split_whitespace().skip(1).inspect(|source| assert!(source.starts_with("'sha256-"))).count()
    };
    assert_eq!((hashes("script-src"), hashes("style-src")), (run, elements(&page, "style").len()));
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn two_builds_give_the_same_bytes() {
    assert!(built(&sources()).1 == built(&sources()).1);
}

#[test]
fn nothing_that_a_page_says_becomes_markup() {
    let mut sources = sources();
    let path = "content/errors/memory/card-full.md";
    let file = sources.find(path).expect("the page is there");
    let hostile =
        "</script></article><!--<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} & 'x'";
    let page = sources.get(file).text.replace("Loader: the card is full", hostile);
    let page = page.replace("Another program holds the memory", &format!("\"{hostile}\""));
    let page = page.replace("loader -ngl 20", &format!("loader {hostile}"));
    let page = page.replace(
        "cannot put 2.00 GiB on the card, 0.50 GiB free",
        &format!("cannot put 2.00 GiB on the card, 0.50 GiB free {hostile}"),
    );
    sources.add(path, page);
    let (_, page) = built(&sources);
    let heading =
        markup(&page).into_iter().filter(|tag| tag.name == "h1").find(|tag| tag.text.contains("7*7"));
    assert_eq!(heading.expect("the title is a heading").text.trim(), hostile);
    assert!(!page.contains("<!--<"), "a comment is opened");
    for tag in markup(&page) {
        assert!(tag.get("onerror").is_none() && !tag.is("src", "x"), "{tag:?}");
    }
    for (tag, text) in elements(&page, "script") {
        assert!(!text.starts_with("alert"), "it runs");
        assert!(tag == "<script" || serde_json::from_str::<serde_json::Value>(text).is_ok(), "{tag}");
    }
}

#[test]
fn a_file_of_someone_else_stays() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("deep/kb.html");
    let single = |permission| SingleFile { path: &path, mark: b"ours", sources: &[], permission };
    single(Permission::OnlyOurs).write(b"ours 1").expect("folders are made");
    single(Permission::OnlyOurs).write(b"ours 2").expect("a bundle takes the place of the last");
    std::fs::write(&path, "notes").unwrap();
    let fault = single(Permission::OnlyOurs).write(b"ours 3").expect_err("it is somebody's");
    assert!(format!("{fault:#}").contains("--force"), "{fault:#}");
    assert_eq!(std::fs::read(&path).unwrap(), b"notes");
    single(Permission::TakeOver).write(b"ours 4").expect("it is told to");
    assert_eq!(std::fs::read(&path).unwrap(), b"ours 4");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
}
