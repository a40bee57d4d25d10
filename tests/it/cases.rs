//! Every rule has a case: a small site that violates it, and the expected report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::{Date, date};
use kbgen::diag;
use kbgen::diag::Rule;
use kbgen::engine::Engine;
use kbgen::escape::ColorChoice;
use kbgen::files::{self, Outputs};
use kbgen::load::Drafts;
use kbgen::pipeline;
use kbgen::pipeline::{BuildResult, SiteOptions};
use kbgen::render::Audience;
use kbgen::{check, config, fit, load, render, schema};
use serde_json::Value;

use crate::case_file::CaseFile;
use crate::expect;

/// Date of all cases.
const TODAY: Date = date(2026, 6, 30);

/// Returns the stages of a build with their rules: folder of the cases, title in the manual, rules.
fn stages() -> [(&'static str, &'static str, Vec<Rule>); 7] {
    [
        ("load", "Files", load::RULES.to_vec()),
        ("config", "site.toml", config::RULES.to_vec()),
        ("schema", "Front matter", schema::RULES.to_vec()),
        ("markup", "Markdown", check::MARKUP_RULES.to_vec()),
        ("check", "Pages", check::rules()),
        ("fit", "Models and figures", fit::RULES.to_vec()),
        ("render", "Templates", render::RULES.to_vec()),
    ]
}

fn cases() -> Vec<CaseFile> {
    let shared = expect::repository("tests/cases/shared-site.txt");
    let files = expect::files("tests/cases", ".txt");
    files.iter().filter(|path| **path != shared).map(|path| CaseFile::read(path)).collect()
}

fn options() -> SiteOptions {
    SiteOptions {
        today: TODAY,
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    }
}

fn build(case: &CaseFile) -> (BuildResult, String) {
    let (sources, faults) = case.sources();
    let built = pipeline::build(&sources, faults, &options()).expect("the base URL is valid");
    let found = &built.analysis.findings;
    let report = match found.is_empty() {
        true => "none\n".to_string(),
        false => format!("{}{}\n", diag::human(found, &sources, ColorChoice::Off), diag::summary(found)),
    };
    (built, report)
}

#[test]
fn every_case_is_reported_as_it_says() {
    let mut faults = Vec::new();
    for case in cases() {
        let (built, report) = build(&case);
        if !built.analysis.findings.iter().any(|finding| finding.code == case.code) {
            faults.push(format!(
                "{}: nothing breaks the rule `{}`:\n{report}",
                case.path.display(),
                case.code
            ));
        }
        if built.outputs.as_ref().is_none_or(Outputs::is_empty) != built.analysis.has_errors() {
            faults.push(format!("{}: a site is made if and only if there is no error", case.path.display()));
        }
        faults.extend(expect::same(&case.path, &case.with_findings(&report)));
    }
    expect::all_well(faults);
}

#[test]
fn fixes_resolve_their_findings() {
    for case in cases() {
        let (mut sources, faults) = case.sources();
        for pass in 0.. {
            let built = pipeline::build(&sources, faults.clone(), &options()).unwrap();
            let edits = built.analysis.findings.iter().filter_map(|finding| finding.fix.as_deref().cloned());
            let edits: Vec<_> = edits.collect();
            if edits.is_empty() {
                break;
            }
            assert!(pass < 4, "{}: {edits:?}", case.path.display());
            for (file, text) in files::apply(edits, &sources) {
                let path = sources.get(file).path.clone();
                sources.add(path, text);
            }
        }
    }
}

