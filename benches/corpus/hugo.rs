//! The corpus as a site of Hugo: a page with the parts of ours, a list of all pages, one for each category and tool.

use std::path::Path;

use super::article::Article;
use super::blocks::Code;
use super::{Corpus, GUIDE, put};

const BASE: &str = r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ .Title }} | {{ .Site.Title }}</title>
<meta name="description" content="{{ .Summary | plainify | truncate 150 }}"><link rel="canonical" href="{{ .Permalink }}"></head>
<body><header><nav><a href="/">Home</a><a href="/errors/">Errors</a><a href="/categories/">Categories</a><a href="/tools/">Tools</a></nav></header>
<main>{{ block "main" . }}{{ end }}</main>
<footer>{{ .Site.Title }}</footer></body></html>
"##;

const SINGLE: &str = r##"{{ define "main" }}<article><h1>{{ .Title }}</h1>
<p>{{ .Params.severity }} {{ range .Params.tools }}<a href="/tools/{{ . }}/">{{ . }}</a> {{ end }}verified {{ .Params.verified }}</p>
<h2>Is this it?</h2>{{ range .Params.signatures }}<div><code>{{ with .pattern }}{{ . }}{{ end }}{{ range .all }}{{ . }} … {{ end }}</code>{{ range .samples }}<pre>{{ . }}</pre>{{ end }}<a href="{{ .source }}">source</a></div>{{ end }}
<h2>Which cause?</h2><table>{{ range .Params.causes }}<tr><th>{{ .title }}</th><td>{{ .tell | markdownify }}</td><td>{{ range .solutions }}<a href="#{{ . }}">{{ . }}</a> {{ end }}</td></tr>{{ end }}</table>
{{ .TableOfContents }}
{{ .Content }}
<ul>{{ range .Params.related }}{{ with site.GetPage (printf "/errors/%s" .) }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}{{ end }}</ul>
<ul>{{ range .Params.sources }}<li><a href="{{ . }}">{{ . }}</a></li>{{ end }}</ul>
{{ with .PrevInSection }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}{{ with .NextInSection }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}
</article>{{ end }}
"##;

const LIST: &str = r##"{{ define "main" }}<h1>{{ .Title }}</h1><ul>{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a> <span>{{ .Params.severity }}</span><p>{{ .Summary | plainify | truncate 150 }}</p></li>{{ end }}</ul>{{ end }}
"##;

/// Settings and templates of the files for programs that kbgen writes beside the HTML of each page, and of the whole site.
const FILES: [(&str, &str); 8] = [
    (
        "config/_default/outputs.toml",
        "page = [\"html\", \"json\", \"markdown\"]\nhome = [\"html\", \"rss\", \"json\", \"search\", \"llms\"]\n",
    ),
    (
        "config/_default/outputFormats.toml",
        "[markdown]\n  mediaType = \"text/markdown\"\n  isPlainText = true\n[search]\n  mediaType = \"application/json\"\n  baseName = \"search\"\n  isPlainText = true\n[llms]\n  mediaType = \"text/plain\"\n  baseName = \"llms-full\"\n  isPlainText = true\n",
    ),
    (
        "layouts/partials/entry.json",
        r##"{{ return (dict "title" .Title "url" .RelPermalink "description" (.Summary | plainify | truncate 150) "categories" .Params.categories "severity" .Params.severity "tools" .Params.tools "signatures" .Params.signatures "causes" .Params.causes "related" .Params.related "verified" .Params.verified "sources" .Params.sources | jsonify) }}"##,
    ),
    ("layouts/_default/single.json", r##"{{ partial "entry.json" . | safeHTML }}"##),
    (
        "layouts/_default/single.md",
        r##"# {{ .Title }}
{{ range .Params.signatures }}{{ range .samples }}
```text
{{ . | safeHTML }}
```
{{ end }}{{ end }}
{{ range .Params.causes }}- **{{ .title | safeHTML }}** {{ .tell | safeHTML }}
{{ end }}
{{ .RawContent | safeHTML }}"##,
    ),
    (
        "layouts/index.json",
        r##"[{{ range $at, $page := .Site.RegularPages }}{{ if $at }},{{ end }}{{ partial "entry.json" . | safeHTML }}{{ end }}]"##,
    ),
    (
        "layouts/index.search.json",
        r##"[{{ range $at, $page := .Site.RegularPages }}{{ if $at }},{{ end }}{{ dict "title" .Title "url" .RelPermalink "text" .Plain | jsonify | safeHTML }}{{ end }}]"##,
    ),
    (
        "layouts/index.llms.txt",
        r##"{{ range .Site.RegularPages }}# {{ .Title }}
{{ .RawContent | safeHTML }}
{{ end }}"##,
    ),
];

/// Entries of a feed, as many as kbgen writes. Without a limit Hugo renders and highlights every body a second time,
/// for the feeds.
pub const FEED_ENTRIES: usize = 60;

pub fn write(corpus: Corpus, all_files: bool, folder: &Path) -> std::io::Result<()> {
    let colored = corpus.code != Code::Plain;
    let settings = format!(
        "baseURL = \"https://kb.example/\"\ntitle = \"Errors\"\ndisableKinds = []\n[services.rss]\n  limit = {FEED_ENTRIES}\n[taxonomies]\n  category = \"categories\"\n  tool = \"tools\"\n[markup.highlight]\n  codeFences = {colored}\n  noClasses = false\n[markup.goldmark.parser.attribute]\n  title = true\n"
    );
    put(folder, "hugo.toml", &settings)?;
    put(folder, "layouts/_default/baseof.html", BASE)?;
    put(folder, "layouts/_default/single.html", SINGLE)?;
    put(folder, "layouts/_default/list.html", LIST)?;
    put(folder, "layouts/index.html", LIST)?;
    put(folder, "content/guides/free-the-card.md", GUIDE)?;
    if all_files {
        FILES.iter().try_for_each(|(path, text)| put(folder, path, text))?;
    }
    for page in 0..corpus.pages {
        let Article { slug, category, front, body, .. } = Article::new(corpus, page);
        let text = format!("---\n{front}categories: [{category}]\n---\n\n{body}");
        put(folder, &format!("content/errors/{slug}.md"), &text)?;
    }
    Ok(())
}
