//! Commands whose input is partly unusable, or whose result cannot be written, say so.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::expect;

fn kbgen(folder: &Path, arguments: &[&str]) -> Output {
    expect::kbgen().current_dir(folder).args(arguments).output().expect("the program runs")
}

fn new_site() -> TempDir {
    let folder = TempDir::new().unwrap();
    assert!(kbgen(folder.path(), &["init", "kb"]).status.success());
    folder
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let folder = new_site();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = expect::kbgen()
        .current_dir(folder.path())
        .args(["--root", "kb", "check", "--format", "json"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot write to standard output"), "{}", said(&output));
}

#[test]
fn files_of_one_name_in_folders_of_one_name_stay_apart() {
    let folder = new_site();
    let site = folder.path().join("kb");
    let write = |path: &str, bytes: &[u8]| {
        let path = site.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for path in ["content/guides/a.txt", "content/content/guides/a.txt", "static/content/guides/a.txt"] {
        write(path, b"one");
    }
    write("static/logo.txt", b"outer");
    write("static/static/logo.txt", b"inner");
    let built = kbgen(folder.path(), &["--root", "kb", "build", "--output-dir", "out", "--no-cache"]);
    assert!(built.status.success(), "{}", said(&built));
    let text = |folder_below: &str| {
        let entries = fs::read_dir(folder.path().join("out/static").join(folder_below)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "txt"))
            .map(fs::read_to_string)
            .collect()
    };
    let texts: [Result<Vec<String>, _>; 4] =
        ["", "static", "content/guides", "content/content/guides"].map(text);
    assert_eq!(texts.map(Result::unwrap), [["outer"], ["inner"], ["one"], ["one"]]);
}

#[test]
fn a_moved_page_has_line_ends_of_one_kind() {
    let folder = new_site();
    let guides = folder.path().join("kb/content/guides");
    fs::create_dir_all(&guides).unwrap();
    for aliases in ["", "aliases: [/old/]\r\n", "aliases: []\r\n", "aliases:\r\n  - /old/\r\n"] {
        fs::write(guides.join("a.md"), format!("---\r\ntitle: A\r\n{aliases}---\r\nText.\r\n")).unwrap();
        let moved =
            kbgen(folder.path(), &["--root", "kb", "mv", "content/guides/a.md", "content/guides/b.md"]);
        assert!(moved.status.success(), "{}", said(&moved));
        let text = fs::read_to_string(guides.join("b.md")).unwrap();
        assert!(text.contains("/guides/a/"), "{text}");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
        fs::remove_file(guides.join("b.md")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn rewritten_files_keep_their_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = new_site();
    let guides = folder.path().join("kb/content/guides");
    fs::create_dir_all(&guides).unwrap();
    for (name, mode) in [("a", 0o600), ("c", 0o440)] {
        let path = guides.join(format!("{name}.md"));
        fs::write(&path, format!("---\ntitle: {name}\n---\nSee [the guide](/guides/a/).\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let moved = kbgen(folder.path(), &["--root", "kb", "mv", "content/guides/a.md", "content/guides/b.md"]);
    assert!(moved.status.success(), "{}", said(&moved));
    for (name, mode) in [("b", 0o600), ("c", 0o440)] {
        let path = guides.join(format!("{name}.md"));
        assert!(fs::read_to_string(&path).unwrap().contains("](/guides/b/)"), "{name}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{name}");
    }
}

#[test]
fn a_page_with_errors_is_mentioned_where_its_answers_are_missing() {
    let folder = new_site();
    let errors = folder.path().join("kb/content/errors");
    let page = fs::read_dir(&errors).unwrap().flatten().map(|entry| entry.path()).find(|path| path.is_dir());
    let page = page.unwrap_or(errors).join("broken.md");
    fs::write(page, "---\ntitle: [\n---\n").unwrap();
    fs::write(folder.path().join("log"), "some error").unwrap();
    let warning = "warning: 1 file has errors and may be missing from the result; run `kbgen check`";
    // With and without the results of the first run.
    for _ in 0..2 {
        let output = kbgen(folder.path(), &["--root", "kb", "diagnose", "log"]);
        assert!(said(&output).contains(warning), "{}", said(&output));
    }
    let stale = kbgen(folder.path(), &["--root", "kb", "stale"]);
    assert!(said(&stale).contains(warning), "{}", said(&stale));
}

#[cfg(unix)]
#[test]
fn a_process_that_a_command_leaves_behind_is_not_awaited() {
    let folder = new_site();
    let script = "tail -f /dev/null & echo $! > process; echo boom; exit 3";
    let output = kbgen(folder.path(), &["diagnose", "--", "sh", "-c", script]);
    let process = fs::read_to_string(folder.path().join("process")).unwrap();
    let ended = std::process::Command::new("kill").arg(process.trim()).status().unwrap();
    assert!(ended.success(), "the process still runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).starts_with("boom\n"), "{}", said(&output));
}

#[test]
fn more_slots_than_tokens_are_not_covered_and_other_rows_are() {
    let rows = "kind,engine,catalogue_id,quant,device,ctx,n_seq\n\
        kv_bytes,llama.cpp,llama-3.1-8b-instruct,Q4_K_M,all,4096,4097\n\
        kv_bytes,llama.cpp,llama-3.1-8b-instruct,Q4_K_M,all,4096,1\n\
        model_bytes,vllm,Llama 3.1 8B Instruct,BF16,gpu0,4096,\n";
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let root = expect::repository("").display().to_string();
    let output = kbgen(folder.path(), &["--root", &root, "estimate", "rows.csv"]);
    let answers = String::from_utf8(output.stdout).unwrap();
    let ends =
        [",,not covered: there are more slots than tokens of context", ",536870912,ok", ",16060522496,ok"];
    for (line, end) in answers.lines().skip(1).zip(ends) {
        assert!(line.ends_with(end), "{answers}");
    }
    assert_eq!(answers.lines().count(), 4, "{answers}");
}
