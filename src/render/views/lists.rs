//! Lists of errors, categories, tools, guides, hardware and quantizations.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::ErrorRow;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::device::bandwidth;
use crate::site::kinds::{CategoryData, DeviceClass, GuideData, Vendor};
use crate::site::{Page, format_count};

/// Maximum number of errors that `/errors/` lists; beyond it, only the pages of the categories list them.
const MAX_LISTED_ERRORS: usize = 1500;

/// Maximum number of errors on one page of a category.
const CATEGORY_PAGE_SIZE: usize = 200;

#[derive(Serialize)]
struct Group {
    title: String,
    href: String,
    description: String,
    id: String,
    /// Empty if the page does not list the errors.
    errors: Vec<ErrorRow>,
    /// Number of errors.
    count: usize,
}

#[derive(Serialize)]
struct CategoryView {
    /// Also the name of its group in the list of all errors.
    slug: String,
    title: String,
    description_html: Value,
    errors: Vec<ErrorRow>,
    /// Number of errors on all pages of the category.
    count: usize,
    /// All pages of the category; empty if there is only one.
    pages: Vec<NumberedPage>,
}

/// A page of a list that has several.
#[derive(Serialize)]
struct NumberedPage {
    number: usize,
    href: String,
    current: bool,
}

#[derive(Serialize)]
struct ToolRow {
    title: String,
    href: String,
    description: String,
    /// Number of errors that the tool prints.
    count: usize,
}

#[derive(Serialize)]
struct GuideRow {
    title: String,
    href: String,
    description: String,
    verified_date: String,
}

#[derive(Serialize)]
struct QuantRow {
    title: String,
    href: String,
    description: String,
    family: &'static str,
}

#[derive(Serialize)]
struct VendorGroup {
    title: String,
    id: String,
    devices: Vec<DeviceListRow>,
}

#[derive(Serialize)]
struct DeviceListRow {
    title: String,
    href: String,
    memory: String,
    bandwidth: String,
    class: String,
    released: Option<String>,
    facts: DeviceFacts,
}

/// Data attributes for filtering and sorting.
#[derive(Serialize)]
struct DeviceFacts {
    memory: f64,
    bandwidth: Option<f64>,
}

/// Builds the lists of a bundle, which shows every error.
pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    vec![error_list(cx, usize::MAX), tools(cx), guides(cx), hardware(cx), quants(cx)]
}

fn listing(
    cx: &RenderContext<'_>,
    address: &str,
    template: &'static str,
    (kind, title, description): (&'static str, &str, &str),
    (name, view): (&'static str, Value),
) -> TemplatePage {
    let meta = PageMeta::listing(address, kind, title, description);
    let view = with_layout(cx.layout(meta), name, view);
    TemplatePage { address: address.to_string(), template: template.into(), view }
}

/// Returns the categories in the order of their `order` fields.
pub(super) fn ordered_categories<'s>(cx: &RenderContext<'s>) -> Vec<&'s Page<CategoryData>> {
    let mut categories: Vec<_> = cx
        .site()
        .categories
        .iter()
        .filter(|category| !cx.errors_of(&category.head.id.slug).is_empty())
        .collect();
    categories.sort_by_key(|category| (category.data.order, category.head.title.value.to_lowercase()));
    categories
}

/// Returns the guides in the order of their `order` fields.
pub(super) fn ordered_guides<'s>(cx: &RenderContext<'s>) -> Vec<&'s Page<GuideData>> {
    let mut guides: Vec<_> = cx.site().guides.iter().collect();
    guides.sort_by_key(|guide| (guide.data.order, guide.head.title.value.to_lowercase()));
    guides
}

/// Builds `/errors/`.
pub(super) fn errors(cx: &RenderContext<'_>) -> TemplatePage {
    error_list(cx, MAX_LISTED_ERRORS)
}

