//! Site data on every page: name, menus, number of pages.

use crate::config::Repository;
use crate::files::Spanned;
use crate::i18n::text;
use crate::render::address::href;
use crate::render::templates::html;
use crate::render::views::common::{Counts, MenuItem, SiteView, Step};
use crate::render::views::context::{PageMeta, RenderContext};
use crate::site::{Kind, PageId, format_count, is_web_address};

/// Main menu: title and address.
const MENU: &[(&str, &str)] = &[
    (text("Errors"), "errors/"),
    (text("Diagnose"), "diagnose/"),
    (text("Will it run?"), "will-it-run/"),
    (text("Models"), "models/"),
    (text("Hardware"), "hardware/"),
    (text("Guides"), "guides/"),
];

/// Second part of the main menu, behind a button on wide screens.
const MORE: &[(&str, &str)] = &[
    (text("Compare devices"), "compare/"),
    (text("Choose a GPU"), "choose-gpu/"),
    (text("Models by memory"), "models-by-memory/"),
    (text("Cost vs. cloud"), "cost-vs-cloud/"),
    (text("Benchmarks"), "benchmarks/"),
    (text("Tools"), "tools/"),
    (text("Quantizations"), "quants/"),
    (text("Glossary"), "glossary/"),
];

/// Footer menu.
const FOOTER: &[(&str, &str)] =
    &[(text("Recent changes"), "changes/"), (text("Feed"), "feed.xml"), (text("Data"), "kb.json")];

/// Documents in the footer menu.
const DOCUMENTS: &[(&str, &str)] = &[
    (text("About"), "about/"),
    (text("Methodology"), "methodology/"),
    (text("Editorial policy"), "editorial-policy/"),
    (text("Privacy"), "privacy/"),
    (text("Contact and contributions"), "contribute/"),
];

impl RenderContext<'_> {
    /// Returns the targets of the menus that contain an address. Pages with the same targets and root have the same menus.
    pub fn menu_targets(&self, address: &str) -> String {
        let config = self.inputs.config;
        let own = config.menu.iter().chain(&config.footer).map(|(_, to)| to.value.as_str());
        let lists = [MENU, MORE, FOOTER].into_iter().flatten().map(|(_, to)| *to);
        let above = own.chain(lists).filter(|to| address.starts_with(to));
        let same = DOCUMENTS.iter().map(|(_, to)| *to).filter(|to| address == *to);
        above.chain(same).collect::<Vec<_>>().join(" ")
    }

    /// Returns the template variable `site` for the page at an address with this root.
    pub fn site_view(&self, root: &str, address: &str) -> SiteView {
        let config = self.inputs.config;
        let link = |title: String, to: &str| MenuItem {
            title,
            href: if is_web_address(to) { to.to_string() } else { href(root, to) },
            current: !to.is_empty() && address.starts_with(to),
        };
        let item = |(title, to): &(&'static str, &str)| link(self.tr(title).to_string(), to);
        let own = |menu: &[(Spanned<String>, Spanned<String>)]| -> Vec<MenuItem> {
            menu.iter().map(|(title, to)| link(title.value.clone(), &to.value)).collect()
        };
        let has_page = |slug: &str| self.head(&PageId::new(Kind::Document, slug)).is_some();
        let documents =
            DOCUMENTS.iter().filter(|(_, to)| has_page(to.trim_end_matches('/'))).map(|(title, to)| {
                MenuItem { title: self.tr(title).into(), href: href(root, to), current: address == *to }
            });
        let exists = |(_, to): &&(&str, &str)| self.site().listings().any(|listing| listing.address == *to);
        let (mut nav, mut more, mut footer) = (own(&config.menu), Vec::new(), own(&config.footer));
        if nav.is_empty() {
            nav = MENU.iter().filter(exists).map(item).collect();
            more = MORE.iter().filter(exists).map(item).collect();
            for collection in &config.declared.collections {
                let menu = if nav.len() < MENU.len() { &mut nav } else { &mut more };
                menu.push(link(collection.title.clone(), &collection.address()));
            }
        } else if nav.len() > MENU.len() {
            more = nav.split_off(MENU.len());
        }
        if footer.is_empty() {
            footer = documents
                .chain(FOOTER.iter().filter(|(_, to)| !config.declared.omits(to)).map(item))
                .collect();
        }
        SiteView {
            title: config.title.clone(),
            tagline: config.tagline.clone(),
            description: config.description.clone(),
            language: config.language.clone(),
            issues: config.repository.as_ref().map(Repository::issue_url),
            repository: config.repository.as_ref().map(|repository| repository.url.clone()),
            csp_html: html(config.csp.as_str()),
            logo: config.theme.logo.clone(),
            contact: config.contact.clone(),
            license: config.license.clone(),
            license_url: config.license_url.clone(),
            counts: Counts {
                errors: format_count(self.site().errors.len() as u64),
                models: format_count(self.site().models.len() as u64),
                hardware: format_count(self.site().devices.len() as u64),
                guides: format_count(self.site().guides.len() as u64),
            },
            nav,
            more,
            packs: config.declared.packs.clone(),
            omitted: config.declared.omitted.iter().map(|page| page.value).collect(),
            footer,
        }
    }

    /// Returns the breadcrumbs of a page.
    pub fn breadcrumbs(&self, root: &str, meta: &PageMeta<'_>) -> Vec<Step> {
        if meta.address.is_empty() || meta.kind == "not-found" {
            return Vec::new();
        }
        let home = Step { title: self.tr("Home").into(), href: Some(href(root, "")) };
        let trail =
            meta.trail.iter().map(|(title, to)| Step { title: title.clone(), href: Some(href(root, to)) });
        let here = Step { title: meta.title.to_string(), href: None };
        std::iter::once(home).chain(trail).chain(std::iter::once(here)).collect()
    }
}
