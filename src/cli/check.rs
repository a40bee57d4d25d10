//! `kbgen check`: reports all errors and warnings in the content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::cli::arguments::{Arguments, CheckFormat, CheckOptions};
use crate::cli::build_cache::BuildCache;
use crate::cli::changed::{self, GitDiff};
use crate::cli::rewrite::{self, Rewritten};
use crate::cli::terminal::{Terminal, counted};
use crate::cli::{Outcome, environment};
use crate::diag::{self, Diagnostic, Severity};
use crate::engine::DryRun;
use crate::files::{self, Edit, SourceId, Sources, Span};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Analysis, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;
use crate::site::format_count;

/// Maximum number of passes of `--fix`: edits that overlap are made one after another.
const MAX_FIX_PASSES: usize = 8;

pub(super) fn run(
    arguments: &Arguments,
    options: &CheckOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root_with_pages(arguments.root.as_deref())?;
    let (mut sources, faults) = load::read(&root)?;
    let cache = BuildCache::open(&root, &options.cache, terminal);
    let site_options = SiteOptions {
        today: options.date.unwrap_or_else(environment::today),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(cache.engine()),
    };
    let (mut analysis, mut found) = check_sources(&sources, faults, &site_options)?;
    for _ in 0..if options.fix { MAX_FIX_PASSES } else { 0 } {
        if !fix(&root, &found, &sources, terminal)? {
            break;
        }
        let (read, faults) = load::read_again(&root, &sources)?;
        sources = read;
        (analysis, found) = check_sources(&sources, faults, &site_options)?;
    }
    cache.save(&site_options.engine, terminal);
    add_tracked(&mut found, &mut sources, &root);
    let mut suppressed = 0;
    if let Some(revision) = &options.changed {
        let all = found.len();
        retain_changed(&mut found, &GitDiff::since(&root, revision)?, &sources, &site_options)?;
        suppressed = all - found.len();
    }
    let found = &found;
    match options.format {
        CheckFormat::Human if found.is_empty() => {
            terminal.print(format!("no findings in {}\n", counted(analysis.site.heads().count(), "page")));
            if suppressed > 0 {
                terminal.message(format!("not shown: {}", old_findings(suppressed)));
            }
        }
        CheckFormat::Human => terminal.print_findings(found, &sources),
        CheckFormat::Json => terminal.print(diag::json(found, &sources)),
        CheckFormat::Github => terminal.print_commands(&diag::github(found, &sources)),
        CheckFormat::Sarif => terminal.print(diag::sarif(found, &sources, &pipeline::rules())),
    }
    let drafts = analysis.site.heads().filter(|head| head.draft).count();
    if drafts > 0 && options.format == CheckFormat::Human {
        terminal.message(format!("not checked: the placeholder text of {}", counted(drafts, "draft")));
    }
    let has_errors = found.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_errors { Outcome::Findings } else { Outcome::Success })
}

/// Applies the edits of findings, and prints each. Returns whether there were any.
fn fix(root: &Path, found: &[Diagnostic], sources: &Sources, terminal: &Terminal) -> anyhow::Result<bool> {
    let fixed: Vec<(&Diagnostic, &Edit)> =
        found.iter().filter_map(|finding| Some((finding, finding.fix.as_deref()?))).collect();
    let edits = files::compatible(fixed.iter().map(|(_, edit)| (*edit).clone()).collect());
    let rewritten = |(file, new): (SourceId, String)| {
        let source = sources.get(file);
        let old = Some(source.text.to_string());
        Rewritten { path: source.path.clone(), moved_from: None, old, new: Some(new) }
    };
    let texts = files::apply(edits.clone(), sources);
    rewrite::write_all(root, &texts.into_iter().map(rewritten).collect::<Vec<_>>())?;
    let applied = edits.iter().filter_map(|edit| fixed.iter().find(|(_, own)| *own == edit));
    for (finding, _) in applied {
        let source = sources.get(finding.span.source);
        let line = source.position(finding.span.start).line;
        terminal.message(format!("fixed {}:{line}: {}", source.path, finding.message));
    }
    Ok(!fixed.is_empty())
}

/// Reports kbgen's own files that git tracks, since every checkout of the site receives them.
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

/// Analyzes the sources and returns the site with all findings.
fn check_sources(
    sources: &Sources,
    faults: Vec<Diagnostic>,
    site_options: &SiteOptions,
) -> anyhow::Result<(Analysis, Vec<Diagnostic>)> {
    let mut analysis = pipeline::analyze(sources, faults.clone(), site_options, &NoProgress)?;
    if !analysis.has_errors() {
        // Rendering is the check of templates.
        pipeline::render(sources, &mut analysis, site_options, &NoProgress, &DryRun(&site_options.engine));
    }
    let mut found = std::mem::take(&mut analysis.findings);
    if analysis.site.heads().any(|head| head.draft) {
        let site_options = SiteOptions { drafts: Drafts::Exclude, ..site_options.clone() };
        let published = pipeline::analyze(sources, faults, &site_options, &NoProgress)?;
        add_findings_hidden_by_drafts(&mut found, published.findings, sources);
    }
    Ok((analysis, found))
}

/// Keeps findings that involve a changed file, and findings that the site did not have before, such as links to a
/// deleted page.
fn retain_changed(
    found: &mut Vec<Diagnostic>,
    change: &GitDiff,
    sources: &Sources,
    site_options: &SiteOptions,
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
    // Reading fails if the revision has no site.toml, and then it has no findings.
    if let Ok((sources, faults)) = load::read(tree.path()) {
        for finding in check_sources(&sources, faults, site_options)?.1 {
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
        1 => "1 finding in unchanged files".to_string(),
        _ => format!("{} findings in unchanged files", format_count(count as u64)),
    }
}

/// Adds findings that occur only in the published site, without drafts.
fn add_findings_hidden_by_drafts(found: &mut Vec<Diagnostic>, published: Vec<Diagnostic>, sources: &Sources) {
    let reported: BTreeSet<_> = found.iter().map(|finding| (finding.code, finding.span)).collect();
    let hidden = published.into_iter().filter(|finding| !reported.contains(&(finding.code, finding.span)));
    found.extend(hidden.map(|finding| {
        finding.help("the target is a draft and not published; publish it or remove this reference")
    }));
    Diagnostic::sort(found, sources);
}
