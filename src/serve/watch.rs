//! Subscribes to file-system events. Events only trigger a comparison of files, which finds the changes.
//!
//! Events alone are not reliable: editors save by renaming, folders are removed and created again, queues overflow,
//! and reading a file is an event too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::serve::snapshot::WatchedFiles;

/// Subscriptions to file-system events.
#[derive(Debug)]
pub(crate) struct Watch {
    watched: Vec<PathBuf>,
    watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Starts to report events as lists of paths, which are empty if the system lost events.
    ///
    /// Also returns the reason if the system reports no events; then only polling remains.
    pub(crate) fn start(
        files: &WatchedFiles,
        mut tell: impl FnMut(Vec<PathBuf>) + Send + 'static,
    ) -> (Self, Option<String>) {
        let mut watch = Self { watched: files.watched().to_vec(), watcher: None };
        // Read events are ignored, because a build reads every file and would trigger the next one.
        let tell = move |event: notify::Result<notify::Event>| match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => tell(event.paths),
            Err(error) => tell(error.paths),
        };
        let config = notify::Config::default().with_follow_symlinks(false);
        let result = RecommendedWatcher::new(tell, config).and_then(|watcher| {
            let watcher = watch.watcher.insert(watcher);
            // Parent folders report when a watched folder is created or removed, and when a watched file is saved by
            // renaming.
            let parents: BTreeSet<&Path> = watch.watched.iter().filter_map(|path| path.parent()).collect();
            parents.into_iter().try_for_each(|parent| watcher.watch(parent, RecursiveMode::NonRecursive))
        });
        let result = result.and_then(|()| watch.subscribe(&watch.watched.clone()));
        let why = result.err().map(|error| error.to_string());
        if why.is_some() {
            watch.watcher = None;
        }
        (watch, why)
    }

    /// Returns whether the system reports no events.
    pub(crate) fn is_polling(&self) -> bool {
        self.watcher.is_none()
    }

    /// Renews the subscription of folders that were removed, moved or created again, since these are different folders
    /// to the system. Call this before comparing files, so that no change is lost. `events` are the paths of the
    /// events.
    pub(crate) fn resubscribe(&mut self, events: &BTreeSet<PathBuf>) {
        let is_other = |path: &&PathBuf| events.iter().any(|event| path.starts_with(event));
        let again: Vec<PathBuf> = self.watched.iter().filter(is_other).cloned().collect();
        // A folder without a subscription does not exist; its parent reports when it is created.
        let _ = self.subscribe(&again);
    }

    /// Subscribes to these watched folders, if they exist. Parents report events of files.
    fn subscribe(&mut self, paths: &[PathBuf]) -> notify::Result<()> {
        let Some(watcher) = &mut self.watcher else { return Ok(()) };
        for path in paths {
            let _ = watcher.unwatch(path);
            if path.is_dir() {
                watcher.watch(path, RecursiveMode::Recursive)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::serve::{OpenBrowser, ServeOptions};

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
            stall_limit: crate::serve::StallLimit::default(),
            root: root.path().to_path_buf(),
            watch: vec!["content".into()],
            ignore: Vec::new(),
            open: OpenBrowser::No,
        };
        let (sender, events) = std::sync::mpsc::channel();
        let (_watch, why) = Watch::start(&WatchedFiles::new(&options), move |paths| drop(sender.send(paths)));
        assert_eq!(why, None);
        std::fs::read(content.join("read")).unwrap();
        std::fs::read_dir(&content).unwrap().count();
        std::fs::write(content.join("written"), "").unwrap();
        let paths = events.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(paths, [content.join("written")]);
    }
}
