//! Structural readings of a log for which no page names the cause.

use kbgen_signature::{Diagnosis, Figures, Index, LogEnd, Reading, Traceback, is_failed_import};
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
    /// Whether it explains a message without the cause.
    #[serde(skip)]
    pub explains: bool,
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

/// Returns what a log says, unless `answers` have a page that names the cause. A page of a failed import does not name the cause if the program went on and a later line does.
pub fn read_log(
    db: &DiagnosisDb,
    index: &Index,
    diagnosis: &Diagnosis,
    log: &LogEnd<'_>,
    answers: &mut [DiagnosedPage],
) -> Vec<LogReading> {
    let causes: Vec<&mut DiagnosedPage> =
        answers.iter_mut().filter(|page| page.exact && page.names_cause).collect();
    let matches = |page: &DiagnosedPage| diagnosis.matches.iter().find(|found| found.slug == page.slug);
    let is_survivable = |page: &&mut DiagnosedPage| matches(page).is_some_and(|found| found.survivable);
    if !causes.iter().all(is_survivable) {
        return Vec::new();
    }
    let traceback = Traceback::read(log.text).map(|traceback| traceback.after(log.skipped_lines));
    let readings = index.readings(diagnosis, traceback.as_ref(), log);
    let last_failure =
        readings.iter().filter(|reading| reading.names_cause).map(|reading| reading.line).max();
    let traceback_start = traceback.map_or(0, |traceback| traceback.first_line);
    for page in causes {
        let is_survived = matches(page).is_some_and(|found| {
            let is_handled =
                traceback_start > found.line || found.quote.to_ascii_lowercase().contains("warn");
            is_failed_import(&found.quote) && is_handled && last_failure > Some(found.line)
        });
        if !is_survived {
            return Vec::new();
        }
        page.names_cause = false;
    }
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
        explains: reading.explains,
        name: reading.slug,
        line: reading.line,
        figures: reading.figures,
        says: reading.says,
        next: reading.next,
    }
}
