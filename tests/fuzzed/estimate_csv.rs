//! Bytes as a batch of `kbgen estimate`: each row is answered in its place, or the batch ends with the line of its
//! first fault.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use csv::{ByteRecord, ReaderBuilder};
use kbgen::estimate_csv;
use kbgen::files::Sources;
use kbgen::fit;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::{Kind, Names};
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::build::Build;

use super::place::repository;

/// Estimates the batch.
pub fn hold(data: &[u8]) {
    let mut written = Vec::new();
    let fault = estimate_csv(data, &mut written, models(), names(), Build::default());
    let fault = fault.err().map(|fault| format!("{fault:#}"));
    let answers = records(&written);
    if let Some(fault) = &fault {
        let line = fault.strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        let lines = data.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
        assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "{fault} of {lines} lines");
    }
    let questions = records(data);
    assert!(answers.len() <= questions.len(), "more answers than questions");
    assert!(fault.is_some() || answers.len() == questions.len(), "a row is left out");
    for (at, (question, answer)) in questions.iter().zip(&answers).enumerate() {
        assert_eq!(answer.len(), question.len() + 2, "row {at}");
        assert!(question.iter().zip(answer).all(|(asked, echoed)| asked == echoed), "row {at} is another");
        let (bytes, status) = (&answer[question.len()], &answer[question.len() + 1]);
        let is_figure = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
        match at {
            0 => assert_eq!((bytes, status), (b"estimate_bytes".as_slice(), b"status".as_slice())),
            _ => assert!(
                (status == b"ok" && is_figure) || (status.starts_with(b"not covered: ") && bytes.is_empty()),
                "row {at}: {answer:?}"
            ),
        }
    }
}

fn records(text: &[u8]) -> Vec<ByteRecord> {
    let reader = ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text);
    reader.into_byte_records().map_while(Result::ok).collect()
}

/// Returns the models of the knowledge base.
fn models() -> &'static BTreeMap<String, Architecture> {
    static MODELS: OnceLock<BTreeMap<String, Architecture>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let (all, _) = load::read(&repository("")).expect("the repository can be read");
        let mut sources = Sources::default();
        for (_, source) in all.under("content/models/") {
            sources.add(source.path.as_str(), source.text.as_str());
        }
        let (site, _) = load::pages(&sources, Drafts::Include);
        let known = site.models.iter().filter_map(|page| {
            Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
        });
        known.collect()
    })
}

/// Returns the names of the models, read once.
fn names() -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| {
        let (sources, _) = load::read(&repository("")).expect("a folder");
        Names::new(&load::pages(&sources, Drafts::Exclude).0, Kind::Model)
    })
}
