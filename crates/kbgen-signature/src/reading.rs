//! Structural readings: what a log says about an error without a page, such as the meaning of an exit code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::figure::{Figure, Figures};
use crate::index::{Diagnosis, Match};
use crate::lazy::Lazy;
use crate::log_line::{has_logger, is_on_line, is_quiet, repeated_cue};
use crate::role::ReadingRole;
use crate::table::Signature;
use crate::template::Template;
use crate::traceback::Traceback;

/// Maximum number of readings of a log.
const MAX_READINGS: usize = 3;

/// Figures that hold the message of a program within its line, as of `{"error": "…"}`.
const MESSAGE_FIGURES: [&str; 4] = ["message", "answer", "failure", "reason"];
/// Maximum number of messages of a log that are read on their own.
const MAX_MESSAGES: usize = 8;

/// The input of the index for one reading: its rule, and the messages that it reads.
#[derive(Debug, Clone)]
pub struct ReadingPage {
    /// The rule.
    pub rule: ReadingRule,
    /// Alternatives; one match is enough. None if the rule reads the traceback.
    pub signatures: Vec<Signature>,
}

/// How a reading puts the figures of a message into words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadingRule {
    /// Identifier of the reading.
    pub slug: String,
    /// Its claim about the cause.
    pub role: ReadingRole,
    /// Place in the answer among those that name the cause, or among those of the same role; smaller comes first.
    pub order: u32,
    /// Whether it reads the traceback in place of a message.
    pub traceback: bool,
    /// Figures that are looked up in a table, in this order.
    pub lookups: Vec<Lookup>,
    /// Meanings of values, for the lookups of all readings.
    pub table: Lazy<BTreeMap<String, String>>,
    /// Sentences; the first one whose condition is true and whose figures are known is used.
    pub says: Lazy<Vec<ReadingText>>,
}

/// A rule without its texts, which a script needs only for an answer.
#[derive(Debug, Serialize)]
pub(crate) struct ReadingHead<'r> {
    slug: &'r str,
    #[serde(skip_serializing_if = "ReadingRole::is_cause")]
    role: ReadingRole,
    order: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    traceback: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lookups: &'r [Lookup],
}

/// Texts of a rule.
#[derive(Debug, Serialize)]
pub struct ReadingTexts<'r> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    table: &'r BTreeMap<String, String>,
    says: &'r [ReadingText],
}

impl ReadingRule {
    pub(crate) fn head(&self) -> ReadingHead<'_> {
        let Self { slug, role, order, traceback, lookups, .. } = self;
        ReadingHead { slug, role: *role, order: *order, traceback: *traceback, lookups }
    }

    pub(crate) fn texts(&self) -> ReadingTexts<'_> {
        ReadingTexts { table: &self.table, says: &self.says }
    }

    /// Returns whether it reads any message by its form.
    fn reads_form(&self) -> bool {
        self.role == ReadingRole::Form
    }

    /// Returns whether it reads every message of a form, or repeats messages.
    fn reads_any(&self) -> bool {
        self.reads_form() || self.role == ReadingRole::Repeat
    }

    /// Returns whether it may read a message. A rule for any message reads only reports of errors, and no text that
    /// consists of several short lines.
    pub(crate) fn may_read(&self, found: &Match, log: &LogEnd<'_>) -> bool {
        let line = log.line(found.line);
        // Without the name of its logger, the message is read on its own.
        let is_message = !self.reads_form() || !has_logger(line);
        !self.reads_any() || !is_quiet(line) && is_message && is_on_line(&found.figures, line)
    }

    /// As [`ReadingRule::may_read`], of a message that is known to be within its line.
    pub(crate) fn may_read_message(&self, found: &Match, log: &LogEnd<'_>) -> bool {
        !self.reads_any() || !is_quiet(log.line(found.line))
    }
}

/// A figure that is the meaning of another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lookup {
    /// The figure with the value.
    pub figure: String,
    /// Slug of the reading with the table.
    pub table: String,
    /// Name of the figure with the meaning.
    pub name: String,
}

/// A sentence, the next step, and the pages about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadingText {
    /// A condition on the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// Sentence that says what the log reports.
    pub text: Template,
    /// The next step.
    pub next: Template,
    /// Slugs of the error pages about this failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
}

