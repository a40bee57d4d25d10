//! Every file under `content/` becomes a page of its kind.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::diag::{Diagnostic, nearest};
use crate::files::{Key, Placed, Source, SourceId, Sources, Span};
use crate::load::front_matter;
use crate::load::rules::{BAD_SLUG, UNKNOWN_FOLDER};
use crate::load::split::{Certainty, Split, split};
use crate::markdown;
use crate::schema::{self, Fields, MISSING_KEY, Record};
use crate::site::kinds::{
    ALIASES, CategoryData, DRAFT, DeviceData, DocumentData, ErrorData, ExtractorData, GuideData, ModelData,
    QuantData, TITLE, TermData, ToolData, VERIFIED, fields,
};
use crate::site::{Body, Head, Kind, Page, PageId, Site, Unread, title_of};
use crate::store::{self, Store};
use crate::watch::{Stage, Unwatched, Watch};

/// Largest page, in bytes.
pub(super) const PAGE_BYTES: u64 = 1024 * 1024;

/// Whether drafts are part of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafts {
    /// They are read and published.
    Include,
    /// They are read for faults and left out.
    Exclude,
}

/// All pages of a site, and every fault that reading them showed.
pub fn pages(sources: &Sources, drafts: Drafts) -> (Site, Vec<Diagnostic>) {
    pages_kept(sources, drafts, &Store::forgetful(), &Unwatched)
}

/// As [`pages`]; errors that the store knows are not read again.
pub fn pages_kept(
    sources: &Sources,
    drafts: Drafts,
    store: &Store,
    watch: &dyn Watch,
) -> (Site, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut placed = Vec::new();
    let mut folders = BTreeSet::new();
    for (file, source) in sources.under("content/") {
        if !source.path.ends_with(".md") {
            continue;
        }
        let Some(place) = place(source, file, &mut found) else { continue };
        if place.kind == Kind::Error && folders.insert(place.category.clone()) {
            found.extend(folder_fault(&place.category, file));
        }
        placed.push(place);
    }
    watch.begin(Stage::Parse, placed.len());
    let read = |place: Place<'_>| {
        watch.begin_page(&place.source.path);
        let page = page_kept(&place, drafts, store);
        watch.end_page(&place.source.path);
        page
    };
    let (mut site, faults) = placed
        .into_par_iter()
        .fold(Default::default, |all, place| both(all, read(place)))
        .reduce(Default::default, both);
    found.extend(faults);
    for (file, source) in sources.unread_under("content/") {
        let place = place(source, file, &mut Vec::new()).filter(|_| source.path.ends_with(".md"));
        place.iter().for_each(|place| add_unread(&mut site, place));
    }
    add_missing_categories(&mut site);
    site.sort();
    (site, found)
}

/// The pages of these files alone. What concerns all files of a folder is not judged.
pub fn few(sources: &Sources, files: &[SourceId], drafts: Drafts) -> (Site, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let places = files.iter().filter_map(|file| place(sources.get(*file), *file, &mut found));
    let (mut site, faults) = places.fold(Default::default(), |all, place| both(all, page(&place, drafts)));
    found.extend(faults);
    site.sort();
    (site, found)
}

/// Pages with their faults, and more of them behind.
fn both(
    (mut site, mut found): (Site, Vec<Diagnostic>),
    (more, faults): (Site, Vec<Diagnostic>),
) -> (Site, Vec<Diagnostic>) {
    site.append(more);
    found.extend(faults);
    (site, found)
}

/// A page's file, and what its path says.
struct Place<'s> {
    source: &'s Source,
    file: SourceId,
    kind: Kind,
    slug: String,
    category: String,
}

