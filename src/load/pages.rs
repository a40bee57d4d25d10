//! Parses every file below `content/` to a page of its kind.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;

use crate::custom::{Declarations, own_values};
use crate::diag::Diagnostic;
use crate::engine::{self, Engine};
use crate::facts::{Fact, Fingerprint, Name, map};
use crate::files::{Sources, Span, Spanned};
use crate::load::carried::name_of;
use crate::load::front_matter;
use crate::load::page_path::{PagePath, check_category_name, page_path};
use crate::load::rules::BAD_SLUG;
use crate::load::split::{Certainty, Split, split};
use crate::markdown;
use crate::progress::{BuildProgress, NoProgress, Stage};
use crate::schema::{self, Fields, MISSING_KEY, Record, Syntax, title_of};
use crate::site::kinds::{
    ALIASES, CategoryData, DRAFT, DeviceData, DocumentData, EntryData, ErrorData, ErrorKind, ExtractorData,
    GuideData, IncludeData, MORE_SOURCES, ModelData, PUBLISH_ON, QuantData, ReadingData, TITLE, TermData,
    ToolData, VERIFIED, key,
};
use crate::site::{Body, FrontMatter, Head, Kind, Page, PageId, Site, Unread};

/// Maximum size of a page, in bytes.
pub(super) const MAX_PAGE_BYTES: u64 = 1024 * 1024;

/// Whether drafts are part of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafts {
    /// Drafts are published.
    Include,
    /// Drafts are checked but left out.
    Exclude,
}

/// Parses all pages of a site, and returns all findings. Pages with a date of publication count as published.
pub fn pages(sources: &Sources, drafts: Drafts) -> (Site, Vec<Diagnostic>) {
    pages_declared(sources, drafts, Declarations::default())
}

/// As [`pages`], for a site with declarations.
pub fn pages_declared(sources: &Sources, drafts: Drafts, declared: Declarations) -> (Site, Vec<Diagnostic>) {
    let published = (drafts, &Fact::of("today", Date::MAX));
    let declared = Fact::of("declarations", declared);
    let scope = Scope { published, outlines: true };
    pages_in(sources, scope, &declared, &Engine::without_cache(), &NoProgress)
}

/// As [`pages`], but the outlines of the bodies are empty.
pub fn front_matter_pages(
    sources: &Sources,
    drafts: Drafts,
    declared: Declarations,
) -> (Site, Vec<Diagnostic>) {
    let published = (drafts, &Fact::of("today", Date::MAX));
    let declared = Fact::of("declarations", declared);
    let scope = Scope { published, outlines: false };
    pages_in(sources, scope, &declared, &Engine::without_cache(), &NoProgress)
}

/// As [`pages`]; parses only files whose text has changed.
pub fn pages_with(
    sources: &Sources,
    published: (Drafts, &Fact<Date>),
    declared: &Fact<Declarations>,
    engine: &Engine,
    progress: &dyn BuildProgress,
) -> (Site, Vec<Diagnostic>) {
    pages_in(sources, Scope { published, outlines: true }, declared, engine, progress)
}

/// The pages to parse, and which parts of them.
#[derive(Clone, Copy)]
struct Scope<'d> {
    published: (Drafts, &'d Fact<Date>),
    /// Whether bodies are parsed.
    outlines: bool,
}

