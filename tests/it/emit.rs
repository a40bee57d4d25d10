//! Publishing: complete sites, unchanged files, and no damage to other files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use kbgen::emit;
use kbgen::emit::{MANIFEST_FILE, OutputTarget, Permission, Report};
use kbgen::files::Outputs;
use tempfile::TempDir;

/// Site root with `site.toml` and the output folder.
struct Project {
    root: TempDir,
}

impl Project {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::write(root.path().join("site.toml"), "").unwrap();
        fs::create_dir(root.path().join("content")).unwrap();
        Self { root }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn emit_to(&self, folder: &Path, files: &[(&str, &str)], permission: Permission) -> Result<Report> {
        let sources = [self.path("site.toml"), self.path("content")];
        emit::write(&outputs(files), &OutputTarget { folder, sources: &sources, permission })
    }

    fn emit(&self, files: &[(&str, &str)]) -> Result<Report> {
        self.emit_to(&self.path("public"), files, Permission::OnlyOurs)
    }

    fn refusal(&self, folder: &str) -> String {
        let error =
            self.emit_to(&self.path(folder), &[("index.html", "x")], Permission::OnlyOurs).unwrap_err();
        format!("{error:#}")
    }

    /// Returns the names in the root, except for sources.
    fn beside(&self) -> Vec<String> {
        let names = fs::read_dir(self.root.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name != "site.toml" && name != "content");
        names.sort();
        names
    }
}

fn outputs(files: &[(&str, &str)]) -> Outputs {
    let mut outputs = Outputs::default();
    for (path, text) in files {
        outputs.add(*path, *text);
    }
    outputs
}

