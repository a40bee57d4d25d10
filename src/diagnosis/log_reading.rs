//! Structural readings of a log for which no page names the cause.

use kbgen_signature::{Diagnosis, Figures, LogEnd, Match, Reading, Traceback, is_failed_import, is_quiet};
use serde::Serialize;

use crate::diagnosis::{DiagnosedPage, DiagnosisDb, Evidence};
use crate::site::kinds::ErrorKind;

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

/// Returns what a log says, unless `answers` have a page that names the cause. A page of a failed import or of a warning does
/// not name the cause if the program went on and another line reports how it failed. Behind a line below the level of an
/// error, the exception that ended the program is read, too.
pub fn read_log(
    db: &DiagnosisDb,
    diagnosis: &Diagnosis,
    log: &LogEnd<'_>,
    answers: &mut [DiagnosedPage],
) -> Vec<LogReading> {
    let causes: Vec<&mut DiagnosedPage> =
        answers.iter_mut().filter(|page| page.exact && page.names_cause).collect();
    let matches = |page: &DiagnosedPage| diagnosis.matches.iter().find(|found| found.slug == page.slug);
    let is_survivable = |page: &&mut DiagnosedPage| matches(page).is_some_and(|found| found.survivable);
    let is_fatal = causes.iter().any(|page| !is_survivable(page));
    let is_mild_cause = |page: &&mut DiagnosedPage| {
        matches(page).is_some_and(|found| found.survivable || is_quiet(log.line(found.line)))
    };
    if is_fatal && !causes.iter().all(is_mild_cause) {
        return Vec::new();
    }
    let traceback = Traceback::read(log.text).map(|traceback| traceback.after(log.skipped_lines));
    let readings = db.index.readings(diagnosis, traceback.as_ref(), log);
    if is_fatal {
        let is_behind = |traceback: &&Traceback| {
            let mut found = causes.iter().filter_map(|page| matches(page));
            found.all(|found| is_other_exception(traceback, found))
        };
        let line = traceback.as_ref().filter(is_behind).map(|traceback| traceback.line);
        let last = readings.into_iter().filter(|reading| Some(reading.line) == line);
        return last.map(|reading| link(db, reading)).collect();
    }
    let failures = Failures::new(&readings, traceback.as_ref(), log);
    let are_survived = !causes.is_empty();
    for page in causes {
        if !matches(page).is_some_and(|found| failures.are_beyond(found)) {
            return Vec::new();
        }
        page.names_cause = false;
    }
    // A page for a message such as `Killed` says as much as readings that do not name the cause.
    let is_brief = diagnosis.matches.iter().any(|found| found.brief && !found.weak);
    let readings = readings.into_iter().filter(|reading| reading.names_cause || !is_brief);
    // The end of a program, or a later report of an error, says more than warnings.
    let is_mild = |page: &&DiagnosedPage| {
        let is_brief = matches(page).is_some_and(|found| found.brief);
        !is_brief && db.errors.get(&page.slug).is_none_or(|error| error.kind != ErrorKind::Wrapper)
    };
    let asserted: Vec<&DiagnosedPage> = answers.iter().filter(|page| page.exact).collect();
    let first_line = asserted.iter().filter_map(|page| page.line).min();
    let are_mild = asserted.iter().all(is_mild);
    // A reading that says where the cause is says more than the title of a page without a cause.
    let has_wrapper_title = answers.first().is_some_and(|page| {
        let kind = db.errors.get(&page.slug).map(|error| error.kind);
        page.found_by == Evidence::Title && kind == Some(ErrorKind::Wrapper)
    });
    let link = |reading: Reading| {
        let reports = reading.ends || !reading.explains;
        let is_later = first_line.is_some_and(|first| reading.line > first);
        let leads = are_mild && reports && is_later && !is_warning(log.line(reading.line));
        let leads = leads || has_wrapper_title && reading.explains;
        let names_cause = reading.names_cause || are_survived && reading.ends || leads;
        link(db, Reading { names_cause, ..reading })
    };
    readings.map(link).collect()
}

/// Reports in a log of how the program failed, except in warnings.
struct Failures<'t> {
    /// Last line that names a cause.
    last_cause: Option<usize>,
    /// Last line that names a cause or how the program ended.
    last_end: Option<usize>,
    traceback: Option<&'t Traceback>,
}

impl<'t> Failures<'t> {
    fn new(readings: &[Reading], traceback: Option<&'t Traceback>, log: &LogEnd<'_>) -> Self {
        let last = |is_failure: fn(&Reading) -> bool| {
            let failures = readings.iter().filter(|reading| is_failure(reading));
            failures.map(|reading| reading.line).filter(|line| !is_warning(log.line(*line))).max()
        };
        Self {
            last_cause: last(|reading| reading.names_cause),
            last_end: last(|reading| reading.names_cause || reading.ends),
            traceback,
        }
    }

    /// Returns whether the program went on after a warning or a failed import, and failed elsewhere.
    fn are_beyond(&self, found: &Match) -> bool {
        let line = Some(found.line);
        if is_warning(&found.quote.line) {
            let with_frames = self.traceback.filter(|traceback| traceback.figures.get("frames").is_some());
            let is_outside = |traceback: &Traceback| !traceback.lines().contains(&found.line);
            return self.last_end > line || with_frames.is_some_and(is_outside);
        }
        let is_handled = self.traceback.is_some_and(|traceback| traceback.first_line > found.line);
        is_handled && is_failed_import(&found.quote.line) && self.last_cause > line
    }
}

/// Returns whether a whole traceback is behind a message and has another one.
fn is_other_exception(traceback: &Traceback, found: &Match) -> bool {
    let figure = |name| traceback.figures.get(name);
    let is_whole = ["frames", "error"].into_iter().all(|name| figure(name).is_some());
    let message = figure("message").map(ToString::to_string);
    let is_other = message.is_none_or(|message| !found.quote.line.contains(&message));
    is_whole && figure("cut_frame").is_none() && traceback.first_line > found.line && is_other
}

/// Returns whether a line is a warning, after which a program goes on. NCCL reports each failure as one.
fn is_warning(line: &str) -> bool {
    line.to_ascii_lowercase().contains("warn") && !line.contains("NCCL WARN")
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
