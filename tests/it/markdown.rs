//! Markdown: outline, errors, HTML, hostile text.

use kbgen::markdown::{
    Call, CallValue, Picture, RenderHooks, inline, outline, outline_inline, plain, plain_inline, render,
};

mod hostile;

/// Render hooks of a page in a folder.
pub struct TestHooks;

impl RenderHooks for TestHooks {
    fn href(&self, destination: &str) -> String {
        destination.strip_prefix('/').map_or(destination.to_string(), |path| format!("../{path}"))
    }

    fn picture(&self, destination: &str) -> Picture {
        Picture { source: self.href(destination), size: Some((640, 480)) }
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        call.source.starts_with("fit(").then(|| CallValue {
            text: "4.00 GiB".to_string(),
            value: "4294967296".to_string(),
            title: format!("of \"{}\"", call.source),
        })
    }

    fn tool_name(&self, slug: &str) -> String {
        if slug == "ollama" { "Ollama".to_string() } else { slug.to_string() }
    }
}

/// Returns the errors as `text: message`.
fn faults(text: &str) -> Vec<String> {
    let name =
        |fault: kbgen::markdown::MarkdownError| format!("{}: {}", &text[fault.range], fault.kind.message());
    outline(text).errors.into_iter().map(name).collect()
}

fn html(text: &str) -> String {
    render(text, &TestHooks).html()
}

const FIGURE: &str = "<data class=\"figure\" value=\"4294967296\" title=\"of &quot;fit(&quot;a_b&quot;, \
                      &quot;Q4_K_M&quot;).kv&quot;\">4.00 GiB</data>";

#[test]
fn an_outline_places_headings_links_and_calls() {
    let text = "Needs *much* {{ fit(\"a_b\", \"Q4_K_M\").kv }} of `VRAM`.\n\n\
                ## Try *this* {#try-it}\n\n[a](/b \"t\") and ![c](d.png)\n\n### Then {{ fit(x) }}\n\n[e][f] <g@h.org>\n\n[f]: https://h.org\n";
    let outline = outline(text);
    assert_eq!(outline.errors, []);
    assert_eq!(outline.lead, "Needs much {{ fit(\"a_b\", \"Q4_K_M\").kv }} of VRAM.");
    let headings: Vec<_> = outline
        .headings
        .iter()
        .map(|heading| {
            (heading.level, heading.id.as_str(), heading.title.as_str(), &text[heading.range.clone()])
        })
        .collect();
    assert_eq!(
        headings,
        [
            (2, "try-it", "Try this", "## Try *this* {#try-it}"),
            (3, "then--fitx-", "Then {{ fit(x) }}", "### Then {{ fit(x) }}")
        ]
    );
    let links: Vec<_> = outline
        .links
        .iter()
        .map(|link| (link.destination.as_str(), &text[link.range.clone()], link.image))
        .collect();
    assert_eq!(
        links,
        [
            ("/b", "/b", false),
            ("d.png", "d.png", true),
            ("https://h.org", "https://h.org", false),
            ("mailto:g@h.org", "g@h.org", false)
        ]
    );
    let calls: Vec<_> =
        outline.calls.iter().map(|call| (&text[call.inner_range.clone()], call.source.as_str())).collect();
    assert_eq!(calls, [("fit(\"a_b\", \"Q4_K_M\").kv", "fit(\"a_b\", \"Q4_K_M\").kv"), ("fit(x)", "fit(x)")]);
}

#[test]
fn a_text_without_words_has_no_body() {
    assert!(!outline(" \n\n[a]: /b\n").has_body);
    assert!(outline("\n\n- a").has_body);
}

