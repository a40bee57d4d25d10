//! Error pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::i18n::text;
use crate::markdown::{self, Section};
use crate::render::address::root;
use crate::render::prose::InlineHooks;
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::{SourceView, VerifiedView, label, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::entry::{FieldView, field_views};
use crate::render::views::vocabularies::word_label;
use crate::render::views::wording::signature_text;
use crate::site::kinds::{ErrorData, Signature, is_check_section};
use crate::site::{Kind, Page, PageId, ProseCall};

#[derive(Serialize)]
struct ErrorView {
    slug: String,
    kind: &'static str,
    severity: String,
    /// Its label, unless it is the default.
    severity_mark: Option<String>,
    status: &'static str,
    retired_note: Option<String>,
    category: Value,
    tools: Vec<Value>,
    platforms: Vec<String>,
    fields: Vec<FieldView>,
    summary_html: Value,
    first_step: Option<SectionView>,
    causes: Vec<CauseView>,
    check: Option<SectionView>,
    background_html: Value,
    background: Vec<SectionView>,
    footnotes_html: Value,
    signatures: Vec<SignatureView>,
    fits: Option<FitsView>,
    look_alikes: Vec<Value>,
    changes: Vec<ChangeView>,
    related: Vec<Value>,
    backlinks: Vec<Value>,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

#[derive(Serialize)]
struct SignatureView {
    text: String,
    samples: Vec<String>,
    source: SourceView,
    versions: Vec<RangeView>,
}

#[derive(Serialize)]
struct RangeView {
    name: String,
    range: String,
}

#[derive(Serialize)]
struct CauseView {
    id: String,
    title_html: Value,
    tell_html: Value,
    fixes: Vec<FixView>,
}

/// A solution; its text is shown at the first cause that names it.
#[derive(Serialize)]
struct FixView {
    id: String,
    title: String,
    cost: String,
    /// Label of the cost, unless it is the default.
    cost_mark: Option<String>,
    html: Option<Value>,
    fails_html: Option<Value>,
}

#[derive(Serialize)]
struct SectionView {
    id: String,
    title: String,
    html: Value,
}

/// Models on the reader's own GPU; `models` are the slugs in the calls of the body.
#[derive(Serialize)]
struct FitsView {
    models: Vec<String>,
}

#[derive(Serialize)]
struct ChangeView {
    date: String,
    what: String,
}

/// Maximum number of similar errors on a page.
const MAX_SIMILAR_ERRORS: usize = 3;

/// Why the page of a category cannot be missing.
const EVERY_CATEGORY: &str = "every category has a page: load adds those that are missing";

/// Id of the section that distinguishes the causes.
pub const FIRST_STEP: &str = "first-step";

/// Start of the paragraph with the next step if a solution does not help.
const FAILS: &str = text("If it fails:");

pub(super) fn build_page(cx: &RenderContext<'_>, error: &Page<ErrorData>) -> TemplatePage {
    let address = error.head.id.address();
    let root = root(&address);
    let view = view(cx, error, &root);
    let category = PageId::new(Kind::Category, error.data.category.to_lowercase());
    let category = cx.head(&category).expect(EVERY_CATEGORY);
    let category_address = category.id.address();
    let meta = PageMeta {
        address: &address,
        kind: "error",
        title: &error.head.title.value,
        description: cx.describe(&error.head),
        trail: vec![(cx.tr("Errors").into(), "errors/"), (category.title.value.clone(), &category_address)],
        head: Some(&error.head),
        toc: cx.toc(&error.head),
        noindex: false,
    };
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "error", view_value(&view)),
        template: "error.html".into(),
        address,
    }
}

impl ErrorView {
    fn add_body(&mut self, cx: &RenderContext<'_>, error: &Page<ErrorData>) {
        let body = cx.body(&error.head);
        let fails = format!("<p><strong>{}</strong>", cx.tr(FAILS));
        for section in body.sections {
            let mut fixes = self.causes.iter_mut().flat_map(|cause| &mut cause.fixes);
            if let Some(fix) = fixes.find(|fix| fix.id == section.id) {
                let steps = section.html.rfind(&fails).unwrap_or(section.html.len());
                fix.html = Some(html(&section.html[..steps]));
                fix.fails_html = (steps < section.html.len()).then(|| html(&section.html[steps..]));
            } else if is_check_section(&section.id, &section.title) {
                self.check = Some(section_view(section));
            } else if section.id == FIRST_STEP {
                self.first_step = Some(section_view(section));
            } else {
                self.background.push(section_view(section));
            }
        }
        let (summary, rest) = split_lead(&body.lead_html);
        self.summary_html = html(summary);
        self.background_html = html(rest);
        self.footnotes_html = html(body.footnotes_html);
    }
}

/// Splits a lead behind its first paragraph.
fn split_lead(lead: &str) -> (&str, &str) {
    const END: &str = "</p>\n";
    match lead.find(END).filter(|_| lead.starts_with("<p>")) {
        Some(end) => lead.split_at(end + END.len()),
        None => (lead, ""),
    }
}

fn section_view(section: Section) -> SectionView {
    SectionView { id: section.id, title: section.title, html: html(section.html) }
}

