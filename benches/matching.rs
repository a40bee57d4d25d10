//! `cargo bench --bench matching`: steps and time of hostile signatures, by their number.

use std::time::Instant;

use kbgen_signature::{Index, Kind, Page, Pattern, Signature};

use hostile_patterns::families;

#[path = "../tests/it/hostile_patterns.rs"]
mod hostile_patterns;

/// Numbers of patterns; the last is compared with the first.
const COUNTS: [usize; 3] = [100, 1_000, 10_000];

#[expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
fn main() {
    println!(
        "{:<36} {:>8} {:>12} {:>10} {:>10} {:>8}",
        "family", "patterns", "steps", "steps/char", "ms", "skipped"
    );
    for family in 0..families(1).len() {
        let mut all = Vec::new();
        for count in COUNTS {
            let family = families(count).remove(family);
            let page = |(at, text): (usize, &String)| Page {
                slug: format!("page-{at}"),
                kind: Kind::Cause,
                signatures: Pattern::parse(text).into_iter().map(Signature::of).collect(),
                causes: Vec::new(),
            };
            let pages: Vec<Page> = family.patterns.iter().enumerate().map(page).collect();
            let index = Index::build(&pages, &[]);
            let begun = Instant::now();
            let read = index.diagnose(&family.log);
            let ms = begun.elapsed().as_secs_f64() * 1e3;
            let characters = family.log.chars().filter(|c| !c.is_whitespace()).count();
            println!(
                "{:<36} {count:>8} {:>12} {:>10.1} {ms:>10.2} {:>8}",
                family.name,
                read.steps,
                read.steps as f64 / characters as f64,
                read.skipped.map_or("no".to_string(), |line| format!("line {line}")),
            );
            all.push(read.steps.max(1) as f64);
        }
        println!("{:<36} ratio of steps {:.2}", "", all[COUNTS.len() - 1] / all[0]);
    }
}
