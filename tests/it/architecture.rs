//! Module dependencies match ARCHITECTURE.md, and external crates match docs/dependencies.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::expect::{files, repository};

/// Maximum number of lines of a file before its tests.
const MOST_LINES: usize = 400;

/// The other crates of the workspace. The compiler enforces their dependencies.
const CRATES: [&str; 2] = ["kbgen_estimate", "kbgen_signature"];

/// Source file: path in the repository, text, and code without comments and tests.
struct Code {
    path: String,
    text: String,
    code: String,
}

impl Code {
    /// Returns the module of a file: the name after `src/`, or its crate as written in code.
    fn module(&self) -> String {
        let inner = self.path.trim_start_matches("src/").trim_start_matches("crates/");
        inner.split(['/', '.']).next().unwrap_or(inner).replace('-', "_")
    }
}

fn sources() -> Vec<Code> {
    let root = repository("");
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is text");
        let before_tests = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(&text);
        let code = before_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
        Code {
            code: code.collect::<Vec<_>>().join("\n"),
            path: path.strip_prefix(&root).expect("it lies in the repository").display().to_string(),
            text,
        }
    };
    let crates = files("crates", ".rs")
        .into_iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"));
    files("src", ".rs").into_iter().chain(crates).map(read).collect()
}

/// Returns the rows of the table in a document whose first heading is `first`, cell by cell.
fn table(document: &str, first: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(repository(document)).expect("the document is there");
    let head = format!("| {first} |");
    let rows = page.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
    let rows: Vec<Vec<String>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_string()).collect()
        })
        .collect();
    assert!(!rows.is_empty(), "{document} has no table that begins with `{first}`");
    rows
}

/// Returns the modules that each module may use.
fn law() -> BTreeMap<String, BTreeSet<String>> {
    let names = |cell: &str| cell.split(", ").filter(|name| *name != "nothing").map(str::to_string).collect();
    table("ARCHITECTURE.md", "module").into_iter().map(|row| (row[0].clone(), names(&row[2]))).collect()
}

/// Returns the names after `crate::`, including those in braces, and the other crates of the workspace.
fn used(code: &str) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> =
        CRATES.into_iter().filter(|name| code.contains(&format!("{name}::"))).collect();
    for (at, start) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + start.len()..];
        let word = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = list.split("};").next().unwrap_or(list);
                names.extend(
                    list.split(',').map(str::trim).map(|name| &name[..word(name)]).filter(|n| !n.is_empty()),
                );
            }
            None => {
                names.insert(&rest[..word(rest)]);
            }
        }
    }
    names
}

#[test]
fn a_module_uses_only_what_its_row_allows() {
    let law = law();
    let mut taken: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let sources = sources();
    let ours = sources.iter().filter(|code| code.path.starts_with("src/"));
    for code in ours.filter(|code| !["src/lib.rs", "src/main.rs"].contains(&code.path.as_str())) {
        let module = code.module();
        let may = law
            .get(&module)
            .unwrap_or_else(|| panic!("{}: `{module}` has no row in ARCHITECTURE.md", code.path));
        for name in used(&code.code).into_iter().filter(|name| **name != *module) {
            assert!(
                may.contains(name),
                "{} uses `{name}`, and the row of `{module}` in ARCHITECTURE.md does not allow it",
                code.path
            );
            taken.entry(module.clone()).or_default().insert(name);
        }
    }
    for (module, may) in &law {
        let used = taken.remove(module.as_str()).unwrap_or_default();
        let idle: Vec<_> = may.iter().filter(|name| !used.contains(name.as_str())).collect();
        assert!(
            idle.is_empty(),
            "ARCHITECTURE.md allows `{module}` to use {idle:?}, and it uses them nowhere"
        );
    }
}

#[test]
fn the_table_names_the_modules_from_the_top_down() {
    let lib = fs::read_to_string(repository("src/lib.rs")).expect("there is a library");
    let modules = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let modules: BTreeSet<&str> = modules.chain(CRATES).collect();
    let rows: Vec<String> =
        table("ARCHITECTURE.md", "module").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(rows.iter().map(String::as_str).collect::<BTreeSet<_>>(), modules);
    let law = law();
    for (at, module) in rows.iter().enumerate() {
        for below in &law[module] {
            let place =
                rows.iter().position(|row| row == below).unwrap_or_else(|| panic!("no row `{below}`"));
            assert!(place > at, "`{module}` uses `{below}`, which stands above it: arrows lead down only");
        }
    }
}

