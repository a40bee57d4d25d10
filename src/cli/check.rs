//! `kbgen check`: everything that is wrong with the content, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::cli::arguments::{Arguments, CheckFormat, CheckOptions};
use crate::cli::changed::{self, Change};
use crate::cli::kept::Kept;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::diag::{self, Diagnostic, Severity};
use crate::engine::DryRun;
use crate::files::{Sources, Span};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Analysis, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;

pub(super) fn run(
    arguments: &Arguments,
    options: &CheckOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (mut sources, faults) = load::read(&root)?;
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = SiteOptions {
        today: options.date.unwrap_or_else(world::today),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(kept.engine()),
    };
    let (draft, mut found) = judge(&sources, faults, &order)?;
    kept.leave(&order.engine, terminal);
    add_tracked(&mut found, &mut sources, &root);
    let mut elsewhere = 0;
    if let Some(revision) = &options.changed {
        let all = found.len();
        keep_what_changed(&mut found, &Change::since(&root, revision)?, &sources, &order)?;
        elsewhere = all - found.len();
    }
    let found = &found;
    match options.format {
        CheckFormat::Human if found.is_empty() => {
            terminal.print(format!("no findings in {} pages\n", draft.site.heads().count()));
            if elsewhere > 0 {
                terminal.say(format!("not shown: {}", old_findings(elsewhere)));
            }
        }
        CheckFormat::Human => terminal.print_findings(found, &sources),
        CheckFormat::Json => terminal.print(diag::json(found, &sources)),
        CheckFormat::Github => terminal.print_commands(&diag::github(found, &sources)),
        CheckFormat::Sarif => terminal.print(diag::sarif(found, &sources, &pipeline::rules())),
    }
    let has_errors = found.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_errors { Outcome::Findings } else { Outcome::Fine })
}

/// Reports kbgen's own files that git tracks: they reach everybody who checks the site out.
fn add_tracked(found: &mut Vec<Diagnostic>, sources: &mut Sources, root: &Path) {
    let own = load::own_files(root);
    let paths: Vec<&str> = own.iter().map(|file| file.path.as_str()).collect();
    let tracked = changed::tracked(root, &paths);
    for file in own.iter().filter(|file| tracked.contains(&file.path)) {
        found.retain(|finding| sources.get(finding.span.source).path != file.path);
        let place = Span::top(sources.add_unread(file.path.as_str(), ""));
        found.push(file.tracked(place));
    }
    Diagnostic::sort(found, sources);
}

/// The site of these sources, and everything that is wrong with it.
fn judge(
    sources: &Sources,
    faults: Vec<Diagnostic>,
    order: &SiteOptions,
) -> anyhow::Result<(Analysis, Vec<Diagnostic>)> {
    let mut draft = pipeline::analyze(sources, faults.clone(), order, &NoProgress)?;
    if !draft.has_errors() {
        // Templates are judged by using them.
        pipeline::render(sources, &mut draft, order, &NoProgress, &DryRun(&order.engine));
    }
    let mut found = std::mem::take(&mut draft.findings);
    if draft.site.heads().any(|head| head.draft) {
        let order = SiteOptions { drafts: Drafts::Exclude, ..order.clone() };
        let published = pipeline::analyze(sources, faults, &order, &NoProgress)?;
        add_what_drafts_hide(&mut found, published.findings, sources);
    }
    Ok((draft, found))
}

/// Keeps findings that a changed file has a part in, and those that the site did not have before the change, as where a
/// page is gone that others link to.
fn keep_what_changed(
    found: &mut Vec<Diagnostic>,
    change: &Change,
    sources: &Sources,
    order: &SiteOptions,
) -> anyhow::Result<()> {
    let is_changed = |finding: &Diagnostic| {
        let places = finding.related.iter().map(|(span, _)| span).chain([&finding.span]);
        places.map(|span| &sources.get(span.source).path).any(|path| change.paths.contains(path))
    };
    if found.iter().all(is_changed) {
        return Ok(());
    }
    let mut before: BTreeMap<(&str, String, String), usize> = BTreeMap::new();
    let tree = change.tree_before()?;
    // Without settings there was no site.
    if let Ok((sources, faults)) = load::read(tree.path()) {
        for finding in judge(&sources, faults, order)?.1 {
            let path = sources.get(finding.span.source).path.clone();
            *before.entry((finding.code, path, finding.message)).or_default() += 1;
        }
    }
    found.retain(|finding| {
        let path = sources.get(finding.span.source).path.clone();
        let known =
            before.get_mut(&(finding.code, path, finding.message.clone())).filter(|count| **count > 0);
        is_changed(finding) || known.map(|count| *count -= 1).is_none()
    });
    Ok(())
}

fn old_findings(count: usize) -> String {
    match count {
        1 => "a finding in a file that did not change".to_string(),
        _ => format!("{count} findings in files that did not change"),
    }
}

/// What is right as long as drafts are there, and wrong in the published site.
fn add_what_drafts_hide(found: &mut Vec<Diagnostic>, published: Vec<Diagnostic>, sources: &Sources) {
    let told: BTreeSet<_> = found.iter().map(|finding| (finding.code, finding.span)).collect();
    let hidden = published.into_iter().filter(|finding| !told.contains(&(finding.code, finding.span)));
    found.extend(hidden.map(|finding| {
        finding.help("it is a draft, which is not published: take its line `draft: true` out, or this away")
    }));
    Diagnostic::sort(found, sources);
}
