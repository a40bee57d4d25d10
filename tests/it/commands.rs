//! Commands and their output. Pages under `tests/cmd/` are documentation and tests.
//!
//! A page starts in an empty folder. A fenced block with `file=path` after its language writes a file. A block of
//! `console` runs commands: the lines after a line with `$ ` are the expected output, stdout before stderr, and `[exit
//! 1]` if the exit code is not 0. `< file` is the standard input; `cat file` prints a file. `…` matches anything,
//! alone on its line any lines; `[DIR]` is the folder.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::TempDir;

use crate::case_file::unescape;
use crate::expect;

/// Command and its expected output.
struct Typed {
    line: String,
    expected: Vec<String>,
}

/// Runs the program in a folder.
fn kbgen(folder: &Path, arguments: &[String], input: Option<&Path>) -> Output {
    let input = match input {
        Some(path) => Stdio::from(fs::File::open(path).expect("the input is there")),
        None => Stdio::null(),
    };
    expect::kbgen()
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .stdin(input)
        .output()
        .expect("the program runs")
}

/// Splits a command line into words, with quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (word, after) = match quote {
            Some(quote) => rest[1..].split_once(quote).expect("quotes are closed"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_string());
        rest = after.trim_start();
    }
    words
}

/// Formats the output of a command for a page.
fn run(folder: &Path, line: &str) -> Vec<String> {
    let (line, input) = match line.split_once(" < ") {
        Some((line, input)) => (line, Some(folder.join(input.trim()))),
        None => (line, None),
    };
    let words = words(line);
    let (program, arguments) = words.split_first().expect("a command has a name");
    let mut shown = match program.as_str() {
        "kbgen" => {
            let output = kbgen(folder, arguments, input.as_deref());
            let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
            shown.push_str(&String::from_utf8_lossy(&output.stderr));
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            assert!(!shown.contains("panicked at"), "`{line}` panics:\n{shown}");
            match output.status.code() {
                Some(0) => {}
                code => shown.push_str(&format!("[exit {}]\n", code.expect("no signal ended it"))),
            }
            shown
        }
        "cat" => fs::read_to_string(folder.join(&arguments[0])).expect("the file is there"),
        other => panic!("pages under tests/cmd/ know no `{other}`"),
    };
    let canonical = folder.canonicalize().expect("the folder is there").display().to_string();
    shown = shown.replace(&canonical, "[DIR]").replace(&folder.display().to_string(), "[DIR]");
    shown.lines().map(|line| line.trim_end().to_string()).collect()
}

/// Returns whether output matches the expected lines, where `…` matches anything.
fn is_as_expected(expected: &[String], shown: &[String]) -> bool {
    match (expected.first(), shown.first()) {
        (None, shown) => shown.is_none(),
        (Some(first), _) if first == "…" => {
            (0..=shown.len()).any(|skipped| is_as_expected(&expected[1..], &shown[skipped..]))
        }
        (Some(_), None) => false,
        (Some(first), Some(line)) => is_line(first, line) && is_as_expected(&expected[1..], &shown[1..]),
    }
}

fn is_line(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, inner)) = parts.split_last() else { return rest.is_empty() };
    for part in inner {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn commands(block: &str) -> Vec<Typed> {
    let mut commands: Vec<Typed> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(line) => commands.push(Typed { line: line.to_string(), expected: Vec::new() }),
            None => {
                commands.last_mut().expect("a block begins with a command").expected.push(line.to_string())
            }
        }
    }
    commands
}

/// Runs the commands of a page. Returns the page with the actual output, and the differences.
fn play(page: &str) -> (String, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let mut played = String::new();
    let mut faults = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find("\n```") {
        let fence_at = at + 1;
        let ticks = rest[fence_at..].len() - rest[fence_at..].trim_start_matches('`').len();
        let fence = "`".repeat(ticks);
        let (info, after) = rest[fence_at + ticks..].split_once('\n').expect("a fence has an end");
        let end = after.find(&format!("{fence}\n")).expect("a fence is closed");
        let block = &after[..end];
        played.push_str(&rest[..fence_at]);
        played.push_str(&format!("{fence}{info}\n"));
        if let Some((_, path)) = info.split_once("file=") {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it lies in the folder")).unwrap();
            fs::write(path, unescape(block)).unwrap();
            played.push_str(block);
        } else if info == "console" {
            for command in commands(block) {
                let shown = run(folder.path(), &command.line);
                let is_fine = is_as_expected(&command.expected, &shown);
                let lines = if is_fine { &command.expected } else { &shown };
                if !is_fine {
                    faults.push(expect::difference(
                        &format!("$ {}", command.line),
                        &command.expected.join("\n"),
                        &shown.join("\n"),
                    ));
                }
                played.push_str(&format!("$ {}\n", command.line));
                lines.iter().for_each(|line| played.push_str(&format!("{line}\n")));
            }
        } else {
            played.push_str(block);
        }
        played.push_str(&format!("{fence}\n"));
        rest = &after[end + ticks + 1..];
    }
    played.push_str(rest);
    (played, faults)
}