fn pages_in(
    sources: &Sources,
    scope: Scope<'_>,
    declared: &Fact<Declarations>,
    engine: &Engine,
    progress: &dyn BuildProgress,
) -> (Site, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut placed = Vec::new();
    let mut folders = BTreeSet::new();
    for (file, source) in sources.under("content/") {
        if !source.path.ends_with(".md") {
            continue;
        }
        let Some(place) = page_path(source, file, declared, &mut found) else { continue };
        if place.kind == Kind::Error && folders.insert(place.category.clone()) {
            found.extend(check_category_name(&place.category, file));
        }
        placed.push(place);
    }
    progress.start_stage(Stage::Parse, placed.len());
    let read = |place: &PagePath<'_>| {
        progress.start_page(&place.source.path);
        // The file id is part of the name, since spans contain it.
        let name = format!("{:?} {}", place.file, place.source.path);
        let drafts = scope.published.0;
        let page = engine.value(&format!("{drafts:?} {name}"), || cached_page(place, &name, scope, engine));
        progress.finish_page(&place.source.path);
        page
    };
    let (mut site, mut read): (Site, _) = (Site::default(), map(&placed, read));
    for page in read.drain(..) {
        let (page, faults) = Arc::unwrap_or_clone(page);
        site.append(page);
        found.extend(faults);
    }
    for (file, source) in sources.unread_under("content/") {
        let place =
            page_path(source, file, declared, &mut Vec::new()).filter(|_| source.path.ends_with(".md"));
        place.iter().for_each(|place| add_unread(&mut site, place));
    }
    add_missing_categories(&mut site);
    site.sort();
    (site, found)
}

/// As [`page`]; caches error pages between runs unless they have findings or are drafts.
fn cached_page(
    place: &PagePath<'_>,
    name: &str,
    scope: Scope<'_>,
    engine: &Engine,
) -> (Site, Vec<Diagnostic>) {
    if place.kind != Kind::Error {
        return page(place, scope);
    }
    let mut other = None;
    let make = || {
        let (mut site, faults) = page(place, scope);
        let is_plain = |head: &Head| !head.draft && faults.is_empty() && head.body.outline.errors.is_empty();
        if site.errors.first().is_some_and(|page| is_plain(&page.head)) {
            return site.errors.pop();
        }
        other = Some((site, faults));
        None
    };
    match engine.query(engine::Kind::Pages, name, make) {
        Some(kept) => {
            let mut site = Site::default();
            site.errors.push(kept);
            (site, Vec::new())
        }
        None => other.unwrap_or_else(|| page(place, scope)),
    }
}

/// Parses the page of one file, unless it is an excluded draft, and returns its findings.
fn page(place: &PagePath<'_>, scope: Scope<'_>) -> (Site, Vec<Diagnostic>) {
    let (drafts, today) = scope.published;
    let PagePath { source, file, .. } = *place;
    let (mut site, mut found) = (Site::default(), Vec::new());
    let lower = place.slug.to_lowercase();
    if !schema::is_slug(&lower) {
        found.push(
            Diagnostic::error(&BAD_SLUG, Span::top(file), format!("invalid page name `{}`", place.slug))
                .help(match name_of(&lower) {
                    name if schema::is_slug(&name) => format!("rename the file to `{name}.md`"),
                    _ => "rename the file using at most 100 lowercase letters, digits, hyphens, underscores and dots".into(),
                }),
        );
    } else if lower != place.slug {
        found.push(
            Diagnostic::error(&BAD_SLUG, Span::top(file), format!("`{}` has uppercase letters", place.slug))
                .help(format!("rename the file to `{lower}.md`")),
        );
    }
    let cut = split(source, file);
    let mut faults = Vec::new();
    let front = front_matter::parse(&source.text[cut.front.start..cut.front.end], cut.front, &mut faults);
    let (fields, names) = place.with_fields(|fields| {
        let read = schema::read(&front.node, fields, place.kind.with_article(), Syntax::Yaml, &mut faults);
        (read, fields.iter().map(|field| field.name.to_string()).collect::<Vec<_>>())
    });
    faults.extend(missing_sources(place.kind, &fields, cut.front));
    let unread = match (cut.certainty, front.cut) {
        (Certainty::Guessed, _) => Unread::Page,
        (Certainty::Known, true) => {
            let given = |name: &String| fields.span_of(name).is_some() && !fields.unread().contains(name);
            Unread::Fields(names.into_iter().filter(|name| !given(name)).collect())
        }
        (Certainty::Known, false) if fields.unread().is_empty() => Unread::Nothing,
        (Certainty::Known, false) => Unread::Fields(fields.unread().clone()),
    };
    found.extend(cut.faults.iter().cloned());
    if cut.certainty == Certainty::Known {
        found.extend(faults.into_iter().filter(|fault| !(front.cut && fault.code == MISSING_KEY.code)));
    }
    // The date is read only if it matters, so that other pages do not depend on it.
    let is_scheduled = PUBLISH_ON.of(&fields).is_some_and(|day| day.value > **today);
    let is_draft = is_scheduled || DRAFT.of(&fields).unwrap_or_default();
    let head = head(
        place,
        &fields,
        front.escaped,
        &cut,
        unread,
        HeadOptions { is_draft, has_outline: scope.outlines },
    );
    if head.draft && drafts == Drafts::Exclude {
        return (site, found);
    }
    add(&mut site, place, &fields, head);
    (site, found)
}