fn place<'s>(source: &'s Source, file: SourceId, found: &mut Vec<Diagnostic>) -> Option<Place<'s>> {
    let rest = source.path.strip_prefix("content/").unwrap_or(&source.path);
    let parts: Vec<&str> = rest.split('/').collect();
    let (folder, inner) = (parts[0], &parts[1..]);
    let mut refuse = |message: String, help: String| {
        found.push(Diagnostic::error(&UNKNOWN_FOLDER, Span::top(file), message).help(help));
        None
    };
    let folders = || Kind::ALL.into_iter().filter(|kind| *kind != Kind::Category).map(Kind::folder);
    let Some(kind) = Kind::of_folder(folder).filter(|_| !inner.is_empty()) else {
        let help = match nearest(folder, folders()) {
            Some(near) if !inner.is_empty() => format!("did you mean `content/{near}/`?"),
            _ => format!(
                "move it into one of {}",
                folders().map(|f| format!("`content/{f}/`")).collect::<Vec<_>>().join(", ")
            ),
        };
        return refuse("this page lies in no folder of a kind".into(), help);
    };
    let name = inner.last().and_then(|name| name.strip_suffix(".md")).unwrap_or_default();
    let category = if kind == Kind::Error { inner[0].to_string() } else { String::new() };
    if kind == Kind::Error && inner.len() < 2 {
        return refuse(
            "this error lies in no category".into(),
            format!("move it into a folder, such as `content/errors/out-of-memory/{name}.md`"),
        );
    }
    if kind == Kind::Error && name == "_index" && inner.len() == 2 {
        return Some(Place { source, file, kind: Kind::Category, slug: category.clone(), category });
    }
    Some(Place { source, file, kind, slug: name.to_string(), category })
}

/// What is wrong with the name of a category's folder.
fn folder_fault(category: &str, file: SourceId) -> Option<Diagnostic> {
    let lower = category.to_lowercase();
    let (message, help) = if !schema::is_slug(&lower) {
        let message = format!("the folder `{category}` cannot be the address of a category");
        (message, "name the folder with small letters, digits, hyphens and dots".to_string())
    } else if lower != category {
        (format!("the folder `{category}` has capital letters"), format!("rename it to `{lower}`"))
    } else {
        return None;
    };
    Some(Diagnostic::error(&BAD_SLUG, Span::top(file), message).help(help))
}

/// As [`page`]; an error that nothing was wrong with is kept.
fn page_kept(place: &Place<'_>, drafts: Drafts, store: &Store) -> (Site, Vec<Diagnostic>) {
    if place.kind != Kind::Error {
        return page(place, drafts);
    }
    // Its places name the file by its number.
    let key = || Key::of([format!("{:?}", place.file).as_bytes(), place.source.key().as_ref()]);
    let mut other = None;
    let make = || {
        let (mut site, faults) = page(place, drafts);
        let is_plain = |head: &Head| !head.draft && faults.is_empty() && head.body.outline.errors.is_empty();
        if site.errors.first().is_some_and(|page| is_plain(&page.head)) {
            return site.errors.pop();
        }
        other = Some((site, faults));
        None
    };
    match store.get_or(store::Kind::Pages, key, make) {
        Some(kept) => (Site { errors: vec![kept], ..Site::default() }, Vec::new()),
        None => other.unwrap_or_else(|| page(place, drafts)),
    }
}

/// The page of one file, unless it is a draft that is left out, and what is wrong with it.
fn page(place: &Place<'_>, drafts: Drafts) -> (Site, Vec<Diagnostic>) {
    let Place { source, file, .. } = *place;
    let (mut site, mut found) = (Site::default(), Vec::new());
    let lower = place.slug.to_lowercase();
    if !schema::is_slug(&lower) {
        found.push(
            Diagnostic::error(
                &BAD_SLUG,
                Span::top(file),
                format!("`{}` cannot be the address of a page", place.slug),
            )
            .help("name the file with small letters, digits, hyphens and dots, at most 100 of them"),
        );
    } else if lower != place.slug {
        found.push(
            Diagnostic::error(&BAD_SLUG, Span::top(file), format!("`{}` has capital letters", place.slug))
                .help(format!("rename the file to `{lower}.md`")),
        );
    }
    let cut = split(source, file);
    let mut faults = Vec::new();
    let front = front_matter::parse(&source.text[cut.front.start..cut.front.end], cut.front, &mut faults);
    let definitions = fields(place.kind);
    let fields = schema::read(&front.node, definitions, place.kind.with_article(), &mut faults);
    let unread = match (cut.certainty, front.cut) {
        (Certainty::Guessed, _) => Unread::Page,
        (Certainty::Known, true) => {
            let given = |name| fields.span_of(name).is_some() && !fields.unread().contains(name);
            let names = definitions.iter().map(|field| field.name);
            Unread::Fields(names.filter(|name| !given(name)).collect())
        }
        (Certainty::Known, false) if fields.unread().is_empty() => Unread::Nothing,
        (Certainty::Known, false) => Unread::Fields(fields.unread().clone()),
    };
    found.extend(cut.faults.iter().cloned());
    if cut.certainty == Certainty::Known {
        found.extend(faults.into_iter().filter(|fault| !(front.cut && fault.code == MISSING_KEY.code)));
    }
    let head = Head { unread, ..head(place, &fields, front.escaped, &cut) };
    if head.draft && drafts == Drafts::Exclude {
        return (site, found);
    }
    add(&mut site, place, &fields, head);
    (site, found)
}

