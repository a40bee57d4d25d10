//! Tools for contributors: findings of a change, broken links, and commands that are run.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Returns a page of prose.
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

/// Returns the codes of findings with their files.
fn found(output: &Output) -> Vec<(String, String)> {
    let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    found.iter().map(|entry| (text(&entry["code"]), text(&entry["file"]))).collect()
}

#[test]
fn a_check_of_a_change_reports_only_what_the_change_broke() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let pages = site.join("content/pages");
    fs::create_dir_all(&pages).expect("a folder");
    let bare = PAGE.replace("[the source](https://one.org/a)", "https://one.org/a");
    fs::write(pages.join("old.md"), &bare).expect("written");
    fs::write(pages.join("goal.md"), PAGE).expect("written");
    fs::write(pages.join("broken.md"), PAGE.replace("https://one.org/a", "nowhere.md")).expect("written");
    fs::write(pages.join("linked.md"), PAGE.replace("https://one.org/a", "goal.md")).expect("written");
    git(&site, &["init", "-q"]);
    git(&site, &["add", "."]);
    git(&site, &["commit", "-qm", "first"]);
    fs::write(pages.join("new.md"), &bare).expect("written");
    fs::remove_file(pages.join("goal.md")).expect("removed");
    let check = ["check", "--format", "json", "--date", "2026-11-20"];
    let all = found(&kbgen(&site, &check));
    assert!(all.contains(&("bare-address".into(), "content/pages/old.md".into())), "{all:?}");
    assert!(all.contains(&("broken-link".into(), "content/pages/broken.md".into())), "{all:?}");
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
fn an_unknown_git_revision_is_reported() {
    let folder = new_site();
    let site = folder.path().join("kb");
    git(&site, &["init", "-q"]);
    for revision in ["nowhere", "--output=x"] {
        let output = kbgen(&site, &["check", &format!("--changed={revision}")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("git failed") && said.contains(revision), "{said}");
    }
    assert!(!site.join("x").exists());
}

#[test]
fn an_untouched_scaffold_is_not_published() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let pages = [
        ("error", "out-of-memory/new-error", "content/errors/out-of-memory/new-error.md"),
        ("model", "new-model", "content/models/new-model.md"),
        ("hardware", "new-card", "content/hardware/new-card.md"),
        ("guide", "new-guide", "content/guides/new-guide.md"),
    ];
    for (kind, slug, path) in pages {
        let made = kbgen(&site, &["new", kind, slug, "--date", "2026-11-20"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let text = fs::read_to_string(site.join(path)).expect("a page");
        fs::write(site.join(path), text.replace("draft: true\n", "")).expect("written");
    }
    let found = found(&kbgen(&site, &["check", "--format", "json", "--date", "2026-11-20"]));
    for (_, _, path) in pages {
        assert!(found.contains(&("placeholder".to_string(), path.to_string())), "{path}: {found:?}");
    }
    let said = kbgen(&site, &["check", "--date", "2026-11-20"]);
    let said = String::from_utf8(said.stdout).expect("text");
    for default in [
        "title: New error",
        "tools: [llama-cpp]",
        "id: first-cause",
        "{#first-solution}",
        "data sheet",
        "config.json",
    ] {
        let is_shown = |line: &str| line.contains(default) && line.contains(" | ");
        assert!(said.lines().any(is_shown), "`{default}` is reported: {said}");
    }
}

#[test]
fn findings_and_their_absence_go_to_stdout() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let said = || {
        let output = kbgen(&site, &["check", "--date", "2026-11-20"]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (results, messages) = said();
    assert!(results.starts_with("no findings in ") && messages.is_empty(), "{results}{messages}");
    let page = site.join("content/pages/about.md");
    fs::write(&page, "---\ntitle: About\nverified: 2026-11-01\n---\nSee [it](nowhere.md).\n")
        .expect("written");
    let (results, messages) = said();
    assert!(results.starts_with("error[broken-link]") && messages.is_empty(), "{results}{messages}");
    assert!(results.ends_with("\n\n1 error in 1 file\n"), "{results}");
}

#[test]
fn a_build_for_publication_refuses_placeholder_addresses() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let settings = site.join("site.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    fs::write(&settings, format!("{text}repository = \"https://git.example/me/kb\"\n")).expect("written");
    let build = |more: &[&str]| kbgen(&site, &[&["build", "--date", "2026-11-20"], more].concat());
    let refused = build(&["--publish"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("`base_url` is the placeholder") && said.contains("site.toml:4:"), "{said}");
    assert!(said.contains("`repository` is the placeholder `https://git.example/me/kb`"), "{said}");
    assert!(!site.join("public").exists());
    let given = ["--publish", "--base-url", "https://kb.dev/"];
    assert_eq!(build(&given).status.code(), Some(1));
    fs::write(&settings, text).expect("written");
    assert!(build(&given).status.success() && build(&[]).status.success());
}

/// Fake curl that knows a few URLs and records requests, so that tests use no network.
#[cfg(unix)]
const CURL: &str = r#"#!/bin/sh
if [ "$ANSWER" = fails ]; then echo "curl: (2) no memory" >&2; exit 2; fi
sed -n 's/^url = "\(.*\)"/\1/p' | while read -r url; do
  echo "$url" >> "$ASKED"
  case "$url" in
    *9.9.9.2*) echo "301 0 https://9.9.9.9/" ;;
    *9.9.9.3*) echo "404 0 " ;;
    *9.9.9.4*) echo "302 0 file:///etc/passwd" ;;
    *9.9.9.5*) echo "403 0 " ;;
    *) echo "$ANSWER" ;;
  esac
