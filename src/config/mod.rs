//! Reads `site.toml`: name, address and language of a site, and after how many days a page counts as stale.

mod language;
mod placeholders;
mod policy;
mod repository;
mod theme;
mod toml;

use serde::Serialize;

use crate::custom::{
    BAD_DECLARATION, CollectionDeclaration, Declarations, FieldDeclaration, FieldDeclarations, OptionalPage,
    VocabulariesDeclaration, WrittenDeclarations,
};
use crate::diag::{Diagnostic, Rule};
use crate::files::{Sources, Span, Spanned};
use crate::i18n::Translations;
use crate::pack::Pack;
use crate::schema::{
    self, Fields, Integer, List, MISSING_KEY, MapOf, Record as _, Slug, Syntax, TextMap, Url, record, words,
};

pub use placeholders::{is_reserved, placeholders};
pub use repository::{Repository, RepositoryHost};
pub use theme::Theme;

/// `site.toml` is not valid TOML.
pub const BAD_SETTINGS: Rule = Rule {
    code: "bad-settings",
    requirement: "site.toml and the files in i18n/ are valid TOML, `base_url` ends with a slash, and `contact` is a mail address",
    why: "every URL of the published site depends on it",
};

/// All rules of this module.
pub const RULES: &[Rule] = &[
    BAD_SETTINGS,
    BAD_DECLARATION,
    language::UNKNOWN_LANGUAGE,
    language::UNKNOWN_TEXT,
    language::MISSING_TEXT,
    language::TEXT_HOLES,
];

/// Current format of pages; [`load::migrate`](crate::load::migrate) writes it.
pub const FORMAT: i64 = 2;

/// Default number of days after which a verified page counts as stale.
const STALE_AFTER_DAYS: i64 = 180;

words! {
    /// Format of the data files next to pages.
    pub enum Alternate {
        /// The page as JSON: errors, models and devices.
        Json = "json",
        /// The page as Markdown: errors.
        Markdown = "md",
    }
}

record! {
    /// The settings in `site.toml`.
    #[derive(Debug)]
    pub struct Settings {
        /// Format of the pages, which `kbgen migrate` updates; left out: 1.
        optional format: Option<Spanned<i64>> as Integer<1, FORMAT>,
        /// Name of the site.
        required title: Option<String>,
        /// One line below the name.
        optional tagline: String,
        /// One sentence for search engines and feeds.
        optional description: Option<String>,
        /// Address where the site is published; ends in a slash.
        required base_url: Option<Spanned<String>> as Url,
        /// Language of the pages: `en`, `de`, or one with a file in `i18n/`.
        optional language: Option<Spanned<String>>,
        /// Repository of the content; pages link to it for edits.
        optional repository: Option<Spanned<String>> as Url,
        /// Email address for feedback on pages: `kb@example.org`.
        optional contact: Option<Spanned<String>>,
        /// Branch for edits; default: `main`.
        optional branch: String = "main".into(),
        /// Software of the repository's host; default: the one that its address names, otherwise GitHub.
        optional repository_host: Option<RepositoryHost>,
        /// License of the content.
        optional license: Option<String>,
        /// Address of the text of that license.
        optional license_url: Option<String> as Url,
        /// Alias of `license`.
        optional licence: Option<String>,
        /// Alias of `license_url`.
        optional licence_url: Option<String> as Url,
        /// Whether to draw a share picture for each page; default: `true`.
        optional social_images: bool = true,
        /// Formats in which pages are also written: `json` for errors, models and devices, `md` for errors; default: both.
        optional alternates: Vec<Alternate> = vec![Alternate::Json, Alternate::Markdown],
        /// Subjects of the site besides errors.
        optional packs: Vec<Pack>,
        /// Generated pages that the site does not have.
        optional omit: Vec<Spanned<OptionalPage>>,
        /// Sections of the home page, in order; default: all.
        optional home: Option<Vec<Spanned<String>>> as List<Slug>,
        /// Days after which a verified page counts as stale.
        optional stale_after_days: i64 as Integer<1, 3650> = STALE_AFTER_DAYS,
        /// Days by category: `drivers = "90"`.
        optional stale_by_category: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Sources that the Content-Security-Policy allows in addition, by directive: `img-src = "https://img.example"`.
        optional csp: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Response headers of every page, for hosts that read `_headers`.
        optional headers: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Values of custom properties of the theme, and the `logo`: `accent = "#d33682"`.
        optional theme: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Main menu, instead of the built-in one: `"Lints" = "guides/lints/"`.
        optional menu: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Footer menu, instead of the built-in one.
        optional footer: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Collections of pages by folder: a title, and optionally a description and a template.
        optional collections: Vec<(Spanned<String>, CollectionDeclaration)> as MapOf<CollectionDeclaration>,
        /// Fields of the pages in `errors` or in a collection, by folder and key.
        optional fields: Vec<(Spanned<String>, FieldDeclarations)> as MapOf<MapOf<FieldDeclaration>>,
        /// Words for severities and systems of errors and for costs of solutions.
        optional vocabularies: Option<VocabulariesDeclaration>,
        /// Span of the whole file.
        apart span: Span = Fields::span,
    }
}

