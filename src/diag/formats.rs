//! Machine-readable findings: JSON, GitHub annotations, SARIF.

use serde::Serialize;
use serde_json::{Value, json};

use crate::diag::finding::Diagnostic;
use crate::diag::finding::Rule;
use crate::escape::{self, WorkflowCommands};
use crate::files::{Position, Sources, Span};

#[derive(Serialize)]
struct FindingRow<'a> {
    code: &'a str,
    severity: &'static str,
    #[serde(flatten)]
    location: FindingLocation<'a>,
    /// Message with the related locations.
    message: String,
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct FindingLocation<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl<'a> FindingLocation<'a> {
    fn new(span: Span, sources: &'a Sources) -> Self {
        let source = sources.get(span.source);
        let Position { line, column } = source.position(span.start);
        let end = source.position(span.end);
        Self { file: &source.path, line, column, end_line: end.line, end_column: end.column }
    }

    fn sarif(&self) -> Value {
        json!({
            "artifactLocation": {"uri": self.file},
            "region": {
                "startLine": self.line,
                "startColumn": self.column,
                "endLine": self.end_line,
                "endColumn": self.end_column,
            },
        })
    }
}

fn row<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> FindingRow<'a> {
    let mut message = finding.message.clone();
    for (span, note) in &finding.related {
        let FindingLocation { file, line, column, .. } = FindingLocation::new(*span, sources);
        message.push_str(&format!(" ({note}: {file}:{line}:{column})"));
    }
    FindingRow {
        code: finding.code,
        severity: finding.severity.name(),
        location: FindingLocation::new(finding.span, sources),
        message,
        help: finding.help.as_deref(),
    }
}

/// Formats findings as a JSON array. Lines and columns count from 1, the end is exclusive. Related locations are
/// appended to the message.
pub fn json(found: &[Diagnostic], sources: &Sources) -> String {
    let rows: Vec<_> = found.iter().map(|finding| row(finding, sources)).collect();
    escape::json(&rows)
}

/// Formats findings as workflow commands, which annotate pull requests on GitHub.
pub fn github(found: &[Diagnostic], sources: &Sources) -> WorkflowCommands {
    let mut commands = WorkflowCommands::default();
    for finding in found {
        let row = row(finding, sources);
        let mut message = row.message;
        if let Some(help) = row.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let location = &row.location;
        let [line, end_line] = [location.line, location.end_line].map(|line| line.to_string());
        let [column, end_column] = [location.column, location.end_column].map(|column| column.to_string());
        let mut properties = vec![("file", location.file), ("line", &line), ("endLine", &end_line)];
        if line == end_line {
            properties.extend([("col", column.as_str()), ("endColumn", &end_column)]);
        }
        properties.push(("title", row.code));
        commands.add(row.severity, &properties, &message);
    }
    commands
}

/// Formats findings as SARIF 2.1.0 for code-scanning services. `rules` are all known rules.
pub fn sarif(found: &[Diagnostic], sources: &Sources, rules: &[Rule]) -> String {
    let described: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": {"text": rule.requirement},
                "fullDescription": {"text": rule.why},
            })
        })
        .collect();
    let results: Vec<Value> = found.iter().map(|finding| sarif_result(finding, sources)).collect();
    escape::json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kbgen",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": described,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn sarif_result(finding: &Diagnostic, sources: &Sources) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{} (help: {help})", finding.message),
        None => finding.message.clone(),
    };
    let mut result = json!({
        "ruleId": finding.code,
        "level": finding.severity.name(),
        "message": {"text": text},
        "locations": [{"physicalLocation": FindingLocation::new(finding.span, sources).sarif()}],
    });
    let related = finding.related.iter().map(|(span, note)| {
        json!({"physicalLocation": FindingLocation::new(*span, sources).sarif(), "message": {"text": note}})
    });
    if !finding.related.is_empty() {
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = &finding.fix {
        let mut change = FindingLocation::new(fix.span, sources).sarif();
        let region = change["region"].take();
        result["fixes"] = json!([{
            "description": {"text": finding.help},
            "artifactChanges": [{
                "artifactLocation": change["artifactLocation"],
                "replacements": [{"deletedRegion": region, "insertedContent": {"text": fix.text}}],
            }],
        }]);
    }
    result
}
