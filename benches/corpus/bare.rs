//! Minimal generator: front matter, Markdown, a template, one file per page.
//!
//! It checks no links, highlights no code, and writes no lists or search index. Full builds are compared with it.

use std::path::Path;
use std::{fs, io};

use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use pulldown_cmark::{Options, Parser, html};
use rayon::prelude::*;
use walkdir::WalkDir;

/// Template with the same parts as the Hugo layout.
const PAGE: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ page.title }}</title></head>
<body><header><nav><a href="/">Home</a><a href="/errors/">Errors</a></nav></header>
<main><article><h1>{{ page.title }}</h1>
<p>{{ page.severity }} {% for tool in page.tools %}<a href="/tools/{{ tool }}/">{{ tool }}</a> {% endfor %}verified {{ page.verified }}</p>
<h2>Is this it?</h2>{% for signature in page.signatures %}<div><code>{{ signature.pattern }}{% for part in signature.all %}{{ part }} … {% endfor %}</code>{% for sample in signature.samples %}<pre>{{ sample }}</pre>{% endfor %}<a href="{{ signature.source }}">source</a></div>{% endfor %}
<h2>Which cause?</h2><table>{% for cause in page.causes %}<tr><th>{{ cause.title }}</th><td>{{ cause.tell }}</td><td>{% for id in cause.solutions %}<a href="#{{ id }}">{{ id }}</a> {% endfor %}</td></tr>{% endfor %}</table>
{{ body|safe }}
<ul>{% for slug in page.related %}<li><a href="/errors/{{ slug }}/">{{ slug }}</a></li>{% endfor %}</ul>
<ul>{% for source in page.sources %}<li><a href="{{ source }}">{{ source }}</a></li>{% endfor %}</ul>
</article></main></body></html>
"##;

/// Builds the pages of the corpus in `from` into `to`.
pub fn build(from: &Path, to: &Path) -> io::Result<()> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment.add_template("page", PAGE).map_err(io::Error::other)?;
    let files: Vec<_> = WalkDir::new(from.join("content/errors"))
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.par_iter().try_for_each(|entry| {
        let text = fs::read_to_string(entry.path())?;
        let rest = text.strip_prefix("---\n").unwrap_or(&text);
        let (front, body) = rest.split_once("\n---\n").unwrap_or(("", rest));
        let page: serde_json::Value = serde_yaml::from_str(front).map_err(io::Error::other)?;
        let mut markup = String::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
        html::push_html(&mut markup, Parser::new_ext(body, options));
        let template = environment.get_template("page").map_err(io::Error::other)?;
        let shown = template
            .render(context! { page => Value::from(Serde(page)), body => markup })
            .map_err(io::Error::other)?;
        let folder = to.join(entry.path().file_stem().unwrap_or_default());
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("index.html"), shown)
    })
}
