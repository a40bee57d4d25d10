//! Names used by people and programs resolve to the right pages of this repository's knowledge base.

use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::{Kind, Names, Resolved, Site};

use crate::expect::repository;

fn site() -> Site {
    let (sources, _) = load::read(&repository("")).unwrap();
    load::pages(&sources, Drafts::Exclude).0
}

/// Resolves a name to a slug or an error message.
fn find(site: &Site, kind: Kind, name: &str) -> Result<String, String> {
    Names::new(site, kind).resolve(name).only(kind, name).map(|page| page.slug)
}

/// Names of `tests/data/names.csv`: what they resolve to (a page, several, or none), and the quantization or the memory
/// size that they state.
#[test]
fn names_of_people_and_programs_resolve() {
    let site = site();
    let rows: Vec<csv::StringRecord> = csv::Reader::from_path(repository("tests/data/names.csv"))
        .unwrap()
        .into_records()
        .map(Result::unwrap)
        .collect();
    assert!(rows.len() >= 300, "{} names", rows.len());
    let models = Names::new(&site, Kind::Model);
    let devices = Names::new(&site, Kind::Hardware);
    let mut wrong = Vec::new();
    for row in &rows {
        let (name, expected) = (&row[1], (row[2].to_string(), row[3].to_string()));
        let resolved = if &row[0] == "model" { models.resolve(name) } else { devices.resolve(name) };
        let found = match resolved {
            Resolved::Page(page) => {
                let size = page.memory_gb.map(|size| size.to_string());
                (page.slug, page.quant.map(|quant| quant.label).or(size).unwrap_or_default())
            }
            Resolved::Ambiguous(slugs) => (slugs.join(" "), String::new()),
            Resolved::Unknown(_) => ("none".to_string(), String::new()),
        };
        if found != expected {
            wrong.push(format!("{name}: {found:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), rows.len());
}

#[test]
fn common_names_find_their_page() {
    let site = site();
    for (name, slug) in [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
        ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b-instruct"),
        ("llama-3.1-8b", "llama-3.1-8b-instruct"),
        ("Llama 3.1 8B", "llama-3.1-8b-instruct"),
        ("llama3.1:8b", "llama-3.1-8b-instruct"),
        ("mistral-7b", "mistral-7b-instruct-v0.3"),
        ("qwen3:4b", "qwen3-4b"),
        ("gemma3:12b", "gemma-3-12b-it"),
        ("phi4", "phi-4"),
        ("deepseek-r1", "deepseek-r1"),
        ("deepseek-r1:8b", "deepseek-r1-0528-qwen3-8b"),
        ("hermes3:8b", "hermes-3-llama-3.1-8b"),
        ("Command R+", "c4ai-command-r-plus"),
        ("gpt-oss:20b", "gpt-oss-20b"),
    ] {
        assert_eq!(find(&site, Kind::Model, name).as_deref(), Ok(slug), "{name}");
    }
    for (name, slug) in [
        ("RTX 4070", "geforce-rtx-4070"),
        ("4090", "geforce-rtx-4090"),
        ("4090 laptop", "geforce-rtx-4090-mobile"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "geforce-rtx-4090-mobile"),
        ("rtx3060-12gb", "geforce-rtx-3060-12-gb"),
        ("dgx spark", "gb10"),
        ("RX 7900 XTX", "radeon-rx-7900-xtx"),
        ("strix halo", "ryzen-ai-max-395"),
        ("macbook pro m4 pro", "apple-m4-pro"),
        ("T4", "tesla-t4"),
        ("RTX PRO 6000", "rtx-pro-6000-blackwell"),
    ] {
        assert_eq!(find(&site, Kind::Hardware, name).as_deref(), Ok(slug), "{name}");
    }
}

#[test]
fn an_ambiguous_name_lists_its_pages() {
    let site = site();
    for (kind, name, slugs) in [
        (Kind::Hardware, "macbook m3 max", ["apple-m3-max-14-core-cpu", "apple-m3-max-16-core-cpu"]),
        (Kind::Hardware, "rtx 3060", ["geforce-rtx-3060-12-gb", "geforce-rtx-3060-8-gb"]),
        (Kind::Hardware, "RTX 6000", ["quadro-rtx-6000", "rtx-6000-ada-generation"]),
        (Kind::Model, "mistral-small", ["mistral-small-24b-instruct-2501", "mistral-small-instruct-2409"]),
        (Kind::Model, "gpt-oss", ["gpt-oss-120b", "gpt-oss-20b"]),
    ] {
        let [first, second] = slugs;
        let expected = format!("ambiguous name `{name}`; it could be `{first}` or `{second}`");
        assert_eq!(find(&site, kind, name), Err(expected));
    }
}

#[test]
fn every_page_is_found_by_its_own_names() {
    let site = site();
    let (models, devices) = (Names::new(&site, Kind::Model), Names::new(&site, Kind::Hardware));
    let slug_of =
        |names: &Names, name: &str| names.resolve(name).only(Kind::Model, name).map(|page| page.slug);
    for page in &site.models {
        let slug = page.head.id.slug.as_str();
        for name in [slug, &page.head.title.value].into_iter().chain(page.data.hf_id.as_deref()) {
            assert_eq!(slug_of(&models, name).as_deref(), Ok(slug), "{name}");
        }
    }
    for page in &site.devices {
        let slug = page.head.id.slug.as_str();
        for name in [slug, &page.head.title.value] {
            assert_eq!(slug_of(&devices, name).as_deref(), Ok(slug), "{name}");
        }
    }
}

#[test]
fn an_unknown_name_is_rejected() {
    let site = site();
    let long = "a-1 ".repeat(100_000);
    for name in ["", "-", "instruct", "8b", "GB", "\u{202e}", long.as_str(), "llama-9.9-8b"] {
        for kind in [Kind::Model, Kind::Hardware] {
            assert!(find(&site, kind, name).is_err(), "{name}");
        }
    }
}