done
"#;

/// Returns a `PATH` that starts with the fake curl. Callers set a proxy, so that no names are resolved.
#[cfg(unix)]
fn path_with_curl(folder: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;

    let programs = folder.join("programs");
    fs::create_dir(&programs).expect("a folder");
    let curl = programs.join("curl");
    fs::write(&curl, CURL).expect("written");
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).expect("made a program");
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default())
}

#[cfg(unix)]
#[test]
fn without_a_network_no_link_is_reported_as_broken() {
    let folder = new_site();
    let path = path_with_curl(folder.path());
    let unknown = "links responded";
    for (answer, reason) in
        [("000 6 ", unknown), ("000 7 ", unknown), ("fails", "`curl` failed: (2) no memory")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_kbgen"))
            .arg("links")
            .current_dir(folder.path().join("kb"))
            .env("PATH", &path)
            .env("ASKED", folder.path().join("asked"))
            .env("ANSWER", answer)
            .env("https_proxy", "http://127.0.0.1:9")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason) && output.stdout.is_empty(), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn broken_links_are_reported_and_working_ones_are_requested_once() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let pages = site.join("content/pages");
    fs::create_dir_all(&pages).expect("a folder");
    for (at, name) in ["one", "moved", "lost", "broken", "shy"].iter().enumerate() {
        let text = PAGE.replace("one.org", &format!("9.9.9.{}", at + 1));
        fs::write(pages.join(format!("{name}.md")), text).expect("written");
    }
    fs::write(pages.join("own.md"), PAGE.replace("https://one.org/a", "http://0x7f.1:8080/"))
        .expect("written");
    let path = path_with_curl(folder.path());
    let asked = folder.path().join("asked");
    let links = |date: &str| {
        let output = crate::expect::kbgen()
            .args(["links", "--format", "json", "--date", date])
            .current_dir(&site)
            .env("PATH", &path)
            .env("ASKED", &asked)
            .env("ANSWER", "200 0 ")
            .env("https_proxy", "http://127.0.0.1:9")
            .output()
            .expect("the program runs");
        let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        let found: Vec<[String; 3]> =
            found.iter().map(|one| [text(&one["file"]), text(&one["state"]), text(&one["to"])]).collect();
        (output.status.code(), found)
    };
    let expected = [
        ["content/pages/broken.md", "broken", ""],
        ["content/pages/lost.md", "gone", ""],
        ["content/pages/moved.md", "moved", "https://9.9.9.9/"],
        ["content/pages/shy.md", "unsure", ""],
    ]
    .map(|row| row.map(str::to_string))
    .to_vec();
    assert_eq!(links("2026-11-20"), (Some(1), expected.clone()));
    let first = fs::read_to_string(&asked).expect("asked");
    assert!(first.contains("https://9.9.9.1/a\n") && !first.contains(":8080"), "{first}");
    fs::write(&asked, "").expect("emptied");
    assert_eq!(links("2026-11-21"), (Some(1), expected));
    let second = fs::read_to_string(&asked).expect("asked");
    assert!(!second.contains("9.9.9.1/") && second.contains("9.9.9.3/"), "{second}");
    links("2026-11-28");
    assert!(fs::read_to_string(&asked).expect("asked").contains("9.9.9.1/"), "it is due again after a week");
}

