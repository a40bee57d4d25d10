//! Lists: all errors, categories, tools, guides, hardware, quantizations.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::ErrorRow;
use crate::render::views::device::bandwidth;
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::site::Page;
use crate::site::kinds::{CategoryData, DeviceClass};

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
struct Entry {
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
    devices: Vec<DeviceRow>,
}

#[derive(Serialize)]
struct DeviceRow {
    title: String,
    href: String,
    memory: String,
    bandwidth: String,
    class: String,
    released: Option<String>,
    facts: DeviceFacts,
}

/// What the list narrows and orders by.
#[derive(Serialize)]
struct DeviceFacts {
    memory: f64,
    bandwidth: Option<f64>,
}

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    vec![errors(shelf), tools(shelf), guides(shelf), hardware(shelf), quants(shelf)]
}

fn listing(
    shelf: &Shelf<'_>,
    address: &str,
    template: &'static str,
    (kind, title, description): (&'static str, &str, &str),
    (name, view): (&'static str, Value),
) -> Leaf {
    let plate = Plate::listing(address, kind, title, description);
    let view = with_frame(shelf.frame(plate, (None, None)), name, view);
    Leaf { address: address.to_string(), template, view }
}

/// Categories in the order that their pages give them.
pub(super) fn ordered<'s>(shelf: &Shelf<'s>) -> Vec<&'s Page<CategoryData>> {
    let mut categories: Vec<_> = shelf
        .site()
        .categories
        .iter()
        .filter(|category| !shelf.errors_of(&category.head.id.slug).is_empty())
        .collect();
    categories.sort_by_key(|category| (category.data.order, category.head.title.value.to_lowercase()));
    categories
}

pub(super) fn errors(shelf: &Shelf<'_>) -> Leaf {
    let root = root("errors/");
    let groups: Vec<Group> = ordered(shelf)
        .into_iter()
        .map(|category| Group {
            title: category.head.title.value.clone(),
            href: href(&root, &category.head.id.address()),
            description: shelf.describe(&category.head),
            id: category.head.id.slug.clone(),
            errors: shelf
                .errors_of(&category.head.id.slug)
                .iter()
                .map(|error| shelf.row(&root, error))
                .collect(),
        })
        .collect();
    let description = shelf.fill(
        "All {n} errors of this knowledge base, by kind of trouble, each with the message by which it is known.",
        &[("n", &shelf.site().errors.len())],
    );
    listing(
        shelf,
        "errors/",
        "errors.html",
        ("errors", shelf.say("Errors"), &description),
        ("groups", seen(groups)),
    )
}

pub(super) fn category(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let category = &shelf.site().categories[at];
    let address = category.head.id.address();
    let root = root(&address);
    let errors = shelf.errors_of(&category.head.id.slug);
    let title = &category.head.title.value;
    let described = shelf.describe(&category.head);
    let plate = Plate {
        address: &address,
        kind: "category",
        title,
        description: match described.is_empty() {
            true => shelf.fill("Errors of the kind “{title}” and how to mend them.", &[("title", title)]),
            false => described,
        },
        trail: vec![(shelf.say("Errors").into(), "errors/")],
        head: Some(&category.head),
        toc: Vec::new(),
        noindex: false,
    };
    let view = CategoryView {
        title: title.clone(),
        description_html: html(shelf.body(&category.head).html()),
        errors: errors.iter().map(|error| shelf.row(&root, error)).collect(),
    };
    let frame = shelf.frame(plate, (None, None));
    Leaf { view: with_frame(frame, "category", seen(view)), template: "category.html", address }
}

pub(super) fn tools(shelf: &Shelf<'_>) -> Leaf {
    let root = root("tools/");
    let entries: Vec<Entry> = shelf
        .site()
        .tools
        .iter()
        .map(|tool| Entry {
            title: tool.head.title.value.clone(),
            href: href(&root, &tool.head.id.address()),
            description: shelf.describe(&tool.head),
            count: shelf.errors_naming(&tool.head.id.slug).len(),
            family: String::new(),
            verified_date: String::new(),
        })
        .collect();
    let description = shelf.say(
        "Programs whose errors are explained here: where each keeps its logs, and which errors it prints.",
    );
    listing(
        shelf,
        "tools/",
        "tools.html",
        ("tools", shelf.say("Tools"), description),
        ("tools", seen(entries)),
    )
}

