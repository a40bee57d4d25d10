//! `kbgen build`: the site into a folder, and on request as one file.

use crate::cli::arguments::{Arguments, BuildOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::compress;
use crate::emit::{self, Permission, Single, Target};
use crate::hosts::{Size, size};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Order};
use crate::render::{Audience, BUNDLE_MARK};

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
    let folder = options.output_dir.clone().unwrap_or_else(|| root.join("public"));
    let made_of = ["site.toml", "content", "templates", "static", "i18n"].map(|name| root.join(name));
    let permission = if options.force { Permission::TakeOver } else { Permission::OnlyOurs };
    let single = options.bundle.as_deref().map(|path| Single {
        path,
        mark: BUNDLE_MARK.as_bytes(),
        sources: &made_of,
        permission,
    });
    if let Some(single) = &single {
        single.refuse_foreign()?;
    }
    let built = pipeline::build(&sources, faults, &order)?;
    terminal.findings(&built.draft.found, &sources);
    let Some(mut outputs) = built.outputs else {
        terminal.say("nothing was written");
        return Ok(Outcome::Findings);
    };
    let bundle = match &single {
        None => None,
        Some(single) => match pipeline::bundle(&sources, &built.draft, &order) {
            Ok(bytes) => Some((single, bytes)),
            Err(faults) => {
                terminal.findings(&faults, &sources);
                terminal.say("nothing was written");
                return Ok(Outcome::Findings);
            }
        },
    };
    if options.precompress {
        outputs.append(compress::twins(&outputs));
    }
    let report = emit::write(&outputs, &Target { folder: &folder, sources: &made_of, permission })?;
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
    if let Some((single, bytes)) = bundle {
        single.write(&bytes)?;
        terminal.say(&format!("one file in {}: {}", single.path.display(), size(bytes.len() as u64)));
    }
    Ok(Outcome::Fine)
}
