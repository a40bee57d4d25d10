//! Declarations of a site in `site.toml`: which pages it has, and fields and collections of its own.

mod collection;
mod fields;
mod vocabularies;

use serde::Serialize;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::pack::Pack;
use crate::schema::{is_slug, words};

pub use collection::{Collection, CollectionDeclaration};
pub use fields::{
    FieldDeclaration, FieldDeclarations, FieldKind, OwnField, OwnItem, OwnValues, named_entries, own_values,
    with_definitions,
};

pub use vocabularies::{Vocabularies, VocabulariesDeclaration, Words, default_word};

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

/// Folder of errors, whose pages can have declared fields.
const ERRORS: &str = "errors";

/// Declarations as written.
#[derive(Debug)]
pub struct WrittenDeclarations {
    /// Enabled packs.
    pub packs: Vec<Pack>,
    /// Omitted pages.
    pub omit: Vec<Spanned<OptionalPage>>,
    /// Sections of the home page.
    pub home: Option<Vec<Spanned<String>>>,
    /// Collections by folder.
    pub collections: Vec<(Spanned<String>, CollectionDeclaration)>,
    /// Fields by folder and key.
    pub fields: Vec<(Spanned<String>, FieldDeclarations)>,
    /// Vocabularies of errors.
    pub vocabularies: Option<VocabulariesDeclaration>,
}

/// Validated declarations.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Declarations {
    /// Enabled packs.
    pub packs: Vec<Pack>,
    /// Generated pages that the site omits.
    pub omitted: Vec<Spanned<OptionalPage>>,
    /// Sections of the home page, in order.
    pub home: Vec<String>,
    /// Collections, in the order of the file.
    pub collections: Vec<Collection>,
    /// Fields of errors.
    pub error_fields: Vec<OwnField>,
    /// Vocabularies of errors.
    pub vocabularies: Vocabularies,
}

impl Declarations {
    /// Checks the declarations; unusable ones are left out.
    pub fn new(written: WrittenDeclarations, found: &mut Vec<Diagnostic>) -> Self {
        let WrittenDeclarations { packs, omit: omitted, home, collections, fields, vocabularies } = written;
        let mut declared = Self { packs, omitted, ..Self::default() };
        declared.vocabularies = vocabularies.map(|own| Vocabularies::new(own, found)).unwrap_or_default();
        for (name, CollectionDeclaration { title, description, template }) in collections {
            if is_slug(&name.value) {
                let fields = Vec::new();
                declared.collections.push(Collection { name, title, description, template, fields });
            } else {
                let message = format!("`{}` is not a name of a folder", name.value);
                found.push(
                    Diagnostic::error(&BAD_DECLARATION, name.span, message)
                        .help("use lowercase letters, digits, hyphens, underscores and dots"),
                );
            }
        }
        for (folder, fields) in fields {
            declared.add_fields(&folder, fields, found);
        }
        let collections = declared.collections.iter().map(|collection| collection.name.value.as_str());
        let sections = HOME_SECTIONS.into_iter().filter(|(_, pack)| declared.has(*pack));
        let known: Vec<&str> = sections.map(|(name, _)| name).chain(collections).collect();
        declared.home = match home {
            None => known.iter().map(ToString::to_string).collect(),
            Some(sections) => {
                let (home, unknown): (Vec<_>, Vec<_>) =
                    sections.into_iter().partition(|section| known.contains(&section.value.as_str()));
                found.extend(unknown.iter().map(|section| unknown_section(section, &known)));
                home.into_iter().map(|section| section.value).collect()
            }
        };
        declared
    }

    /// Adds the fields of the pages in a folder.
    fn add_fields(
        &mut self,
        folder: &Spanned<String>,
        fields: FieldDeclarations,
        found: &mut Vec<Diagnostic>,
    ) {
        let names: Vec<String> = self.collections.iter().map(|own| own.name.value.clone()).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        let fields = fields
            .into_iter()
            .filter_map(|(name, field)| OwnField::new(name, field, &names, found))
            .collect();
        if folder.value == ERRORS {
            self.error_fields = fields;
        } else if let Some(own) = self.collections.iter_mut().find(|own| own.name.value == folder.value) {
            own.fields = fields;
        } else {
            names.push(ERRORS);
            let message = format!("`{}` is neither `{ERRORS}` nor a collection", folder.value);
            found.push(
                Diagnostic::error(&BAD_DECLARATION, folder.span, message)
                    .help(fields::did_you_mean(&folder.value, &names)),
            );
        }
    }

    /// Returns the fields of the pages in a folder.
    pub fn fields(&self, folder: &str) -> &[OwnField] {
        match folder {
            ERRORS => &self.error_fields,
            name => self.collection(name).map(|own| own.fields.as_slice()).unwrap_or_default(),
        }
    }

    /// Returns the collection with a name.
    pub fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.iter().find(|collection| collection.name.value == name)
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
