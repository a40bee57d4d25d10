//! Targets of the menus in `site.toml`.

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::site::{DATA_FILES, PageId, Site, is_web_address};

pub(super) const RULE: Rule = Rule {
    code: "broken-menu",
    requirement: "menus in site.toml lead to pages of the site, to its data files or to web addresses",
    why: "the link is on every page",
};

/// Reports every target that the site does not have.
pub fn run(site: &Site, menu: &[(Spanned<String>, Spanned<String>)]) -> Vec<Diagnostic> {
    menu.iter().filter_map(|(_, target)| finding(site, target)).collect()
}

fn finding(site: &Site, target: &Spanned<String>) -> Option<Diagnostic> {
    let address = target.value.split('#').next().unwrap_or_default();
    let is_page = || {
        let id = PageId::of_address(address).filter(|id| id.address() == address)?;
        site.head(&id)
    };
    if is_web_address(&target.value)
        || DATA_FILES.contains(&address)
        || site.has_list(address)
        || is_page().is_some()
    {
        return None;
    }
    let pages: Vec<String> =
        site.list_addresses().chain(site.heads().map(|head| head.id.address())).collect();
    let help = match nearest(target.value.trim_start_matches('/'), pages.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "write the address of a page without the first slash, such as `guides/` or `errors/SLUG/`, or an \
                 `https://` address"
                .to_string()
        }
    };
    let message = format!("no page `{}`", target.value);
    Some(Diagnostic::error(&RULE, target.span, message).help(help))
}
