//! The map of the errors: of few it shows each, of very many their categories.

use std::fs;

use kbgen::load;
use kbgen::pipeline;
use tempfile::TempDir;

use crate::expect::order;
use crate::html::{Tag, tags};

/// The map of a site with so many errors in each of two categories; each names the one after it, the last of them none.
fn map(each: usize) -> Vec<Tag> {
    let root = TempDir::new().unwrap();
    let write = |path: String, text: String| {
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("site.toml".into(), "title = \"Many\"\nbase_url = \"https://kb.example/\"\n".into());
    write(
        "content/tools/loader.md".into(),
        "---\ntitle: Loader\nhomepage: https://example.org/\nverified: 2026-06-12\nsources: [\"https://example.org/\"]\n---\nA loader.\n".into(),
    );
    for number in 0..2 * each {
        let (category, next) = (["first", "second"][number / each], number + 1);
        let related = if next < 2 * each { format!("e{next}") } else { String::new() };
        write(
            format!("content/errors/{category}/e{number}.md"),
            format!(
                "---\ntitle: Symptom {number}\nkind: symptom\nseverity: fatal\ntools: [loader]\n\
                 causes: [{{id: one, title: One, tell: It is, solutions: [wait]}}]\n\
                 solutions: [{{id: wait, title: Wait, cost: none}}]\nrelated: [{related}]\nverified: 2026-06-12\n\
                 sources: [\"https://example.org/{number}\"]\n---\nNothing happens.\n\n## Wait {{#wait}}\n\nWait.\n\n\
                 ## Check that it worked\n\nLook.\n"
            ),
        );
    }
    let (sources, faults) = load::read(root.path()).unwrap();
    let built = pipeline::build(&sources, faults, &order()).unwrap();
    let outputs = built.outputs.unwrap_or_else(|| panic!("{:?}", built.draft.found));
    tags(str::from_utf8(outputs.get("errors/map/index.html").unwrap()).unwrap())
}

fn named<'t>(tags: &'t [Tag], name: &str) -> Vec<&'t Tag> {
    tags.iter().filter(|tag| tag.name == name).collect()
}

#[test]
fn few_errors_are_shown_one_by_one() {
    let few = map(2);
    let summaries: Vec<&str> = named(&few, "summary").iter().filter_map(|tag| tag.get("id")).collect();
    assert_eq!(summaries, ["at-e0", "at-e1", "at-e2", "at-e3"]);
    assert_eq!(named(&few, "a").iter().filter(|tag| tag.get("transform").is_some()).count(), 4);
    let curves: Vec<&str> = named(&few, "path")
        .iter()
        .filter_map(|tag| tag.get("class"))
        .filter(|class| class.contains(" p"))
        .collect();
    assert_eq!(curves, ["p0 p1", "p1 p2", "p2 p3"]);
}

#[test]
fn too_many_errors_are_shown_by_their_categories() {
    let many = map(201);
    let summaries: Vec<&str> = named(&many, "summary").iter().filter_map(|tag| tag.get("id")).collect();
    assert_eq!(summaries, ["at-first", "at-second"]);
    let curves: Vec<&Tag> = many.iter().filter(|tag| tag.is("class", "p0 p1")).collect();
    assert_eq!(curves.len(), 1);
}
