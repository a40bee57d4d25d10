//! Changes of a site that do not copy the theme: files at its root, headers, policy, tokens, logo, hooks, host of the repository.

use std::sync::Arc;

use jiff::civil::date;
use kbgen::engine::Engine;
use kbgen::files::Outputs;
use kbgen::load::{self, Drafts};
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;
use serde_json::{Value, json};

use crate::case_file::CaseFile;
use crate::expect::{options, repository};

/// Builds the shared site with changes.
fn outputs(changes: &str) -> Outputs {
    let path = repository("tests/cases/shared-site.txt");
    let (sources, faults) = CaseFile { site: changes.to_string(), ..CaseFile::read(&path) }.sources();
    let built = pipeline::build(&sources, faults, &options()).unwrap();
    assert_eq!(built.analysis.findings, []);
    built.outputs.unwrap()
}

fn text(outputs: &Outputs, path: &str) -> String {
    let bytes = outputs.get(path).unwrap_or_else(|| panic!("no output `{path}`"));
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn files_in_the_root_folder_are_copied_unchanged() {
    let outputs =
        outputs("--- static/root/CNAME\nkb.example\n--- static/root/robots.txt\nUser-agent: none\n");
    assert_eq!(text(&outputs, "CNAME"), "kb.example\n");
    assert_eq!(text(&outputs, "robots.txt"), "User-agent: none\n");
    assert!(text(&self::outputs(""), "robots.txt").contains("Sitemap: https://kb.example/sitemap.xml"));
}

#[test]
fn a_site_extends_the_policy_and_the_headers() {
    let outputs = outputs(
        "~~~ site.toml\n base_url = \"https://kb.example/\"\n+[csp]\n+img-src = \"https://img.example\"\n\
         +frame-src = \"https://video.example\"\n+base-uri = \"'self'\"\n+[headers]\n+Referrer-Policy = \"same-origin\"\n",
    );
    let headers = text(&outputs, "_headers");
    let page = text(&outputs, "errors/card-full/index.html");
    for part in
        ["img-src 'self' data: https://img.example;", "frame-src https://video.example", "base-uri 'self';"]
    {
        assert!(headers.contains(part), "{headers}");
        assert!(page.contains(part), "{part}");
    }
    assert!(
        headers.contains("Referrer-Policy: same-origin") && !headers.contains("no-referrer"),
        "{headers}"
    );
    assert!(
        headers.contains("script-src 'self';") && headers.contains("frame-ancestors 'none'"),
        "{headers}"
    );
}

#[test]
fn a_site_has_its_own_menus() {
    let outputs = outputs(
        "~~~ site.toml\n base_url = \"https://kb.example/\"\n+[menu]\n+All = \"errors/\"\n+\"<Full>\" = \
         \"errors/card-full/#check\"\n+[footer]\n+Forum = \"https://forum.example/a?b=1\"\n",
    );
    let page = text(&outputs, "errors/card-full/index.html");
    let menu = page.split("class=\"nav-wide\"").nth(1).unwrap().split("</ul>").next().unwrap();
    assert_eq!(menu.matches("<li>").count(), 2, "{menu}");
    assert!(menu.contains("href=\"../../errors/index.html\" aria-current=\"true\">All</a>"), "{menu}");
    assert!(menu.contains("href=\"../../errors/card-full/index.html#check\""), "{menu}");
    assert!(menu.contains("&lt;Full&gt;"), "{menu}");
    let footer = page.split("<footer").nth(1).unwrap();
    assert!(
        footer.contains("https://forum.example/a?b=1\">Forum</a>") && !footer.contains("feed.xml"),
        "{footer}"
    );
}

#[test]
fn a_site_omits_lists_and_sections_of_the_home_page() {
    let outputs = outputs(
        "~~~ site.toml\n base_url = \"https://kb.example/\"\n+omit = [\"tools\", \"changes\"]\n\
         +home = [\"tools\", \"common\"]\n",
    );
    for (path, _) in outputs.iter().filter(|(path, _)| path.ends_with(".html") || path.ends_with(".xml")) {
        let page = text(&outputs, path);
        for list in ["/tools/index.html\"", "/tools/<", "/changes/"] {
            assert!(!page.contains(list), "{path} links `{list}`");
        }
    }
    assert!(outputs.get("tools/index.html").is_none() && outputs.get("tools/loader/index.html").is_some());
    let home = text(&outputs, "index.html");
    assert!(home.find("Errors by tool").unwrap() < home.find("Common errors").unwrap());
    assert!(!home.contains("Errors by category"));
}

#[test]
fn a_page_is_published_on_its_date() {
    let path = repository("tests/cases/shared-site.txt");
    let changes = "~~~ content/tools/loader.md\n homepage: https://example.org/loader\n+publish_on: 2026-07-01\n\
                   ~~~ content/errors/memory/card-full.md\n severity: fatal\n-tools: [loader]\n+tools: [other]\n\
                   --- content/tools/other.md\n---\ntitle: Other\nhomepage: https://example.org/\n\
                   verified: 2026-06-01\nsources: [\"https://example.org/\"]\n---\nPrints errors.\n";
    let (sources, faults) = CaseFile { site: changes.to_string(), ..CaseFile::read(&path) }.sources();
    let engine = Arc::new(Engine::without_cache().with_values());
    let is_published = |drafts, today| {
        let options = SiteOptions { today, drafts, engine: Arc::clone(&engine), ..options() };
        let built = pipeline::build(&sources, faults.clone(), &options).unwrap();
        assert_eq!(built.analysis.findings, []);
        let outputs = built.outputs.unwrap();
        let is_listed = text(&outputs, "sitemap.xml").contains("/tools/loader/");
        assert_eq!(outputs.get("tools/loader/index.html").is_some(), is_listed);
        is_listed
    };
    let (before, after) = (date(2026, 6, 30), date(2026, 7, 1));
    assert!(is_published(Drafts::Include, before));
    assert!(!is_published(Drafts::Exclude, before));
    assert!(is_published(Drafts::Exclude, after), "the page is read again on another day");
}

#[test]
fn a_site_declares_a_collection_and_fields() {
    let outputs = rust_errors();
    let error = text(&outputs, "errors/e0432-unresolved-import/index.html");
    let fields = error.split("<dl class=\"facts\">").nth(1).unwrap().split("</dl>").next().unwrap();
    assert!(fields.contains("<dt>Error code</dt><dd>E0432</dd>"), "{fields}");
    assert!(fields.contains("<a href=\"../../editions/2018/index.html\">Rust 2018</a>"), "{fields}");
    let data = |path: &str| serde_json::from_str::<Value>(&text(&outputs, path)).unwrap();
    let own = json!({"code": "E0432", "editions": ["2018"]});
    assert_eq!(data("errors/e0432-unresolved-import.json")["fields"], own);
    let keys = &data("schema/error.json")["properties"];
    assert_eq!(
        keys["code"],
        json!({"type": "string", "minLength": 1, "description": "Code of the message: `E0382`."})
    );
    assert_eq!(keys["editions"]["type"], "array");
    assert_eq!(
        data("schema/error-data.json")["properties"]["fields"]["properties"]["code"]["type"],
        "string"
    );
    let entry = text(&outputs, "editions/2018/index.html");
    assert!(entry.contains("<dt>First version</dt><dd>1.31.0</dd>"));
    assert!(entry.contains("<a href=\"../../errors/e0432-unresolved-import/index.html\""), "backlinks");
    assert!(entry.contains("<a href=\"../../editions/index.html\">Editions</a>"), "breadcrumbs");
    let list = text(&outputs, "editions/index.html");
    assert!(list.contains("<a href=\"../editions/2024/index.html\">Rust 2024</a>"));
    assert!(list.contains("<span>First version: 1.85.0</span>"));
    let home = text(&outputs, "index.html");
    assert!(home.contains("<h2>Editions</h2>") && home.contains("href=\"./editions/2015/index.html\""));
    for (path, part) in [
        ("index.html", "href=\"./editions/index.html\">Editions</a>"),
        ("sitemap.xml", "https://rust-errors.example/editions/2024/<"),
        ("sitemap.xml", "https://rust-errors.example/editions/<"),
        ("data/search.js", "editions/2021/"),
        ("llms.txt", "editions/2021/"),
        ("kb.json", "\"fields\":{\"rust\":\"1.56.0\"}"),
        ("schema/entry-editions.json", "\"rust\""),
    ] {
        assert!(text(&outputs, path).contains(part), "{path}: {part}");
    }
}

#[test]
fn a_text_is_included_in_several_pages() {
    let outputs = outputs(
        "--- content/includes/restart.md\n---\ntitle: Restart\n---\n\
         Restart it, as in [the page](../errors/memory/card-full.md#check).\n\n```bash\nloader --restart\n```\n\
         ~~~ content/errors/memory/card-full.md\n Lower the number behind `-ngl`.\n+\n+{{ include(\"restart\") }}\n\
         ~~~ content/tools/loader.md\n-Loads models.\n+{{ include(\"restart\") }}\n",
    );
    for path in ["errors/card-full/index.html", "tools/loader/index.html"] {
        let page = text(&outputs, path);
        assert!(
            page.contains("<p>Restart it, as in <a href=\"../../errors/card-full/index.html#check\">"),
            "{path}"
        );
        assert!(page.contains("--restart") && !page.contains("include("), "{path}");
    }
    assert!(text(&outputs, "errors/card-full.md").contains("Restart it, as in [the page]"));
    assert!(!text(&outputs, "sitemap.xml").contains("restart"), "it has no page");
}

#[test]
fn a_site_has_its_own_words_for_severities_costs_and_systems() {
    let outputs = outputs(
        "~~~ site.toml\n base_url = \"https://kb.example/\"\n+[vocabularies.severities]\n+error = \"Error\"\n\
         +lint = \"Lint\"\n+[vocabularies.costs]\n+none = \"costs nothing\"\n+clones = \"costs a copy\"\n\
         +[vocabularies.systems]\n+freebsd = \"FreeBSD\"\n\
         ~~~ content/errors/memory/card-full.md\n-severity: fatal\n+severity: lint\n+platforms: [freebsd]\n\
         ~~~ content/errors/memory/card-full.md\n   - id: fewer-layers\n-    cost: speed\n+    cost: clones\n",
    );
    let page = text(&outputs, "errors/card-full/index.html");
    for part in ["<span class=\"sev sev-lint\">Lint</span>", "Systems: FreeBSD", ">costs a copy</span>"] {
        assert!(page.contains(part), "{part}");
    }
    let list = text(&outputs, "errors/index.html");
    assert!(
        list.contains("<option value=\"lint\">Lint</option>") && list.contains("data-harm=\"0\""),
        "{list}"
    );
    assert!(
        list.contains("<option value=\"freebsd\">FreeBSD</option>") && !list.contains("Degraded"),
        "{list}"
    );
    for (path, at) in [
        ("schema/error.json", "/properties/severity/oneOf/1/const"),
        ("schema/error-data.json", "/properties/severity/oneOf/1/const"),
        ("schema/kb.json", "/properties/errors/items/properties/severity/oneOf/1/const"),
    ] {
        let schema: Value = serde_json::from_str(&text(&outputs, path)).unwrap();
        assert_eq!(schema.pointer(at), Some(&json!("lint")), "{path}");
    }
    let data: Value = serde_json::from_str(&text(&outputs, "errors/card-full.json")).unwrap();
    assert_eq!((&data["severity"], &data["platforms"]), (&json!("lint"), &json!(["freebsd"])));
}

#[test]
fn a_site_sets_colors_and_a_logo() {
    let outputs = outputs(
        "--- static/own.svg\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n\
         ~~~ site.toml\n base_url = \"https://kb.example/\"\n+[theme]\n+accent = \"#d33682\"\n+logo = \"own.svg\"\n",
    );
    let (style, _) = outputs.iter().find(|(path, _)| path.starts_with("static/site.")).unwrap();
    assert!(text(&outputs, style).ends_with("--accent: #d33682;\n}\n}\n"));
    let page = text(&outputs, "index.html");
    assert!(page.contains("<img class=\"mark\" src=\"./static/own."), "the logo replaces the mark");
}

#[test]
fn hooks_add_to_every_page() {
    let outputs = outputs(
        "--- templates/hooks/head_end.html\n<meta name=\"own\" content=\"{{ page.kind }}\">\n\
         --- templates/hooks/page_end.html\n<p>Ask in the forum.</p>\n\
         --- templates/hooks/footer_end.html\n<p>Imprint</p>\n",
    );
    let page = text(&outputs, "errors/card-full/index.html");
    let order = [
        "<meta name=\"own\" content=\"error\">",
        "</head>",
        "<p>Ask in the forum.</p>",
        "</main>",
        "<p>Imprint</p>",
        "</footer>",
    ];
    let places: Vec<_> =
        order.iter().map(|part| page.find(part).unwrap_or_else(|| panic!("no `{part}`"))).collect();
    assert!(places.is_sorted());
}

#[test]
fn links_for_edits_and_issues_lead_to_the_host_of_the_repository() {
    let page = |settings: &str| {
        let changes = format!("~~~ site.toml\n base_url = \"https://kb.example/\"\n{settings}");
        text(&outputs(&changes), "errors/card-full/index.html")
    };
    let gitlab = page("+repository = \"https://gitlab.com/o/r\"\n");
    assert!(gitlab.contains("https://gitlab.com/o/r/-/edit/main/content/errors/memory/card-full.md"));
    assert!(
        gitlab.contains("https://gitlab.com/o/r/-/issues/new?issue%5Btitle%5D=errors/card-full:%20&amp;")
    );
    let forgejo = page("+repository = \"https://git.kb.example/o/r\"\n+repository_host = \"forgejo\"\n");
    assert!(forgejo.contains("https://git.kb.example/o/r/_edit/main/content/errors/memory/card-full.md"));
}

#[test]
fn code_in_any_language_with_a_grammar_is_highlighted() {
    let outputs = outputs(
        "~~~ content/errors/memory/card-full.md\n Lower the number behind `-ngl`.\n+\n+```ts\n+const layers: number = 20;\n+```\n",
    );
    let page = text(&outputs, "errors/card-full/index.html");
    assert!(page.contains("<span class=\"k\">const</span>"), "TypeScript has a grammar");
}

#[test]
fn without_the_pack_nothing_is_about_language_models() {
    let outputs = outputs("");
    let words = ["model", "gpu", "vram", "llm", "quantization"];
    for (path, _) in outputs.iter().filter(|(path, _)| !path.starts_with("llms")) {
        assert!(!words.iter().any(|word| path.to_lowercase().contains(word)), "{path}");
    }
    for (path, _) in outputs.iter().filter(|(path, _)| path.ends_with(".html") || path.ends_with(".xml")) {
        let page = text(&outputs, path).to_lowercase();
        // The shared site itself names models in two sentences.
        let page = page.replace("the model is larger than the card", "").replace("loads models.", "");
        for word in words {
            let at = page.find(word);
            assert!(at.is_none(), "{path}: …{}…", at.map_or("", |at| &page[at.saturating_sub(60)..at + 40]));
        }
    }
}

/// Builds the example knowledge base about Rust.
fn rust_errors() -> Outputs {
    let (sources, faults) = load::read(&repository("examples/rust-errors")).unwrap();
    let built =
        pipeline::build(&sources, faults, &SiteOptions { today: date(2026, 11, 23), ..options() }).unwrap();
    assert_eq!(built.analysis.findings, []);
    built.outputs.unwrap()
}

#[test]
fn the_example_about_rust_has_no_findings_and_no_page_about_language_models() {
    let outputs = rust_errors();
    let is_page = |path: &str| path.starts_with("errors/") && path.ends_with("/index.html");
    assert!(outputs.iter().filter(|(path, _)| is_page(path)).count() > 90);
    for (path, _) in outputs.iter().filter(|(path, _)| path.ends_with(".html")) {
        let page = text(&outputs, path);
        let words = page.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.map(str::to_lowercase);
        let foreign: Vec<_> = words
            .filter(|word| ["model", "models", "gpu", "gpus", "llm", "vram"].contains(&word.as_str()))
            .collect();
        assert!(foreign.is_empty(), "{path}: {foreign:?}");
    }
}