/// A structural reading of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Identifier of the reading.
    pub slug: String,
    /// 1-based line of the message.
    pub line: usize,
    /// Extracted figures, sizes in bytes.
    pub figures: Figures,
    /// Sentence that says what the log reports.
    pub says: String,
    /// The next step.
    pub next: String,
    /// Slugs of the error pages about this failure.
    pub pages: Vec<String>,
    /// Whether it names the cause, not only how the program ended or where the cause is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_cause: bool,
    /// Whether it explains a message without the cause: it does not only repeat it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
    /// Whether it says how the program ended, not why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
}

/// Returns the messages of exceptions and error lines, each with its 1-based line, and a sentence for a transcription in a loop.
pub(crate) fn messages(
    diagnosis: &Diagnosis,
    traceback: Option<&Traceback>,
    log: &LogEnd<'_>,
) -> Vec<(usize, String)> {
    let repeated = repeated_cue(&log.lines)
        .map(|(at, text)| (log.skipped_lines + at + 1, format!("A transcription repeats one text: {text}")));
    let raised = traceback.into_iter().flat_map(|traceback| {
        let names = ["message", "root_message"].into_iter();
        names.filter_map(move |name| Some((traceback.line, traceback.figures.get(name)?.to_string())))
    });
    let printed = diagnosis.readings.iter().flat_map(|found| {
        MESSAGE_FIGURES
            .iter()
            .filter_map(move |name| Some((found.line, found.figures.get(name)?.to_string())))
    });
    repeated.into_iter().chain(raised).chain(printed).take(MAX_MESSAGES).collect()
}

/// The end of a log, split into lines.
#[derive(Debug)]
pub struct LogEnd<'l> {
    /// The text.
    pub text: &'l str,
    /// Number of lines before the text.
    pub skipped_lines: usize,
    lines: Vec<&'l str>,
}

impl<'l> LogEnd<'l> {
    /// Splits the end of a log into lines; `skipped_lines` is the number of lines before it.
    pub fn new(text: &'l str, skipped_lines: usize) -> Self {
        Self { text, skipped_lines, lines: text.split('\n').collect() }
    }

    /// Returns a line by its 1-based number in the whole log; empty if it is not in the text.
    pub fn line(&self, number: usize) -> &'l str {
        let at = number.checked_sub(self.skipped_lines + 1);
        at.and_then(|at| self.lines.get(at)).copied().unwrap_or_default()
    }
}

/// A reading with what decides its place in the answer, the most important first.
struct RankedReading {
    /// Whether the program went on after the message.
    is_survived: bool,
    /// Whether the level of its line is below error.
    is_quiet: bool,
    /// Whether it has a form that the exception which ended the program follows.
    is_before_ending: bool,
    role: ReadingRole,
    order: u32,
    reading: Reading,
}

