//! Structural readings: what a log says about an error without a page, such as the meaning of an exit code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::figure::{Figure, Figures};
use crate::index::{Diagnosis, Match};
use crate::table::Signature;
use crate::template::Template;
use crate::traceback::Traceback;

/// Maximum number of readings of a log.
const MAX_READINGS: usize = 3;

/// Readings from this order up to [`TRACEBACK_ORDER`] read any message by its form. They say nothing of a message that
/// only passes on a failure, which a reading from [`FALLBACK_ORDER`] has.
const MESSAGE_ORDER: u32 = 70;
const TRACEBACK_ORDER: u32 = 80;
/// Readings of this order and later ones do not name the cause; they are left out where another reading does.
const FALLBACK_ORDER: u32 = 90;
/// Readings of this order and later ones only repeat a message; they are left out where a page or another reading has
/// its line.
const REPEATING_ORDER: u32 = 95;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadingRule {
    /// Identifier of the reading.
    pub slug: String,
    /// Place in the answer; smaller comes first.
    pub order: u32,
    /// Whether it reads the traceback in place of a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traceback: bool,
    /// Meanings of values, for the lookups of all readings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub table: BTreeMap<String, String>,
    /// Figures that are looked up in a table, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lookups: Vec<Lookup>,
    /// Sentences; the first one whose condition is true and whose figures are known is used.
    pub says: Vec<ReadingText>,
    /// Slugs of error pages that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
}

/// A rule without its texts, which a script needs only for an answer.
#[derive(Debug, Serialize)]
pub(crate) struct ReadingHead<'r> {
    slug: &'r str,
    order: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    traceback: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lookups: &'r [Lookup],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pages: &'r [String],
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
        let Self { slug, order, traceback, lookups, pages, .. } = self;
        ReadingHead { slug, order: *order, traceback: *traceback, lookups, pages }
    }

    pub(crate) fn texts(&self) -> ReadingTexts<'_> {
        ReadingTexts { table: &self.table, says: &self.says }
    }

    /// Returns whether it names the cause, not only how the program ended or where the cause is.
    pub(crate) fn names_cause(&self) -> bool {
        self.order < FALLBACK_ORDER
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

/// A sentence and the next step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadingText {
    /// A condition on the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// Sentence that says what the log reports.
    pub text: Template,
    /// The next step.
    pub next: Template,
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
    /// Slugs of error pages that apply.
    pub pages: Vec<String>,
    /// Whether it names the cause, not only how the program ended or where the cause is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_cause: bool,
    /// Whether it explains a message without the cause: it does not only repeat it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explains: bool,
}

/// Returns the messages of exceptions and error lines, each with its 1-based line.
pub(crate) fn messages(diagnosis: &Diagnosis, traceback: Option<&Traceback>) -> Vec<(usize, String)> {
    let raised = traceback.into_iter().flat_map(|traceback| {
        let names = ["message", "root_message"].into_iter();
        names.filter_map(move |name| Some((traceback.line, traceback.figures.get(name)?.to_string())))
    });
    let printed = diagnosis.readings.iter().flat_map(|found| {
        MESSAGE_FIGURES
            .iter()
            .filter_map(move |name| Some((found.line, found.figures.get(name)?.to_string())))
    });
    raised.chain(printed).take(MAX_MESSAGES).collect()
}

/// Returns what a log says, in the order of the rules. `messages` has the messages of the log, and those within them.
pub(crate) fn readings(
    rules: &[ReadingRule],
    diagnosis: &Diagnosis,
    messages: &[Match],
    traceback: Option<&Traceback>,
) -> Vec<Reading> {
    let mut found: Vec<(bool, u32, Reading)> = Vec::new();
    let is_fallback = |rule: &&ReadingRule| (FALLBACK_ORDER..REPEATING_ORDER).contains(&rule.order);
    let fallback_slugs: Vec<&str> = rules.iter().filter(is_fallback).map(|rule| rule.slug.as_str()).collect();
    // An exception or a message that only passes on a failure says less than the reading of this failure.
    let is_passed_on = |line| {
        let has_line = |found: &&Match| found.line == line;
        diagnosis.readings.iter().filter(has_line).any(|found| fallback_slugs.contains(&found.slug.as_str()))
    };
    for rule in rules {
        let reads_form = (MESSAGE_ORDER..TRACEBACK_ORDER).contains(&rule.order);
        let mut is_survived = false;
        let reading = match (rule.traceback, traceback) {
            (true, Some(traceback)) => apply(rules, rule, traceback.line, traceback.figures.clone()),
            (true, None) => None,
            (false, _) => messages
                .iter()
                .find(|found| found.slug == rule.slug && !(reads_form && is_passed_on(found.line)))
                .and_then(|found| {
                    // The program went on after a failed import or a warning if a traceback begins later.
                    is_survived =
                        found.survivable && traceback.is_some_and(|last| last.first_line > found.line);
                    apply(rules, rule, found.line, figures_at(found, traceback))
                }),
        };
        let lacks = |figure| reading.as_ref().is_some_and(|reading| reading.figures.get(figure).is_none());
        let order = match rule.traceback {
            // Without frames, the traceback is a single line.
            true if lacks("frames") => REPEATING_ORDER,
            true if !lacks("cut_frame") || traceback.is_some_and(|read| is_passed_on(read.line)) => {
                FALLBACK_ORDER
            }
            _ => rule.order,
        };
        found.extend(reading.map(|reading| (is_survived, order, reading)));
    }
    found.sort_by_key(|(is_survived, order, reading)| (*is_survived, *order, reading.line));
    if found.first().is_some_and(|(_, order, _)| *order < FALLBACK_ORDER) {
        found.retain(|(_, order, _)| *order < FALLBACK_ORDER);
    }
    let mut readings: Vec<Reading> = Vec::new();
    for (_, order, reading) in found {
        let mut lines =
            readings.iter().map(|other| other.line).chain(diagnosis.matches.iter().map(|page| page.line));
        if order < REPEATING_ORDER || lines.all(|line| line != reading.line) {
            let explains = (FALLBACK_ORDER..REPEATING_ORDER).contains(&order);
            readings.push(Reading { names_cause: order < FALLBACK_ORDER, explains, ..reading });
        }
    }
    readings.truncate(MAX_READINGS);
    readings
}

/// Returns the figures of a message, with those of the traceback that ends with it.
fn figures_at(found: &Match, traceback: Option<&Traceback>) -> Figures {
    let mut figures = found.figures.clone();
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
        holds.then(|| Some((text.text.fill(&figures)?, text.next.fill(&figures)?)))?
    };
    let (says, next) = rule.says.iter().find_map(text)?;
    Some(Reading {
        slug: rule.slug.clone(),
        line,
        figures,
        says,
        next,
        pages: rule.pages.clone(),
        names_cause: false,
        explains: false,
    })
}

/// Returns the meaning of a value, in any case, or else of the module that it is a part of: `a` for `a.b`.
fn look_up<'t>(table: &'t BTreeMap<String, String>, value: &str) -> Option<&'t str> {
    let mut value = value;
    loop {
        let found = table.get(value).or_else(|| table.get(&value.to_ascii_lowercase()));
        if let Some(found) = found {
            return Some(found);
        }
        (value, _) = value.rsplit_once('.')?;
    }
}
