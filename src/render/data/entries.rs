//! Entries of the data files, one type per kind of page.
//!
//! Their fields are a public contract. Each is declared once, with its name, type, description in the schema, and
//! value.

use std::marker::PhantomData;

use kbgen_estimate::estimator::BytesRange;
use serde::ser::{Serialize, SerializeMap};
use serde_json::{Map, Value, json};

use crate::custom::OwnValues;
use crate::files::Spanned;
use crate::render::data::json_entry::{Entry, NOTHING, NoFields, WriteFields, entry, joined, write_field};
use crate::render::data::markdown;
use crate::render::views::{CONTEXTS, RenderContext};
use crate::schema::{Field, Form as _, Shape};
use crate::site::kinds::{
    ARCHITECTURE, Cause, ChangelogEntry, CommandRun, Cost, DeviceClass, DeviceData, EntryData, ErrorData,
    ErrorKind, GuideData, ModelData, Platform, Severity, Signature, Solution, Status, System, ToolData,
    Vendor, given,
};
use crate::site::{CACHE_TYPES, Figures, Head, ModelFit, Page, Run};

const BYTES: Shape = Shape::Integer { min: 0, max: i64::MAX };
const COUNT: Shape = Shape::Integer { min: 1, max: i64::MAX };
const TEXTS: Shape = Shape::any(&Shape::Text);
const SLUGS: Shape = Shape::any(&Shape::Slug);

fn plain(placed: &[Spanned<String>]) -> Vec<&str> {
    placed.iter().map(|placed| placed.value.as_str()).collect()
}

fn nonempty(placed: &[Spanned<String>]) -> Option<Vec<&str>> {
    (!placed.is_empty()).then(|| plain(placed))
}

fn value_of(placed: Option<&Spanned<String>>) -> Option<&str> {
    placed.map(|placed| placed.value.as_str())
}

