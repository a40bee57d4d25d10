//! `kbgen build`: the site into a folder.

use crate::cli::arguments::{Arguments, BuildOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
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
    let Some(outputs) = built.outputs else {
        terminal.say("nothing was written");
        return Ok(Outcome::Findings);
    };
    let folder = options.output_dir.clone().unwrap_or_else(|| root.join("public"));
    for (path, bytes) in outputs.iter() {
        let to = folder.join(path);
        std::fs::create_dir_all(to.parent().unwrap_or(&folder))?;
        std::fs::write(to, bytes)?;
    }
    terminal.say(&format!("{} files in {}", outputs.len(), folder.display()));
    Ok(Outcome::Fine)
}