/// Adds the page of a file that cannot be read: others may name it.
fn add_unread(site: &mut Site, place: &Place<'_>) {
    let top = Span::top(place.file);
    let cut = Split { front: top, body: top, faults: Vec::new(), certainty: Certainty::Guessed };
    let fields = Fields::none(top);
    let head = Head { unread: Unread::Page, ..head(place, &fields, Vec::new(), &cut) };
    add(site, place, &fields, head);
}

/// Adds a page to those of its kind.
fn add(site: &mut Site, place: &Place<'_>, fields: &Fields, head: Head) {
    match place.kind {
        Kind::Error => site.errors.push(Page { data: ErrorData::new(&place.category, fields), head }),
        Kind::Category => site.categories.push(Page { data: CategoryData::of(fields), head }),
        Kind::Tool => site.tools.push(Page { data: ToolData::of(fields), head }),
        Kind::Guide => site.guides.push(Page { data: GuideData::of(fields), head }),
        Kind::Model => site.models.push(Page { data: ModelData::of(fields), head }),
        Kind::Hardware => site.devices.push(Page { data: DeviceData::of(fields), head }),
        Kind::Quant => site.quants.push(Page { data: QuantData::of(fields), head }),
        Kind::Term => site.terms.push(Page { data: TermData::of(fields), head }),
        Kind::Extractor => site.extractors.push(Page { data: ExtractorData::of(fields), head }),
        Kind::Document => site.documents.push(Page { data: DocumentData::of(fields), head }),
    }
}

fn head(place: &Place<'_>, fields: &Fields, escaped: Vec<Placed<String>>, cut: &Split) -> Head {
    let Place { source, file, .. } = *place;
    let (front, body) = (cut.front, cut.body);
    Head {
        id: PageId::new(place.kind, place.slug.to_lowercase()),
        source: file,
        path: source.path.clone(),
        // A title stands in lists of lines, too.
        title: TITLE
            .of(fields)
            .map(|title| title.map(|text| on_one_line(&text)))
            .unwrap_or_else(|| Placed::new(title_of(&place.slug), front)),
        verified: VERIFIED.of(fields),
        aliases: ALIASES.of(fields).unwrap_or_default(),
        draft: DRAFT.of(fields).unwrap_or_default(),
        front,
        escaped,
        unread: Unread::Nothing,
        body: Body { span: body, outline: markdown::outline(&source.text[body.start..body.end]) },
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A category without an `_index.md` still has a page, named after its folder.
fn add_missing_categories(site: &mut Site) {
    let known: BTreeSet<&str> = site.categories.iter().map(|page| page.head.id.slug.as_str()).collect();
    let mut missing = Vec::new();
    let mut seen = BTreeSet::new();
    // One of which nothing but such an error is known is not judged either.
    let (unread, read): (Vec<_>, Vec<_>) = site.errors.iter().partition(|error| error.head.is_unread());
    for error in read.into_iter().chain(unread) {
        let slug = error.data.category.to_lowercase();
        if !known.contains(slug.as_str()) && seen.insert(slug.clone()) {
            let span = Span::top(error.head.source);
            missing.push(Page {
                head: Head {
                    id: PageId::new(Kind::Category, slug.clone()),
                    source: error.head.source,
                    path: format!("content/errors/{slug}/_index.md"),
                    title: Placed::new(title_of(&slug), span),
                    verified: None,
                    aliases: Vec::new(),
                    draft: false,
                    front: span,
                    escaped: Vec::new(),
                    unread: if error.head.is_unread() { Unread::Page } else { Unread::Nothing },
                    body: Body { span, outline: markdown::outline("") },
                },
                data: CategoryData { order: 9999 },
            });
        }
    }
    site.categories.extend(missing);
}
