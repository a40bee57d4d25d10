//! Error page as plain data: front matter and body.

use super::blocks::{Code, block};
use super::words::{Dice, name, paragraph};
use super::{Corpus, TOOLS, category};

/// One error page.
pub struct Article {
    pub slug: String,
    pub category: String,
    /// Names of programs, separated by commas.
    pub tools: String,
    pub title: String,
    /// Front matter between its lines of `---`, without the key that names the kind of page.
    pub front: String,
    pub body: String,
}

/// Returns the slug of a page.
pub fn slug(page: usize) -> String {
    format!("{}-{page}", name(page))
}

const COSTS: [&str; 4] = ["none", "speed", "quality", "money"];
const SOLUTIONS: [(&str, &str); 5] = [
    ("free-the-card", "Stop what else holds the card"),
    ("smaller-context", "Ask for a smaller context"),
    ("smaller-quant", "Take a smaller quantization"),
    ("update-the-driver", "Update the driver"),
    ("other-build", "Use another build"),
];

impl Article {
    /// Generates a page from a number.
    pub fn new(corpus: Corpus, page: usize) -> Self {
        let mut dice = Dice::new(page);
        let solutions: Vec<(&str, &str)> =
            (0..2 + dice.below(2)).map(|at| SOLUTIONS[(page + at) % SOLUTIONS.len()]).collect();
        let tools = tools(page);
        let title = title(page);
        let front = front(&mut dice, page, &tools, &title, &solutions);
        let body = body(&mut dice, corpus.code, page, &solutions);
        Self { slug: slug(page), category: category(page), tools, title, front, body }
    }
}

/// Returns the name that eight neighbors share.
fn family(page: usize) -> String {
    name(page / 8 + 1_000_000)
}

fn title(page: usize) -> String {
    format!("{} could not reserve its {} buffer", capital(&name(page)), family(page))
}

fn tools(page: usize) -> String {
    let tools = [TOOLS[page % TOOLS.len()], TOOLS[(page / 12 + 5) % TOOLS.len()]];
    if tools[0] == tools[1] { tools[0].to_string() } else { tools.join(", ") }
}

fn front(dice: &mut Dice, page: usize, tools: &str, title: &str, solutions: &[(&str, &str)]) -> String {
    let word = name(page);
    let family = family(page);
    let thread = |number: usize| format!("https://github.com/ggml-org/llama.cpp/issues/{}", 1000 + number);
    let mut front = format!("title: \"{title}\"\nsignatures:\n");
    front.push_str(&format!(
        "  - pattern: \"{word}: failed to reserve {{requested:bytes}} for the buffer of {family}\"\n    source: {}\n    samples:\n      - \"llama_init: {word}: failed to reserve 1.50 GiB for the buffer of {family}\"\n",
        thread(page)
    ));
    front.push_str(&format!(
        "  - all: [\"{family}_map_{word} returned {{code:int}}\", \"while loading {{file:path}}\"]\n    source: {}\n    samples:\n      - \"error: {family}_map_{word} returned -12\\nwhile loading /models/{word}.gguf\"\n",
        thread(page + 1)
    ));
    if page.is_multiple_of(2) {
        front.push_str(&format!(
            "  - pattern: \"RuntimeError: {family} ran out of blocks in {word}\"\n    source: {}\n    samples:\n      - \"Traceback (most recent call last):\\nRuntimeError: {family} ran out of blocks in {word}\"\n",
            thread(page + 2)
        ));
    }
    front.push_str(&format!(
        "near_misses:\n  - \"{word}: reserved 1.50 GiB\"\nseverity: {}\ntools: [{tools}]\n",
        ["fatal", "degraded"][dice.below(2)],
    ));
    if page.is_multiple_of(3) {
        front.push_str("platforms: [linux, windows]\n");
    }
    front.push_str("causes:\n");
    for (at, (id, _)) in solutions.iter().enumerate() {
        front.push_str(&format!(
            "  - id: cause-{at}\n    title: \"{}\"\n    tell: \"`nvidia-smi` shows {} MiB in use before {word} starts\"\n    solutions: [{id}]\n",
            ["The card is full", "The context is too large", "The library does not fit"][at],
            dice.below(24) * 512
        ));
    }
    front.push_str("solutions:\n");
    for (at, (id, _)) in solutions.iter().enumerate() {
        let cost = COSTS[(page + at) % COSTS.len()];
        front.push_str(&format!("  - {{id: {id}, cost: {cost}}}\n"));
    }
    if page > 48 {
        front.push_str(&format!("related: [{}, {}]\n", slug(page - 24), slug(page - 48)));
    }
    front.push_str(&format!(
        "verified: 2026-{:02}-{:02}\nverified_with: {{llama-cpp: \"b{}\"}}\nsources:\n  - \"{}\"\n  - \"{}\"\n",
        1 + page % 10,
        1 + page % 28,
        5000 + page % 900,
        thread(page),
        thread(page + 1)
    ));
    front
}

fn body(dice: &mut Dice, code: Code, page: usize, solutions: &[(&str, &str)]) -> String {
    let mut number = page * 8;
    let mut block = |dice: &mut Dice| {
        number += 1;
        block(dice, code, number)
    };
    let other = |dice: &mut Dice| slug(dice.below(page.max(1)));
    let first = block(dice);
    let mut body = format!("{}\n\n{}\n{first}\n", paragraph(dice, 45), paragraph(dice, 45));
    body.push_str(&format!(
        "## What is happening\n\n{} See [{}](/errors/{}/) and [free the card](/guides/free-the-card/).\n\n| model | weights | cache |\n| --- | ---: | ---: |\n",
        paragraph(dice, 80),
        "a page near this one",
        other(dice)
    ));
    for row in 0..4 {
        let gib = dice.below(400) as f64 / 10.0;
        body.push_str(&format!("| `{}` | {gib:.1} GiB | {:.1} GiB |\n", name(page + row), gib / 8.0));
    }
    for (at, (id, title)) in solutions.iter().enumerate() {
        let next = solutions.get(at + 1).map_or("check", |(id, _)| id);
        let words = 40 + dice.below(60);
        let text = paragraph(dice, words);
        let shown = block(dice);
        body.push_str(&format!(
            "\n## {title} {{#{id}}}\n\n{text} It is told in [full](https://example.org/{}/) too.\n\n{shown}\n- {}\n- {}\n\n**If it fails:** go on with [the next](#{next}), or with [{}](/errors/{}/).\n",
            name(page + at),
            paragraph(dice, 12),
            paragraph(dice, 12),
            "another page",
            other(dice)
        ));
    }
    let last = block(dice);
    body.push_str(&format!("\n## Check that it worked {{#check}}\n\n{}\n\n{last}", paragraph(dice, 25)));
    body
}

fn capital(word: &str) -> String {
    format!("{}{}", word[..1].to_uppercase(), &word[1..])
}