fn pairs(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

fn each<'e, T, E>(items: &'e [T], entry: impl Fn(&'e T) -> E) -> Vec<E> {
    items.iter().map(entry).collect()
}

entry! {
    /// Fields of all pages.
    HEAD, fn head(head: &'e Head) {
        required "id": Shape::Slug, "The slug: unique within its kind, never changed or reused." => head.id.name();
        required "slug": Shape::Slug, "Last part of the page's address; the same as `id`." => head.id.name();
        required "title": Shape::Text, "Title." => head.title.value;
        required "url": Shape::Text, "Address below the site's root, with a slash in front."
            => format!("/{}", head.id.address());
        required "aliases": TEXTS, "Old addresses that lead to the page." => plain(&head.aliases);
    }
}

/// Description of the field `sources`.
const SOURCES: &str = "Sources: addresses, or names of publications.";
/// Description of the field `related`.
const RELATED: &str = "Slugs of errors that belong to it.";
/// Description of the field `fields`; `schemas` replaces its shape by that of the declared fields.
const DECLARED: &str = "Values of the fields that the site declares.";
const OWN_FIELDS: Shape = Shape::Record(&[]);
/// Description of the field `released`.
const RELEASED: &str = "Day of the release.";
/// Description of the field `note`.
const NOTE: &str = "A note on the figures.";

entry! {
    /// A message that leads to a page.
    SIGNATURE, fn signature(signature: &'e Signature) {
        optional "pattern": Shape::Text, "Literal text with typed holes." => value_of(signature.pattern.as_ref());
        optional "all": TEXTS, "Instead of `pattern`: fragments that must all occur, at most 200 lines apart." => nonempty(&signature.all);
        optional "not": TEXTS, "Fragments of which none may occur." => nonempty(&signature.not);
        optional "not_on_line": TEXTS, "Fragments of which none may occur in the line of the message."
            => nonempty(&signature.not_on_line);
        or_null "extract": Shape::Slug, "A shared extractor that reads more figures."
            => value_of(signature.extract.as_ref());
        or_null "when": Shape::Text, "A condition on the figures that chooses between pages."
            => value_of(signature.when.as_ref());
        required "source": Shape::Url, "The thread or source line that has the message." => signature.source;
        required "versions": Shape::Map(&Shape::Text), "Versions that print it, by tool."
            => pairs(&signature.versions);
        required "samples": TEXTS, "Real output that it matches." => plain(&signature.samples);
    }
}

entry! {
    /// A cause of an error.
    CAUSE, fn cause(cx: &'e RenderContext<'e>, head: &'e Head, cause: &'e Cause) {
        required "id": Shape::Slug, "Name of the cause within the page." => cause.id.value;
        required "title": Shape::Text, "Title of the cause." => cause.title.value;
        required "tell": Shape::Text,
            "Evidence of this cause, one line of Markdown; its links start at the root of the site."
            => markdown::line(cx, head, &cause.tell.value, "/").as_str();
        or_null "when": Shape::Text, "A condition on the figures that points to it." => value_of(cause.when.as_ref());
        or_null "case": Shape::Text, "Name of the cause in answers, with values in braces." => value_of(cause.case.as_ref());
        required "solutions": SLUGS, "Ids of solutions, the best first." => plain(&cause.solutions);
    }
}

entry! {
    /// A solution of an error.
    SOLUTION, fn solution(solution: &'e Solution) {
        required "id": Shape::Slug, "Name of the solution within the page, and of its section." => solution.id.value;
        required "title": Shape::Text, "Title of the solution." => solution.heading;
        required "cost": Cost::SHAPE, "Cost of the solution." => solution.cost;
    }
}

entry! {
    /// A change of a page.
    CHANGE, fn change(change: &'e ChangelogEntry) {
        required "date": Shape::Date, "Day of the change." => change.date.value.to_string();
        required "what": Shape::Text, "Description of the change." => change.what;
    }
}

entry! {
    /// A program that accepted its commands of a page.
    RUN, fn run(run: &'e CommandRun) {
        required "tool": Shape::Slug, "Slug of the tool." => run.tool;
        required "version": Shape::Text, "Version of the program." => run.version;
        required "date": Shape::Date, "The day on which it was run." => run.date.to_string();
    }
}

entry! {
    /// An error page.
    ERROR: HEAD, fn error(cx: &'e RenderContext<'e>, page: &'e Page<ErrorData>) on head(&page.head); {
        or_null "description": Shape::Text, "The first sentences of the page."
            => Some(cx.describe(&page.head)).filter(|description| !description.is_empty());
        required "category": Shape::Slug, "Slug of its category." => page.data.category;
        required "kind": ErrorKind::SHAPE, "Kind of message." => page.data.kind;
        required "severity": Severity::SHAPE, "Severity of the error." => page.data.severity;
        required "status": Status::SHAPE, "Whether current versions print it." => page.data.status;
        or_null "retired": Shape::Text, "Of a retired error: since when, and what replaced it." => page.data.retired;
        required "tools": SLUGS, "Slugs of the tools that print it." => plain(&page.data.tools);
        required "platforms": Shape::any(&Platform::SHAPE), "Platforms of the error; empty: all."
            => page.data.platforms;
        required "signatures": Shape::any(&Shape::Record(SIGNATURE)), "Messages that lead to the page."
            => each(&page.data.signatures, signature);
        required "causes": Shape::any(&Shape::Record(CAUSE)), "Causes, the most likely first."
            => each(&page.data.causes, |own| cause(cx, &page.head, own));
        required "solutions": Shape::any(&Shape::Record(SOLUTION)), "Solutions."
            => each(&page.data.solutions, solution);
        required "related": SLUGS, RELATED => plain(&page.data.related);
        optional "fields": OWN_FIELDS, DECLARED => own(cx, &page.head, &page.data.own);
        required "changes": Shape::any(&Shape::Record(CHANGE)), "Changes of the page, the latest first."
            => each(&page.data.changes, change);
        or_null "verified": Shape::Date, "The day on which its messages and commands were last found again in a source."
            => page.head.verified.as_ref().map(|date| date.value.to_string());
        required "verified_with": Shape::Map(&Shape::Text), "Versions of the sources that were compared, by tool."
            => pairs(&page.data.evidence.verified_with);
        required "runs": Shape::any(&Shape::Record(RUN)), "Programs that accepted their command lines of the page."
            => each(&page.data.evidence.runs, run);
        required "sources": TEXTS, SOURCES => plain(&page.data.evidence.sources);
    }
}

entry! {
    /// An entry of a declared collection.
    ENTRY: HEAD, fn entry(cx: &'e RenderContext<'e>, page: &'e Page<EntryData>) on head(&page.head); {
        required "collection": Shape::Slug, "Its collection." => page.head.id.folder();
        or_null "description": Shape::Text, "The first sentences of the page."
            => Some(cx.describe(&page.head)).filter(|description| !description.is_empty());
        optional "fields": OWN_FIELDS, DECLARED => own(cx, &page.head, &page.data.own);
        or_null "verified": Shape::Date, "The day on which its facts were last found again in a source."
            => page.head.verified.as_ref().map(|date| date.value.to_string());
        required "sources": TEXTS, SOURCES => plain(&page.data.evidence.sources);
    }
}

/// Returns the values of the declared fields of a page by key.
fn own(cx: &RenderContext<'_>, head: &Head, own: &[OwnValues]) -> Option<Value> {
    let declared = cx.inputs.config.declared.fields(head.id.folder());
    let value = |values: &OwnValues| {
        let field = declared.iter().find(|field| field.name.value == values.name)?;
        Some((values.name.clone(), field.json(values)))
    };
    let own: Map<_, _> = own.iter().filter_map(value).collect();
    (!own.is_empty()).then(|| own.into())
}

entry! {
    /// A model page.
    MODEL: HEAD, fn model(page: &'e Page<ModelData>) on head(&page.head); {
        required "family": Shape::Text, "Family that lists group it under." => page.data.family;
        or_null "hf_id": Shape::Text, "Owner and name on the Hugging Face hub." => page.data.hf_id;
        or_null "licence": Shape::Text, "License of the weights." => page.data.license();
        or_null "released": Shape::Date, RELEASED => page.data.released.map(|date| date.to_string());
        or_null "parameters": COUNT, "Parameters as its publisher counts them."
            => page.data.parameters.as_ref().map(|count| count.value);
        or_null "max_ctx": COUNT, "Largest context, in tokens." => given(page.data.architecture.fields.max_ctx);
        required "sources": TEXTS, SOURCES => plain(&page.data.evidence.sources);
    }
}

entry! {
    /// A model with its hyperparameters and memory figures.
    WHOLE_MODEL: MODEL, fn whole_model(cx: &'e RenderContext<'e>, page: &'e Page<ModelData>) on model(page); {
        or_null "note": Shape::Text, NOTE => page.data.note;
        or_null "released_as": Shape::Text, "Quantization of the published weights, where it is no 16-bit type."
            => value_of(page.data.released_as.as_ref());
        required "architecture": Shape::Record(ARCHITECTURE), "Hyperparameters." => page.data.architecture.json();
        or_null "memory": Shape::Record(MEMORY), "Memory of the model; null where it is not covered."
            => cx.inputs.fits.figures(&page.head.id.slug).map(|figures| memory(cx, figures));
        or_null "not_covered": Shape::Text, "The reason why its memory is not covered." => not_covered(cx, page);
        or_null "runs_on": Shape::Record(RUNS_ON), "The smallest card that holds all of it."
            => smallest_card(cx, page);
    }
}

fn not_covered<'s>(cx: &'s RenderContext<'_>, page: &Page<ModelData>) -> Option<&'s str> {
    match cx.inputs.fits.models.get(&page.head.id.slug) {
        Some(ModelFit::NotCovered(reason)) => Some(reason.as_str()),
        Some(ModelFit::Covered(_)) => None,
        None => Some("no figures were computed"),
    }
}

entry! {
    /// Memory that the driver uses.
    DRIVER, fn driver(least: u64, most: u64) {
        required "least": BYTES, "The least." => least;
        required "most": BYTES, "The most." => most;
    }
}

entry! {
    /// Weights of one quantization.
    WEIGHTS, fn weights(name: &'e str, file: u64, gpu: u64) {
        required "quantization": Shape::Text, "Name of the type in GGUF files." => name;
        required "file_bytes": BYTES, "All tensors of the file." => file;
        required "gpu_bytes": BYTES, "Weights on the GPU, with all layers there." => gpu;
    }
}

entry! {
    /// Buffers for one cache type and context.
    BUFFERS, fn buffers(cache_type: &'e str, ctx: u64, cache: u64, compute: u64) {
        required "cache_type": Shape::Text, "Type of K and of V." => cache_type;
        required "ctx": COUNT, "Context in tokens." => ctx;
        required "cache_bytes": BYTES, "KV cache and state." => cache;
        required "compute_bytes": BYTES, "Compute buffer." => compute;
    }
}

entry! {
    /// Memory figures. Weights do not depend on the context, nor buffers on the quantization: their sums are exact.
    MEMORY, fn memory(cx: &'e RenderContext<'e>, figures: &'e Figures) {
        required "driver_bytes": Shape::Record(DRIVER), "Memory of the driver on a GPU, in addition to the buffers."
            => driver(cx.inputs.fits.driver.0, cx.inputs.fits.driver.1);
        required "weights": Shape::any(&Shape::Record(WEIGHTS)),
            "Weights by quantization; they do not depend on the context." => all_weights(cx, figures);
        required "buffers": Shape::any(&Shape::Record(BUFFERS)),
            "Memory in addition to the weights, by cache type and context, for one sequence."
            => all_buffers(figures);
    }
}

fn all_weights<'e>(cx: &'e RenderContext<'e>, figures: &'e Figures) -> Vec<impl Serialize + 'e> {
    let quants = cx.inputs.fits.quants.iter().zip(&figures.quants);
    quants.filter_map(|(name, fit)| fit.as_ref().map(|fit| weights(name, fit.file, fit.gpu))).collect()
}