/// Settings of a site.
#[derive(Debug, Clone, Serialize)]
pub struct Config {
    /// Format of the pages, and where it is set.
    pub format: Spanned<i64>,
    /// Name of the site.
    pub title: String,
    /// One line below the name.
    pub tagline: String,
    /// One sentence for search engines and feeds.
    pub description: String,
    /// Address where the site is published; ends in a slash.
    pub base_url: String,
    /// Language of the pages.
    pub language: String,
    /// Translations of the interface into that language.
    pub texts: Translations,
    /// Repository with the content.
    pub repository: Option<Repository>,
    /// Email address for feedback on pages.
    pub contact: Option<String>,
    /// License of the content.
    pub license: String,
    /// Address of the text of that license.
    pub license_url: Option<String>,
    /// Whether to draw a share picture for each page.
    pub social_images: bool,
    /// Formats in which pages are also written.
    pub alternates: Vec<Alternate>,
    /// Packs, generated pages and sections of the home page.
    pub declared: Declarations,
    /// Days after which a verified page counts as stale.
    pub stale_after_days: i64,
    /// Days by category slug.
    pub stale_by_category: Vec<(Spanned<String>, i64)>,
    /// Content-Security-Policy of every page.
    pub csp: String,
    /// Other response headers of every page: names and values.
    pub headers: Vec<(String, String)>,
    /// Theme settings.
    pub theme: Theme,
    /// Titles and targets of the main menu; empty for the built-in menu.
    pub menu: Vec<(Spanned<String>, Spanned<String>)>,
    /// Titles and targets of the footer menu; empty for the built-in menu.
    pub footer: Vec<(Spanned<String>, Spanned<String>)>,
}

