//! Declarations in `site.toml` that contradict kbgen or the pages of the site.

use crate::check::CheckContext;
use crate::custom::{BAD_DECLARATION, Collection, Declarations, OptionalPage, OwnField};
use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, Spanned};
use crate::site::kinds::fields;
use crate::site::{Kind, PageId, is_device, is_file_name, is_root_name};

pub(super) const RULE: Rule = BAD_DECLARATION;

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let Some(declared) = &context.site.declared else { return Vec::new() };
    let mut found: Vec<Diagnostic> = glossary(context, declared).into_iter().collect();
    found.extend(declared.error_fields.iter().filter_map(|field| built_in_key(Kind::Error, field)));
    for collection in &declared.collections {
        found.extend(taken_name(context, &collection.name));
        found.extend(missing_template(context, collection));
        found.extend(collection.fields.iter().filter_map(|field| built_in_key(Kind::Entry, field)));
    }
    found
}

/// Reports an omitted glossary that has terms, since they have no other page.
fn glossary(context: &CheckContext<'_>, declared: &Declarations) -> Option<Diagnostic> {
    let page = declared.omitted.iter().find(|page| page.value == OptionalPage::Glossary)?;
    let term = context.site.terms.first()?;
    Some(
        Diagnostic::error(&RULE, page.span, "`glossary` is omitted, but the site has terms")
            .related(term.head.front, "first term")
            .help("remove `glossary` from `omit`, or remove the files in `content/glossary/`"),
    )
}

/// Reports a field with the key of a built-in one.
fn built_in_key(kind: Kind, field: &OwnField) -> Option<Diagnostic> {
    let name = &field.name;
    fields(kind).iter().find(|built_in| built_in.name == name.value)?;
    let message = format!("{} already has a key `{}`", kind.with_article(), name.value);
    Some(Diagnostic::error(&RULE, name.span, message).help("choose another key"))
}

/// Reports a collection whose address belongs to kbgen or to another page.
fn taken_name(context: &CheckContext<'_>, name: &Spanned<String>) -> Option<Diagnostic> {
    let message = format!("the name `{}` is taken", name.value);
    let finding = Diagnostic::error(&RULE, name.span, message);
    if is_root_name(&name.value) || is_device(&name.value) || is_file_name(&name.value) {
        return Some(finding.help("choose a name that kbgen and file systems do not use"));
    }
    let page = context.site.head(&PageId::new(Kind::Document, name.value.as_str()));
    if let Some(page) = page {
        return Some(
            finding.related(Span::top(page.source), "page with this name").help("rename one of the two"),
        );
    }
    let folder = format!("static/root/{}/", name.value);
    context.sources.assets_under(&folder).next()?;
    Some(finding.help(format!("rename the collection or the folder `{folder}`")))
}

fn missing_template(context: &CheckContext<'_>, collection: &Collection) -> Option<Diagnostic> {
    let template = collection.template.as_ref()?;
    let path = format!("templates/{}", template.value);
    if context.sources.find(&path).is_some() {
        return None;
    }
    let message = format!("no file `{path}`");
    Some(Diagnostic::error(&RULE, template.span, message).help("add the template, or remove the key"))
}
