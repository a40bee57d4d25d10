//! `kbgen serve`: serves the site on this machine and rebuilds when a file changes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cli::arguments::{Arguments, ServeOptions};
use crate::cli::build::DEFAULT_OUTPUT;
use crate::cli::build_cache::BuildCache;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::diag::Diagnostic;
use crate::files::{BuildFiles, SourceId, Sources};
use crate::load::{self, Drafts};
use crate::pipeline::{self, Preview, SiteOptions};
use crate::render::Audience;
use crate::serve::{self, Changes, Event, Limits, OpenBrowser, Rebuild, Served, StallLimit, Tracker};
use crate::site::format_count;

pub(super) fn run(
    arguments: &Arguments,
    options: &ServeOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let cache = BuildCache::open(&root, &options.cache, terminal);
    let site_options = SiteOptions {
        today: options.date.unwrap_or_else(environment::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: None,
        audience: Audience::Author,
        engine: Arc::new(cache.engine_with_values()),
    };
    let served = serve::ServeOptions {
        interface: options.interface,
        port: options.port,
        names: options.allow_host.clone(),
        limits: Limits::default(),
        stall_limit: StallLimit::default(),
        watch: load::INPUTS.map(PathBuf::from).to_vec(),
        ignore: vec![PathBuf::from(DEFAULT_OUTPUT)],
        open: if options.open { OpenBrowser::Yes } else { OpenBrowser::No },
        root: root.clone(),
    };
    terminal.message(format!("building {}", root.display()));
    let terminal = terminal.clone();
    let session = Session { root, site_options, cache, terminal: terminal.clone(), state: Mutex::default() };
    let rebuild = move |changes: &Changes, tracker: &Tracker| session.rebuild(changes, tracker);
    serve::run(served, rebuild, move |event| announce(&terminal, &event))?;
    Ok(Outcome::Success)
}

/// State of one run of `kbgen serve`.
struct Session {
    root: PathBuf,
    site_options: SiteOptions,
    cache: BuildCache,
    terminal: Terminal,
    /// Number of the last build, and its state unless a build is using it.
    state: Mutex<(u64, Option<SessionState>)>,
}

/// State that one build passes to the next.
struct SessionState {
    site_options: SiteOptions,
    sources: Sources,
    faults: Vec<Diagnostic>,
    built: BuildFiles,
    /// Warnings of the last build as plain text.
    warnings: String,
}

/// State borrowed by a build. An abandoned build does not return it.
struct Lease<'s> {
    session: &'s Session,
    number: u64,
    state: Option<SessionState>,
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
    fn state(&self) -> MutexGuard<'_, (u64, Option<SessionState>)> {
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
        let Some(SessionState { site_options, sources, faults, built, warnings }) = &mut lease.state else {
            return Rebuild::Broken { plain: "cannot read the site".to_string() };
        };
        let show = |first: &BuildFiles| tracker.show(first.outputs.clone());
        let made = pipeline::update(
            sources,
            faults.clone(),
            site_options,
            tracker,
            built,
            &Preview { changed: &changed, viewed: &changes.viewed, show: &show },
        );
        let rebuild = match made {
            Ok(Ok(new)) => {
                *built = new.files;
                if std::mem::replace(warnings, new.warnings) != *warnings {
                    let text = if warnings.is_empty() { "no warnings" } else { warnings.trim_end() };
                    self.terminal.message(text);
                }
                Rebuild::Site(built.outputs.clone())
            }
            Ok(Err(plain)) => Rebuild::Broken { plain },
            Err(error) => Rebuild::Broken { plain: format!("{error:#}") },
        };
        if changes.paths.is_empty() {
            // Saved for the next start only, so that edits do not wait for the disk.
            let _ = self.cache.store().map(|cache| cache.save(&site_options.engine));
        }
        rebuild
    }

    /// Reads changed files. Returns the changed pages, or none if other files changed too.
    fn read(
        &self,
        state: &mut Option<SessionState>,
        changes: &Changes,
    ) -> anyhow::Result<BTreeSet<SourceId>> {
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
                // An abandoned build may still use the previous engine.
                let engine = match self.state().0 {
                    1 => Arc::clone(&self.site_options.engine),
                    _ => Arc::new(self.cache.engine_with_values()),
                };
                let (sources, faults) = load::read(&self.root)?;
                let site_options = SiteOptions { engine, ..self.site_options.clone() };
                *state = Some(SessionState {
                    site_options,
                    sources,
                    faults,
                    built: BuildFiles::default(),
                    warnings: String::new(),
                });
            }
        }
        Ok(BTreeSet::new())
    }

    /// Reads the new texts of the changed files, if all of them are existing pages.
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
            terminal.message("press Ctrl-C to stop; pages reload when a file changes");
        }
        Event::PortInUse { requested, used } => {
            terminal.message(format!("port {requested} is in use; using port {used}"));
        }
        Event::Exposed { interface } => {
            terminal.message(format!("warning: the site is readable by everyone who can reach {interface}"));
        }
        Event::Rebuilt { changes, files, took } => {
            let files = format_count(*files as u64);
            terminal.message(format!(
                "{}: {files} files in {} ms",
                describe_changes(changes),
                took.as_millis()
            ));
        }
        Event::PartiallyRebuilt { changes, files, took } => {
            let files = if *files == 1 {
                "1 file".to_string()
            } else {
                format!("{} files", format_count(*files as u64))
            };
            terminal.message(format!(
                "{}: {files} in {} ms, the rest follows",
                describe_changes(changes),
                took.as_millis()
            ));
        }
        Event::Broken { plain, served, .. } => {
            terminal.message(plain.trim_end());
            terminal.message(match served {
                Served::LastBuild => "serving the last successful build",
                Served::Errors => "no build has succeeded; fix these errors to see the site",
            });
        }
        Event::WatchFailed { why } => {
            terminal.message(format!("warning: cannot watch files ({why}); polling every second instead"));
        }
        Event::BrowserFailed { why } => terminal.message(format!("warning: cannot open the browser: {why}")),
    }
}

fn describe_changes(changes: &Changes) -> String {
    match changes.paths.len() {
        0 => "built".to_string(),
        1 => changes.paths.iter().map(|path| format!("{} changed", path.display())).collect(),
        many => format!("{} files changed", format_count(many as u64)),
    }
}