/// Returns the text of every file in a folder except the marker.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file() && entry.file_name() != MANIFEST_FILE)
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            (path, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn expect(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

#[test]
fn a_first_build_makes_the_folder_and_its_parents() {
    let project = Project::new();
    let folder = project.path("deep/er/public");
    let files = [("errors/oom/index.html", "page"), ("index.html", "home")];
    let report = project.emit_to(&folder, &files, Permission::OnlyOurs).unwrap();
    assert_eq!(report, Report { written: 2, ..Report::default() });
    assert_eq!(tree(&folder), expect(&files));
    assert_eq!(
        fs::read_to_string(folder.join(MANIFEST_FILE))
            .unwrap()
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect::<Vec<_>>(),
        ["kbgen-output 1", "errors/oom/index.html", "index.html"]
    );
    assert_eq!(
        fs::read_dir(project.path("deep/er")).unwrap().count(),
        1,
        "nothing is left beside the folder"
    );
}

#[test]
fn unchanged_files_stay_untouched_and_old_ones_go() {
    let project = Project::new();
    project.emit(&[("a.html", "a"), ("b.html", "b"), ("old/c.html", "c")]).unwrap();
    let identity = |path: &str| {
        let found = fs::metadata(project.path(path)).unwrap();
        (found.ino(), found.modified().unwrap())
    };
    let (a, b) = (identity("public/a.html"), identity("public/b.html"));
    let report = project.emit(&[("a.html", "a"), ("b.html", "B"), ("new/d.html", "d")]).unwrap();
    assert_eq!(report, Report { written: 2, unchanged: 1, removed: 1, kept: 0 });
    assert_eq!(
        tree(&project.path("public")),
        expect(&[("a.html", "a"), ("b.html", "B"), ("new/d.html", "d")])
    );
    assert!(!project.path("public/old").exists(), "a folder that only held our files goes with them");
    assert_eq!(identity("public/a.html"), a);
    assert_ne!(identity("public/b.html"), b);
    assert_eq!(project.beside(), ["public"]);
}

#[test]
fn the_same_site_again_touches_nothing() {
    let project = Project::new();
    let files = [("a.html", "a"), ("b/c.html", "c")];
    project.emit(&files).unwrap();
    let state = || {
        [".", "public", "public/b", "public/a.html", "public/.kbgen-output"].map(|path| {
            let found = fs::metadata(project.path(path)).unwrap();
            (found.ino(), found.ctime(), found.ctime_nsec())
        })
    };
    let before = state();
    let report = project.emit(&files).unwrap();
    assert_eq!(report, Report { unchanged: 2, ..Report::default() });
    assert_eq!(state(), before);
}

#[test]
fn a_folder_that_kbgen_did_not_make_is_refused_and_left_alone() {
    let project = Project::new();
    fs::create_dir(project.path("photos")).unwrap();
    fs::write(project.path("photos/cat.jpg"), "cat").unwrap();
    let refusal = project.refusal("photos");
    assert!(refusal.contains("photos` contains files not written by kbgen"), "{refusal}");
    assert!(refusal.contains("--force"), "{refusal}");
    assert_eq!(tree(&project.path("photos")), expect(&[("cat.jpg", "cat")]));
    assert!(!project.path("photos").join(MANIFEST_FILE).exists());
}

#[test]
fn a_folder_taken_over_keeps_all_files_that_are_not_in_the_way() {
    let project = Project::new();
    let folder = project.path("photos");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("cat.jpg"), "cat").unwrap();
    fs::write(folder.join("index.html"), "mine").unwrap();
    let report = project.emit_to(&folder, &[("index.html", "site")], Permission::TakeOver).unwrap();
    assert_eq!(report, Report { written: 1, kept: 1, ..Report::default() });
    let files = expect(&[("cat.jpg", "cat"), ("index.html", "site")]);
    assert_eq!(tree(&folder), files);
    project.emit_to(&folder, &[("index.html", "site")], Permission::OnlyOurs).unwrap();
    assert_eq!(tree(&folder), files, "from then on it is ours, and the cat is still not");
}

#[test]
fn files_of_others_in_our_folder_are_carried_over() {
    let project = Project::new();
    let folder = project.path("public");
    project.emit(&[("index.html", "1"), ("a/index.html", "a")]).unwrap();
    fs::write(folder.join("CNAME"), "kb.example").unwrap();
    fs::write(folder.join("a/notes.txt"), "mine").unwrap();
    fs::create_dir_all(folder.join(".git/refs")).unwrap();
    fs::write(folder.join(".git/HEAD"), "ref").unwrap();
    symlink("/nowhere", folder.join("link")).unwrap();
    let inode = fs::metadata(folder.join("CNAME")).unwrap().ino();
    let report = project.emit(&[("index.html", "2")]).unwrap();
    assert_eq!(report, Report { written: 1, unchanged: 0, removed: 1, kept: 4 });
    assert_eq!(
        tree(&folder),
        expect(&[
            (".git/HEAD", "ref"),
            ("CNAME", "kb.example"),
            ("a/notes.txt", "mine"),
            ("index.html", "2")
        ])
    );
    assert!(folder.join(".git/refs").is_dir(), "empty folders too");
    assert_eq!(fs::read_link(folder.join("link")).unwrap(), Path::new("/nowhere"));
    assert_eq!(fs::metadata(folder.join("CNAME")).unwrap().ino(), inode);
}

#[test]
fn what_a_link_in_our_folder_leads_to_is_left_alone() {
    let project = Project::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("page.html"), "theirs").unwrap();
    project.emit(&[("index.html", "1"), ("old/page.html", "ours"), ("old/deep/page.html", "ours")]).unwrap();
    fs::remove_dir_all(project.path("public/old")).unwrap();
    symlink(elsewhere.path(), project.path("public/old")).unwrap();
    project.emit(&[("index.html", "2")]).unwrap();
    assert_eq!(fs::read_to_string(elsewhere.path().join("page.html")).unwrap(), "theirs");
    assert!(fs::symlink_metadata(project.path("public/old")).unwrap().is_symlink(), "it is theirs too");
}

