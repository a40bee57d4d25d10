//! `site.toml`: what a site is called, where it is published, when a page counts as stale; and the texts of its language.

mod language;
mod placeholders;
mod toml;

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Rule};
use crate::files::{Placed, Sources, Span};
use crate::schema::{self, Fields, Integer, MISSING_KEY, Record as _, TextMap, Url, record};
use crate::texts::Texts;

pub use placeholders::placeholders;

/// `site.toml` is not TOML.
pub const BAD_SETTINGS: Rule = Rule {
    code: "bad-settings",
    demands: "site.toml and the files in i18n/ are TOML, its base address ends in a slash, and its contact is an address for mail",
    why: "every address of the published site is made from it",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[
    BAD_SETTINGS,
    language::UNKNOWN_LANGUAGE,
    language::UNKNOWN_TEXT,
    language::MISSING_TEXT,
    language::TEXT_HOLES,
];

/// The newest format of pages; [`load::migrate`](crate::load::migrate) writes it.
pub const FORMAT: i64 = 2;

/// Days after which a verified page counts as stale, where site.toml says nothing.
const STALE_AFTER_DAYS: i64 = 180;

record! {
    /// What `site.toml` may hold.
    #[derive(Debug)]
    pub struct Settings {
        /// Format of the pages, which `kbgen migrate` updates; left out: 1.
        optional format: Option<Placed<i64>> as Integer<1, FORMAT>,
        /// Name of the site.
        required title: Option<String>,
        /// One line below the name.
        optional tagline: String,
        /// One sentence for search engines and feeds.
        optional description: Option<String>,
        /// Where the site is published; ends in a slash.
        required base_url: Option<Placed<String>> as Url,
        /// Language of the pages: `en`, `de`, or one with texts in `i18n/`.
        optional language: Option<Placed<String>>,
        /// Repository with the content; pages link to it for edits.
        optional repository: Option<Placed<String>> as Url,
        /// Address for mail about pages: `kb@example.org`.
        optional contact: Option<Placed<String>>,
        /// Branch that edits go to; left out: `main`.
        optional branch: String = "main".into(),
        /// License of the content.
        optional licence: String = "all rights reserved".into(),
        /// Where the license of the content can be read.
        optional licence_url: Option<String> as Url,
        /// Whether a picture is drawn for each page that may be shared; left out: `true`.
        optional social_images: bool = true,
        /// Days after which a verified page is overdue.
        optional stale_after_days: i64 as Integer<1, 3650> = STALE_AFTER_DAYS,
        /// The same for single categories: `drivers = "90"`.
        optional stale_by_category: Vec<(Placed<String>, Placed<String>)> as TextMap,
        /// Where they all stand.
        apart span: Span = Fields::span,
    }
}

/// The settings of a site.
#[derive(Debug, Clone)]
pub struct Config {
    /// Format of the pages, and where it is set.
    pub format: Placed<i64>,
    /// Name of the site.
    pub title: String,
    /// One line below the name.
    pub tagline: String,
    /// One sentence for search engines and feeds.
    pub description: String,
    /// Where the site is published; ends in a slash.
    pub base_url: String,
    /// Language of the pages.
    pub language: String,
    /// Texts of the interface in that language.
    pub texts: Texts,
    /// Repository with the content.
    pub repository: Option<String>,
    /// Address for mail about pages.
    pub contact: Option<String>,
    /// Branch that edits go to.
    pub branch: String,
    /// License of the content.
    pub licence: String,
    /// Where that license can be read.
    pub licence_url: Option<String>,
    /// Whether a picture is drawn for each page that may be shared.
    pub social_images: bool,
    /// Days after which a verified page is overdue.
    pub stale_after_days: i64,
    /// The same for single categories, by slug.
    pub stale_by_category: BTreeMap<String, i64>,
}

impl Config {
    /// The settings in `site.toml`, and what is wrong with them; unusable values become defaults.
    pub fn read(sources: &Sources) -> (Self, Vec<Diagnostic>) {
        let mut found = Vec::new();
        let Some(file) = sources.find("site.toml") else {
            let unread = sources.find_unread("site.toml").expect("reading a site without site.toml fails");
            return (
                Self::new(Settings::of(&Fields::none(Span::top(unread))), sources, &mut found),
                Vec::new(),
            );
        };
        let node = toml::parse(&sources.get(file).text, file, &mut found);
        let is_cut = !found.is_empty();
        let fields = schema::read(&node, Settings::FIELDS, "site.toml", &mut found);
        found.retain(|finding| !(is_cut && finding.code == MISSING_KEY.code));
        let config = Self::new(Settings::of(&fields), sources, &mut found);
        (config, found)
    }

    /// Replaces the base address, adding the closing slash.
    pub fn set_base_url(&mut self, url: &str) -> anyhow::Result<()> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
        anyhow::ensure!(
            !host.is_empty()
                && !url.contains(|c: char| c.is_whitespace() || matches!(c, '?' | '#' | '"' | '<' | '>')),
            "`{url}` is not a base address: it begins with https:// and has no query or fragment"
        );
        self.base_url = format!("{}/", url.trim_end_matches('/'));
        Ok(())
    }

    /// The path of the base address, with a slash at both ends.
    pub fn base_path(&self) -> &str {
        let after_scheme = self.base_url.find("://").map_or(0, |at| at + 3);
        self.base_url[after_scheme..].find('/').map_or("/", |at| &self.base_url[after_scheme + at..])
    }

    /// Days after which an error of a category is overdue.
    pub fn stale_after(&self, category: Option<&str>) -> i64 {
        category
            .and_then(|category| self.stale_by_category.get(category))
            .copied()
            .unwrap_or(self.stale_after_days)
    }

    fn new(written: Settings, sources: &Sources, found: &mut Vec<Diagnostic>) -> Self {
        let title = written.title.unwrap_or_else(|| "Untitled".into());
        let base_url =
            written.base_url.unwrap_or_else(|| Placed::new("http://127.0.0.1:1111/".into(), written.span));
        if !base_url.value.ends_with('/') {
            found.push(
                Diagnostic::error(&BAD_SETTINGS, base_url.span, "`base_url` does not end in a slash")
                    .help(format!("write `base_url = \"{}/\"`", base_url.value)),
            );
        }
        if ["/./", "/../"].iter().any(|step| base_url.value.contains(step)) {
            found.push(
                Diagnostic::error(
                    &BAD_SETTINGS,
                    base_url.span,
                    "`base_url` goes up or stays in its own path",
                )
                .help("write the path as it is at the end: `https://example.org/kb/`"),
            );
        }
        let language = written.language.unwrap_or_else(|| Placed::new("en".into(), written.span));
        let mut stale_by_category = BTreeMap::new();
        for (category, days) in written.stale_by_category {
            match days.value.parse::<i64>() {
                Ok(number) if (1..=3650).contains(&number) => {
                    stale_by_category.insert(category.value, number);
                }
                _ => found.push(
                    Diagnostic::error(
                        &BAD_SETTINGS,
                        days.span,
                        format!("`{}` is not a number of days", days.value),
                    )
                    .help("between 1 and 3650"),
                ),
            }
        }
        Self {
            format: written.format.unwrap_or_else(|| Placed::new(1, Span::top(written.span.source))),
            tagline: written.tagline,
            description: written.description.unwrap_or_else(|| title.clone()),
            title,
            base_url: base_url.value,
            texts: language::texts(&language, sources, found),
            language: language.value,
            repository: written.repository.map(|url| url.value.trim_end_matches('/').to_string()),
            contact: written.contact.and_then(|contact| mail_address(contact, found)),
            branch: written.branch,
            licence: written.licence,
            licence_url: written.licence_url,
            social_images: written.social_images,
            stale_after_days: written.stale_after_days,
            stale_by_category,
        }
    }
}

/// An address for mail that a link can hold as it is; anything else is reported.
fn mail_address(contact: Placed<String>, found: &mut Vec<Diagnostic>) -> Option<String> {
    let part = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'))
    };
    if contact.value.split_once('@').is_some_and(|(name, host)| part(name) && part(host)) {
        return Some(contact.value);
    }
    let message = format!("`{}` is no address for mail", contact.value);
    found.push(
        Diagnostic::error(&BAD_SETTINGS, contact.span, message)
            .help("write `contact = \"name@example.org\"`, without `mailto:`"),
    );
    None
}