#[test]
fn commands_print_what_their_pages_say() {
    let mut faults = Vec::new();
    for path in expect::files("tests/cmd", ".md") {
        let page = fs::read_to_string(&path).expect("a page is text");
        let (played, differing) = play(&page);
        if expect::bless() {
            expect::write(&path, &played);
        } else {
            let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
            faults.extend(differing.into_iter().map(|fault| format!("tests/cmd/{name}, {fault}")));
        }
    }
    expect::all_well(faults);
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = fs::read_to_string(expect::repository("README.md")).expect("the README is text");
    let (_, rest) = readme.split_once("```console\n").expect("the README shows commands");
    let (block, _) = rest.split_once("```\n").expect("a fence is closed");
    let log = block.lines().find_map(|line| line.strip_prefix("  line 1: ")).expect("the log has a line");
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("log.txt"), log).unwrap();
    let site = format!("kbgen --root \"{}\" ", expect::repository("").display());
    for command in commands(block) {
        let shown = run(folder.path(), &command.line.replacen("kbgen ", &site, 1));
        let (expected, shown_text) = (command.expected.join("\n"), shown.join("\n"));
        let difference = expect::difference(&command.line, &expected, &shown_text);
        assert!(is_as_expected(&command.expected, &shown), "{difference}");
    }
}

/// Returns the commands listed in the help.
fn names() -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let help = kbgen(folder.path(), &["--help".to_string()], None);
    let help = String::from_utf8(help.stdout).expect("help is UTF-8");
    let commands = help.split("Commands:\n").nth(1).expect("help names the commands");
    let names = commands.lines().take_while(|line| line.starts_with("  "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_string)
        .collect()
}

#[test]
fn every_command_has_its_page() {
    for name in names().into_iter().filter(|name| name != "serve") {
        let page = expect::repository(&format!("tests/cmd/{name}.md"));
        assert!(page.is_file(), "no page tests/cmd/{name}.md shows what `kbgen {name}` prints");
    }
}

#[test]
fn docs_cli_is_the_help_of_the_program() {
    let folder = TempDir::new().unwrap();
    let help = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_string()).collect();
        let output = kbgen(folder.path(), &arguments, None);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).expect("help is UTF-8");
        text.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
    };
    let mut page = format!(
        "# Command line\n\nGenerated by `KBGEN_BLESS=1 cargo test` from the program; do not edit.\n\n\
         Exit codes: 0: success; 1: errors in the content, or nothing found; 2: environment error (I/O, \
         bad arguments). `kbgen diagnose -- COMMAND` exits with the code of the command.\n\nResults are written to stdout, messages to stderr. Output is \
         colored on terminals unless `NO_COLOR` is set.\n\n```text\n\
         $ kbgen --help\n{}```\n",
        help(&["--help"])
    );
    for name in names() {
        page.push_str(&format!(
            "\n## kbgen {name}\n\n```text\n$ kbgen {name} --help\n{}```\n",
            help(&[&name, "--help"])
        ));
    }
    expect::all_well(expect::same(&expect::repository("docs/cli.md"), &page).into_iter().collect());
}

#[test]
fn results_go_to_stdout_and_messages_to_stderr() {
    let folder = TempDir::new().unwrap();
    let said = |line: &str| {
        let output = kbgen(folder.path(), &words(line), None);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (text(output.stdout), text(output.stderr))
    };
    let (results, messages) = said("init kb");
    assert!(results.is_empty() && messages.starts_with("created a knowledge base"), "{results}{messages}");
    let (results, messages) = said("--root kb new guide free-memory --date 2026-11-20");
    assert!(
        results.ends_with("free-memory.md\n") && messages.starts_with("created a draft"),
        "{results}{messages}"
    );
    let (results, messages) = said("--root kb fit llama-3.1-8b-instruct");
    assert!(results.contains("KV cache") && messages.is_empty(), "{results}{messages}");
    let (results, messages) = said("--root kb fit nothing-like-it");
    assert!(results.is_empty() && messages.starts_with("error: "), "{results}{messages}");
    let (results, messages) = said("--root kb build --date 2026-11-20");
    assert!(results.is_empty() && messages.contains(" files in "), "{results}{messages}");
    let (results, messages) = said("--root kb stale --date 2030-01-01");
    assert!(results.contains("days overdue") && messages.is_empty(), "{results}{messages}");
}

#[test]
fn dots_match_anything() {
    assert!(is_line("made … in …", "made 3 files in a folder"));
    assert!(!is_line("made … in …", "made 3 files on a folder"));
    assert!(is_line("a…b", "ab") && !is_line("a…b", "abc") && is_line("…", ""));
    let lines = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
    assert!(is_as_expected(&lines("a … c"), &lines("a b b c")));
    assert!(!is_as_expected(&lines("a … c"), &lines("a b b")));
}
