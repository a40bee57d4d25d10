//! `kbgen build`: the site into a folder.

use crate::cli::arguments::{Arguments, BuildOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::compress;
use crate::emit::{self, Permission, Target};
use crate::hosts::Size;
use crate::load::{self, Drafts};
use crate::pipeline::{self, Order};
use crate::render::Audience;

pub(super) fn run(
    arguments: &Arguments,
    options: &BuildOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let order = Order {
        today: options.date.unwrap_or_else(world::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: options.base_url.clone(),
        audience: Audience::World,
    };
    let built = pipeline::build(&sources, faults, &order)?;
    terminal.findings(&built.draft.found, &sources);
    let Some(mut outputs) = built.outputs else {
        terminal.say("nothing was written");
        return Ok(Outcome::Findings);
    };
    if options.precompress {
        outputs.append(compress::twins(&outputs));
    }
    let folder = options.output_dir.clone().unwrap_or_else(|| root.join("public"));
    let made_of = ["site.toml", "content", "templates", "static"].map(|name| root.join(name));
    let report = emit::write(
        &outputs,
        &Target {
            folder: &folder,
            sources: &made_of,
            permission: if options.force { Permission::TakeOver } else { Permission::OnlyOurs },
        },
    )?;
    terminal.say(&format!(
        "{} pages, {} files in {}: {} written, {} unchanged, {} removed",
        built.draft.site.heads().count(),
        outputs.len(),
        folder.display(),
        report.written,
        report.unchanged,
        report.removed
    ));
    Size::of(&outputs).report().iter().for_each(|line| terminal.say(line));
    Ok(Outcome::Fine)
}
