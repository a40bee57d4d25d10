//! `kbgen check`: everything that is wrong with the content, at once.

use crate::cli::arguments::{Arguments, CheckFormat, CheckOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::diag;
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
    let built = pipeline::build(&sources, faults, &order)?;
    let found = &built.draft.found;
    match options.format {
        CheckFormat::Human if found.is_empty() => {
            terminal.say(&format!("no findings in {} pages", built.draft.site.heads().count()));
        }
        CheckFormat::Human => terminal.findings(found, &sources),
        CheckFormat::Json => terminal.print(&diag::json(found, &sources)),
        CheckFormat::Github => terminal.print(&diag::github(found, &sources)),
        CheckFormat::Sarif => terminal.print(&diag::sarif(found, &sources, &pipeline::rules())),
    }
    Ok(if built.draft.has_errors() { Outcome::Findings } else { Outcome::Fine })
}