impl Config {
    /// Reads `site.toml`, and returns the settings and all findings; unusable values become defaults.
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
        let fields = schema::read(&node, Settings::FIELDS, "site.toml", Syntax::Toml, &mut found);
        found.retain(|finding| !(is_cut && finding.code == MISSING_KEY.code));
        let mut settings = Settings::of(&fields);
        if is_cut || fields.unread().contains(stringify!(packs)) {
            // Otherwise every link to a page of a pack would be a finding.
            settings.packs = vec![Pack::Llm];
        }
        let config = Self::new(settings, sources, &mut found);
        (config, found)
    }

    /// Replaces the base address, adding the final slash.
    ///
    /// # Errors
    /// If it is not the URL of a folder on a web server.
    pub fn set_base_url(&mut self, url: &str) -> anyhow::Result<()> {
        let folder = format!("{}/", url.trim_end_matches('/'));
        if let Err(fault) = check_base_url(&folder) {
            anyhow::bail!("invalid base URL `{url}`: {fault}");
        }
        self.base_url = folder;
        Ok(())
    }

    /// Returns the path of the base address, with a slash at both ends.
    pub fn base_path(&self) -> &str {
        let after_scheme = self.base_url.find("://").map_or(0, |at| at + 3);
        self.base_url[after_scheme..].find('/').map_or("/", |at| &self.base_url[after_scheme + at..])
    }

    /// Returns the days after which a page of a category counts as stale.
    pub fn stale_after(&self, category: Option<&str>) -> i64 {
        category
            .and_then(|category| self.stale_by_category.iter().find(|(name, _)| name.value == category))
            .map_or(self.stale_after_days, |(_, days)| *days)
    }

    fn new(written: Settings, sources: &Sources, found: &mut Vec<Diagnostic>) -> Self {
        let title = written.title.unwrap_or_else(|| "Untitled".into());
        let base_url =
            written.base_url.unwrap_or_else(|| Spanned::new("http://127.0.0.1:1111/".into(), written.span));
        let folder = format!("{}/", base_url.value.trim_end_matches('/'));
        let address = if base_url.value.ends_with('/') { &base_url.value } else { &folder };
        if let Err(fault) = check_base_url(address) {
            let message = format!("invalid `base_url`: {fault}");
            found.push(
                Diagnostic::error(&BAD_SETTINGS, base_url.span, message)
                    .help("write the URL of the published site: `https://example.org/kb/`"),
            );
        } else if !base_url.value.ends_with('/') {
            found.push(
                Diagnostic::error(&BAD_SETTINGS, base_url.span, "`base_url` does not end with a slash")
                    .help(format!("write `base_url = \"{folder}\"`")),
            );
        }
        let language = written.language.unwrap_or_else(|| Spanned::new("en".into(), written.span));
        let license = written.license.or(written.licence);
        let mut stale_by_category = Vec::new();
        for (category, days) in written.stale_by_category {
            match days.value.parse::<i64>() {
                Ok(number) if (1..=3650).contains(&number) => {
                    stale_by_category.push((category, number));
                }
                _ => found.push(
                    Diagnostic::error(
                        &BAD_SETTINGS,
                        days.span,
                        format!("`{}` is not a number of days", days.value),
                    )
                    .help("use a number from 1 to 3650"),
                ),
            }
        }
        Self {
            format: written.format.unwrap_or_else(|| Spanned::new(1, Span::top(written.span.source))),
            tagline: written.tagline,
            description: written.description.unwrap_or_else(|| title.clone()),
            title,
            base_url: base_url.value,
            texts: language::texts(&language, sources, found),
            language: language.value,
            repository: written
                .repository
                .map(|url| Repository::new(&url.value, written.branch, written.repository_host)),
            contact: written.contact.and_then(|contact| mail_address(contact, found)),
            license: license.unwrap_or_else(|| "all rights reserved".into()),
            license_url: written.license_url.or(written.licence_url),
            social_images: written.social_images,
            alternates: written.alternates,
            declared: Declarations::new(
                WrittenDeclarations {
                    packs: written.packs,
                    omit: written.omit,
                    home: written.home,
                    collections: written.collections,
                    fields: written.fields,
                    vocabularies: written.vocabularies,
                },
                found,
            ),
            stale_after_days: written.stale_after_days,
            stale_by_category,
            csp: policy::policy(written.csp, found),
            headers: policy::headers(written.headers, found),
            theme: Theme::new(written.theme, sources, found),
            menu: written.menu,
            footer: written.footer,
        }
    }
}

/// Checks the URL of a folder that is put before the addresses of pages; the error says how to correct it.
fn check_base_url(url: &str) -> Result<(), String> {
    if !["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err("it must start with https:// or http://".into());
    }
    let parsed = url::Url::parse(url).map_err(|error| error.to_string())?;
    if url.contains(['?', '#']) {
        return Err("it must have no query or fragment".into());
    }
    match parsed.as_str() == url {
        true => Ok(()),
        false => Err(format!("write it as `{parsed}`")),
    }
}

/// Returns an email address that a link can contain as it is; reports anything else.
fn mail_address(contact: Spanned<String>, found: &mut Vec<Diagnostic>) -> Option<String> {
    let part = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+'))
    };
    if contact.value.split_once('@').is_some_and(|(name, host)| part(name) && part(host)) {
        return Some(contact.value);
    }
    let message = format!("`{}` is not a mail address", contact.value);
    found.push(
        Diagnostic::error(&BAD_SETTINGS, contact.span, message)
            .help("write `contact = \"name@example.org\"`, without `mailto:`"),
    );
    None
}
