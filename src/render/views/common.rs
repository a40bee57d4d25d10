//! Views that many pages share: page metadata, links, rows, evidence.

use jiff::civil::Date;
use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::custom::OptionalPage;
use crate::i18n::{Translations, text};
use crate::markdown::TocEntry;
use crate::pack::Pack;
use crate::render::social::Picture;
use crate::site::kinds::Evidence;

/// A link with title and description, for lists.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct Ref<'r> {
    pub title: &'r str,
    pub href: &'r str,
    pub description: &'r str,
}

/// A link with its title.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct Step {
    pub title: String,
    pub href: Option<String>,
}

/// An item of the main menu.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct MenuItem {
    pub title: String,
    pub href: String,
    pub current: bool,
}

/// The template variable `site`.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct SiteView {
    pub title: String,
    pub tagline: String,
    pub description: String,
    pub language: String,
    pub repository: Option<String>,
    /// Form for a new issue, with `{title}` and `{body}` in place of their values.
    pub issues: Option<String>,
    pub contact: Option<String>,
    pub license: String,
    pub license_url: Option<String>,
    pub counts: Counts,
    pub nav: Vec<MenuItem>,
    pub more: Vec<MenuItem>,
    pub footer: Vec<MenuItem>,
    /// Content-Security-Policy of every page; contains no character that HTML escapes in an attribute.
    pub csp_html: Value,
    /// Enabled packs.
    pub packs: Vec<Pack>,
    /// Generated pages that the site omits.
    pub omitted: Vec<OptionalPage>,
    /// Static file of the logo.
    pub logo: Option<String>,
}

/// Numbers of pages by kind, with thousands separators.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct Counts {
    pub errors: String,
    pub models: String,
    pub hardware: String,
    pub guides: String,
}

/// The template variable `page`.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct PageView {
    pub kind: &'static str,
    pub title: String,
    pub description: String,
    pub canonical: String,
    pub root: String,
    pub static_root: String,
    pub home_href: String,
    pub noindex: bool,
    pub picture: Option<Picture>,
    pub breadcrumbs: Vec<Step>,
    pub edit_href: Option<String>,
    pub markdown_href: Option<String>,
    pub json_href: Option<String>,
    pub feed_href: String,
    pub category_feed: Option<Step>,
    pub search_href: String,
    pub json_ld: Value,
    pub toc: Vec<TocEntry>,
    pub previous: Option<Step>,
    pub next: Option<Step>,
}

/// The template variable `build`.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct BuildView {
    pub live: bool,
    pub version: &'static str,
    pub today: String,
}

/// Template variables that all pages have.
#[derive(Debug, Clone)]
pub(in crate::render) struct LayoutContext {
    /// A [`SiteView`], which pages of one shape share.
    pub site: Value,
    /// Identifies pages with the same menus, root and kind.
    pub shape: String,
    pub page: PageView,
    pub build: BuildView,
}

/// When a page was verified, and whether it is due for review.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct VerifiedView {
    pub date: String,
    pub by_date: String,
    pub overdue: bool,
    pub with: Vec<VersionView>,
    /// Programs that accepted the commands of the page.
    pub runs: Vec<RunView>,
}

/// A run of a tool.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct RunView {
    pub name: String,
    pub version: String,
    pub date: String,
}

/// A tool and its version.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct VersionView {
    pub name: String,
    pub version: String,
}

/// A source of a page.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct SourceView {
    pub href: Option<String>,
    pub label: String,
}

/// An error in a list.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct ErrorRow {
    pub category: String,
    pub title: String,
    pub href: String,
    pub description: String,
    pub severity: String,
    pub severity_label: String,
    /// Position among the severities, higher for worse ones.
    pub harm: usize,
    pub kind: &'static str,
    pub tools: Vec<String>,
    pub platforms: Vec<String>,
    pub verified_date: String,
    pub overdue: bool,
    pub signature: Option<String>,
}

/// How a model runs in the memory of a device, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::render) enum CellVerdict {
    /// It fits.
    Fits,
    /// It fits only below the upper ends of the ranges.
    Tight,
    /// A part of it runs on the GPU.
    Part,
    /// It does not run.
    No,
}

impl From<Verdict> for CellVerdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Fits => Self::Fits,
            Verdict::Tight => Self::Tight,
            Verdict::No => Self::No,
        }
    }
}

/// A verdict with the largest context that fits.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct CellView {
    pub quant: String,
    pub verdict: CellVerdict,
    /// The largest context, or the part of the model that runs on the GPU.
    pub note: Option<String>,
}

/// A label with its value.
#[derive(Debug, Clone, Serialize)]
pub(in crate::render) struct Fact {
    pub label: String,
    pub value: String,
    /// Page that reports the value.
    pub source: Option<SourceView>,
}

impl Fact {
    /// Creates a fact if its value is known.
    pub fn known(label: &str, value: Option<impl Into<String>>) -> Option<Self> {
        value.map(|value| Self { label: label.to_string(), value: value.into(), source: None })
    }
}

