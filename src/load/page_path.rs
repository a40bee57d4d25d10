//! The kind, slug and folder of a page, from the path of its file.

use crate::custom::{Declarations, OwnField, with_definitions};
use crate::diag::{Diagnostic, nearest};
use crate::facts::Fact;
use crate::files::{Source, SourceId, Span};
use crate::load::rules::{BAD_SLUG, UNKNOWN_FOLDER};
use crate::schema::{self, FieldOf};
use crate::site::Kind;
use crate::site::kinds::{fields, with_vocabularies};

/// A page's file with the data in its path.
pub(super) struct PagePath<'s> {
    pub source: &'s Source,
    pub file: SourceId,
    pub kind: Kind,
    /// Name of the file without its extension.
    pub slug: String,
    /// Category of an error, or collection of an entry.
    pub category: String,
    pub declared: &'s Fact<Declarations>,
}

impl PagePath<'_> {
    /// Returns the declared fields of the page.
    pub fn own_fields(&self) -> &[OwnField] {
        match self.kind {
            Kind::Error => self.declared.fields(Kind::Error.folder()),
            Kind::Entry => self.declared.fields(&self.category),
            _ => &[],
        }
    }

    /// Calls a function with the built-in and declared fields of the page.
    pub fn with_fields<T>(&self, make: impl FnOnce(&[FieldOf<'_>]) -> T) -> T {
        with_definitions(self.own_fields(), |own| match self.kind {
            Kind::Error => {
                with_vocabularies(&self.declared.vocabularies, |built_in| make(&[built_in, own].concat()))
            }
            kind => make(&[fields(kind), own].concat()),
        })
    }
}

/// Returns the page of a file below `content/`, or reports why it is none.
pub(super) fn page_path<'s>(
    source: &'s Source,
    file: SourceId,
    declared: &'s Fact<Declarations>,
    found: &mut Vec<Diagnostic>,
) -> Option<PagePath<'s>> {
    let rest = source.path.strip_prefix("content/").unwrap_or(&source.path);
    let parts: Vec<&str> = rest.split('/').collect();
    let (folder, inner) = (parts[0], &parts[1..]);
    let mut refuse = |message: String, help: String| {
        found.push(Diagnostic::error(&UNKNOWN_FOLDER, Span::top(file), message).help(help));
        None
    };
    let collections = || declared.collections.iter().map(|collection| collection.name.value.as_str());
    let folders = || {
        let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Category);
        kinds.map(|kind| -> &str { kind.folder() }).chain(collections())
    };
    let entry = || collections().any(|name| name == folder).then_some(Kind::Entry);
    let Some(kind) = Kind::of_folder(folder).or_else(entry).filter(|_| !inner.is_empty()) else {
        let help = match nearest(folder, folders()) {
            Some(near) if !inner.is_empty() => format!("did you mean `content/{near}/`?"),
            _ => format!(
                "move it to one of {}",
                folders().map(|f| format!("`content/{f}/`")).collect::<Vec<_>>().join(", ")
            ),
        };
        return refuse("page outside the folders of page kinds".into(), help);
    };
    let name = inner.last().and_then(|name| name.strip_suffix(".md")).unwrap_or_default();
    let category = match kind {
        Kind::Error => inner[0].to_string(),
        Kind::Entry => folder.to_string(),
        _ => String::new(),
    };
    if kind == Kind::Error && inner.len() < 2 {
        return refuse(
            "error page outside a category folder".into(),
            format!("move it to a category folder, such as `content/errors/out-of-memory/{name}.md`"),
        );
    }
    if kind == Kind::Error && name == "_index" && inner.len() == 2 {
        let (kind, slug) = (Kind::Category, category.clone());
        return Some(PagePath { source, file, kind, slug, category, declared });
    }
    Some(PagePath { source, file, kind, slug: name.to_string(), category, declared })
}

/// Returns a finding if a folder name cannot be a category.
pub(super) fn check_category_name(category: &str, file: SourceId) -> Option<Diagnostic> {
    let lower = category.to_lowercase();
    let (message, help) = if !schema::is_slug(&lower) {
        let message = format!("invalid category name `{category}`");
        (
            message,
            "rename the folder using lowercase letters, digits, hyphens, underscores and dots".to_string(),
        )
    } else if lower != category {
        (format!("folder `{category}` has uppercase letters"), format!("rename it to `{lower}`"))
    } else {
        return None;
    };
    Some(Diagnostic::error(&BAD_SLUG, Span::top(file), message).help(help))
}
