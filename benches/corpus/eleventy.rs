//! The corpus as a site of Eleventy, with the same parts and lists as the site of Hugo, but without a table of contents.

use std::path::Path;

use super::article::Article;
use super::blocks::Code;
use super::hugo::FEED_ENTRIES;
use super::{Corpus, put};

const BASE: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }} | Errors</title>
<meta name="description" content="{{ content | summary }}"><link rel="canonical" href="https://kb.example{{ page.url }}"></head>
<body><header><nav><a href="/">Home</a><a href="/errors/">Errors</a><a href="/categories/">Categories</a><a href="/tools/">Tools</a></nav></header>
<main>{{ content | safe }}</main>
<footer>Errors</footer></body></html>
"##;

const PAGE: &str = r##"---
layout: base.njk
---
<article><h1>{{ title }}</h1>
<p>{{ severity }} {% for tool in tools %}<a href="/tools/{{ tool }}/">{{ tool }}</a> {% endfor %}verified {{ verified }}</p>
<h2>Is this it?</h2>{% for signature in signatures %}<div><code>{{ signature.pattern }}{% for part in signature.all %}{{ part }} … {% endfor %}</code>{% for sample in signature.samples %}<pre>{{ sample }}</pre>{% endfor %}<a href="{{ signature.source }}">source</a></div>{% endfor %}
<h2>Which cause?</h2><table>{% for cause in causes %}<tr><th>{{ cause.title }}</th><td>{{ cause.tell | inline | safe }}</td><td>{% for id in cause.solutions %}<a href="#{{ id }}">{{ id }}</a> {% endfor %}</td></tr>{% endfor %}</table>
{{ content | safe }}
<ul>{% for slug in related %}{% set other = collections.bySlug[0][slug] %}<li><a href="{{ other.url }}">{{ other.data.title }}</a></li>{% endfor %}</ul>
<ul>{% for source in sources %}<li><a href="{{ source }}">{{ source }}</a></li>{% endfor %}</ul>
{% set before = collections.errors | getPreviousCollectionItem %}{% if before %}<a href="{{ before.url }}">{{ before.data.title }}</a>{% endif %}{% set after = collections.errors | getNextCollectionItem %}{% if after %}<a href="{{ after.url }}">{{ after.data.title }}</a>{% endif %}
</article>
"##;

const ROWS: &str = r##"<ul>{% for entry in pages %}<li><a href="{{ entry.url }}">{{ entry.data.title }}</a> <span>{{ entry.data.severity }}</span><p>{{ entry.rawInput | summary }}</p></li>{% endfor %}</ul>
"##;

const FEED: &str = r##"<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Errors</title>
{% for entry in collections.errors | head(FEED_ENTRIES) %}<entry><title>{{ entry.data.title }}</title><link href="https://kb.example{{ entry.url }}"/><content type="html">{{ entry.content }}</content></entry>{% endfor %}</feed>
"##;

const SETTINGS: &str = r##"import markdownIt from "markdown-it";
import attributes from "markdown-it-attrs";
import highlight from "@11ty/eleventy-plugin-syntaxhighlight";

export default function (config) {
  const markdown = markdownIt({ html: true }).use(attributes);
  config.setLibrary("md", markdown);
  if (HIGHLIGHTED) config.addPlugin(highlight);
  config.addFilter("inline", (text) => markdown.renderInline(text));
  config.addFilter("head", (list, count) => list.slice(0, count));
  config.addFilter("summary", (text) => (text || "").replace(/<[^>]+>/g, "").slice(0, 150));
  const errors = (api) => api.getFilteredByGlob("content/errors/*.md");
  const groups = (api, keys) => {
    const lists = new Map();
    for (const page of errors(api)) for (const key of keys(page.data)) lists.set(key, [...(lists.get(key) || []), page]);
    return [...lists].map(([name, pages]) => ({ name, pages }));
  };
  config.addCollection("errors", errors);
  config.addCollection("bySlug", (api) => [Object.fromEntries(errors(api).map((page) => [page.fileSlug, page]))]);
  config.addCollection("categoryLists", (api) => groups(api, (data) => [data.category]));
  config.addCollection("toolLists", (api) => groups(api, (data) => data.tools));
  return { dir: { input: "content", includes: "../templates" }, markdownTemplateEngine: false };
}
"##;

pub fn write(corpus: Corpus, folder: &Path) -> std::io::Result<()> {
    let highlighted = if corpus.code == Code::Plain { "false" } else { "true" };
    put(folder, "eleventy.config.mjs", &SETTINGS.replace("HIGHLIGHTED", highlighted))?;
    put(folder, "templates/base.njk", BASE)?;
    put(folder, "templates/page.njk", PAGE)?;
    let list = |title: &str, address: &str| {
        format!("---\nlayout: base.njk\ntitle: {title}\npermalink: {address}\n---\n")
    };
    let all = format!("<h1>Errors</h1>{{% set pages = collections.errors %}}{ROWS}");
    put(folder, "content/index.njk", &(list("Errors", "/index.html") + &all))?;
    put(folder, "content/errors.njk", &(list("Errors", "/errors/index.html") + &all))?;
    put(
        folder,
        "content/feed.njk",
        &format!(
            "---\npermalink: /feed.xml\n---\n{}",
            FEED.replace("FEED_ENTRIES", &FEED_ENTRIES.to_string())
        ),
    )?;
    for (name, collection) in [("categories", "categoryLists"), ("tools", "toolLists")] {
        put(
            folder,
            &format!("content/{name}.njk"),
            &format!(
                "{}<ul>{{% for group in collections.{collection} %}}<li><a href=\"/{name}/{{{{ group.name }}}}/\">{{{{ group.name }}}}</a></li>{{% endfor %}}</ul>",
                list(name, &format!("/{name}/index.html"))
            ),
        )?;
        put(
            folder,
            &format!("content/{name}-each.njk"),
            &format!(
                "---\nlayout: base.njk\ntitle: {name}\npagination:\n  data: collections.{collection}\n  size: 1\n  alias: group\npermalink: \"/{name}/{{{{ group.name }}}}/index.html\"\n---\n<h1>{{{{ group.name }}}}</h1>{{% set pages = group.pages %}}{ROWS}"
            ),
        )?;
    }
    put(
        folder,
        "content/guides/free-the-card.md",
        "---\nlayout: base.njk\ntitle: Free the card\n---\n\nStop what else holds the card.\n",
    )?;
    for page in 0..corpus.pages {
        let Article { slug, category, front, body, .. } = Article::new(corpus, page);
        let text = format!("---\nlayout: page.njk\ncategory: {category}\n{front}---\n\n{body}");
        put(folder, &format!("content/errors/{slug}.md"), &text)?;
    }
    Ok(())
}