/// Returns sources, as links where they are addresses.
pub(in crate::render) fn sources(texts: &Translations, evidence: &Evidence) -> Vec<SourceView> {
    evidence.sources.iter().map(|own| source(texts, &own.value)).collect()
}

/// Returns a source as a link if it is an address.
pub(in crate::render) fn source(texts: &Translations, text: &str) -> SourceView {
    if text.starts_with("https://") || text.starts_with("http://") {
        SourceView { href: Some(text.to_string()), label: label(texts, text) }
    } else {
        SourceView { href: None, label: text.to_string() }
    }
}

/// Returns a readable address: `ollama/ollama issue 13556`, `vllm-project/vllm docs/usage/faq.md`, or host and path.
pub(in crate::render) fn label(texts: &Translations, url: &str) -> String {
    let rest = url.trim_start_matches("https://").trim_start_matches("http://");
    let rest = rest.split(['?', '#']).next().unwrap_or(rest).trim_end_matches('/');
    let parts: Vec<&str> = rest.split('/').collect();
    let thread = |words: &str, owner: &str, repo: &str, number: &str| {
        texts.fill(words, &[("repository", &format_args!("{owner}/{repo}")), ("n", &number)])
    };
    match parts[..] {
        ["github.com", owner, repo, "issues", number, ..] => {
            thread(text("{repository} issue {n}"), owner, repo, number)
        }
        ["github.com", owner, repo, "pull", number, ..] => {
            thread(text("{repository} pull request {n}"), owner, repo, number)
        }
        ["github.com", owner, repo, "discussions", number, ..] => {
            thread(text("{repository} discussion {n}"), owner, repo, number)
        }
        ["github.com", owner, repo, "blob" | "tree", _, ref path @ ..] => {
            format!("{owner}/{repo} {}", path.join("/"))
        }
        ["github.com", owner, repo] => format!("{owner}/{repo}"),
        _ => rest.trim_start_matches("www.").to_string(),
    }
}

/// Returns when a page was verified, and whether it is due for review on `today`.
pub(in crate::render) fn verified(
    date: Option<Date>,
    days: i64,
    today: Date,
    evidence: &Evidence,
) -> Option<VerifiedView> {
    let date = date?;
    let by_date = date.saturating_add(jiff::Span::new().days(days));
    Some(VerifiedView {
        date: date.to_string(),
        by_date: by_date.to_string(),
        overdue: by_date < today,
        with: evidence
            .verified_with
            .iter()
            .map(|(name, version)| VersionView { name: name.clone(), version: version.clone() })
            .collect(),
        runs: evidence
            .runs
            .iter()
            .map(|run| RunView {
                name: run.tool.clone(),
                version: run.version.clone(),
                date: run.date.to_string(),
            })
            .collect(),
    })
}

/// Maximum number of characters of a description.
const DESCRIPTION: usize = 158;
/// Minimum number of bytes of whole sentences; fewer say less than the first words of the lead.
const MIN_DESCRIPTION: usize = 25;

/// Returns the first sentences of a lead that fit into a description, or its first words.
pub(in crate::render) fn description(lead: &str) -> String {
    let lead = lead.split_whitespace().collect::<Vec<_>>().join(" ");
    if lead.chars().count() <= DESCRIPTION {
        return lead;
    }
    let cut: String = lead.chars().take(DESCRIPTION).collect();
    let sentence_end = cut
        .rmatch_indices(['.', '!', '?'])
        .map(|(at, _)| at + 1)
        .find(|at| *at > MIN_DESCRIPTION && lead[*at..].starts_with(' '));
    match sentence_end {
        Some(end) => cut[..end].to_string(),
        None => {
            let end = cut.rfind(' ').unwrap_or(cut.len());
            format!("{}…", cut[..end].trim_end_matches([',', ';', ':', '.']))
        }
    }
}

/// Formats a parameter count as `8.03B`.
pub(in crate::render) fn parameters(count: u64) -> String {
    match count {
        0..1_000_000_000 => format!("{:.0}M", count as f64 / 1e6),
        _ => format!("{:.2}B", count as f64 / 1e9),
    }
}

/// Formats a context as `128K` if it is a multiple of 1,024.
pub(in crate::render) fn context_label(tokens: u64) -> String {
    if tokens.is_multiple_of(1024) && tokens > 0 {
        format!("{}K", tokens / 1024)
    } else {
        crate::site::format_count(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_end_with_a_sentence_or_a_word() {
        assert_eq!(description("Short. Text."), "Short. Text.");
        let long = format!(
            "{} The end of it all is here, and more words follow it without end.",
            "A sentence of some words. ".repeat(5)
        );
        assert!(description(&long).ends_with("words."), "{}", description(&long));
        let endless = "word ".repeat(60);
        assert!(description(&endless).ends_with("word…"));
    }

    #[test]
    fn addresses_are_readable() {
        assert_eq!(
            label(&Translations::default(), "https://github.com/ollama/ollama/issues/13556"),
            "ollama/ollama issue 13556"
        );
        assert_eq!(label(&Translations::default(), "https://www.example.org/a/b/?q=1"), "example.org/a/b");
    }
}
