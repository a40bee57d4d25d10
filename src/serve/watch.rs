//! Notices that watched files changed. The system's events only say when to look; what changed is found by looking.
//!
//! Events alone do not do: editors save by renaming, folders are removed and made again, queues overflow,
//! and reading a file is an event too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use notify_debouncer_mini::notify::{
    self, EventHandler, EventKind, RecommendedWatcher, RecursiveMode, Watcher, WatcherKind,
};
use notify_debouncer_mini::{Config, DebounceEventResult, Debouncer, new_debouncer_opt};
use walkdir::WalkDir;

use crate::serve::{Changes, ServeOptions};

/// Events within this time are one message.
pub(crate) const BURST: Duration = Duration::from_millis(50);

/// The files to watch, as they were when last looked at.
#[derive(Debug)]
pub(crate) struct Watch {
    root: PathBuf,
    watched: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
    seen: BTreeMap<PathBuf, Stamp>,
    debouncer: Option<Debouncer<Writes>>,
}

/// What tells a file from what it was. The identity catches a file put in place of another with its time kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    identity: u64,
}

impl Watch {
    /// Looks at all files once and asks the system to tell of events from now on.
    ///
    /// Also returns why the system does not, if so: then only looking remains.
    pub(crate) fn start(
        options: &ServeOptions,
        tell: impl FnMut(DebounceEventResult) + Send + 'static,
    ) -> (Self, Option<String>) {
        let absolute =
            |paths: &[PathBuf]| paths.iter().map(|path| options.root.join(path)).collect::<Vec<_>>();
        let mut watch = Self {
            root: options.root.clone(),
            watched: absolute(&options.watch),
            ignored: absolute(&options.ignore),
            seen: BTreeMap::new(),
            debouncer: None,
        };
        let config = Config::default()
            .with_timeout(BURST)
            .with_notify_config(notify::Config::default().with_follow_symlinks(false));
        let result = new_debouncer_opt::<_, Writes>(config, tell).and_then(|debouncer| {
            let debouncer = watch.debouncer.insert(debouncer);
            // The parents tell when a watched folder comes or goes, and when a watched file is saved by renaming.
            let parents: BTreeSet<&Path> = watch.watched.iter().filter_map(|path| path.parent()).collect();
            parents
                .into_iter()
                .try_for_each(|parent| debouncer.watcher().watch(parent, RecursiveMode::NonRecursive))
        });
        let result = result.and_then(|()| watch.follow(&watch.watched.clone()));
        watch.seen = watch.look();
        let why = result.err().map(|error| error.to_string());
        if why.is_some() {
            watch.debouncer = None;
        }
        (watch, why)
    }

    /// What changed since the last call; `events` are the paths that the system named.
    pub(crate) fn changes(&mut self, events: &BTreeSet<PathBuf>) -> Changes {
        // A folder that was removed, moved or made again is another one to the system: it is followed anew,
        // and before looking, so that nothing falls between the two.
        let again: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|path| events.iter().any(|event| path.starts_with(event)))
            .cloned()
            .collect();
        // What cannot be followed now is not there; its parent tells when it is.
        let _ = self.follow(&again);
        let now = self.look();
        let changed = |(path, stamp): &(&PathBuf, &Stamp)| self.seen.get(*path) != Some(*stamp);
        let made_or_changed = now.iter().filter(changed).map(|(path, _)| path);
        let gone = self.seen.keys().filter(|path| !now.contains_key(*path));
        let paths = made_or_changed.chain(gone).map(|path| self.relative(path)).collect();
        self.seen = now;
        Changes { paths }
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
    }

    /// Asks for events of these watched folders, as far as they exist. Files are told of by their parents.
    fn follow(&mut self, paths: &[PathBuf]) -> notify::Result<()> {
        let Some(debouncer) = &mut self.debouncer else { return Ok(()) };
        for path in paths {
            let _ = debouncer.watcher().unwatch(path);
            if path.is_dir() {
                debouncer.watcher().watch(path, RecursiveMode::Recursive)?;
            }
        }
        Ok(())
    }

    /// Every file that counts, with its stamp. What cannot be read now is as good as not there.
    fn look(&self) -> BTreeMap<PathBuf, Stamp> {
        let counts = |path: &Path| !self.ignored.iter().any(|ignored| path == ignored) && !is_scratch(path);
        self.watched
            .iter()
            .flat_map(|path| {
                WalkDir::new(path)
                    .into_iter()
                    .filter_entry(|entry| entry.depth() == 0 || counts(entry.path()))
            })
            .flatten()
            .filter(|entry| !entry.file_type().is_dir())
            .filter_map(|entry| Some((stamp(&entry.metadata().ok()?), entry.into_path())))
            .map(|(stamp, path)| (path, stamp))
            .collect()
    }
}

