//! Hostile and broken inputs are reported at their location or are harmless. `tests/hostile/README.md` lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use kbgen::diag;
use kbgen::diag::Diagnostic;
use kbgen::escape::ColorChoice;
use kbgen::files::{Outputs, Sources};
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::SiteOptions;

use crate::case_file::{CaseFile, unescape};
use crate::expect::{self, all_well, options, repository};
use crate::harm::{Harmless, harm};

/// Row of the table.
struct HostileInput {
    /// Path below `tests/hostile/`.
    input: String,
    /// Expected outcome.
    outcome: String,
}

fn table() -> String {
    fs::read_to_string(repository("tests/hostile/README.md")).expect("the table can be read")
}

/// Returns the cells of a row with an input.
fn cells(line: &str) -> Option<[&str; 3]> {
    let cells: Vec<&str> = line.strip_prefix("| [")?.strip_suffix(" |")?.split(" | ").collect();
    let [link, tries, outcome] = cells[..] else { panic!("three cells make a row: {line}") };
    Some([link.split_once("](")?.1.strip_suffix(')')?, tries, outcome.trim()])
}

fn rows() -> Vec<HostileInput> {
    let row = |line: &str| {
        let [input, _, outcome] = cells(line)?;
        Some(HostileInput { input: input.to_string(), outcome: outcome.to_string() })
    };
    table().lines().filter_map(row).collect()
}

/// Returns the outcome for a site on disk: its files, or all errors in the format of the table.
fn outcome(root: &Path, bad: &mut Vec<String>) -> (String, Option<Outputs>) {
    let (sources, faults) = load::read(root).expect("the site has settings");
    let options = SiteOptions { drafts: Drafts::Include, ..options() };
    let built = pipeline::build(&sources, faults, &options).expect("the base URL is valid");
    bad.extend(report_faults(&built.analysis.findings, &sources));
    match built.outputs {
        Some(outputs) => ("no harm".into(), Some(outputs)),
        None => (error_lines(&built.analysis.findings, &sources), None),
    }
}

/// Returns the outcome of a change to the shared site, including panics.
fn tried(input: &str, harmless: &Harmless, bad: &mut Vec<String>) -> String {
    let case = CaseFile::read(&repository(&format!("tests/hostile/{input}")));
    let run = AssertUnwindSafe(|| {
        let (outcome, outputs) = outcome(case.folder().path(), bad);
        bad.extend(outputs.iter().flat_map(|outputs| harm(outputs, harmless)));
        outcome
    });
    catch_unwind(run).unwrap_or_else(|_| "the build panics".into())
}

/// Lists errors by file, rule and line without duplicates.
fn error_lines(found: &[Diagnostic], sources: &Sources) -> String {
    let errors = found.iter().filter(|finding| finding.severity.name() == "error");
    let mut places: Vec<String> = errors
        .map(|finding| {
            let source = sources.get(finding.span.source);
            let path = source.path.strip_prefix("content/").unwrap_or(&source.path);
            let path = match path.char_indices().nth(60) {
                Some((end, _)) => format!("{}…", &path[..end]),
                None => path.to_string(),
            };
            format!("`{}` {path}:{}", finding.code, source.position(finding.span.start).line)
        })
        .collect();
    places.dedup();
    match places.len() {
        0..=4 => places.join(", "),
        more => format!("{}, … {}, {more} places", places[0], places[more - 1]),
    }
}

/// Checks that a report contains no control codes or workflow commands and is short.
fn report_faults(found: &[Diagnostic], sources: &Sources) -> Vec<String> {
    let misleads = |c: char| {
        c != '\n' && c.is_control()
            || ('\u{202A}'..='\u{202E}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    let reports = [
        diag::human(found, sources, ColorChoice::Off),
        diag::json(found, sources),
        diag::github(found, sources).to_string(),
        diag::sarif(found, sources, &pipeline::rules()),
    ];
    let strange = reports.iter().filter_map(|text| {
        let (at, strange) = text.char_indices().find(|(_, c)| misleads(*c))?;
        let near: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        Some(format!("a report holds {strange:?} behind {near:?}"))
    });
    let endless = found.iter().filter(|finding| {
        finding.message.len() > 400 || finding.help.as_ref().is_some_and(|help| help.len() > 1_000)
    });
    strange.chain(endless.map(|finding| format!("nobody reads this to its end: {finding:?}"))).collect()
}

/// Returns whether file permissions apply, which is not the case for root.
fn keeps_secrets() -> bool {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("closed");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o0)).unwrap();
    fs::read(&file).is_err()
}