#[test]
fn the_shared_site_has_no_fault() {
    let path = expect::repository("tests/cases/shared-site.txt");
    let (_, report) = build(&CaseFile { site: String::new(), ..CaseFile::read(&path) });
    assert_eq!(report, "none\n");
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let wanted: BTreeSet<&str> = pipeline::rules().iter().map(|rule| rule.code).collect();
    let cases = cases();
    let written: BTreeSet<&str> = cases.iter().map(|case| case.code.as_str()).collect();
    let missing: Vec<_> = wanted.difference(&written).collect();
    assert!(missing.is_empty(), "rules without a case `tests/cases/<stage>/<code>.txt`: {missing:?}");
    let strange: Vec<_> = written.difference(&wanted).collect();
    assert!(strange.is_empty(), "cases that name no rule: {strange:?}");
    let stages = stages();
    for case in &cases {
        let (_, _, rules) = stages
            .iter()
            .find(|(name, _, _)| *name == case.stage)
            .unwrap_or_else(|| panic!("{}: there is no such stage", case.path.display()));
        assert!(
            rules.iter().any(|rule| rule.code == case.code),
            "{}: the rule is judged in another stage",
            case.path.display()
        );
    }
}

#[test]
fn text_and_json_have_the_same_locations() {
    for case in cases() {
        let (sources, faults) = case.sources();
        let found =
            pipeline::build(&sources, faults, &options()).expect("the base URL is valid").analysis.findings;
        let rows: Vec<Value> = serde_json::from_str(&diag::json(&found, &sources)).expect("an array");
        for (finding, row) in found.iter().zip(&rows) {
            let report = diag::human(std::slice::from_ref(finding), &sources, ColorChoice::Off);
            let place = format!("--> {}:{}:{}\n", row["file"].as_str().unwrap(), row["line"], row["column"]);
            assert!(report.contains(&place), "{}: JSON says {place}{report}", case.path.display());
        }
    }
}

#[test]
fn a_rule_is_listed_once() {
    let codes: Vec<&str> = pipeline::rules().iter().map(|rule| rule.code).collect();
    let unique: BTreeSet<&str> = codes.iter().copied().collect();
    assert_eq!(codes, Vec::from_iter(unique));
}

#[test]
fn every_finding_has_a_help_and_a_message_in_house_style() {
    for case in cases() {
        for finding in build(&case).0.analysis.findings {
            let at = format!("{}: {}", case.path.display(), finding.message);
            assert!(!finding.message.ends_with('.'), "a message has no full stop: {at}");
            let word = finding.message.split(' ').next().unwrap_or_default();
            let is_capital = word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
            assert!(!is_capital, "a message begins small: {at}");
            assert!(finding.help.is_some(), "a finding says one thing to do: {at}");
        }
    }
}

#[test]
fn docs_checks_lists_every_rule() {
    let mut examples: BTreeMap<String, String> = BTreeMap::new();
    for case in cases() {
        // Build the case again, because with KBGEN_BLESS another test is writing the file.
        let (_, report) = build(&case);
        let is_of_rule = |finding: &&str| {
            finding.lines().next().is_some_and(|line| line.contains(&format!("[{}]: ", case.code)))
        };
        let finding = report.split("\n\n").find(is_of_rule);
        if let Some(finding) = finding {
            let finding = finding.trim_end().to_string();
            examples.entry(case.code).or_insert(finding);
        }
    }
    let mut page = String::from(
        "# Findings of `kbgen check`\n\nGenerated by `KBGEN_BLESS=1 cargo test` from the rules in the code \
         and their cases under `tests/cases/`; do not edit.\n\nAn `error` stops `kbgen build`, \
         a `warning` does not.\n",
    );
    let mut listed = BTreeSet::new();
    for (_, title, mut rules) in stages() {
        rules.sort_by_key(|rule| rule.code);
        page.push_str(&format!("\n## {title}\n"));
        for rule in rules.into_iter().filter(|rule| listed.insert(rule.code)) {
            let (requirement, why) = (sentence(rule.requirement), sentence(rule.why));
            page.push_str(&format!("\n### {}\n\n{requirement}\n\nWhy: {why}\n", rule.code));
            if let Some(example) = examples.get(rule.code) {
                page.push_str(&format!("\n```text\n{example}\n```\n"));
            }
        }
    }
    expect::all_well(expect::same(&expect::repository("docs/checks.md"), &page).into_iter().collect());
}

/// Formats a phrase as a sentence.
fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten().collect::<String>();
    format!("{first}{}.", letters.as_str())
}
