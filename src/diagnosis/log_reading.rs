//! Structural readings of a log for which no page names the cause.

use kbgen_signature::{Diagnosis, Figures, Index, Reading, Traceback};
use serde::Serialize;

use crate::diagnosis::{DiagnosedPage, DiagnosisDb};

/// A structural reading, in the form of the JSON output. It is no page, and asserts no error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogReading {
    /// Name of the reading.
    pub name: String,
    /// 1-based line of the log.
    pub line: usize,
    /// Extracted figures, sizes in bytes.
    pub figures: Figures,
    /// Sentence that says what the log reports.
    pub says: String,
    /// The next step.
    pub next: String,
    /// Pages that apply.
    pub pages: Vec<PageLink>,
    /// Whether it names the cause, and so comes before a page that does not.
    #[serde(skip)]
    pub names_cause: bool,
    /// Whether it only repeats a message.
    #[serde(skip)]
    pub is_repetition: bool,
}

/// A link to an error page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageLink {
    /// Slug of the page.
    pub slug: String,
    /// Title of the page.
    pub title: String,
    /// Address from the root of the site, with a leading slash.
    pub url: String,
}

/// Returns what a log says, unless `answers` have a page that names the cause. `text` is the end of the log, after
/// `skipped_lines` lines.
pub fn read_log(
    db: &DiagnosisDb,
    index: &Index,
    diagnosis: &Diagnosis,
    (text, skipped_lines): (&str, usize),
    answers: &[DiagnosedPage],
) -> Vec<LogReading> {
    if answers.iter().any(|answer| answer.exact && answer.names_cause) {
        return Vec::new();
    }
    let traceback = Traceback::read(text).map(|traceback| traceback.after(skipped_lines));
    let readings = index.readings(diagnosis, traceback.as_ref());
    // A page for a message such as `Killed` says as much as readings that do not name the cause.
    let is_brief = diagnosis.matches.iter().any(|found| found.brief && !found.weak);
    let readings = readings.into_iter().filter(|reading| reading.names_cause || !is_brief);
    readings.map(|reading| link(db, reading)).collect()
}

fn link(db: &DiagnosisDb, reading: Reading) -> LogReading {
    let page = |slug: &String| {
        let error = db.errors.get(slug)?;
        Some(PageLink { slug: slug.clone(), title: error.title.clone(), url: format!("/{}", error.address) })
    };
    LogReading {
        pages: reading.pages.iter().filter_map(page).collect(),
        names_cause: reading.names_cause,
        is_repetition: reading.is_repetition,
        name: reading.slug,
        line: reading.line,
        figures: reading.figures,
        says: reading.says,
        next: reading.next,
    }
}
