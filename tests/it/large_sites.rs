//! Sites with thousands of pages: lists in several pages, and fewer files on request.

use std::collections::BTreeSet;

use kbgen::files::{Outputs, Sources};
use kbgen::load;
use kbgen::pipeline;

use crate::expect::{options, repository};
use crate::html::tags;

const BASE: &str = "https://kb.example/";
/// More than `/errors/` lists, and than a page of a category.
const PAGES: usize = 1600;

/// Builds the small site after a change.
fn site(change: impl FnOnce(&mut Sources)) -> Outputs {
    let (mut sources, faults) = load::read(&repository("tests/golden/site")).unwrap();
    change(&mut sources);
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    assert_eq!(built.analysis.findings, []);
    built.outputs.unwrap()
}

fn with_setting(sources: &mut Sources, line: &str) {
    let file = sources.find("site.toml").unwrap();
    let settings = format!("{line}\n{}", sources.get(file).text.as_str());
    sources.add("site.toml", settings);
}

/// Returns the targets of the links of a page, relative to the root.
fn links(outputs: &Outputs, path: &str) -> BTreeSet<String> {
    let base = url::Url::parse(BASE).unwrap().join(path).unwrap();
    let page = String::from_utf8(outputs.get(path).unwrap().to_vec()).unwrap();
    let found = tags(&page).into_iter().filter_map(|tag| {
        let target = base.join(tag.get("href")?).ok()?;
        Some(target.as_str().strip_prefix(BASE)?.to_string())
    });
    found.collect()
}

#[test]
fn a_large_category_has_several_pages_that_link_to_all_its_errors() {
    let outputs = site(|sources| {
        for at in 0..PAGES {
            let page = format!(
                "---\ntitle: Loader fault {at}\nsignatures:\n  - pattern: \"loader fault number {at} of the queue\"\n    \
                 samples: [\"loader fault number {at} of the queue\"]\n    source: \"https://kb.example/{at}\"\n\
                 causes:\n  - id: queue\n    title: The queue is full\n    tell: The log names the queue.\n    \
                 solutions: [empty]\ntools: [loader]\nverified: 2026-06-01\n---\nIt stops.\n\n## Empty the queue {{#empty}}\n\nDo it.\n\n## Check\n\nStart it again.\n"
            );
            sources.add(format!("content/errors/memory/loader-fault-{at}.md"), page);
        }
    });
    assert!(!links(&outputs, "errors/index.html").contains("errors/loader-fault-7/index.html"));
    let list = String::from_utf8_lossy(outputs.get("errors/index.html").unwrap());
    assert!(list.contains(&format!("<span>{}</span>", PAGES + 2)), "the category has two more pages");
    let numbered: Vec<String> = links(&outputs, "categories/memory/index.html")
        .into_iter()
        .filter(|path| path.starts_with("categories/memory/") && path.ends_with("index.html"))
        .collect();
    assert!(numbered.len() > 5, "{numbered:?}");
    let listed: BTreeSet<String> = numbered.iter().flat_map(|path| links(&outputs, path)).collect();
    for at in 0..PAGES {
        assert!(listed.contains(&format!("errors/loader-fault-{at}/index.html")), "{at}");
    }
    let sitemap = String::from_utf8(outputs.get("sitemap.xml").unwrap().to_vec()).unwrap();
    assert!(numbered.iter().all(|path| sitemap.contains(&format!("/{}<", path.replace("index.html", "")))));
    for (path, bytes) in outputs.iter().filter(|(path, _)| path.ends_with(".html")) {
        assert!(bytes.len() <= 1 << 20, "{path} has {} bytes", bytes.len());
    }
}

#[test]
fn alternates_are_written_and_linked_as_the_settings_say() {
    for (formats, expected) in
        [("", ["json"; 0].to_vec()), ("\"md\"", vec!["md"]), ("\"md\", \"json\"", vec!["json", "md"])]
    {
        let outputs = site(|sources| with_setting(sources, &format!("alternates = [{formats}]")));
        let folders = ["errors/", "models/", "hardware/"];
        let alternates = outputs
            .iter()
            .map(|(path, _)| path)
            .filter(|path| folders.iter().any(|folder| path.starts_with(folder)) && !path.ends_with(".html"));
        let written: BTreeSet<&str> = alternates.filter_map(|path| path.rsplit('.').next()).collect();
        assert_eq!(written, expected.iter().copied().collect(), "{formats}");
        for (path, _) in outputs.iter().filter(|(path, _)| path.ends_with(".html")) {
            for link in links(&outputs, path) {
                let is_data = link.ends_with(".json") || link.ends_with(".md");
                assert!(!is_data || outputs.get(&link).is_some(), "{path} links to {link}");
            }
        }
        let map = String::from_utf8(outputs.get("llms.txt").unwrap().to_vec()).unwrap();
        assert_eq!(map.contains("errors/card-full.md"), expected.contains(&"md"));
        assert!(map.contains("errors/card-full"));
        assert_eq!(outputs.get("schema/error-data.json").is_some(), expected.contains(&"json"));
    }
}

#[test]
fn without_alternates_and_pictures_a_page_is_one_file() {
    let count = |pages: usize| {
        let outputs = site(|sources| {
            with_setting(sources, "alternates = []\nsocial_images = false");
            for at in 0..pages {
                let text =
                    sources.get(sources.find("content/guides/free-memory.md").unwrap()).text.to_string();
                sources.add(format!("content/guides/guide-{at}.md"), text);
            }
        });
        outputs.iter().count()
    };
    assert_eq!(count(20) - count(10), 10);
}