#[test]
fn a_file_of_someone_else_is_not_replaced_by_a_new_page() {
    let project = Project::new();
    project.emit(&[("index.html", "1")]).unwrap();
    fs::write(project.path("public/CNAME"), "mine").unwrap();
    let files = [("CNAME", "theirs"), ("index.html", "2")];
    let refusal = format!("{:#}", project.emit(&files).unwrap_err());
    assert!(refusal.contains("public/CNAME` was not written by kbgen"), "{refusal}");
    assert_eq!(tree(&project.path("public")), expect(&[("CNAME", "mine"), ("index.html", "1")]));
    project.emit_to(&project.path("public"), &files, Permission::TakeOver).unwrap();
    assert_eq!(tree(&project.path("public")), expect(&files));
}

#[test]
fn the_output_folder_never_overlaps_the_sources() {
    let project = Project::new();
    fs::create_dir(project.path("sub")).unwrap();
    for folder in ["", ".", "content", "content/out", "sub/..", "..", "/"] {
        for permission in [Permission::OnlyOurs, Permission::TakeOver] {
            let error =
                project.emit_to(&project.path(folder), &[("index.html", "x")], permission).unwrap_err();
            assert!(format!("{error:#}").contains("cannot be the output folder"), "{folder}: {error:#}");
        }
    }
    assert_eq!(project.beside(), ["sub"]);
    // Also through a link to a parent folder.
    let elsewhere = TempDir::new().unwrap();
    symlink(project.root.path(), elsewhere.path().join("link")).unwrap();
    let error = project
        .emit_to(&elsewhere.path().join("link/content/out"), &[("index.html", "x")], Permission::TakeOver)
        .unwrap_err();
    assert!(format!("{error:#}").contains("cannot be the output folder"), "{error:#}");
}

#[test]
fn a_link_or_a_file_as_output_folder_is_refused() {
    let project = Project::new();
    let elsewhere = TempDir::new().unwrap();
    symlink(elsewhere.path(), project.path("public")).unwrap();
    assert!(project.refusal("public").contains("symbolic link"));
    assert!(project.refusal("public/").contains("symbolic link"));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::write(project.path("plain"), "").unwrap();
    assert!(project.refusal("plain").contains("is a file"));
    assert!(project.refusal("plain/public").contains("plain"));
}

#[test]
fn output_paths_that_leave_the_folder_are_refused() {
    let project = Project::new();
    for path in ["../site.toml", "/etc/kbgen", "a/../../b", "a\nb", MANIFEST_FILE] {
        let refusal = format!("{:#}", project.emit(&[(path, "x")]).unwrap_err());
        assert!(refusal.contains("invalid output path"), "{path:?}: {refusal}");
    }
    assert_eq!(project.beside(), [""; 0]);
}

#[test]
fn a_marker_edited_by_hand_cannot_remove_files_elsewhere() {
    let project = Project::new();
    project.emit(&[("index.html", "1")]).unwrap();
    fs::write(project.path("precious"), "x").unwrap();
    let marker = format!("kbgen-output 1\n../precious\n{}\nindex.html\n", project.path("precious").display());
    fs::write(project.path("public").join(MANIFEST_FILE), marker).unwrap();
    let report = project.emit(&[("index.html", "2")]).unwrap();
    assert_eq!(report, Report { written: 1, ..Report::default() });
    assert!(project.path("precious").exists());
    fs::write(project.path("public").join(MANIFEST_FILE), "kbgen-output 9\n").unwrap();
    assert!(project.refusal("public").contains("is not a marker"));
}

#[test]
fn a_failed_build_keeps_the_old_site_and_leaves_no_files() {
    let project = Project::new();
    project.emit(&[("index.html", "1")]).unwrap();
    // A file and a folder with the same name, so that writing fails halfway.
    let error = project.emit(&[("a", "file"), ("a/b", "file in it"), ("index.html", "2")]).unwrap_err();
    assert!(format!("{error:#}").contains(".public.kbgen-new/a"), "{error:#}");
    assert_eq!(tree(&project.path("public")), expect(&[("index.html", "1")]));
    assert_eq!(project.beside(), ["public"]);
}