/// Builds the list of errors; of more than `limit` errors, only the categories with their counts.
fn error_list(cx: &RenderContext<'_>, limit: usize) -> TemplatePage {
    let root = root("errors/");
    let lists_all = cx.site().errors.len() <= limit;
    let groups: Vec<Group> = ordered_categories(cx)
        .into_iter()
        .map(|category| {
            let errors = cx.errors_of(&category.head.id.slug);
            Group {
                title: category.head.title.value.clone(),
                href: href(&root, &category.head.id.address()),
                description: cx.describe(&category.head),
                id: category.head.id.slug.clone(),
                errors: if lists_all { cx.rows(&root, errors) } else { Vec::new() },
                count: errors.len(),
            }
        })
        .collect();
    let description = cx.fill(
        "All {n} errors in this knowledge base by category, each with its message.",
        &[("n", &format_count(cx.site().errors.len() as u64))],
    );
    let meta = PageMeta::listing("errors/", "errors", cx.tr("Errors"), &description);
    let layout = with_layout(cx.layout(meta), "groups", view_value(groups));
    let (systems, severities) = (cx.systems(), cx.severities());
    let view = minijinja::context! { lists_all, systems, severities, ..layout };
    TemplatePage { address: "errors/".to_string(), template: "errors.html".into(), view }
}

/// Returns the addresses of the pages of a category.
pub(in crate::render) fn category_addresses(
    cx: &RenderContext<'_>,
    category: &Page<CategoryData>,
) -> Vec<String> {
    let first = category.head.id.address();
    let count = cx.errors_of(&category.head.id.slug).len().div_ceil(CATEGORY_PAGE_SIZE);
    let further = (2..=count).map(|number| format!("{first}{number}/"));
    std::iter::once(first.clone()).chain(further).collect()
}

/// Builds the first page of a category.
pub(super) fn category(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    category_page(cx, &cx.site().categories[at], 0)
}

/// Builds the further pages of all categories.
pub(super) fn further_category_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let further = |category| (1..category_addresses(cx, category).len()).map(move |at| (category, at));
    let pages = cx.site().categories.iter().flat_map(further);
    pages.map(|(category, at)| category_page(cx, category, at)).collect()
}

fn category_page(cx: &RenderContext<'_>, category: &Page<CategoryData>, at: usize) -> TemplatePage {
    let addresses = category_addresses(cx, category);
    let (first, address) = (&addresses[0], &addresses[at]);
    let root = root(address);
    let errors = cx.errors_of(&category.head.id.slug);
    let (name, described) = (&category.head.title.value, cx.describe(&category.head));
    let title = match at {
        0 => name.clone(),
        _ => cx.fill("{title}, page {n}", &[("title", name), ("n", &(at + 1))]),
    };
    let errors_step = (cx.tr("Errors").to_string(), "errors/");
    let meta = PageMeta {
        address,
        kind: "category",
        title: &title,
        description: match described.is_empty() {
            true => cx.fill("{title}: errors and how to fix them.", &[("title", &title)]),
            false => described,
        },
        trail: match at {
            0 => vec![errors_step],
            _ => vec![errors_step, (name.clone(), first)],
        },
        head: Some(&category.head),
        toc: Vec::new(),
        noindex: false,
    };
    let numbered = |(other, address): (usize, &String)| NumberedPage {
        number: other + 1,
        href: href(&root, address),
        current: other == at,
    };
    let own_errors = errors.chunks(CATEGORY_PAGE_SIZE).nth(at).unwrap_or_default();
    let view = CategoryView {
        slug: category.head.id.slug.clone(),
        description_html: match at {
            0 => html(cx.body(&category.head).html()),
            _ => html(String::new()),
        },
        errors: cx.rows(&root, own_errors),
        count: errors.len(),
        pages: match addresses.len() {
            1 => Vec::new(),
            _ => addresses.iter().enumerate().map(numbered).collect(),
        },
        title: title.clone(),
    };
    let layout = cx.layout(meta);
    let address = address.clone();
    TemplatePage {
        view: with_layout(layout, "category", view_value(view)),
        template: "category.html".into(),
        address,
    }
}