/// Returns the finding on the page of a symptom that has neither sources nor signatures. Other errors need a signature, which
/// has a source.
fn missing_sources(kind: Kind, fields: &Fields, front: Span) -> Option<Diagnostic> {
    let is_missing = |name| fields.value(name).is_none() && !fields.unread().contains(name);
    let names = [MORE_SOURCES.field.name, key!(ErrorData.signatures)];
    let message = "missing key `sources` on an error page without signatures";
    let is_symptom = || {
        let kind = fields.value(key!(ErrorData.kind)).and_then(|kind| kind.value.text());
        kind == Some(ErrorKind::Symptom.name())
    };
    (kind == Kind::Error && is_symptom() && names.into_iter().all(is_missing)).then(|| {
        Diagnostic::error(&MISSING_KEY, front.part(0, 0), message)
            .help("add `sources:` with the URLs that support the page")
    })
}

/// Adds the page of an unreadable file, since others may link to it.
fn add_unread(site: &mut Site, place: &PagePath<'_>) {
    let top = Span::top(place.file);
    let cut = Split { front: top, body: top, faults: Vec::new(), certainty: Certainty::Guessed };
    let fields = Fields::none(top);
    let head = head(
        place,
        &fields,
        Vec::new(),
        &cut,
        Unread::Page,
        HeadOptions { is_draft: false, has_outline: true },
    );
    add(site, place, &fields, head);
}

/// Adds a page to the pages of its kind.
fn add(site: &mut Site, place: &PagePath<'_>, fields: &Fields, head: Head) {
    fn page<T>(place: &PagePath<'_>, fields: &Fields, head: Head, data: T) -> Page<T> {
        // The title is a separate fact: most readers of the data do not use it.
        let text = place.source.text.as_str();
        let title = TITLE.of(fields).map_or(0..0, |title| title.span.start..title.span.end);
        let front = head.front.start..head.front.end;
        let rest =
            [&text[front.start..title.start.max(front.start)], &text[title.end.max(front.start)..front.end]];
        // Titles of solutions are headings.
        let outline = &head.body.outline;
        let headings: String = outline
            .headings
            .iter()
            .filter(|_| place.kind == Kind::Error)
            .map(|heading| format!("{} {}\n", heading.id, heading.title))
            .collect();
        let vocabularies = (place.kind == Kind::Error).then_some(&place.declared.vocabularies);
        let own = (place.own_fields(), vocabularies);
        let says = Fingerprint::of_data(&(&place.source.path, rest, &head.unread, headings, own));
        Page { data: Fact::new(Name::new("data", &place.source.path), says, data), head }
    }
    match place.kind {
        Kind::Error => {
            let mut data =
                ErrorData::new(&place.category, fields, &head.body.outline, &place.declared.vocabularies);
            data.own = own_values(place.own_fields(), fields);
            site.errors.push(page(place, fields, head, data));
        }
        Kind::Category => site.categories.push(page(place, fields, head, CategoryData::of(fields))),
        Kind::Tool => site.tools.push(page(place, fields, head, ToolData::of(fields))),
        Kind::Guide => site.guides.push(page(place, fields, head, GuideData::of(fields))),
        Kind::Model => site.models.push(page(place, fields, head, ModelData::of(fields))),
        Kind::Hardware => site.devices.push(page(place, fields, head, DeviceData::of(fields))),
        Kind::Quant => site.quants.push(page(place, fields, head, QuantData::of(fields))),
        Kind::Term => site.terms.push(page(place, fields, head, TermData::of(fields))),
        Kind::Extractor => site.extractors.push(page(place, fields, head, ExtractorData::of(fields))),
        Kind::Reading => site.readings.push(page(place, fields, head, ReadingData::of(fields))),
        Kind::Document => site.documents.push(page(place, fields, head, DocumentData::of(fields))),
        Kind::Include => site.includes.push(page(place, fields, head, IncludeData::of(fields))),
        Kind::Entry => {
            let own = own_values(place.own_fields(), fields);
            let data = EntryData { own, ..EntryData::of(fields) };
            site.entries.push(page(place, fields, head, data));
        }
    }
}