fn stamp(found: &Metadata) -> Stamp {
    #[cfg(unix)]
    let identity = std::os::unix::fs::MetadataExt::ino(found);
    #[cfg(not(unix))]
    let identity = 0;
    Stamp { modified: found.modified().ok(), bytes: found.len(), identity }
}

/// Whether a name is hidden, or one that an editor writes beside the file it saves.
pub(crate) fn is_scratch(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let ends = [
        "~",
        ".swp",
        ".swx",
        ".swo",
        ".tmp",
        ".bak",
        ".orig",
        ".part",
        ".crdownload",
        "___jb_tmp___",
        "___jb_old___",
    ];
    // `4913` is the file by which Vim tries whether a folder can be written to.
    name.starts_with('.')
        || name.starts_with('#')
        || name == "4913"
        || ends.iter().any(|end| name.ends_with(end))
}

/// The system's watcher without the events of opening and reading: a build reads every file, and would call the
/// next one without end.
#[derive(Debug)]
struct Writes(RecommendedWatcher);

impl Watcher for Writes {
    fn new<F: EventHandler>(mut handler: F, config: notify::Config) -> notify::Result<Self> {
        let tell = move |event: notify::Result<notify::Event>| {
            if !matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_))) {
                handler.handle_event(event);
            }
        };
        RecommendedWatcher::new(tell, config).map(Self)
    }

    fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
        self.0.watch(path, mode)
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        self.0.unwatch(path)
    }

    fn kind() -> WatcherKind {
        RecommendedWatcher::kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_editors_write_beside_a_file_does_not_count() {
        for name in [
            ".oom.md.swp",
            "oom.md~",
            "4913",
            "#oom.md#",
            ".#oom.md",
            ".git",
            "oom.md.bak",
            "oom.md___jb_tmp___",
        ] {
            assert!(is_scratch(Path::new("content").join(name).as_path()), "{name}");
        }
        for name in ["oom.md", "_index.md", "a.b.css", "temp"] {
            assert!(!is_scratch(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn reading_is_no_event() {
        let root = tempfile::TempDir::new().unwrap();
        let content = root.path().join("content");
        std::fs::create_dir(&content).unwrap();
        std::fs::write(content.join("read"), "").unwrap();
        let options = ServeOptions {
            interface: [127, 0, 0, 1].into(),
            port: 0,
            names: Vec::new(),
            limits: crate::serve::Limits::default(),
            root: root.path().to_path_buf(),
            watch: vec!["content".into()],
            ignore: Vec::new(),
            open: crate::serve::Open::Nothing,
        };
        let (sender, events) = std::sync::mpsc::channel();
        let (_watch, why) = Watch::start(&options, move |event| drop(sender.send(event)));
        assert_eq!(why, None);
        std::fs::read(content.join("read")).unwrap();
        std::fs::read_dir(&content).unwrap().count();
        std::fs::write(content.join("written"), "").unwrap();
        let told = events.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
        let told: BTreeSet<_> = told.into_iter().map(|event| event.path).collect();
        assert_eq!(told, BTreeSet::from([content.join("written")]));
    }
}