pub(super) fn tools(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("tools/");
    let rows: Vec<ToolRow> = cx
        .site()
        .tools
        .iter()
        .map(|tool| ToolRow {
            title: tool.head.title.value.clone(),
            href: href(&root, &tool.head.id.address()),
            description: cx.describe(&tool.head),
            count: cx.errors_naming(&tool.head.id.slug).len(),
        })
        .collect();
    let description = cx.tr(
        "Programs whose errors are explained on this site: where they store their logs, and which errors they print.",
    );
    listing(cx, "tools/", "tools.html", ("tools", cx.tr("Tools"), description), ("tools", view_value(rows)))
}

pub(super) fn guides(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("guides/");
    let rows: Vec<GuideRow> = ordered_guides(cx)
        .into_iter()
        .map(|guide| GuideRow {
            title: guide.head.title.value.clone(),
            href: href(&root, &guide.head.id.address()),
            description: cx.describe(&guide.head),
            verified_date: guide
                .head
                .verified
                .as_ref()
                .map(|date| date.value.to_string())
                .unwrap_or_default(),
        })
        .collect();
    let description = cx.tr("Step-by-step instructions that fix several errors, with the cost of each step.");
    listing(
        cx,
        "guides/",
        "guides.html",
        ("guides", cx.tr("Guides"), description),
        ("guides", view_value(rows)),
    )
}

pub(super) fn hardware(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("hardware/");
    let mut vendors: Vec<VendorGroup> = Vec::new();
    for vendor in Vendor::ALL {
        let mut devices: Vec<_> =
            cx.site().devices.iter().filter(|device| device.data.vendor == *vendor).collect();
        devices.sort_by(|a, b| {
            b.data.released.cmp(&a.data.released).then_with(|| a.head.title.value.cmp(&b.head.title.value))
        });
        if devices.is_empty() {
            continue;
        }
        let rows = devices.into_iter().map(|device| DeviceListRow {
            title: device.head.title.value.clone(),
            href: href(&root, &device.head.id.address()),
            memory: format!("{} GB", device.data.memory_gb),
            bandwidth: bandwidth(cx, &device.data),
            class: class_name(cx, device.data.class).to_string(),
            released: device.data.released.map(|date| date.to_string()),
            facts: DeviceFacts { memory: device.data.memory_gb, bandwidth: device.data.bandwidth_gbps },
        });
        let name = vendor.name();
        vendors.push(VendorGroup { title: name.into(), id: slug(name), devices: rows.collect() });
    }
    let description = cx.fill(
        "{n} devices with their memory and bandwidth, and the models that run on each.",
        &[("n", &cx.site().devices.len())],
    );
    listing(
        cx,
        "hardware/",
        "hardware.html",
        ("hardware", cx.tr("Hardware"), &description),
        ("vendors", view_value(vendors)),
    )
}

/// Returns the name of a device class.
pub(super) fn class_name<'s>(cx: &RenderContext<'s>, class: DeviceClass) -> &'s str {
    match class {
        DeviceClass::Apple => "Apple silicon",
        DeviceClass::Soc => cx.tr("system on a chip"),
        DeviceClass::Gpu => cx.tr("discrete GPU"),
    }
}

pub(super) fn quants(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("quants/");
    let mut quants: Vec<_> = cx.site().quants.iter().collect();
    quants
        .sort_by_key(|quant| (cx.inputs.fits.quant(&quant.data.gguf_type.value), quant.head.id.slug.clone()));
    let rows: Vec<QuantRow> = quants
        .into_iter()
        .map(|quant| QuantRow {
            title: quant.head.title.value.clone(),
            href: href(&root, &quant.head.id.address()),
            description: cx.describe(&quant.head),
            family: quant.data.family.name(),
        })
        .collect();
    let description = cx.tr("Weight formats from widest to narrowest, with the file sizes of all models.");
    listing(
        cx,
        "quants/",
        "quants.html",
        ("quants", cx.tr("Quantizations"), description),
        ("quants", view_value(rows)),
    )
}

/// Converts a title to an id.
pub(super) fn slug(title: &str) -> String {
    let parts: String =
        title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    parts.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