#[test]
fn every_error_is_reported_with_its_location() {
    for (text, expected) in [
        ("a <b>c</b>", vec!["<b>: raw HTML `<b>` is not allowed", "</b>: raw HTML `</b>` is not allowed"]),
        ("<div class=x>\nhi\n</div>\n", vec!["<div class=x>\nhi\n</div>: raw HTML `<div>` is not allowed"]),
        ("a <!-- b --> c", vec!["<!-- b -->: HTML comments are not allowed"]),
        ("[a](javascript:b)", vec!["javascript:b: link with the scheme `javascript`"]),
        ("[a](&#106;avascript:b)", vec!["&#106;avascript:b: link with the scheme `javascript`"]),
        ("<vbscript:b>", vec!["vbscript:b: link with the scheme `vbscript`"]),
        ("![a](data:b)", vec!["data:b: link with the scheme `data`"]),
        ("[a](//b.org)", vec!["//b.org: link without a scheme"]),
        ("[a][c] [b][c]\n\n[c]: data:d", vec!["data:d: link with the scheme `data`"]),
        ("a (https://b_c.org/d_e), f", vec!["https://b_c.org/d_e: bare URL"]),
        ("## a {#b .c onclick=d}", vec!["{#b .c onclick=d}: heading attributes `{#b .c onclick=d}`"]),
        ("## a {#b\"c}", vec!["## a {#b\"c}: invalid heading id `b\"c`"]),
        ("# a", vec!["# a: level-1 heading in a body"]),
        ("a\n===", vec!["a\n===: level-1 heading in a body"]),
        ("### a", vec!["### a: heading of level 3 below a heading of level 1"]),
        ("> ## a", vec!["## a: heading inside a list, a quotation or a footnote"]),
        ("## a {#x}\n## b {#x}", vec!["## b {#x}: duplicate heading id `x`"]),
        ("## a {#main}", vec!["## a {#main}: reserved heading id `main`"]),
        ("```bahs\nx\n```", vec!["bahs: unknown code language `bahs`"]),
        ("> ```bash tol=x\n> y\n> ```", vec!["tol=x: unknown code-block attribute `tol=x`"]),
        ("```bash os=beos\nx\n```", vec!["beos: unknown system `beos`"]),
        ("```bash\nx\n", vec!["```bash: unclosed code block"]),
        ("a {{ b", vec!["{{: unclosed estimator call"]),
        ("a\u{202E}b", vec!["\u{202E}: bidirectional control character U+202E"]),
        ("```bash\na\u{2066}b\n```", vec!["\u{2066}: bidirectional control character U+2066"]),
        ("[a][b]", vec!["[a][b]: no link definition `[b]`"]),
        ("[a][]", vec!["[a]: no link definition `[a]`"]),
        ("a[^b]", vec!["[^b]: no footnote `[^b]`"]),
        ("a\n\n[^b]: c", vec!["[^b]: footnote `[^b]` is never used"]),
        ("a[^b]\n\n[^b]: c\n\n[^b]: d", vec!["[^b]: footnote `[^b]` is defined twice"]),
    ] {
        assert_eq!(faults(text), expected, "{text}");
    }
    let deep = format!("{}a", "> ".repeat(17));
    assert_eq!(faults(&deep), ["> a: text nested more than 16 levels deep"]);
}

#[test]
fn valid_text_has_no_errors() {
    for text in [
        "[WARN] a[0] \\[^b] `[^c]` `<d>` `{{ e }}` 5 < 6",
        "> [!NOTE]\n> a[^1]\n\n[^1]: b",
        "- [ ] a\n- [x] b",
        "~~~text\n<b> {{ c\n~~~",
        "## a {#b}\n\n### c\n\n## d",
        "    <indented>",
        "<https://a.org> [https://b.org](/c) `https://d.org` https:// ",
        "[a](mailto:b@c.org?subject=d:e) [f](#g) [h](/i/#j)",
    ] {
        assert_eq!(faults(text), [""; 0], "{text}");
    }
}

#[test]
fn help_suggests_one_action() {
    let help = |text: &str| outline(text).errors[0].kind.help();
    assert_eq!(help("```pyhton\n```"), "did you mean `python`?");
    assert_eq!(help("```bash titel=\"x\"\n```"), "did you mean `title`?");
    assert_eq!(help("```bash os=mac\n```"), "did you mean `macos`?");
    assert_eq!(help("### a"), "use `##`");
}

#[test]
fn inline_text_is_parsed_as_one_line() {
    let line = "  1. Run `x` with <model>, [see](ftp://y) {{ z ";
    let outline = outline_inline(line);
    let places: Vec<_> = outline.errors.iter().map(|fault| &line[fault.range.clone()]).collect();
    assert_eq!(places, ["<model>", "ftp://y", "{{"]);
    assert_eq!(&line[outline.links[0].range.clone()], "ftp://y");
    assert_eq!(
        inline("# 1 *b* `c` [d](/e) <f>", &TestHooks),
        "# 1 <em>b</em> <code>c</code> <a href=\"../e\">d</a> &lt;f&gt;"
    );
    assert_eq!(inline("- a\n- b", &TestHooks), "- a - b");
    assert_eq!(inline(" {{ fit(\"a_b\", \"Q4_K_M\").kv }}", &TestHooks), FIGURE);
    assert_eq!(inline("", &TestHooks), "");
    assert_eq!(plain_inline("1. *a* `b` [c](/d) <e> {{ fit(x) }}"), "1. a b c <e> …");
}

#[test]
fn plain_text_has_a_line_for_each_block() {
    let text =
        "A *b*\nc {{ fit(x) }}.\n\n## D\n\n- e\n- f\n\n| g | h |\n|---|---|\n| i | j |\n\n```bash\nk\n```\n";
    assert_eq!(plain(text), "A b c ….\nD\ne\nf\ng h\ni j\nk");
}

#[test]
fn a_body_is_cut_at_its_headings() {
    let text = "Lead {{ fit(\"a_b\", \"Q4_K_M\").kv }}.\n\nMore.\n\n## One `x` {#one}\n\nA\n\n### Two & three\n\nB\n\n## {{ fit(y) }}\n\nC\n";
    let rendered = render(text, &TestHooks);
    assert_eq!(rendered.lead_html, format!("<p>Lead {FIGURE}.</p>\n<p>More.</p>\n"));
    assert_eq!(rendered.lead_text, "Lead 4.00 GiB.");
    assert_eq!(rendered.sections[0].title_html, "One <code>x</code>");
    assert_eq!(
        rendered.sections[0].html,
        "<p>A</p>\n<h3 id=\"two--three\">Two &amp; three <a class=\"anchor\" href=\"#two--three\" \
         aria-label=\"Link to this section\">#</a></h3>\n<p>B</p>\n"
    );
    let toc: Vec<_> =
        rendered.toc.iter().map(|entry| (entry.level, entry.id.as_str(), entry.title.as_str())).collect();
    assert_eq!(toc, [(2, "one", "One x"), (3, "two--three", "Two & three"), (2, "-fity-", "4.00 GiB")]);
}