#[test]
fn what_a_killed_build_left_is_cleaned() {
    let project = Project::new();
    project.emit(&[("index.html", "1")]).unwrap();
    for (text, what) in [("1", "an unchanged build"), ("2", "a changed build")] {
        for name in [".public.kbgen-new", ".public.kbgen-old"] {
            fs::create_dir(project.path(name)).unwrap();
            fs::write(project.path(name).join("index.html"), "half").unwrap();
        }
        project.emit(&[("index.html", text)]).unwrap();
        assert_eq!(project.beside(), ["public"], "{what}");
        assert_eq!(tree(&project.path("public")), expect(&[("index.html", text)]));
    }
    // State after a kill between the two renames: the old site is moved aside.
    fs::create_dir(project.path(".public.kbgen-old")).unwrap();
    fs::rename(project.path("public"), project.path(".public.kbgen-old/public")).unwrap();
    let report = project.emit(&[("index.html", "2")]).unwrap();
    assert_eq!(report, Report { unchanged: 1, ..Report::default() });
    assert_eq!(project.beside(), ["public"]);
}

#[test]
fn a_concurrent_build_is_rejected() {
    use rustix::fs::{FlockOperation, flock};

    let project = Project::new();
    project.emit(&[("index.html", "1")]).unwrap();
    fs::create_dir(project.path(".public.kbgen-new")).unwrap();
    for held in ["public", ".public.kbgen-new"] {
        let other = fs::File::open(project.path(held)).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        let refusal = project.refusal("public");
        assert!(refusal.contains("another build is writing"), "{refusal}");
        assert!(project.path(".public.kbgen-new").exists(), "the other build's files are not cleaned away");
        // Closing is not enough: a process that another test is starting inherits the locked file until it runs.
        flock(&other, FlockOperation::Unlock).unwrap();
    }
    project.emit(&[("index.html", "2")]).unwrap();
    assert_eq!(project.beside(), ["public"]);
}