/// Returns what a log says, in the order of the rules, one reading for each line. `messages` has the messages of the log, and
/// those within them.
pub(crate) fn readings(
    rules: &[ReadingRule],
    diagnosis: &Diagnosis,
    messages: &[Match],
    traceback: Option<&Traceback>,
    log: &LogEnd<'_>,
) -> Vec<Reading> {
    let mut found: Vec<RankedReading> = Vec::new();
    let explaining = rules.iter().filter(|rule| rule.role.explains());
    let explaining: Vec<&str> = explaining.map(|rule| rule.slug.as_str()).collect();
    // An exception or a message that only passes on a failure says less than the reading of this failure.
    let is_passed_on = |line| {
        let has_line = |found: &&Match| found.line == line;
        diagnosis.readings.iter().filter(has_line).any(|found| explaining.contains(&found.slug.as_str()))
    };
    // The exception that ended the program.
    let ending = traceback.filter(|traceback| {
        let has = |name| traceback.figures.get(name).is_some();
        has("error") && has("frames") && !has("cut_frame") && !is_passed_on(traceback.line)
    });
    for rule in rules {
        let mut is_survivable = false;
        let reading = match (rule.traceback, traceback) {
            (true, Some(traceback)) => apply(rules, rule, traceback.line, traceback.figures.clone()),
            (true, None) => None,
            (false, _) => messages
                .iter()
                .find(|found| found.slug == rule.slug && !(rule.reads_form() && is_passed_on(found.line)))
                .and_then(|found| {
                    is_survivable = found.survivable;
                    apply(rules, rule, found.line, figures_at(found, traceback))
                }),
        };
        let Some(reading) = reading else { continue };
        let lacks = |figure| reading.figures.get(figure).is_none();
        let role = match rule.traceback {
            // Without frames, the traceback is a single line.
            true if lacks("frames") => ReadingRole::Repeat,
            true if traceback.is_some_and(|read| is_passed_on(read.line)) => ReadingRole::Repeat,
            true if !lacks("cut_frame") => ReadingRole::Outcome,
            _ => rule.role,
        };
        found.push(RankedReading {
            is_survived: is_survivable,
            is_quiet: is_quiet(log.line(reading.line)),
            is_before_ending: rule.reads_form() && ending.is_some_and(|last| last.first_line > reading.line),
            role,
            order: rule.order,
            reading,
        });
    }
    // The program went on after a failed import or a warning if a traceback begins later, or if it crashed later.
    let crashes = found.iter().filter(|one| one.role == ReadingRole::Crash).map(|one| one.reading.line);
    let last_failure = crashes.max().max(traceback.map(|traceback| traceback.first_line));
    for one in &mut found {
        one.is_survived &= last_failure > Some(one.reading.line);
    }
    found.sort_by_key(|one| {
        let RankedReading { is_survived, is_quiet, is_before_ending, role, order, ref reading } = *one;
        // Those that name the cause have one order.
        let role = role.max(ReadingRole::Form);
        (is_survived, !role.names_cause(), is_quiet, is_before_ending, role, order, reading.line)
    });
    if found.first().is_some_and(|one| one.role.names_cause()) {
        found.retain(|one| one.role.names_cause());
    }
    let mut readings: Vec<(ReadingRole, Reading)> = Vec::new();
    for RankedReading { role, reading, .. } in found {
        let has_line = |line| line == reading.line;
        let is_repeated = role == ReadingRole::Repeat && {
            let has_traceback = |other: &Reading| {
                traceback.is_some_and(|read| {
                    read.line == other.line && (read.first_line..=read.line).contains(&reading.line)
                })
            };
            diagnosis.matches.iter().any(|page| has_line(page.line))
                || readings.iter().any(|(_, other)| has_line(other.line) || has_traceback(other))
        };
        // Of a line, one reading says what happened, and another one where the cause is.
        let is_pointer = |role: ReadingRole| role >= ReadingRole::Pointer;
        let is_read = |(other, read): &(ReadingRole, Reading)| {
            has_line(read.line) && is_pointer(*other) == is_pointer(role)
        };
        if !is_repeated && !readings.iter().any(is_read) {
            let (names_cause, explains, ends) = (role.names_cause(), role.explains(), role.ends());
            readings.push((role, Reading { names_cause, explains, ends, ..reading }));
        }
    }
    readings.into_iter().map(|(_, reading)| reading).take(MAX_READINGS).collect()
}

/// Returns the figures of a message, with those of the traceback that ends with it.
fn figures_at(found: &Match, traceback: Option<&Traceback>) -> Figures {
    let mut figures = found.figures.clone().clean();
    if let Some(traceback) = traceback.filter(|traceback| traceback.lines().contains(&found.line)) {
        figures.extend(&traceback.figures);
    }
    figures
}

fn apply(rules: &[ReadingRule], rule: &ReadingRule, line: usize, mut figures: Figures) -> Option<Reading> {
    for lookup in &rule.lookups {
        let table = rules.iter().find(|rule| rule.slug == lookup.table).map(|rule| &rule.table);
        let value = figures.get(&lookup.figure).map(Figure::to_string);
        if let Some(meaning) = value.and_then(|value| look_up(table?, &value)) {
            figures.add(&lookup.name, Figure::Text(meaning.to_owned()));
        }
    }
    let text = |text: &ReadingText| {
        let holds = text.when.as_ref().is_none_or(|when| when.holds(&figures));
        holds.then(|| Some((text.text.fill(&figures)?, text.next.fill(&figures)?, text.pages.clone())))?
    };
    let (says, next, pages) = rule.says.iter().find_map(text)?;
    Some(Reading {
        slug: rule.slug.clone(),
        line,
        figures,
        says,
        next,
        pages,
        names_cause: false,
        explains: false,
        ends: false,
    })
}

/// Returns the meaning of a value, in any case, or else of the module that it is a part of: `a` for `a.b`.
fn look_up<'t>(table: &'t BTreeMap<String, String>, value: &str) -> Option<&'t str> {
    let mut modules = std::iter::successors(Some(value), |value| Some(value.rsplit_once('.')?.0));
    let get = |name: &str| table.get(name).or_else(|| table.get(&name.to_ascii_lowercase()));
    modules.find_map(get).map(String::as_str)
}
