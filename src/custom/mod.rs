//! Declarations of a site in `site.toml` that change which pages it has.

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::pack::Pack;
use crate::schema::words;

/// A declaration that contradicts another one or kbgen itself.
pub const BAD_DECLARATION: Rule = Rule {
    code: "bad-declaration",
    requirement: "declarations in site.toml name things that exist and do not contradict each other",
    why: "pages would be missing, or two pages would have one address",
};

words! {
    /// A generated page that a site can omit.
    pub enum OptionalPage {
        /// The list of guides.
        Guides = "guides",
        /// The list of tools.
        Tools = "tools",
        /// The glossary.
        Glossary = "glossary",
        /// The list of recent changes.
        Changes = "changes",
        /// The reported speeds of the pack `llm`.
        Benchmarks = "benchmarks",
    }
}

/// Sections of the home page, in the default order, with the pack that has them.
const HOME_SECTIONS: [(&str, Option<Pack>); 5] =
    [("common", None), ("fit", Some(Pack::Llm)), ("categories", None), ("tools", None), ("guides", None)];

/// Validated declarations.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    /// Enabled packs.
    pub packs: Vec<Pack>,
    /// Generated pages that the site omits.
    pub omitted: Vec<Spanned<OptionalPage>>,
    /// Sections of the home page, in order.
    pub home: Vec<String>,
}

impl Declarations {
    /// Checks the declarations; unusable ones are left out.
    pub fn new(
        packs: Vec<Pack>,
        omitted: Vec<Spanned<OptionalPage>>,
        home: Option<Vec<Spanned<String>>>,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let has = |pack: Option<Pack>| pack.is_none_or(|pack| packs.contains(&pack));
        let known: Vec<&str> =
            HOME_SECTIONS.into_iter().filter(|(_, pack)| has(*pack)).map(|(name, _)| name).collect();
        let home = match home {
            None => known.iter().map(ToString::to_string).collect(),
            Some(sections) => {
                let (home, unknown): (Vec<_>, Vec<_>) =
                    sections.into_iter().partition(|section| known.contains(&section.value.as_str()));
                found.extend(unknown.iter().map(|section| unknown_section(section, &known)));
                home.into_iter().map(|section| section.value).collect()
            }
        };
        Self { packs, omitted, home }
    }

    /// Returns whether the site enables a pack; that no pack is needed is always true.
    pub fn has(&self, pack: Option<Pack>) -> bool {
        pack.is_none_or(|pack| self.packs.contains(&pack))
    }

    /// Returns whether the site omits the generated page at an address.
    pub fn omits(&self, address: &str) -> bool {
        self.omitted.iter().any(|page| address.strip_suffix('/') == Some(page.value.name()))
    }
}

fn unknown_section(section: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let help = match nearest(&section.value, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", known.join(", ")),
    };
    let message = format!("the home page has no section `{}`", section.value);
    Diagnostic::error(&BAD_DECLARATION, section.span, message).help(help)
}
