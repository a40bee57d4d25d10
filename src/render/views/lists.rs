//! Lists of errors, categories, tools, guides, hardware and quantizations.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::ErrorRow;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::device::bandwidth;
use crate::site::Page;
use crate::site::kinds::{CategoryData, DeviceClass, GuideData};

#[derive(Serialize)]
struct Group {
    title: String,
    href: String,
    description: String,
    id: String,
    errors: Vec<ErrorRow>,
}

#[derive(Serialize)]
struct CategoryView {
    title: String,
    description_html: Value,
    errors: Vec<ErrorRow>,
}

#[derive(Serialize)]
struct ListEntry {
    title: String,
    href: String,
    description: String,
    count: usize,
    family: String,
    verified_date: String,
}

#[derive(Serialize)]
struct Vendor {
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

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    vec![errors(cx), tools(cx), guides(cx), hardware(cx), quants(cx)]
}

fn listing(
    cx: &RenderContext<'_>,
    address: &str,
    template: &'static str,
    (kind, title, description): (&'static str, &str, &str),
    (name, view): (&'static str, Value),
) -> TemplatePage {
    let meta = PageMeta::listing(address, kind, title, description);
    let view = with_layout(cx.layout(meta, (None, None)), name, view);
    TemplatePage { address: address.to_string(), template, view }
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

pub(super) fn errors(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("errors/");
    let groups: Vec<Group> = ordered_categories(cx)
        .into_iter()
        .map(|category| Group {
            title: category.head.title.value.clone(),
            href: href(&root, &category.head.id.address()),
            description: cx.describe(&category.head),
            id: category.head.id.slug.clone(),
            errors: cx.errors_of(&category.head.id.slug).iter().map(|error| cx.row(&root, error)).collect(),
        })
        .collect();
    let description = cx.fill(
        "All {n} errors in this knowledge base by category, each with its message.",
        &[("n", &cx.site().errors.len())],
    );
    listing(
        cx,
        "errors/",
        "errors.html",
        ("errors", cx.tr("Errors"), &description),
        ("groups", view_value(groups)),
    )
}

pub(super) fn category(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let category = &cx.site().categories[at];
    let address = category.head.id.address();
    let root = root(&address);
    let errors = cx.errors_of(&category.head.id.slug);
    let title = &category.head.title.value;
    let described = cx.describe(&category.head);
    let meta = PageMeta {
        address: &address,
        kind: "category",
        title,
        description: match described.is_empty() {
            true => cx.fill("{title}: errors and how to fix them.", &[("title", title)]),
            false => described,
        },
        trail: vec![(cx.tr("Errors").into(), "errors/")],
        head: Some(&category.head),
        toc: Vec::new(),
        noindex: false,
    };
    let view = CategoryView {
        title: title.clone(),
        description_html: html(cx.body(&category.head).html()),
        errors: errors.iter().map(|error| cx.row(&root, error)).collect(),
    };
    let layout = cx.layout(meta, (None, None));
    TemplatePage {
        view: with_layout(layout, "category", view_value(view)),
        template: "category.html",
        address,
    }
}

pub(super) fn tools(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("tools/");
    let entries: Vec<ListEntry> = cx
        .site()
        .tools
        .iter()
        .map(|tool| ListEntry {
            title: tool.head.title.value.clone(),
            href: href(&root, &tool.head.id.address()),
            description: cx.describe(&tool.head),
            count: cx.errors_naming(&tool.head.id.slug).len(),
            family: String::new(),
            verified_date: String::new(),
        })
        .collect();
    let description = cx.tr(
        "Programs whose errors are explained on this site: where they store their logs, and which errors they print.",
    );
    listing(
        cx,
        "tools/",
        "tools.html",
        ("tools", cx.tr("Tools"), description),
        ("tools", view_value(entries)),
    )
}

pub(super) fn guides(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("guides/");
    let entries: Vec<ListEntry> = ordered_guides(cx)
        .into_iter()
        .map(|guide| ListEntry {
            title: guide.head.title.value.clone(),
            href: href(&root, &guide.head.id.address()),
            description: cx.describe(&guide.head),
            count: 0,
            family: String::new(),
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
        ("guides", view_value(entries)),
    )
}

pub(super) fn hardware(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("hardware/");
    let mut vendors: Vec<Vendor> = Vec::new();
    for name in ["NVIDIA", "AMD", "Apple", "Intel"] {
        let mut devices: Vec<_> =
            cx.site().devices.iter().filter(|device| device.data.vendor.name() == name).collect();
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
        vendors.push(Vendor { title: name.into(), id: slug(name), devices: rows.collect() });
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
    let entries: Vec<ListEntry> = quants
        .into_iter()
        .map(|quant| ListEntry {
            title: quant.head.title.value.clone(),
            href: href(&root, &quant.head.id.address()),
            description: cx.describe(&quant.head),
            count: 0,
            family: quant.data.family.name().to_string(),
            verified_date: String::new(),
        })
        .collect();
    let description = cx.tr("Weight formats from widest to narrowest, with the file sizes of all models.");
    listing(
        cx,
        "quants/",
        "quants.html",
        ("quants", cx.tr("Quantizations"), description),
        ("quants", view_value(entries)),
    )
}

/// Converts a title to an id.
pub(super) fn slug(title: &str) -> String {
    let parts: String =
        title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    parts.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
