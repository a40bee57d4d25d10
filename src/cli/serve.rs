//! `kbgen serve`: the site on this machine, reloaded when a file changes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cli::arguments::{Arguments, ServeOptions};
use crate::cli::kept::Kept;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::diag::Diagnostic;
use crate::files::{BuildFiles, SourceId, Sources};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Preview, SiteOptions};
use crate::render::Audience;
use crate::serve::{self, Changes, Event, Limits, Open, Rebuild, StallLimit, Tracker};

pub(super) fn run(
    arguments: &Arguments,
    options: &ServeOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = SiteOptions {
        today: options.date.unwrap_or_else(world::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: None,
        audience: Audience::Author,
        engine: Arc::new(kept.engine_with_values()),
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
    let session = Session { root, order, kept, state: Mutex::default() };
    let rebuild = move |changes: &Changes, tracker: &Tracker| session.rebuild(changes, tracker);
    serve::run(served, rebuild, move |event| announce(&terminal, &event))?;
    Ok(Outcome::Fine)
}

/// A site while it is written.
struct Session {
    root: PathBuf,
    order: SiteOptions,
    kept: Kept,
    /// State of the last build, and its number.
    state: Mutex<(u64, Option<State>)>,
}

/// State that one build passes to the next.
struct State {
    order: SiteOptions,
    sources: Sources,
    faults: Vec<Diagnostic>,
    built: BuildFiles,
}

/// The state in the hands of a build. One that was abandoned does not put it back.
struct Lease<'s> {
    session: &'s Session,
    number: u64,
    state: Option<State>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut known = self.session.state();
        if known.0 == self.number {
            known.1 = self.state.take();
        }
    }
}

impl Session {
    fn state(&self) -> MutexGuard<'_, (u64, Option<State>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rebuild(&self, changes: &Changes, tracker: &Tracker) -> Rebuild {
        let (number, state) = {
            let mut known = self.state();
            known.0 += 1;
            (known.0, known.1.take())
        };
        let mut lease = Lease { session: self, number, state };
        let changed = match self.read(&mut lease.state, changes) {
            Ok(changed) => changed,
            Err(error) => return Rebuild::Broken { plain: format!("{error:#}") },
        };
        let Some(State { order, sources, faults, built }) = &mut lease.state else {
            return Rebuild::Broken { plain: "the site was not read".to_string() };
        };
        let show = |first: &BuildFiles| tracker.show(first.outputs.clone());
        let made = pipeline::update(
            sources,
            faults.clone(),
            order,
            tracker,
            built,
            &Preview { changed: &changed, show: &show },
        );
        let rebuild = match made {
            Ok(Ok(new)) => {
                *built = new;
                Rebuild::Site(built.outputs.clone())
            }
            Ok(Err(plain)) => Rebuild::Broken { plain },
            Err(error) => Rebuild::Broken { plain: format!("{error:#}") },
        };
        if changes.paths.is_empty() {
            // The next start profits; an edit need not wait for the disk.
            let _ = self.kept.cache().map(|cache| cache.save(&order.engine));
        }
        rebuild
    }

    /// Reads what changed; returns the pages among that, if it was pages alone.
    fn read(&self, state: &mut Option<State>, changes: &Changes) -> anyhow::Result<BTreeSet<SourceId>> {
        if let Some(state) = state
            && !changes.paths.is_empty()
            && let Some(texts) = self.texts(&state.sources, changes)
        {
            let changed = texts.iter().map(|(file, _)| *file).collect();
            texts.into_iter().for_each(|(file, text)| state.sources.replace(file, text));
            return Ok(changed);
        }
        match state {
            Some(state) => (state.sources, state.faults) = load::read_again(&self.root, &state.sources)?,
            None => {
                // An abandoned build may still use the engine of before.
                let engine = match self.state().0 {
                    1 => Arc::clone(&self.order.engine),
                    _ => Arc::new(self.kept.engine_with_values()),
                };
                let (sources, faults) = load::read(&self.root)?;
                let order = SiteOptions { engine, ..self.order.clone() };
                *state = Some(State { order, sources, faults, built: BuildFiles::default() });
            }
        }
        Ok(BTreeSet::new())
    }

    /// The new texts of the changed files, if all of them are pages that were there before.
    fn texts(&self, sources: &Sources, changes: &Changes) -> Option<Vec<(SourceId, String)>> {
        let text = |path: &PathBuf| {
            let path = path.to_string_lossy().replace('\\', "/");
            let is_page = path.starts_with("content/") && path.ends_with(".md");
            let file = sources.find(&path).filter(|_| is_page)?;
            Some((file, load::read_page(&self.root, &path)?))
        };
        changes.paths.iter().map(text).collect()
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
