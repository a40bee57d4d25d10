//! The diagnosis of a log as text.

use kbgen_signature::is_typed;

use crate::cli::diagnose::LogDiagnosis;
use crate::config::Config;
use crate::diagnosis::{Evidence, LogReading, figure_label, format_figure};
use crate::escape::{Style, TerminalText, one_line};

/// Figures that only conditions use; they are not printed.
const INTERNAL: [&str; 2] = ["own", "verdict"];

/// Formats the matches and readings.
pub(super) fn describe(found: &LogDiagnosis, config: &Config) -> TerminalText {
    let LogDiagnosis { matches: answers, readings, quotes, end, .. } = found;
    if let Some(problem) = unusable(found) {
        return format!("{problem}\n").into();
    }
    if answers.is_empty() && readings.is_empty() {
        return "no known error found\n".into();
    }
    let mut text = TerminalText::default();
    let is_asserted = answers.first().is_some_and(|first| first.exact || first.found_by == Evidence::Title);
    let readings_name_cause = readings.iter().any(|reading| reading.names_cause);
    let pages_first =
        is_asserted && (answers.iter().any(|answer| answer.names_cause) || !readings_name_cause);
    if !is_asserted {
        push_readings(&mut text, "no page has this message; what the log says:\n\n", readings);
    } else if !pages_first {
        push_readings(&mut text, "what the log says:\n\n", readings);
        if answers[0].exact {
            text.push("pages about messages that do not tell the cause:\n\n");
        } else if answers.iter().all(|answer| is_named(readings, &answer.slug)) {
            return text;
        }
    }
    let found_nothing = if is_asserted || readings.is_empty() { "no known error found; " } else { "" };
    match answers.first().map_or(Evidence::Signature, |first| first.found_by) {
        Evidence::Signature => {}
        Evidence::Weak => {
            text.push(format!("{found_nothing}these pages match only unspecific messages:\n\n"));
        }
        Evidence::Title => text.push("a page has this title or answers this question:\n\n"),
        Evidence::Beginning => text.push("messages of these pages contain this text:\n\n"),
        Evidence::Words if is_typed(end) => text.push("pages that may help:\n\n"),
        Evidence::Words => text.push(format!("{found_nothing}similar pages:\n\n")),
    }
    for (at, answer) in answers.iter().enumerate() {
        text.push(TerminalText::styled(Style::Title, &one_line(&answer.title)));
        text.push("\n");
        if let Some(line) = answer.line {
            let short: String = quotes[at].chars().filter(|c| !c.is_control()).collect();
            text.push(format!("  line {line}: "));
            text.push(TerminalText::styled(Style::Muted, &short));
            text.push("\n");
        }
        let figures: Vec<String> = answer
            .figures
            .iter()
            .filter(|(name, _)| !INTERNAL.contains(name) && name.len() > 1)
            .map(|(name, figure)| (name, format_figure(name, figure)))
            .filter(|(_, figure)| !figure.is_empty() && figure != "unknown")
            .map(|(name, figure)| format!("{} {figure}", figure_label(name)))
            .collect();
        if !figures.is_empty() {
            text.push(format!("  figures: {}\n", one_line(&figures.join(", "))));
        }
        if let Some(conclusion) = &answer.conclusion {
            text.push("  ");
            text.push(TerminalText::styled(Style::Strong, &one_line(conclusion)));
            text.push("\n");
        }
        text.push(format!("  kbgen explain {}\n", answer.slug));
        text.push(format!("  {}{}\n\n", config.base_url, answer.url.trim_start_matches('/')));
    }
    if answers.first().is_some_and(|first| first.names_cause && first.conclusion.is_none()) {
        text.push(
            "if none of the causes on a page applies, your error has another cause: pass more of the log\n\n",
        );
    }
    if pages_first {
        push_readings(&mut text, "what the log says:\n\n", readings);
    }
    text
}

/// Returns why nothing can be found, if the input is no log.
pub(super) fn unusable(found: &LogDiagnosis) -> Option<&'static str> {
    match found.matches.is_empty() {
        true if found.end.trim().is_empty() => {
            Some("the log is empty; pass a file or pipe the output of the program into this command")
        }
        true if found.is_binary => Some("input looks binary; pass the log output of the program"),
        _ => None,
    }
}

/// Returns whether a reading names a page.
fn is_named(readings: &[LogReading], slug: &str) -> bool {
    readings.iter().flat_map(|reading| &reading.pages).any(|page| page.slug == slug)
}

fn push_readings(text: &mut TerminalText, heading: &'static str, readings: &[LogReading]) {
    for (at, reading) in readings.iter().enumerate() {
        if at == 0 {
            text.push(heading);
        }
        text.push(TerminalText::styled(Style::Strong, &one_line(&reading.says)));
        text.push(format!("\n  line {}\n  next: {}\n", reading.line, one_line(&reading.next)));
        for page in &reading.pages {
            text.push(format!("  page: {}\n  kbgen explain {}\n", one_line(&page.title), page.slug));
        }
        text.push("\n");
    }
}
