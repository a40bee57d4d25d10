//! Stamps of files: metadata that changes when a file is modified.

use std::path::Path;
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

use crate::files::{Key, is_scratch};

/// Age below which a stamp is unreliable: a second modification may leave it unchanged. FAT has the coarsest times.
const MIN_AGE: Duration = Duration::from_secs(2);

/// Returns the hash of paths, sizes, numbers and times of the files in `content/` whose path `is_needed`.
///
/// `None` if a file was modified a moment before `now`, cannot be examined, or if the system has no times of change. A
/// program can set the time of modification, but not that of the last change.
pub fn stamps(root: &Path, is_needed: &dyn Fn(&str) -> bool, now: SystemTime) -> Option<Key> {
    let mut stamps = Vec::new();
    let content = root.join("content");
    let root_length = content.as_os_str().len() - "content".len();
    let walk = WalkDir::new(content).min_depth(1).into_iter();
    for entry in walk.filter_entry(|entry| !is_scratch(&entry.file_name().to_string_lossy())) {
        let entry = entry.ok()?;
        let path = str::from_utf8(&entry.path().as_os_str().as_encoded_bytes()[root_length..]).ok()?;
        if !entry.file_type().is_dir() && is_needed(path) {
            stamps.push((path.to_owned(), stamp(&entry, now)?));
        }
    }
    stamps.sort_unstable();
    let mut bytes = Vec::new();
    for (path, stamp) in stamps {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
        stamp.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }
    Some(Key::of([bytes]))
}

#[cfg(unix)]
fn stamp(entry: &walkdir::DirEntry, now: SystemTime) -> Option<[i64; 7]> {
    use std::os::unix::fs::MetadataExt;

    let found = entry.metadata().ok()?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(found.ctime().try_into().ok()?);
    let is_settled = now.duration_since(changed).is_ok_and(|age| age > MIN_AGE);
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    let [modified, modified_part, changed, changed_part] = times;
    let (size, number) = (found.size().cast_signed(), found.ino().cast_signed());
    let mode = i64::from(found.mode());
    is_settled.then_some([mode, number, size, modified, modified_part, changed, changed_part])
}

#[cfg(not(unix))]
fn stamp(_entry: &walkdir::DirEntry, _now: SystemTime) -> Option<[i64; 7]> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::stamps;

    #[test]
    fn stamps_change_with_any_edit_of_a_needed_file() {
        let site = tempfile::tempdir().unwrap();
        let folder = site.path().join("content/errors/a");
        let page = folder.join("b.md");
        fs::create_dir_all(&folder).unwrap();
        fs::write(&page, "one").unwrap();
        let modified = fs::metadata(&page).unwrap().modified().unwrap();
        let after = |seconds| {
            let now = modified + Duration::from_secs(seconds);
            stamps(site.path(), &|path| path.ends_with(".md"), now)
        };
        let first = after(60);
        assert!(first.is_some());
        assert_eq!(after(1), None, "modified a moment ago");
        fs::write(folder.join("other"), "not needed").unwrap();
        assert_eq!(after(60), first);
        // The times of a file system may advance in steps of some milliseconds, but another file has another number.
        fs::write(folder.join("new"), "two").unwrap();
        fs::rename(folder.join("new"), &page).unwrap();
        File::options().write(true).open(&page).unwrap().set_modified(modified).unwrap();
        assert_ne!(after(60), first, "same size and time of modification");
    }
}
