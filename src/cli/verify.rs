//! `kbgen verify`: checks messages, options and environment variables on pages against the source of a program, and commands
//! by running them.

mod claims;
mod program;
mod record;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::cli::arguments::upkeep::{VerifyEvidence, VerifyOptions};
use crate::cli::arguments::{Arguments, OutputFormat};
use crate::cli::mine::{CheckedSignature, SourceFile, checked_signatures, source_files};
use crate::cli::rewrite::{self, Rewritten};
use crate::cli::terminal::Terminal;
use crate::cli::verify::claims::{claims, command_lines};
use crate::cli::verify::program::Program;
use crate::cli::verify::record::RunRecord;
use crate::cli::{Outcome, environment};
use crate::diag::nearest;
use crate::escape::one_line;
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::site::kinds::ToolData;
use crate::site::{Head, Kind, Site};

/// Kind of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClaimKind {
    Option,
    Variable,
    Message,
    Command,
}

/// Result, as written for `--format json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    tool: String,
    /// Number of uses of options and variables on pages, or of commands.
    claims: usize,
    /// Number of different options and variables, or of commands.
    names: usize,
    /// Number of signatures that name a place in the program's repository as their source.
    messages: usize,
    /// Pages with claims or messages, of which all occur in the source, or with commands, of which all were accepted.
    pages: Vec<String>,
    pub(super) missing: Vec<MissingClaim>,
}

/// An option, variable or message that does not occur in the source, or a command that was rejected.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MissingClaim {
    pub(super) file: String,
    line: usize,
    column: usize,
    kind: ClaimKind,
    pub(super) name: String,
    /// Why a command was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Report {
    fn sort(&mut self) {
        self.pages.sort();
        self.missing.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    }
}

pub(super) fn run(arguments: &Arguments, options: &VerifyOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let content = load::read_content(&root, |_| true)?;
    let (site, _) = load::pages(&content, Drafts::Include);
    let VerifyEvidence { source, run } = &options.evidence;
    let report = match (source, run) {
        (Some(source), _) => source_report(&site, &content, &options.tool, source)?,
        (None, Some(runner)) => {
            let commands = match &options.commands[..] {
                [] => &find_tool(&site, &options.tool)?.commands,
                commands => commands,
            };
            run_report(&site, &content, &options.tool, commands, runner)?
        }
        (None, None) => bail!("pass --source or --run"),
    };
    if let Some(version) = &options.record {
        let date = options.date.unwrap_or_else(environment::today).to_string();
        rewrite_pages(&root, &content, &site, |path, text| {
            let is_clean = report.pages.binary_search(path).is_ok();
            match run {
                None if is_clean => record::with_version(text, &report.tool, version),
                None => Ok(text.to_string()),
                Some(_) => {
                    let run =
                        RunRecord { tool: report.tool.clone(), version: version.clone(), date: date.clone() };
                    record::with_run(text, &report.tool, is_clean.then_some(&run))
                }
            }
        })?;
    }
    match options.format {
        OutputFormat::Json => terminal.print_json(&report),
        OutputFormat::Human => print(&report, options, terminal),
    }
    Ok(if report.missing.is_empty() { Outcome::Success } else { Outcome::Findings })
}

/// Returns the tool with its commands or variables.
fn find_tool<'s>(site: &'s Site, slug: &str) -> Result<&'s ToolData> {
    let Some(tool) = site.tools.iter().find(|tool| tool.head.id.slug == slug) else {
        let near = nearest(slug, site.slugs(Kind::Tool));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        bail!("no tool `{slug}` in `content/tools/`{hint}");
    };
    if tool.data.commands.is_empty() && tool.data.variables.is_empty() {
        bail!("`{}` names no `commands` or `variables`; add them to its front matter", tool.head.path);
    }
    Ok(&tool.data)
}

/// Returns the pages that can have a `runs` and a `verified_with`.
fn pages_with_evidence(site: &Site) -> impl Iterator<Item = &Head> {
    site.heads().filter(|head| matches!(head.id.kind, Kind::Error | Kind::Guide | Kind::Tool))
}