pub(super) fn guides(shelf: &Shelf<'_>) -> Leaf {
    let root = root("guides/");
    let mut guides: Vec<_> = shelf.site().guides.iter().collect();
    guides.sort_by_key(|guide| (guide.data.order, guide.head.title.value.to_lowercase()));
    let entries: Vec<Entry> = guides
        .into_iter()
        .map(|guide| Entry {
            title: guide.head.title.value.clone(),
            href: href(&root, &guide.head.id.address()),
            description: shelf.describe(&guide.head),
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
    let description = shelf
        .say("Steps that mend several errors at once, written out in full, with what each of them costs.");
    listing(
        shelf,
        "guides/",
        "guides.html",
        ("guides", shelf.say("Guides"), description),
        ("guides", seen(entries)),
    )
}

pub(super) fn hardware(shelf: &Shelf<'_>) -> Leaf {
    let root = root("hardware/");
    let mut vendors: Vec<Vendor> = Vec::new();
    for name in ["NVIDIA", "AMD", "Apple", "Intel"] {
        let mut devices: Vec<_> =
            shelf.site().devices.iter().filter(|device| device.data.vendor.name() == name).collect();
        devices.sort_by(|a, b| {
            b.data.released.cmp(&a.data.released).then_with(|| a.head.title.value.cmp(&b.head.title.value))
        });
        if devices.is_empty() {
            continue;
        }
        let rows = devices.into_iter().map(|device| DeviceRow {
            title: device.head.title.value.clone(),
            href: href(&root, &device.head.id.address()),
            memory: format!("{} GB", device.data.memory_gb),
            bandwidth: bandwidth(shelf, &device.data),
            class: class_name(shelf, device.data.class).to_string(),
            released: device.data.released.map(|date| date.to_string()),
            facts: DeviceFacts { memory: device.data.memory_gb, bandwidth: device.data.bandwidth_gbps },
        });
        vendors.push(Vendor { title: name.into(), id: slug(name), devices: rows.collect() });
    }
    let description = shelf.fill(
        "{n} cards and machines with their memory and bandwidth, and which models run on each.",
        &[("n", &shelf.site().devices.len())],
    );
    listing(
        shelf,
        "hardware/",
        "hardware.html",
        ("hardware", shelf.say("Hardware"), &description),
        ("vendors", seen(vendors)),
    )
}

/// What sort of device it is, in words.
pub(super) fn class_name<'s>(shelf: &Shelf<'s>, class: DeviceClass) -> &'s str {
    match class {
        DeviceClass::Apple => "Apple silicon",
        DeviceClass::Soc => shelf.say("system on a chip"),
        DeviceClass::Gpu => shelf.say("graphics card"),
    }
}

pub(super) fn quants(shelf: &Shelf<'_>) -> Leaf {
    let root = root("quants/");
    let mut quants: Vec<_> = shelf.site().quants.iter().collect();
    quants.sort_by_key(|quant| {
        (shelf.order.fits.quant(&quant.data.gguf_type.value), quant.head.id.slug.clone())
    });
    let entries: Vec<Entry> = quants
        .into_iter()
        .map(|quant| Entry {
            title: quant.head.title.value.clone(),
            href: href(&root, &quant.head.id.address()),
            description: shelf.describe(&quant.head),
            count: 0,
            family: quant.data.family.name().to_string(),
            verified_date: String::new(),
        })
        .collect();
    let description = shelf.say(
        "Formats that weights come in, from the widest to the narrowest, and what each makes of every model.",
    );
    listing(
        shelf,
        "quants/",
        "quants.html",
        ("quants", shelf.say("Quantizations"), description),
        ("quants", seen(entries)),
    )
}

/// An id made from a title.
pub(super) fn slug(title: &str) -> String {
    let parts: String =
        title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    parts.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
