//! `kbgen serve`: the site on this machine, reloaded when a file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::arguments::{Arguments, ServeOptions};
use crate::cli::kept::Kept;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::load::{self, Drafts};
use crate::pipeline::{Edited, Edition, Made, Order};
use crate::render::Audience;
use crate::serve::{self, Changes, Event, Limits, Open, Rebuild, Retouch, Retouched, StallLimit, Tracker};

pub(super) fn run(
    arguments: &Arguments,
    options: &ServeOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = Order {
        today: options.date.unwrap_or_else(world::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: None,
        audience: Audience::Author,
        store: Arc::new(kept.store()),
    };
    let served = serve::ServeOptions {
        interface: options.interface,
        port: options.port,
        names: options.allow_host.clone(),
        limits: Limits::default(),
        stall_limit: StallLimit::default(),
        watch: ["content", "templates", "static", "i18n", "site.toml"].map(PathBuf::from).to_vec(),
        ignore: vec![PathBuf::from("public")],
        open: if options.open { Open::Browser } else { Open::Nothing },
        root: root.clone(),
    };
    terminal.say(format!("building {}", root.display()));
    let terminal = *terminal;
    let rebuild = move |changes: &Changes, tracker: &Tracker| {
        let site = rebuild(&root, &order, tracker);
        // The next start profits; an edit need not wait for the disk.
        if changes.paths.is_empty() {
            let _ = kept.cache().map(|cache| cache.keep(&order.store));
        }
        site
    };
    serve::run(served, rebuild, move |event| announce(&terminal, &event))?;
    Ok(Outcome::Fine)
}

fn rebuild(root: &Path, order: &Order, tracker: &Tracker) -> Rebuild {
    let broken = |plain: String| Rebuild::Broken { plain };
    let (sources, faults) = match load::read(root) {
        Ok(read) => read,
        Err(error) => return broken(format!("{error:#}")),
    };
    // Who edits a page does not wait for the threads that the whole site keeps busy, nor for an edit that was given up.
    let pool = match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool,
        Err(error) => return broken(format!("cannot start a thread: {error}")),
    };
    match Edition::make(sources, faults, order, tracker) {
        Ok(Made::Good(mut edition, outputs)) => {
            let root = root.to_path_buf();
            let retouch = Retouch::new(move |paths| pool.install(|| retouch(&mut edition, &root, paths)));
            Rebuild::Kept { outputs, retouch }
        }
        Ok(Made::Broken(plain)) => broken(plain),
        Err(error) => broken(format!("{error:#}")),
    }
}

fn retouch(edition: &mut Edition, root: &Path, paths: &BTreeSet<PathBuf>) -> Retouched {
    let mut texts = BTreeMap::new();
    for path in paths {
        let path = path.to_string_lossy().replace('\\', "/");
        match load::read_page(root, &path) {
            // An empty file is one that an editor is about to write, as a rule.
            Some(text) if !text.is_empty() => texts.insert(path, text),
            _ => return Retouched::Beyond,
        };
    }
    match edition.edit(texts) {
        Edited::Pages(outputs) => Retouched::Files(outputs),
        Edited::Broken(plain) => Retouched::Broken { plain },
        Edited::Beyond => Retouched::Beyond,
    }
}

fn announce(terminal: &Terminal, event: &Event) {
    match event {
        Event::Listening { url } => {
            terminal.print(format!("{url}\n"));
            terminal.say("Ctrl-C stops it; pages reload when a file changes");
        }
        Event::PortTaken { wanted, used } => {
            terminal.say(format!("port {wanted} is taken by another program, so this is port {used}"));
        }
        Event::Exposed { interface } => {
            terminal.say(format!("warning: everyone who can reach {interface} can read this site"));
        }
        Event::Rebuilt { changes, files, took } => {
            terminal.say(format!("{}: {files} files in {} ms", told(changes), took.as_millis()));
        }
        Event::Retouched { changes, files, took } => {
            let files = if *files == 1 { "1 file".to_string() } else { format!("{files} files") };
            terminal.say(format!("{}: {files} in {} ms, the rest follows", told(changes), took.as_millis()));
        }
        Event::Broken { plain, .. } => {
            terminal.say(plain.trim_end());
            terminal.say("the last good site is still served");
        }
        Event::WatchFailed { why } => {
            terminal.say(format!("warning: changes are not reported ({why}); looking every second instead"));
        }
        Event::BrowserFailed { why } => terminal.say(format!("warning: no browser was opened: {why}")),
    }
}

fn told(changes: &Changes) -> String {
    match changes.paths.len() {
        0 => "built".to_string(),
        1 => changes.paths.iter().map(|path| format!("{} changed", path.display())).collect(),
        many => format!("{many} files changed"),
    }
}