/// Runs the commands of the code blocks of all pages.
fn run_report(
    site: &Site,
    content: &Sources,
    slug: &str,
    starts: &[String],
    runner: &Path,
) -> Result<Report> {
    let mut found = Vec::new();
    for head in pages_with_evidence(site) {
        let text = content.text(head.body.span);
        for line in command_lines(text) {
            if line.in_fence
                && line.runs_any(starts, text)
                && let (Some(first), Some(arguments)) = (line.words.first(), line.arguments(text))
            {
                found.push((head, first.start, arguments));
            }
        }
    }
    let commands: Vec<Vec<String>> = found.iter().map(|(_, _, arguments)| arguments.clone()).collect();
    let reasons = run::run(runner, &commands)?;
    let mut pages: BTreeSet<String> = found.iter().map(|(head, ..)| head.path.clone()).collect();
    let mut missing = Vec::new();
    for ((head, start, arguments), reason) in found.iter().zip(reasons) {
        if reason.is_some() {
            let position = content.get(head.source).position(head.body.span.start + start);
            pages.remove(&head.path);
            missing.push(MissingClaim {
                file: head.path.clone(),
                line: position.line,
                column: position.column,
                kind: ClaimKind::Command,
                name: arguments.join(" "),
                reason,
            });
        }
    }
    let names = commands.iter().collect::<BTreeSet<_>>().len();
    let mut report = Report {
        tool: slug.to_string(),
        claims: commands.len(),
        names,
        messages: 0,
        pages: pages.into_iter().collect(),
        missing,
    };
    report.sort();
    Ok(report)
}

fn source_report(site: &Site, content: &Sources, slug: &str, source: &Path) -> Result<Report> {
    let tool = find_tool(site, slug)?;
    let (commands, variables) = (&tool.commands, &tool.variables);
    let files = source_files(source)?;
    let program = Program::new(&files);
    let signatures = match &tool.repository {
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
    for head in pages_with_evidence(site) {
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
                    reason: None,
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
                reason: None,
            }
        }));
        if has_claims && report.missing.len() == before {
            report.pages.push(head.path.clone());
        }
    }
    report.names = names.len();
    report.sort();
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

/// Rewrites the pages with evidence.
fn rewrite_pages(
    root: &Path,
    content: &Sources,
    site: &Site,
    rewrite: impl Fn(&String, &str) -> Result<String>,
) -> Result<()> {
    let mut files = Vec::new();
    for Head { path, source, .. } in pages_with_evidence(site) {
        let old = content.get(*source).text.to_string();
        let new = rewrite(path, &old).with_context(|| format!("cannot write the version into `{path}`"))?;
        if new != old {
            files.push(Rewritten { path: path.clone(), moved_from: None, old: Some(old), new: Some(new) });
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

fn print(report: &Report, options: &VerifyOptions, terminal: &Terminal) {
    let Report { tool, claims, names, messages, pages, missing } = report;
    for MissingClaim { file, line, column, name, reason, .. } in missing {
        let problem = reason
            .as_deref()
            .map_or("is not in the source".into(), |reason| format!("was rejected: {}", one_line(reason)));
        terminal.print(format!("{}:{line}:{column}: `{}` {problem}\n", one_line(file), one_line(name)));
    }
    let counts = if options.evidence.run.is_some() {
        format!("{names} commands in {claims} places, {} rejected", missing.len())
    } else {
        format!(
            "{names} options and variables in {claims} places, {messages} messages, {} missing",
            missing.len()
        )
    };
    terminal.print(format!("{}: {counts}; pages without findings: {}\n", one_line(tool), pages.len()));
    if let Some(source) = &options.evidence.source
        && !missing.is_empty()
        && missing.len() == claims + messages
    {
        let source = source.display().to_string();
        terminal.message(format!(
            "`{}` has none of these; is it the source of {}?",
            one_line(&source),
            one_line(tool)
        ));
    }
}
