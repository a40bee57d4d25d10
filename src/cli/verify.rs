//! `kbgen verify`: checks messages, options and environment variables on pages against the source of a program.

mod claims;
mod program;
mod record;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::cli::arguments::upkeep::VerifyOptions;
use crate::cli::arguments::{Arguments, OutputFormat};
use crate::cli::mine::{CheckedSignature, SourceFile, checked_signatures, source_files};
use crate::cli::rewrite::{self, Rewritten};
use crate::cli::terminal::Terminal;
use crate::cli::verify::claims::claims;
use crate::cli::verify::program::Program;
use crate::cli::{Outcome, environment};
use crate::diag::nearest;
use crate::escape::one_line;
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::site::{Head, Kind, Site};

/// Kind of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClaimKind {
    Option,
    Variable,
    Message,
}

/// Result, as written for `--format json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    tool: String,
    /// Number of uses of options and variables on pages.
    claims: usize,
    /// Number of different options and variables.
    names: usize,
    /// Number of signatures that name a place in the program's repository as their source.
    messages: usize,
    /// Pages with claims or messages, of which all occur in the source.
    pages: Vec<String>,
    pub(super) missing: Vec<MissingClaim>,
}

/// An option, variable or message that does not occur in the source.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MissingClaim {
    pub(super) file: String,
    line: usize,
    column: usize,
    kind: ClaimKind,
    pub(super) name: String,
}

pub(super) fn run(arguments: &Arguments, options: &VerifyOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let content = load::read_content(&root, |_| true)?;
    let (site, _) = load::pages(&content, Drafts::Include);
    let report = report(&site, &content, options)?;
    if let Some(version) = &options.record {
        record(&root, &content, &report, version)?;
    }
    match options.format {
        OutputFormat::Json => terminal.print_json(&report),
        OutputFormat::Human => print(&report, terminal),
    }
    Ok(if report.missing.is_empty() { Outcome::Success } else { Outcome::Findings })
}

fn report(site: &Site, content: &Sources, options: &VerifyOptions) -> Result<Report> {
    let slug = options.tool.as_str();
    let Some(tool) = site.tools.iter().find(|tool| tool.head.id.slug == slug) else {
        let near = nearest(slug, site.slugs(Kind::Tool));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        bail!("no tool `{slug}` in `content/tools/`{hint}");
    };
    let (commands, variables) = (&tool.data.commands, &tool.data.variables);
    if commands.is_empty() && variables.is_empty() {
        bail!("`{}` names no `commands` or `variables`; add them to its front matter", tool.head.path);
    }
    let files = source_files(&options.source)?;
    let program = Program::new(&files);
    let signatures = match &tool.data.repository {
        Some(repository) => signatures(site, content, &files, repository),
        None => Vec::new(),
    };
    let mut report = Report {
        tool: slug.to_string(),
        claims: 0,
        names: 0,
        messages: signatures.len(),
        pages: Vec::new(),
        missing: Vec::new(),
    };
    // A variable belongs to the tool with the longest beginning of its name.
    let longest = |name: &str, variables: &[String]| {
        variables.iter().filter(|start| name.starts_with(start.as_str())).map(String::len).max().unwrap_or(0)
    };
    let is_foreign = |name: &str| {
        let own = longest(name, variables);
        site.tools.iter().any(|tool| longest(name, &tool.data.variables) > own)
    };
    let mut names: BTreeMap<String, bool> = BTreeMap::new();
    let has_versions = |kind| matches!(kind, Kind::Error | Kind::Guide | Kind::Tool);
    for head in site.heads().filter(|head| has_versions(head.id.kind)) {
        let text = content.text(head.body.span);
        let tools = tools(site, head);
        let is_named = head.id.kind != Kind::Error || tools.contains(&slug);
        let mut claims = claims(text, commands, variables, tools == [slug]);
        claims.retain(|claim| claim.kind == ClaimKind::Option || (is_named && !is_foreign(&claim.name)));
        let before = report.missing.len();
        for claim in &claims {
            let is_there =
                *names.entry(claim.name.clone()).or_insert_with(|| program.has(claim.kind, &claim.name));
            if !is_there {
                let position = content.get(head.source).position(head.body.span.start + claim.range.start);
                report.missing.push(MissingClaim {
                    file: head.path.clone(),
                    line: position.line,
                    column: position.column,
                    kind: claim.kind,
                    name: claim.name.clone(),
                });
            }
        }
        report.claims += claims.len();
        let messages = signatures.iter().filter(|signature| signature.text.span.source == head.source);
        let has_claims = !claims.is_empty() || messages.clone().next().is_some();
        report.missing.extend(messages.filter(|message| !message.is_printed).map(|message| {
            let position = content.get(head.source).position(message.text.span.start);
            MissingClaim {
                file: head.path.clone(),
                line: position.line,
                column: position.column,
                kind: ClaimKind::Message,
                name: message.text.value.clone(),
            }
        }));
        if has_claims && report.missing.len() == before {
            report.pages.push(head.path.clone());
        }
    }
    report.names = names.len();
    report.pages.sort();
    report.missing.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    Ok(report)
}

/// Returns the signatures whose source is a file in the repository of the program. A message that was observed in an issue
/// may come from a library.
fn signatures(
    site: &Site,
    content: &Sources,
    files: &[SourceFile],
    repository: &str,
) -> Vec<CheckedSignature> {
    let code = format!("{}/blob/", repository.trim_end_matches('/'));
    let mut signatures = checked_signatures(site, content, files);
    signatures.retain(|signature| signature.source.starts_with(&code));
    signatures
}

/// Writes the version of the source into the pages without findings.
fn record(root: &Path, content: &Sources, report: &Report, version: &str) -> Result<()> {
    let mut files = Vec::new();
    for path in &report.pages {
        let Some(id) = content.find(path) else { bail!("cannot read `{path}`") };
        let old = content.get(id).text.to_string();
        let new = record::with_version(&old, &report.tool, version)
            .with_context(|| format!("cannot write the version into `{path}`"))?;
        if new != old {
            files.push(Rewritten { path: path.clone(), old: Some(old), new: Some(new) });
        }
    }
    rewrite::write_all(root, &files)
}

/// Returns the tools that a page is about.
fn tools<'s>(site: &'s Site, head: &'s Head) -> Vec<&'s str> {
    match head.id.kind {
        Kind::Tool => vec![&head.id.slug],
        Kind::Error => {
            let tools = site.error(&head.id.slug).map(|error| error.data.tools.iter());
            tools.into_iter().flatten().map(|tool| tool.value.as_str()).collect()
        }
        _ => Vec::new(),
    }
}

fn print(report: &Report, terminal: &Terminal) {
    for MissingClaim { file, line, column, name, .. } in &report.missing {
        terminal.print(format!(
            "{}:{line}:{column}: `{}` is not in the source\n",
            one_line(file),
            one_line(name)
        ));
    }
    let Report { tool, claims, names, messages, pages, missing } = report;
    terminal.print(format!(
        "{}: {names} options and variables in {claims} places, {messages} messages, {} missing; pages without findings: {}\n",
        one_line(tool),
        missing.len(),
        pages.len()
    ));
}