struct HeadOptions {
    is_draft: bool,
    has_outline: bool,
}

fn head(
    place: &PagePath<'_>,
    fields: &Fields,
    escaped: Vec<Spanned<String>>,
    cut: &Split,
    unread: Unread,
    options: HeadOptions,
) -> Head {
    let PagePath { source, file, .. } = *place;
    let (front, body) = (cut.front, cut.body);
    let front_matter = FrontMatter {
        // Titles are single lines in lists.
        title: TITLE
            .of(fields)
            .map(|title| title.map(|text| on_one_line(&text)))
            .unwrap_or_else(|| Spanned::new(title_of(&place.slug), front)),
        verified: VERIFIED.of(fields),
        aliases: ALIASES.of(fields).unwrap_or_default(),
        aliases_span: fields.span_of(ALIASES.field.name),
        draft: options.is_draft,
        front,
        escaped,
    };
    let text = if options.has_outline { &source.text[body.start..body.end] } else { "" };
    let body = Body { span: body, outline: markdown::outline(text) };
    let slug = place.slug.to_lowercase();
    let id = match place.kind {
        Kind::Entry => PageId::entry(&place.category, &slug),
        kind => PageId::new(kind, slug),
    };
    Head::new(id, file, source.path.clone(), unread, front_matter, (body, text))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds a page for each category without `_index.md`, titled after its folder.
fn add_missing_categories(site: &mut Site) {
    let known: BTreeSet<&str> = site.categories.iter().map(|page| page.head.id.slug.as_str()).collect();
    let mut missing = Vec::new();
    let mut seen = BTreeSet::new();
    // Readable errors come first: a category that only unreadable errors name is not checked.
    let (unread, read): (Vec<_>, Vec<_>) = site.errors.iter().partition(|error| error.head.is_unread());
    for error in read.into_iter().chain(unread) {
        let slug = error.data.category.to_lowercase();
        if !known.contains(slug.as_str()) && seen.insert(slug.clone()) {
            let span = Span::top(error.head.source);
            let front_matter = FrontMatter {
                title: Spanned::new(title_of(&slug), span),
                verified: None,
                aliases: Vec::new(),
                aliases_span: None,
                draft: false,
                front: span,
                escaped: Vec::new(),
            };
            let path = format!("content/errors/{slug}/_index.md");
            let unread = if error.head.is_unread() { Unread::Page } else { Unread::Nothing };
            let body = (Body { span, outline: markdown::outline("") }, "");
            let data =
                Fact::new(Name::new("data", &path), Fingerprint::of([&slug]), CategoryData { order: 9999 });
            let id = PageId::new(Kind::Category, slug);
            missing.push(Page {
                head: Head::new(id, error.head.source, path, unread, front_matter, body),
                data,
            });
        }
    }
    site.categories.extend(missing);
}
