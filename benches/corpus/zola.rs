//! The corpus as a site of Zola, with the same parts and lists as the site of Hugo.

use std::path::Path;

use super::article::Article;
use super::blocks::Code;
use super::hugo::FEED_ENTRIES;
use super::{Corpus, GUIDE, put};

const BASE: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{% block title %}{% endblock %} | {{ config.title }}</title>
{% block head %}{% endblock %}</head>
<body><header><nav><a href="/">Home</a><a href="/errors/">Errors</a><a href="/categories/">Categories</a><a href="/tools/">Tools</a></nav></header>
<main>{% block main %}{% endblock %}</main>
<footer>{{ config.title }}</footer></body></html>
"##;

const PAGE: &str = r##"{% extends "base.html" %}{% block title %}{{ page.title }}{% endblock %}
{% block head %}<meta name="description" content="{{ page.content | striptags | truncate(length=150) }}"><link rel="canonical" href="{{ page.permalink }}">{% endblock %}
{% block main %}<article><h1>{{ page.title }}</h1>
{% set data = page.extra.data | default(value=false) %}{% if data %}
<p>{{ data.severity }} {% for tool in data.tools %}<a href="/tools/{{ tool }}/">{{ tool }}</a> {% endfor %}verified {{ data.verified }}</p>
<h2>Is this it?</h2>{% for signature in data.signatures %}<div><code>{{ signature.pattern | default(value="") }}{% if signature.all %}{% for part in signature.all %}{{ part }} … {% endfor %}{% endif %}</code>{% for sample in signature.samples %}<pre>{{ sample }}</pre>{% endfor %}<a href="{{ signature.source }}">source</a></div>{% endfor %}
<h2>Which cause?</h2><table>{% for cause in data.causes %}<tr><th>{{ cause.title }}</th><td>{{ cause.tell | markdown(inline=true) | safe }}</td><td>{% for id in cause.solutions %}<a href="#{{ id }}">{{ id }}</a> {% endfor %}</td></tr>{% endfor %}</table>{% endif %}
<nav>{% for heading in page.toc %}<a href="{{ heading.permalink }}">{{ heading.title }}</a>{% for below in heading.children %}<a href="{{ below.permalink }}">{{ below.title }}</a>{% endfor %}{% endfor %}</nav>
{{ page.content | safe }}
{% if data %}<ul>{% for slug in data.related | default(value=[]) %}{% set other = get_page(path="errors/" ~ slug ~ ".md") %}<li><a href="{{ other.path }}">{{ other.title }}</a></li>{% endfor %}</ul>
<ul>{% for source in data.sources %}<li><a href="{{ source }}">{{ source }}</a></li>{% endfor %}</ul>{% endif %}
{% if page.lower %}<a href="{{ page.lower.path }}">{{ page.lower.title }}</a>{% endif %}{% if page.higher %}<a href="{{ page.higher.path }}">{{ page.higher.title }}</a>{% endif %}
</article>{% endblock %}
"##;

const ROWS: &str = r##"<ul>{% for page in pages %}<li><a href="{{ page.path }}">{{ page.title }}</a> <p>{{ page.content | striptags | truncate(length=150) }}</p></li>{% endfor %}</ul>"##;

/// Front matter of the sections and the settings of a list.
const SECTION: &str = "---\ntitle: Errors\nsort_by: title\n---\n";

pub fn write(corpus: Corpus, folder: &Path) -> std::io::Result<()> {
    let highlighting = match corpus.code {
        Code::Plain => "",
        Code::Repeated | Code::Distinct => {
            "[markdown.highlighting]\nstyle = \"class\"\ntheme = \"github-light\"\n"
        }
    };
    let settings = format!(
        "base_url = \"https://kb.example\"\ntitle = \"Errors\"\ngenerate_feeds = true\nfeed_limit = {FEED_ENTRIES}\n\
         taxonomies = [{{ name = \"categories\" }}, {{ name = \"tools\" }}]\n{highlighting}"
    );
    put(folder, "config.toml", &settings)?;
    put(folder, "templates/base.html", BASE)?;
    put(folder, "templates/page.html", PAGE)?;
    let list = |title: &str, pages: &str| {
        format!(
            "{{% extends \"base.html\" %}}{{% block title %}}{title}{{% endblock %}}{{% block main %}}<h1>{title}</h1>\
             {{% set pages = {pages} %}}{ROWS}{{% endblock %}}"
        )
    };
    put(folder, "templates/section.html", &list("{{ section.title }}", "section.pages"))?;
    put(folder, "templates/index.html", &list("{{ section.title }}", "section.pages"))?;
    put(folder, "templates/taxonomy_single.html", &list("{{ term.name }}", "term.pages"))?;
    put(
        folder,
        "templates/taxonomy_list.html",
        "{% extends \"base.html\" %}{% block main %}<ul>{% for term in terms %}<li><a href=\"{{ term.path }}\">{{ term.name }}</a></li>{% endfor %}</ul>{% endblock %}",
    )?;
    put(folder, "content/_index.md", SECTION)?;
    put(folder, "content/errors/_index.md", SECTION)?;
    put(folder, "content/guides/free-the-card.md", GUIDE)?;
    for page in 0..corpus.pages {
        let Article { slug, category, tools, title, front, body } = Article::new(corpus, page);
        let data: String = front.lines().map(|line| format!("    {line}\n")).collect();
        let text = format!(
            "---\ntitle: \"{title}\"\ntaxonomies:\n  categories: [{category}]\n  tools: [{tools}]\nextra:\n  data:\n{data}---\n\n{body}"
        );
        put(folder, &format!("content/errors/{slug}.md"), &text)?;
    }
    Ok(())
}