#[test]
fn readers_never_miss_a_page_while_rival_builds_publish() {
    let project = Project::new();
    let pages: Vec<String> = (0..20).map(|page| format!("{page}/index.html")).collect();
    let site = |text: &str| pages.iter().map(|page| (page.clone(), text.to_string())).collect::<Vec<_>>();
    let emit = |text: &str| {
        let site = site(text);
        let files: Vec<(&str, &str)> =
            site.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        project.emit(&files)
    };
    emit("one").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let builders: Vec<_> = ["one", "two"]
            .map(|text| {
                scope.spawn(move || {
                    for _ in 0..40 {
                        if let Err(error) = emit(text) {
                            assert!(format!("{error:#}").contains("another build is writing"), "{error:#}");
                        }
                    }
                })
            })
            .into_iter()
            .collect();
        let reader = scope.spawn(|| {
            loop {
                // Cleaning first would lose the file; writing in place would truncate it.
                let text = fs::read_to_string(project.path("public/7/index.html")).unwrap();
                assert!(text == "one" || text == "two", "{text}");
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for builder in builders {
            builder.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    let found: std::collections::BTreeSet<String> = tree(&project.path("public")).into_values().collect();
    assert_eq!(found.len(), 1, "the last exchange wins, whole");
    assert_eq!(project.beside(), ["public"]);
}

/// Kinds of files that can exist at the path of a temporary file.
const IN_THE_WAY: [&str; 5] = ["link to a folder", "dangling link", "link to a file", "file", "pipe"];

/// Creates a file of this kind. Links point to `elsewhere`.
fn put(what: &str, at: &Path, elsewhere: &Path) {
    match what {
        "link to a folder" => symlink(elsewhere, at).unwrap(),
        "dangling link" => symlink(elsewhere.join("missing"), at).unwrap(),
        "link to a file" => symlink(elsewhere.join("public/theirs.html"), at).unwrap(),
        "file" => fs::write(at, "theirs").unwrap(),
        _ => assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success()),
    }
}

#[test]
fn something_else_in_the_place_of_a_temporary_folder_is_refused_by_name() {
    for name in [".public.kbgen-new", ".public.kbgen-old"] {
        for what in IN_THE_WAY {
            for is_first in [true, false] {
                let (project, elsewhere) = (Project::new(), TempDir::new().unwrap());
                fs::create_dir(elsewhere.path().join("public")).unwrap();
                fs::write(elsewhere.path().join("public/theirs.html"), "theirs").unwrap();
                if !is_first {
                    project.emit(&[("index.html", "1")]).unwrap();
                }
                put(what, &project.path(name), elsewhere.path());
                let refusal = format!("{:#}", project.emit(&[("index.html", "2")]).unwrap_err());
                let is_named = refusal.contains(&format!("{name}` is ")) && refusal.ends_with("delete it");
                assert!(is_named, "{what} at {name}: {refusal}");
                assert_eq!(refusal.contains("a symbolic link"), what.contains("link"), "{what}: {refusal}");
                let theirs = expect(&[("public/theirs.html", "theirs")]);
                assert_eq!(tree(elsewhere.path()), theirs, "{what} at {name}");
                let published = project.path("public");
                assert_eq!(published.exists(), !is_first, "{what} at {name}");
                assert!(is_first || tree(&published) == expect(&[("index.html", "1")]), "{what} at {name}");
            }
        }
    }
}

#[test]
fn a_temporary_folder_without_permissions_is_removed_or_named() {
    use std::os::unix::fs::PermissionsExt;

    for name in [".public.kbgen-new", ".public.kbgen-old"] {
        let project = Project::new();
        fs::create_dir(project.path(name)).unwrap();
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o000)).unwrap();
        match project.emit(&[("index.html", "1")]) {
            // Root has all permissions.
            Ok(_) => assert_eq!(project.beside(), ["public"]),
            Err(refusal) => assert!(format!("{refusal:#}").contains(name), "{refusal:#}"),
        }
    }
}

#[test]
fn a_marker_that_is_no_file_is_refused_by_name() {
    for what in IN_THE_WAY.into_iter().filter(|what| *what != "file") {
        let (project, elsewhere) = (Project::new(), TempDir::new().unwrap());
        fs::create_dir(project.path("public")).unwrap();
        put(what, &project.path("public").join(MANIFEST_FILE), elsewhere.path());
        let refusal = project.refusal("public");
        assert!(refusal.contains(".kbgen-output` was not created by kbgen; delete it"), "{what}: {refusal}");
    }
}

#[test]
fn a_bundle_never_goes_through_a_link_or_waits_for_a_pipe() {
    for what in IN_THE_WAY {
        let (project, elsewhere) = (Project::new(), TempDir::new().unwrap());
        fs::create_dir(elsewhere.path().join("public")).unwrap();
        fs::write(elsewhere.path().join("public/theirs.html"), "theirs").unwrap();
        let path = project.path("site.html");
        let write = |permission| {
            let sources = [project.path("content")];
            emit::SingleFile { path: &path, mark: b"<ours", sources: &sources, permission }.write(b"<ours>")
        };
        put(what, &project.path(".site.html.kbgen-new"), elsewhere.path());
        let written = write(Permission::OnlyOurs);
        if what == "file" {
            written.unwrap();
        } else {
            let refusal = format!("{:#}", written.unwrap_err());
            assert!(
                refusal.contains(".site.html.kbgen-new` is ") && refusal.ends_with("delete it"),
                "{refusal}"
            );
            fs::remove_file(project.path(".site.html.kbgen-new")).unwrap();
            put(what, &path, elsewhere.path());
            assert!(
                format!("{:#}", write(Permission::OnlyOurs).unwrap_err())
                    .contains("not a bundle created by kbgen")
            );
            write(Permission::TakeOver).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "<ours>", "{what}");
        assert_eq!(tree(elsewhere.path()), expect(&[("public/theirs.html", "theirs")]), "{what}");
    }
}