#[test]
fn blocks_have_their_shapes() {
    assert_eq!(
        html("| a | b |\n|---|--:|\n| {{ fit(\"1|2\") }} | d |"),
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table 1\">\n<table>\n<thead>\n\
         <tr><th scope=\"col\">a</th><th scope=\"col\" class=\"right\">b</th></tr>\n</thead>\n<tbody>\n\
         <tr><td><data class=\"figure\" value=\"4294967296\" title=\"of &quot;fit(&quot;1|2&quot;)&quot;\">4.00 GiB\
         </data></td><td class=\"right\">d</td></tr>\n</tbody>\n</table>\n</div>\n"
    );
    assert_eq!(
        html("> [!WARNING]\n> a"),
        "<aside class=\"alert alert-warning\">\n<p class=\"alert-title\">Warning</p>\n<p>a</p>\n</aside>\n"
    );
    assert_eq!(
        html("- [x] a\n- [ ] b\n"),
        "<ul>\n<li class=\"task\"><input type=\"checkbox\" disabled checked aria-label=\"Done\"> a</li>\n\
         <li class=\"task\"><input type=\"checkbox\" disabled aria-label=\"To do\"> b</li>\n</ul>\n"
    );
    assert_eq!(
        html("[a](https://b.org/?c&d) ![e *f*](/g.png \"h\")"),
        "<p><a href=\"https://b.org/?c&amp;d\" rel=\"noopener\">a</a> \
         <img src=\"../g.png\" alt=\"e f\" title=\"h\" width=\"640\" height=\"480\" loading=\"lazy\"></p>\n"
    );
}

#[test]
fn footnotes_lead_there_and_back() {
    assert_eq!(
        html("a[^x] b[^y] c[^x]\n\n[^y]: d\n\n[^x]: e\n"),
        "<p>a<sup class=\"footnote-ref\"><a href=\"#fn-1\" id=\"fnref-1\" aria-label=\"Footnote 1\">1</a></sup> \
         b<sup class=\"footnote-ref\"><a href=\"#fn-2\" id=\"fnref-2\" aria-label=\"Footnote 2\">2</a></sup> \
         c<sup class=\"footnote-ref\"><a href=\"#fn-1\" id=\"fnref-1-2\" aria-label=\"Footnote 1\">1</a></sup></p>\n\
         <section class=\"footnotes\" aria-label=\"Footnotes\">\n<ol>\n\
         <li id=\"fn-1\"><p>e <a class=\"footnote-back\" href=\"#fnref-1\" aria-label=\"Back to the text\">↩</a> \
         <a class=\"footnote-back\" href=\"#fnref-1-2\" aria-label=\"Back to the text\">↩</a></p></li>\n\
         <li id=\"fn-2\"><p>d <a class=\"footnote-back\" href=\"#fnref-2\" aria-label=\"Back to the text\">↩</a></p></li>\n\
         </ol>\n</section>\n"
    );
}

#[test]
fn links_are_not_nested() {
    assert_eq!(html("[a <b@c.org> d](/e)"), "<p><a href=\"../e\">a b@c.org d</a></p>\n");
}

#[test]
fn code_is_labelled_and_coloured() {
    assert_eq!(
        html("```bash tool=ollama os=linux\nollama run \"x\" # <y>\n```"),
        "<div class=\"code\" data-lang=\"bash\" data-label=\"Ollama · Linux\"><pre tabindex=\"0\"><code>\
         <span class=\"f\">ollama</span> run <span class=\"s\">&quot;x&quot;</span> <span class=\"c\"># &lt;y&gt;</span>\n\
         </code></pre></div>\n"
    );
    assert_eq!(
        html("    a {{ fit(x) }} <b>"),
        "<div class=\"code\"><pre tabindex=\"0\"><code>a {{ fit(x) }} &lt;b&gt;</code></pre></div>\n"
    );
    let long = "x = 1\n".repeat(6_000);
    assert!(!html(&format!("```python\n{long}```")).contains("<span"), "plain beyond 32 KiB");
}

#[test]
fn faulty_text_shows_as_text() {
    assert_eq!(html("a <b onclick=c>"), "<p>a &lt;b onclick=c&gt;</p>\n");
    assert_eq!(html("<script>a</script>"), "<p>&lt;script&gt;a&lt;/script&gt;</p>\n");
    assert_eq!(html("[a](javascript:b) ![c](data:d)"), "<p>a c</p>\n");
    assert_eq!(html("> ## a"), "<blockquote>\n<p><strong>a</strong></p>\n</blockquote>\n");
    assert_eq!(html("a {{ nope }}"), "<p>a {{ nope }}</p>\n");
}