#[test]
fn stages_do_not_use_each_other() {
    let stages = ["load", "link", "check", "fit", "render", "emit"];
    let law = law();
    for stage in stages {
        for other in stages {
            assert!(!law[stage].contains(other), "the stage `{stage}` may not use the stage `{other}`");
        }
    }
}

#[test]
fn only_allowed_modules_touch_the_environment() {
    const TOUCHES: [(&str, &[&str]); 5] = [
        ("disk", &["std::fs", "walkdir::"]),
        ("network", &["std::net::Tcp", "hyper::", "tokio::net"]),
        ("clock", &["Zoned::now", "SystemTime::now", "Instant::now"]),
        ("programs", &["process::Command"]),
        ("terminal", &["std::io::stdout", "std::io::stderr", "println!"]),
    ];
    let may: BTreeMap<String, String> =
        table("ARCHITECTURE.md", "module").into_iter().map(|row| (row[0].clone(), row[3].clone())).collect();
    for code in sources() {
        let Some(may) = may.get(&code.module()) else { continue };
        for (what, signs) in TOUCHES {
            for sign in signs.iter().filter(|sign| code.code.contains(**sign)) {
                assert!(may.contains(what), "{} has `{sign}`, and may not touch the {what}", code.path);
            }
        }
    }
}

#[test]
fn only_the_terminal_module_prints() {
    // `estimate` streams CSV.
    let writers = ["src/cli/terminal.rs", "src/cli/estimate.rs"];
    for code in sources().iter().filter(|code| !writers.contains(&code.path.as_str())) {
        for sign in ["io::stdout", "io::stderr", "print!(", "println!("] {
            assert!(!code.code.contains(sign), "{} has `{sign}`: print through `Terminal`", code.path);
        }
    }
}

#[test]
fn there_is_no_global_mutable_state_and_few_files_have_locks() {
    let thread_locals = ["src/facts.rs", "src/markdown/line_cache.rs"];
    let locks = [
        "src/cli/",
        "src/serve/",
        "src/engine/",
        "src/emit/",
        "src/files/outputs.rs",
        "src/render/templates.rs",
        "src/render/views/shared_values.rs",
    ];
    for Code { path, code, .. } in sources() {
        let is_in = |allowed: &[&str]| allowed.iter().any(|start| path.starts_with(start));
        assert!(!code.contains("thread_local!") || is_in(&thread_locals), "{path} has a thread-local");
        assert!(
            !["Mutex<", "RwLock<"].iter().any(|lock| code.contains(lock)) || is_in(&locks),
            "{path} has a lock"
        );
        let statics = code.lines().filter(|line| line.trim_start_matches("pub ").starts_with("static "));
        for line in statics {
            let is_mutable =
                ["static mut", "Mutex<", "RwLock<", "Atomic", "Cell<"].iter().any(|sign| line.contains(sign));
            assert!(!is_mutable, "{path}: `{line}` is global mutable state");
        }
    }
}

#[test]
fn external_crates_are_used_only_in_their_module() {
    let homes: BTreeMap<String, Vec<String>> = table("docs/dependencies.md", "crate in code")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].split(", ").map(str::to_string).collect()))
        .collect();
    for code in sources() {
        for (name, homes) in &homes {
            let is_used = code.code.match_indices(&format!("{name}::")).any(|(at, _)| {
                !code.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            });
            let at_home = homes
                .iter()
                .any(|home| code.path == *home || (home.ends_with('/') && code.path.starts_with(home)));
            // A module with the name of a crate does not count: `use crate::config::toml`.
            assert!(!is_used || at_home, "{} uses `{name}`, whose home is {homes:?}", code.path);
        }
    }
}

#[test]
fn files_start_with_a_module_comment_and_are_short() {
    let mut faults = Vec::new();
    for code in sources() {
        let first = code.text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") {
            faults.push(format!("{} does not open with `//!` and a sentence", code.path));
        }
        let before_tests = code.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let lines = before_tests.lines().count();
        if lines > MOST_LINES {
            faults.push(format!("{} has {lines} lines before its tests, more than {MOST_LINES}", code.path));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn there_are_no_glob_or_super_super_imports() {
    for code in sources() {
        for line in code
            .code
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("use ") || line.starts_with("pub use "))
        {
            assert!(!line.contains("super::super"), "{}: {line}", code.path);
            assert!(!line.ends_with("::*;") || line.ends_with("::prelude::*;"), "{}: {line}", code.path);
        }
    }
}
