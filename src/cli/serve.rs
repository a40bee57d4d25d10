//! `kbgen serve`: the site on this machine, reloaded when a file changes.

use std::path::{Path, PathBuf};

use crate::cli::arguments::{Arguments, ServeOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::diag::{self, Colour};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Order};
use crate::render::Audience;
use crate::serve::{self, Event, Open, Rebuild};

pub(super) fn run(
    arguments: &Arguments,
    options: &ServeOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let order = Order {
        today: options.date.unwrap_or_else(world::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: None,
        audience: Audience::Author,
    };
    let served = serve::ServeOptions {
        interface: options.interface,
        port: options.port,
        watch: ["content", "templates", "static", "i18n", "site.toml"].map(PathBuf::from).to_vec(),
        ignore: vec![PathBuf::from("public")],
        open: if options.open { Open::Browser } else { Open::Nothing },
        root: root.clone(),
    };
    terminal.say(&format!("building {}", root.display()));
    let terminal = *terminal;
    serve::run(served, move |_changes| rebuild(&root, &order), move |event| announce(&terminal, &event))?;
    Ok(Outcome::Fine)
}

fn rebuild(root: &Path, order: &Order) -> Rebuild {
    let broken = |plain: String| Rebuild::Broken { plain };
    let (sources, faults) = match load::read(root) {
        Ok(read) => read,
        Err(error) => return broken(format!("{error:#}")),
    };
    match pipeline::build(&sources, faults, order) {
        Ok(built) => match built.outputs {
            Some(outputs) => Rebuild::Site(outputs),
            None => broken(diag::human(&built.draft.found, &sources, Colour::Off)),
        },
        Err(error) => broken(format!("{error:#}")),
    }
}

fn announce(terminal: &Terminal, event: &Event) {
    match event {
        Event::Listening { url } => {
            terminal.print(&format!("{url}\n"));
            terminal.say("Ctrl-C stops it; pages reload when a file changes");
        }
        Event::PortTaken { wanted, used } => {
            terminal.say(&format!("port {wanted} is taken by another program, so this is port {used}"));
        }
        Event::Exposed { interface } => {
            terminal.say(&format!("warning: everyone who can reach {interface} can read this site"));
        }
        Event::Rebuilt { changes, files, took } => {
            let what = match changes.paths.len() {
                0 => "built".to_string(),
                1 => changes.paths.iter().map(|path| format!("{} changed", path.display())).collect(),
                many => format!("{many} files changed"),
            };
            terminal.say(&format!("{what}: {files} files in {} ms", took.as_millis()));
        }
        Event::Broken { plain, .. } => {
            terminal.say(plain.trim_end());
            terminal.say("the last good site is still served");
        }
        Event::WatchFailed { why } => {
            terminal.say(&format!("warning: changes are not reported ({why}); looking every second instead"));
        }
        Event::BrowserFailed { why } => terminal.say(&format!("warning: no browser was opened: {why}")),
    }
}