#[test]
fn each_input_is_reported_at_its_location_or_is_harmless() {
    let plain =
        CaseFile { site: String::new(), ..CaseFile::read(&repository("tests/cases/shared-site.txt")) };
    let rows = rows();
    let mut faults = Vec::new();
    let mut outcomes = BTreeMap::new();
    let sites = [plain.folder().path(), &repository("tests/golden/site")]
        .map(|root| outcome(root, &mut faults).1.expect("nothing is wrong with this site"));
    let harmless = Harmless::of(&sites);
    let secrets = keeps_secrets();
    for row in &rows {
        if row.input.contains("/unreadable") && !secrets {
            continue;
        }
        let mut bad = Vec::new();
        let outcome = match row.input.ends_with(".txt") {
            true => tried(&row.input, &harmless, &mut bad),
            false => answer(&row.input),
        };
        faults.extend(bad.into_iter().map(|bad| format!("{}: {bad}", row.input)));
        if outcome != row.outcome && !expect::bless() {
            faults.push(format!("{}:\n  expected: {}\n  got:      {outcome}", row.input, row.outcome));
        }
        outcomes.insert(row.input.clone(), outcome);
    }
    if expect::bless() {
        let lines = table()
            .lines()
            .map(|line| match cells(line) {
                Some([input, tries, _]) if outcomes.contains_key(input) => {
                    let link = line.split(" | ").next().unwrap_or_default();
                    format!("{link} | {tries} | {} |\n", outcomes[input])
                }
                _ => format!("{line}\n"),
            })
            .collect::<String>();
        expect::write(&repository("tests/hostile/README.md"), &lines);
    }
    all_well(faults);
}

/// Returns the message for an input file, in the format of the table.
fn answer(input: &str) -> String {
    let text = fs::read_to_string(repository(&format!("tests/hostile/{input}"))).expect("an input is text");
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("input");
    fs::write(&file, unescape(text.strip_suffix('\n').unwrap_or(&text))).unwrap();
    let command = if input.ends_with(".csv") { "estimate" } else { "diagnose" };
    let output = expect::kbgen()
        .arg("--root")
        .arg(repository("tests/golden/site"))
        .args([command.as_ref(), file.as_os_str()])
        .output()
        .expect("the program runs");
    let said = if output.stderr.is_empty() { output.stdout } else { output.stderr };
    let said = String::from_utf8(said).expect("an answer is text");
    let orders = |c: char| c.is_control() && c != '\n';
    assert!(
        command == "estimate" || !said.contains(orders),
        "{input}: an answer orders a terminal about: {said:?}"
    );
    let line = said.lines().next_back().filter(|_| command == "estimate").or(said.lines().next());
    let short: String = line.unwrap_or_default().chars().filter(|c| !c.is_control()).take(120).collect();
    format!("exit {}: {}", output.status.code().expect("it ends by itself"), short.replace('|', "¦"))
}

#[test]
fn the_table_lists_every_input() {
    let folder = repository("tests/hostile");
    let files: BTreeSet<String> = expect::files("tests/hostile", "")
        .iter()
        .filter(|path| !path.ends_with("README.md"))
        .map(|path| path.strip_prefix(&folder).unwrap().display().to_string())
        .collect();
    let rows = rows();
    assert_eq!(rows.iter().map(|row| row.input.clone()).collect::<BTreeSet<_>>(), files);
    assert_eq!(rows.len(), files.len(), "each is listed once");
    assert!(files.len() > 200);
}