fn view(cx: &RenderContext<'_>, error: &Page<ErrorData>, root: &str) -> ErrorView {
    let data = &error.data;
    let line = InlineHooks { inputs: cx.inputs, assets: cx.assets, page: &error.head, root };
    let related: Vec<&str> = data.related.iter().map(|slug| slug.value.as_str()).collect();
    let similar_errors = similar_errors(cx, error);
    let named = [&related[..], &similar_errors].concat();
    let systems = cx.systems();
    let mut view = ErrorView {
        slug: error.head.id.slug.clone(),
        kind: data.kind.name(),
        severity: data.severity.clone(),
        severity_mark: cx.severity_mark(&data.severity),
        status: data.status.name(),
        retired_note: data.retired.clone(),
        category: cx
            .reference(root, &PageId::new(Kind::Category, data.category.to_lowercase()))
            .expect(EVERY_CATEGORY),
        tools: cx.references(root, Kind::Tool, data.tools.iter().map(|slug| slug.value.as_str())),
        platforms: data.platforms.iter().map(|word| word_label(&systems, word)).collect(),
        fields: field_views(cx, root, &cx.inputs.config.declared.error_fields, &data.own),
        summary_html: Value::default(),
        first_step: None,
        signatures: data.signatures.iter().map(|signature| signature_view(cx, signature)).collect(),
        causes: data
            .causes
            .iter()
            .map(|cause| CauseView {
                id: cause.id.value.clone(),
                title_html: html(markdown::inline(&cause.title.value, &line)),
                tell_html: html(markdown::inline(&capitalize(&cause.tell.value), &line)),
                fixes: cause.solutions.iter().filter_map(|id| fix(cx, data, &id.value)).collect(),
            })
            .collect(),
        check: None,
        background_html: Value::default(),
        background: Vec::new(),
        footnotes_html: Value::default(),
        fits: fits(error),
        look_alikes: cx.references(root, Kind::Error, similar_errors),
        changes: data
            .changes
            .iter()
            .map(|change| ChangeView { date: change.date.value.to_string(), what: change.what.clone() })
            .collect(),
        related: cx.references(root, Kind::Error, related),
        backlinks: cx.backlinks(root, &error.head.id, &named),
        verified: cx.verified(&error.head, Some(&data.category), &data.evidence),
        sources: sources(cx.texts(), &data.evidence),
    };
    view.add_body(cx, error);
    view
}

/// Returns the slugs of similar errors, except those that are listed as related.
fn similar_errors<'s>(cx: &'s RenderContext<'_>, error: &Page<ErrorData>) -> Vec<&'s str> {
    let slug = error.head.id.slug.as_str();
    let lists =
        |page: &Page<ErrorData>, other: &str| page.data.related.iter().any(|named| named.value == other);
    let is_related =
        |other: &str| lists(error, other) || cx.site().error(other).is_some_and(|page| lists(page, slug));
    let alike = cx.similar_errors.get(slug).map(Vec::as_slice).unwrap_or_default();
    alike.iter().map(String::as_str).filter(|other| !is_related(other)).take(MAX_SIMILAR_ERRORS).collect()
}

/// Returns whether an error depends on memory: its page links to the calculator or contains estimator calls.
pub fn asks_for_memory(error: &Page<ErrorData>) -> bool {
    fits(error).is_some()
}

fn fits(error: &Page<ErrorData>) -> Option<FitsView> {
    let outline = &error.head.body.outline;
    let mut models: Vec<String> = Vec::new();
    for call in outline.calls.iter().filter_map(|call| ProseCall::parse(&call.source).ok()) {
        if !models.contains(&call.model.value) {
            models.push(call.model.value);
        }
    }
    let leads = outline.links.iter().any(|link| link.destination.starts_with("/will-it-run/"));
    (leads || !models.is_empty()).then_some(FitsView { models })
}

fn fix(cx: &RenderContext<'_>, data: &ErrorData, id: &str) -> Option<FixView> {
    let solution = data.solutions.iter().find(|solution| solution.id.value == id)?;
    Some(FixView {
        id: id.to_string(),
        title: solution.heading.clone(),
        cost: solution.cost.clone(),
        cost_mark: cx.cost_mark(&solution.cost),
        html: None,
        fails_html: None,
    })
}

/// Capitalizes the first word of a symptom unless it is a name or code: `llama.cpp`, `` `nvidia-smi` ``.
fn capitalize(tell: &str) -> String {
    let word = tell.split([' ', ',', ':']).next().unwrap_or_default();
    match tell.chars().next().filter(|_| word.chars().all(char::is_lowercase)) {
        Some(first) => first.to_uppercase().chain(tell.chars().skip(1)).collect(),
        None => tell.to_string(),
    }
}

fn signature_view(cx: &RenderContext<'_>, signature: &Signature) -> SignatureView {
    SignatureView {
        text: signature_text(signature.text()),
        samples: signature.samples.iter().map(|sample| sample.value.clone()).collect(),
        source: SourceView {
            href: Some(signature.source.clone()),
            label: label(cx.texts(), &signature.source),
        },
        versions: signature
            .versions
            .iter()
            .map(|(name, range)| RangeView { name: name.clone(), range: range_in_words(cx, range) })
            .collect(),
    }
}

/// Formats a version range: `1.0 - 2.4`, `1.0 and later`, `up to 2.4`.
fn range_in_words(cx: &RenderContext<'_>, range: &str) -> String {
    let ends = range.split_once(" - ").or_else(|| range.trim_end().strip_suffix(" -").map(|from| (from, "")));
    match ends.map(|(from, to)| (from.trim(), to.trim())) {
        Some((from, "")) => cx.fill("{version} and later", &[("version", &from)]),
        Some(("", to)) => cx.fill("up to {version}", &[("version", &to)]),
        Some((from, to)) => cx.fill("{from} to {to}", &[("from", &from), ("to", &to)]),
        None => range.trim().to_string(),
    }
}
