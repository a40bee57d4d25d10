//! `kbgen check`: everything that is wrong with the content, at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::cli::arguments::{Arguments, CheckFormat, CheckOptions};
use crate::cli::kept::Kept;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, changed, world};
use crate::diag::{self, Diagnostic, Severity};
use crate::files::{Nowhere, Sources, Span};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Order};
use crate::render::Audience;
use crate::watch::Unwatched;

pub(super) fn run(
    arguments: &Arguments,
    options: &CheckOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (mut sources, faults) = load::read(&root)?;
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = Order {
        today: options.date.unwrap_or_else(world::today),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        store: Arc::new(kept.store()),
    };
    let mut draft = pipeline::understand(&sources, faults.clone(), &order, &Unwatched)?;
    if !draft.has_errors() {
        // Templates are judged by using them.
        pipeline::render(&sources, &mut draft, &order, &Unwatched, &Nowhere);
    }
    let mut found = std::mem::take(&mut draft.found);
    if draft.site.heads().any(|head| head.draft) {
        let order = Order { drafts: Drafts::Exclude, ..order.clone() };
        let published = pipeline::understand(&sources, faults, &order, &Unwatched)?;
        add_what_drafts_hide(&mut found, published.found, &sources);
    }
    kept.leave(&order.store, terminal);
    add_tracked(&mut found, &mut sources, &root);
    let mut elsewhere = 0;
    if let Some(revision) = &options.changed {
        let changed = changed::since(&root, revision)?;
        elsewhere = keep_what_changed(&mut found, &changed, &sources);
    }
    let found = &found;
    match options.format {
        CheckFormat::Human if found.is_empty() => {
            terminal.say(&format!("no findings in {} pages", draft.site.heads().count()));
            if elsewhere > 0 {
                terminal.say(&format!("not shown: {}", warnings(elsewhere)));
            }
        }
        CheckFormat::Human => terminal.findings(found, &sources),
        CheckFormat::Json => terminal.print(&diag::json(found, &sources)),
        CheckFormat::Github => terminal.print_commands(&diag::github(found, &sources)),
        CheckFormat::Sarif => terminal.print(&diag::sarif(found, &sources, &pipeline::rules())),
    }
    let has_errors = found.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_errors { Outcome::Findings } else { Outcome::Fine })
}

/// What kbgen's own files are to a site in git: those that everybody gets are worse than those of one machine.
fn add_tracked(found: &mut Vec<Diagnostic>, sources: &mut Sources, root: &Path) {
    let own = load::own_files(root);
    let paths: Vec<&str> = own.iter().map(|file| file.path.as_str()).collect();
    let tracked = changed::tracked(root, &paths);
    for file in own.iter().filter(|file| tracked.contains(&file.path)) {
        found.retain(|finding| sources.get(finding.span.source).path != file.path);
        let place = Span::top(sources.add_unread(file.path.as_str()));
        found.push(file.tracked(place));
    }
    Diagnostic::sort(found, sources);
}

/// Takes out the warnings that no changed file has a part in, and says how many. Errors stay: a change breaks other
/// files too, as when a page goes that they link to.
fn keep_what_changed(found: &mut Vec<Diagnostic>, changed: &BTreeSet<String>, sources: &Sources) -> usize {
    let all = found.len();
    found.retain(|finding| {
        let places = finding.related.iter().map(|(span, _)| span).chain([&finding.span]);
        let mut paths = places.map(|span| &sources.get(span.source).path);
        finding.severity == Severity::Error || paths.any(|path| changed.contains(path))
    });
    all - found.len()
}

fn warnings(count: usize) -> String {
    match count {
        1 => "a warning in a file that did not change".to_string(),
        _ => format!("{count} warnings in files that did not change"),
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