fn all_buffers(figures: &Figures) -> Vec<impl Serialize> {
    let buffers = CACHE_TYPES.into_iter().enumerate().flat_map(|(cache, cache_type)| {
        CONTEXTS.into_iter().filter(|ctx| *ctx <= figures.max_ctx).filter_map(move |ctx| {
            let run = Run::plain(cache);
            Some(buffers(cache_type, ctx, figures.cache(run, ctx), figures.compute(run, ctx)?))
        })
    });
    buffers.collect()
}

entry! {
    /// The smallest GPU that holds a whole model, with its settings.
    RUNS_ON, fn runs_on_entry(quant: &'e str, ctx: u64, needs: u64, memory_gib: Option<f64>, badge: &'e str) {
        required "quantization": Shape::Text, "Of the weights." => quant;
        required "ctx": COUNT, "Context in tokens." => ctx;
        required "needs_bytes": BYTES, "Weights, cache and compute buffer." => needs;
        or_null "memory_gib": Shape::Number, "Memory of the smallest card; null where no single card holds it."
            => memory_gib;
        required "badge": Shape::Text, "Address of a picture that says so, below the site's root."
            => format!("/{badge}");
    }
}

fn smallest_card(cx: &RenderContext<'_>, page: &Page<ModelData>) -> Option<Value> {
    let answer = cx.runs_on(page)?;
    let (run, memory_gib) = (&answer.run, answer.card.map(|card| card.memory_gib));
    Some(json!(runs_on_entry(&run.quant_name, run.ctx, run.total(), memory_gib, &answer.badge)))
}

