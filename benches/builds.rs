//! Whole builds of a corpus of any size.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures and may fail")]

mod corpus;

use std::path::Path;

use corpus::{Code, Corpus, Layout};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["write", layout, code, pages, folder] => {
            corpus::write(
                Corpus { pages: pages.parse().unwrap(), code: code_of(code) },
                layout_of(layout),
                Path::new(folder),
            )
            .unwrap();
        }
        _ => println!("no"),
    }
}
fn layout_of(n: &str) -> Layout {
    match n {
        "hugo" => Layout::Hugo,
        _ => Layout::Ours,
    }
}
fn code_of(n: &str) -> Code {
    match n {
        "plain" => Code::Plain,
        "distinct" => Code::Distinct,
        _ => Code::Repeated,
    }
}
