//! `kbgen check`: everything that is wrong with the content, at once.

use std::collections::BTreeSet;

use crate::cli::arguments::{Arguments, CheckFormat, CheckOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::diag::{self, Diagnostic, Severity};
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::pipeline::{self, Order};
use crate::render::Audience;

pub(super) fn run(
    arguments: &Arguments,
    options: &CheckOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let order = Order {
        today: options.date.unwrap_or_else(world::today),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
    };
    let built = pipeline::build(&sources, faults.clone(), &order)?;
    let mut found = built.draft.found.clone();
    if built.draft.site.heads().any(|head| head.draft) {
        let order = Order { drafts: Drafts::Exclude, ..order };
        let published = pipeline::understand(&sources, faults, &order)?;
        add_what_drafts_hide(&mut found, published.found, &sources);
    }
    let found = &found;
    match options.format {
        CheckFormat::Human if found.is_empty() => {
            terminal.say(&format!("no findings in {} pages", built.draft.site.heads().count()));
        }
        CheckFormat::Human => terminal.findings(found, &sources),
        CheckFormat::Json => terminal.print(&diag::json(found, &sources)),
        CheckFormat::Github => terminal.print(&diag::github(found, &sources)),
        CheckFormat::Sarif => terminal.print(&diag::sarif(found, &sources, &pipeline::rules())),
    }
    let has_errors = found.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if has_errors { Outcome::Findings } else { Outcome::Fine })
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