entry! {
    /// Memory that programs see on a system.
    VISIBLE, fn visible_on(data: &'e DeviceData, system: System) {
        required "system": System::SHAPE, "The system." => system;
        required "low_bytes": BYTES, "Least, with the default settings." => on_system(data, system).low.0;
        required "high_bytes": BYTES, "Most that the system can make visible." => on_system(data, system).high.0;
        or_null "source": Shape::Text, "Program and log; null for the worst case of similar devices."
            => data.reported(system, data.memory_bytes()).map(|report| report.source.as_str());
    }
}

fn on_system(data: &DeviceData, system: System) -> BytesRange {
    data.visible_on(&[system], data.memory_bytes())
}

fn visible(data: &DeviceData) -> Vec<impl Serialize> {
    data.systems().iter().map(|system| visible_on(data, *system)).collect()
}

entry! {
    /// A hardware page.
    DEVICE: HEAD, fn device(page: &'e Page<DeviceData>) on head(&page.head); {
        required "vendor": Vendor::SHAPE, "Vendor of the device." => page.data.vendor;
        required "class": DeviceClass::SHAPE, "Class of the device." => page.data.class;
        or_null "architecture": Shape::Text, "Name of the architecture." => page.data.architecture;
        or_null "generation": Shape::Text, "Name of the product line." => page.data.generation;
        required "memory_bytes": BYTES, "Memory; of unified memory the largest option." => page.data.memory_bytes();
        required "visible_bytes": BYTES, "Memory that programs see; verdicts are for this much."
            => page.data.visible_bytes();
        required "visible": Shape::any(&Shape::Record(VISIBLE)), "The same by system, with its source."
            => visible(&page.data);
        required "memory_options_gib": Shape::any(&Shape::Number), "Sizes it is sold with, where there are several."
            => page.data.memory_options_gb;
        required "unified": Shape::Flag, "Whether GPU and system share the memory." => page.data.unified;
        or_null "memory_type": Shape::Text, "Kind of memory." => page.data.memory_type;
        or_null "bus_bits": COUNT, "Width of the memory bus." => page.data.bus_bits;
        or_null "bandwidth_gbps": Shape::Number, "Memory bandwidth in GB/s, where a second source confirms it."
            => page.data.bandwidth_gbps;
        or_null "tdp_w": COUNT, "Power limit in watts." => page.data.tdp_w;
        or_null "compute_capability": Shape::Text, "CUDA compute capability." => page.data.compute_capability;
        or_null "released": Shape::Date, RELEASED => page.data.released.map(|date| date.to_string());
        or_null "note": Shape::Text, NOTE => page.data.note;
        required "sources": TEXTS, SOURCES => plain(&page.data.evidence.sources);
    }
}

entry! {
    /// A tool page.
    TOOL: HEAD, fn tool(page: &'e Page<ToolData>) on head(&page.head); {
        required "homepage": Shape::Url, "Home page of the tool." => page.data.homepage;
    }
}

entry! {
    /// A guide.
    GUIDE: HEAD, fn guide(page: &'e Page<GuideData>) on head(&page.head); {
        required "related": SLUGS, RELATED => plain(&page.data.related);
    }
}