/// Rejects commands with `--color`.
#[cfg(unix)]
const RUNNER: &str = "#!/bin/sh\nwhile read -r command; do\n\
    case $command in *--color*) echo 'unknown option: --color' ;; *) echo ;; esac\ndone\n";

#[cfg(unix)]
#[test]
fn pages_record_the_program_that_accepted_their_commands() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().expect("a temporary folder");
    let tools = folder.path().join("content/tools");
    fs::create_dir_all(&tools).expect("a folder");
    fs::write(folder.path().join("site.toml"), "format = 2\ntitle = \"A\"\nbase_url = \"https://a.org/\"\n")
        .expect("written");
    let page = |name: &str, fields: &str, options: &str| {
        let text = format!(
            "---\ntitle: {name}\nhomepage: https://a.org\ncommands: [{name}]\nverified: 2026-11-01\n{fields}\
             sources: [\"https://a.org\"]\n---\nA tool.\n\n```bash\nloader a.bin {options}\n```\n"
        );
        fs::write(tools.join(format!("{name}.md")), &text).expect("written");
        text
    };
    let runs = "runs:\n  - {tool: loader, version: \"2.1\", date: 2026-11-23}\n";
    page("loader", "", "--size 2");
    page("other", runs, "--color");
    let runner = folder.path().join("runner");
    fs::write(&runner, RUNNER).expect("written");
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).expect("made a program");
    let verify_with = |runner: &Path, version: &str| {
        let runner = runner.to_str().expect("UTF-8");
        let record = ["--record", version, "--date", "2026-11-23"];
        kbgen(folder.path(), &[&["verify", "loader", "--run", runner], &record[..]].concat())
    };
    let verify = |version: &str| verify_with(&runner, version);
    let now = |name: &str| fs::read_to_string(tools.join(format!("{name}.md"))).expect("a page");

    // The loader is not installed, or bubblewrap is not: nothing is known about its commands.
    let output = verify_with(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/run-commands"), "2.1");
    let message = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot run `loader a.bin --size 2`: "), "{message}");
    assert_eq!(now("other"), page("other", runs, "--color"), "an earlier run is kept");

    let output = verify("2.1");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "content/tools/other.md:13:1: `loader a.bin --color` was rejected: unknown option: --color\n\
         loader: 2 commands in 2 places, 1 rejected; pages without findings: 1\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let (accepted, rejected) = (now("loader"), now("other"));
    assert_eq!(accepted, page("loader", runs, "--size 2"));
    assert_eq!(rejected, page("other", "", "--color"), "an earlier run no longer holds");

    let built = kbgen(folder.path(), &["build", "--date", "2026-11-24"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let html = fs::read_to_string(folder.path().join("public/tools/loader/index.html")).expect("a page");
    assert!(html.contains("accepted by loader 2.1 on <time datetime=\"2026-11-23\">"), "{html}");

    fs::write(&runner, "#!/bin/sh\necho\n").expect("written");
    let output = verify("2.2");
    let message = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(message.contains("printed 1 lines for 2 commands"), "{message}");
}
