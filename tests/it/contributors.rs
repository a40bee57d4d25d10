//! What helps those who edit: findings of a change alone, and addresses that are gone.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A page of prose.
const PAGE: &str = "---\ntitle: About\nverified: 2026-11-01\n---\n\nSee [the source](https://one.org/a).\n";

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    output.unwrap_or_else(|error| panic!("`{program}` has to run: {error}"))
}

fn git(folder: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@b.org", "-c", "commit.gpgsign=false"];
    let output = run("git", folder, &[&fixed, arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn kbgen(folder: &Path, arguments: &[&str]) -> Output {
    crate::expect::kbgen().current_dir(folder).args(arguments).output().expect("the program runs")
}

fn new_site() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let made = kbgen(folder.path(), &["init", "kb"]);
    assert!(made.status.success());
    folder
}

/// Codes of findings with their files.
fn found(output: &Output) -> Vec<(String, String)> {
    let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    found.iter().map(|entry| (text(&entry["code"]), text(&entry["file"]))).collect()
}

#[test]
fn a_check_of_a_change_leaves_warnings_of_other_files_out_and_no_error() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let pages = site.join("content/pages");
    fs::create_dir_all(&pages).expect("a folder");
    let bare = PAGE.replace("[the source](https://one.org/a)", "https://one.org/a");
    fs::write(pages.join("old.md"), &bare).expect("written");
    fs::write(pages.join("goal.md"), PAGE).expect("written");
    fs::write(pages.join("linked.md"), PAGE.replace("https://one.org/a", "goal.md")).expect("written");
    git(&site, &["init", "-q"]);
    git(&site, &["add", "."]);
    git(&site, &["commit", "-qm", "first"]);
    fs::write(pages.join("new.md"), &bare).expect("written");
    fs::remove_file(pages.join("goal.md")).expect("removed");
    let check = ["check", "--format", "json", "--date", "2026-11-20"];
    let all = found(&kbgen(&site, &check));
    assert!(all.contains(&("bare-address".into(), "content/pages/old.md".into())), "{all:?}");
    let changed = kbgen(&site, &[&check[..], &["--changed", "HEAD"]].concat());
    assert_eq!(
        found(&changed),
        [
            ("broken-link".to_string(), "content/pages/linked.md".to_string()),
            ("bare-address".to_string(), "content/pages/new.md".to_string()),
        ]
    );
    assert_eq!(changed.status.code(), Some(1));
}

#[test]
fn a_revision_that_git_does_not_know_is_told() {
    let folder = new_site();
    let site = folder.path().join("kb");
    git(&site, &["init", "-q"]);
    for revision in ["nowhere", "--output=x"] {
        let output = kbgen(&site, &["check", &format!("--changed={revision}")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("git cannot tell what changed") && said.contains(revision), "{said}");
    }
    assert!(!site.join("x").exists());
}

/// A curl that knows a few addresses and notes what it was asked for; no test leaves this machine.
#[cfg(unix)]
const CURL: &str = r#"#!/bin/sh
sed -n 's/^url = "\(.*\)"/\1/p' | while read -r url; do
  echo "$url" >> "$ASKED"
  case "$url" in
    *one.org*) echo "200 0 0 $url" ;;
    *moved.org*) echo "200 0 1 https://now.org/" ;;
    *lost.org*) echo "404 0 0 $url" ;;
    *nowhere.org*) echo "000 6 0 $url" ;;
    *shy.org*) echo "403 0 0 $url" ;;
    *) echo "200 0 0 $url" ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn addresses_that_are_gone_are_told_with_their_place_and_good_ones_are_asked_for_once() {
    use std::os::unix::fs::PermissionsExt;

    let folder = new_site();
    let site = folder.path().join("kb");
    let pages = site.join("content/pages");
    fs::create_dir_all(&pages).expect("a folder");
    for name in ["one", "moved", "lost", "nowhere", "shy"] {
        let text = PAGE.replace("one.org", &format!("{name}.org"));
        fs::write(pages.join(format!("{name}.md")), text).expect("written");
    }
    fs::write(pages.join("own.md"), PAGE.replace("https://one.org/a", "http://127.0.0.1:8080/"))
        .expect("written");
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).expect("a folder");
    let curl = programs.join("curl");
    fs::write(&curl, CURL).expect("written");
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).expect("made a program");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let asked = folder.path().join("asked");
    let links = |date: &str| {
        let output = crate::expect::kbgen()
            .args(["links", "--format", "json", "--date", date])
            .current_dir(&site)
            .env("PATH", &path)
            .env("ASKED", &asked)
            .output()
            .expect("the program runs");
        let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        let found: Vec<[String; 3]> =
            found.iter().map(|one| [text(&one["file"]), text(&one["state"]), text(&one["to"])]).collect();
        (output.status.code(), found)
    };
    let expected = [
        ["content/pages/lost.md", "gone", ""],
        ["content/pages/moved.md", "moved", "https://now.org/"],
        ["content/pages/nowhere.md", "gone", ""],
        ["content/pages/shy.md", "unsure", ""],
    ]
    .map(|row| row.map(str::to_string))
    .to_vec();
    assert_eq!(links("2026-11-20"), (Some(1), expected.clone()));
    let first = fs::read_to_string(&asked).expect("asked");
    assert!(first.contains("https://one.org/a\n") && !first.contains("127.0.0.1"), "{first}");
    fs::write(&asked, "").expect("emptied");
    assert_eq!(links("2026-11-21"), (Some(1), expected));
    let second = fs::read_to_string(&asked).expect("asked");
    assert!(!second.contains("one.org") && second.contains("lost.org"), "{second}");
    links("2026-11-28");
    assert!(fs::read_to_string(&asked).expect("asked").contains("one.org"), "it is due again after a week");
}
