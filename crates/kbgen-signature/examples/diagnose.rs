//! Lists the matches of a small index in a log: `cargo run -p kbgen-signature --example diagnose -- FILE`.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use kbgen_signature::{Index, Kind, Page, Pattern, Signature};

const SIGNATURES: [(&str, &str); 3] = [
    ("cuda-out-of-memory", "CUDA out of memory. Tried to allocate {requested:bytes}"),
    ("port-in-use", "listen tcp {address:word}: bind: address already in use"),
    ("disk-full", "No space left on device"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("pass the log file as the only argument")?;
    let mut pages = Vec::new();
    for (slug, pattern) in SIGNATURES {
        let pattern = Pattern::parse(pattern).map_err(|_| "a pattern is malformed")?;
        pages.push(Page {
            slug: slug.into(),
            kind: Kind::Cause,
            signatures: vec![Signature::of(pattern)],
            causes: Vec::new(),
        });
    }
    for found in Index::build(&pages, &[]).diagnose(&std::fs::read_to_string(path)?).matches {
        println!("line {}: {}: {}", found.line, found.slug, found.quote.line);
    }
    Ok(())
}
