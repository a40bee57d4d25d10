//! The same page rendered by minijinja and by tera: the reason for the engine, kept true.
//!
//! `cargo bench --bench template_engines` prints the median of each and their ratio. The page has a table of 480
//! cells, some of which have to be escaped; both engines must write the same text.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Both dialects have the parts that this template uses.
const TEMPLATE: &str = "<!doctype html>
<title>{{ title }}</title>
<table>
{% for row in rows %}<tr><th>{{ row.name }}</th>{% for cell in row.cells %}<td class=\"{{ cell.verdict }}\">{{ cell.text }}</td>{% endfor %}</tr>
{% endfor %}</table>
";

#[derive(Serialize)]
struct ModelPage {
    title: String,
    rows: Vec<ModelRow>,
}

#[derive(Serialize)]
struct ModelRow {
    name: String,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    verdict: &'static str,
    text: String,
}

/// 40 models by 12 columns.
fn page() -> ModelPage {
    let cell = |model: usize, column: usize| Cell {
        verdict: ["fits", "tight", "no"][(model + column) % 3],
        text: format!("{} GiB & <{column}>", model * 7 + column),
    };
    let row = |model: usize| ModelRow {
        name: format!("Model {model} <Instruct>"),
        cells: (0..12).map(|column| cell(model, column)).collect(),
    };
    ModelPage { title: "Memory & verdicts".to_string(), rows: (0..40).map(row).collect() }
}

/// Median time of one call over several rounds.
fn median(mut call: impl FnMut() -> String) -> Duration {
    const ROUNDS: usize = 31;
    const CALLS: u32 = 20;
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(call());
            }
            start.elapsed() / CALLS
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn main() {
    let page = page();
    let mut minijinja = minijinja::Environment::new();
    minijinja.add_template("page.html", TEMPLATE).unwrap();
    let mut tera = tera::Tera::default();
    tera.add_raw_template("page.html", TEMPLATE).unwrap();

    // Values are created for each call, like in a build.
    let with_minijinja = || {
        let values = minijinja::Value::from(minijinja::value::Serde(&page));
        minijinja.get_template("page.html").unwrap().render(values).unwrap()
    };
    let with_tera = || {
        let mut values = tera::Context::new();
        values.insert("title", &page.title);
        values.insert("rows", &page.rows);
        tera.render("page.html", &values).unwrap()
    };
    let same = |text: String| text.replace("&#x27;", "'").replace("&#x2f;", "/").trim().to_string();
    assert_eq!(same(with_minijinja()), same(with_tera()), "both engines write the same page");

    let (first, second) = (median(with_minijinja), median(with_tera));
    println!("minijinja {first:?}, tera {second:?} for a page of 480 cells");
    println!("minijinja / tera = {:.2}", first.as_secs_f64() / second.as_secs_f64());
}
