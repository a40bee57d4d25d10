//! Writes the version of a checked program into the front matter of pages.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// An item of `runs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    pub tool: String,
    pub version: String,
    pub date: String,
}

/// Returns the text of a page with `tool: "version"` in its `verified_with`, which comes after `verified` if it is new.
///
/// # Errors
/// If the page has no front matter with `verified`, or its `verified_with` is not a mapping of texts.
pub(super) fn with_version(text: &str, tool: &str, version: &str) -> Result<String> {
    with_field(text, "verified_with", |old: Option<BTreeMap<String, String>>| {
        let mut versions = old.unwrap_or_default();
        versions.insert(tool.to_string(), version.to_string());
        let pairs: Vec<String> = versions
            .iter()
            .map(|(tool, version)| Ok(format!("{tool}: {}", serde_json::to_string(version)?)))
            .collect::<Result<_>>()?;
        Ok(vec![format!("verified_with: {{{}}}", pairs.join(", "))])
    })
}

/// Returns the text of a page whose `runs` have this run as the only one of the tool, or none.
///
/// # Errors
/// If the page has no front matter with `verified`, or its `runs` are not a list of runs.
pub(super) fn with_run(text: &str, tool: &str, run: Option<&RunRecord>) -> Result<String> {
    with_field(text, "runs", |old: Option<Vec<RunRecord>>| {
        let mut runs = old.unwrap_or_default();
        runs.retain(|old| old.tool != tool);
        runs.extend(run.cloned());
        runs.sort_by(|a, b| a.tool.cmp(&b.tool));
        let lines = runs.iter().map(|RunRecord { tool, version, date }| {
            Ok(format!("  - {{tool: {tool}, version: {}, date: {date}}}", serde_json::to_string(version)?))
        });
        let title = (!runs.is_empty()).then(|| Ok("runs:".to_string()));
        title.into_iter().chain(lines).collect()
    })
}

/// Replaces a field of the front matter by the lines for its value; a new field comes after `verified` and `verified_with`.
fn with_field<T: for<'t> Deserialize<'t>>(
    text: &str,
    field: &str,
    lines_of: impl FnOnce(Option<T>) -> Result<Vec<String>>,
) -> Result<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = lines.iter().skip(1).position(|line| line.trim_end() == "---").map_or(0, |at| at + 1);
    let front = &lines[..end];
    let key_of = |line: &str| line.split_once(':').map_or(String::new(), |(key, _)| key.to_string());
    // A field ends before the next line without indentation.
    let find = |key: &str| {
        let start = front.iter().position(|line| key_of(line) == key)?;
        let rest = front[start + 1..].iter().take_while(|line| line.starts_with([' ', '\t', '-']));
        Some(start..start + 1 + rest.count())
    };
    let Some(verified) = find("verified") else { bail!("it has no `verified`") };
    let old = find(field);
    let value = old
        .clone()
        .map(|range| {
            let mut fields: BTreeMap<String, T> = serde_yaml::from_str(&lines[range].concat())
                .with_context(|| format!("its `{field}` is invalid"))?;
            fields.remove(field).with_context(|| format!("its `{field}` is invalid"))
        })
        .transpose()?;
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let new: String = lines_of(value)?.iter().map(|line| format!("{line}{ending}")).collect();
    let at = find("verified_with").unwrap_or(verified).end;
    lines.splice(old.unwrap_or(at..at), [new.as_str()]);
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_added_replaced_and_kept_beside_others() {
        let page = |field: &str| {
            format!("---\ntitle: a\nverified: 2026-11-01\n{field}sources: []\n---\nverified_with: x\n")
        };
        let written = |field: &str| with_version(&page(field), "vllm", "0.33.0").unwrap_or_default();
        assert_eq!(written(""), page("verified_with: {vllm: \"0.33.0\"}\n"));
        assert_eq!(written("verified_with: {vllm: \"0.9\"}\n"), page("verified_with: {vllm: \"0.33.0\"}\n"));
        let both = page("verified_with: {ollama: \"0.5.4\", vllm: \"0.33.0\"}\n");
        assert_eq!(written("verified_with:\n  ollama: \"0.5.4\"\n"), both);
        assert!(with_version("---\ntitle: a\n---\n", "vllm", "1").is_err());
        assert!(with_version(&page("verified_with: 1\n"), "vllm", "1").is_err());
    }

    #[test]
    fn a_run_replaces_the_earlier_one_of_its_tool_or_removes_it() {
        let page = |field: &str| format!("---\nverified: 2026-11-01\n{field}sources: []\n---\nText.\n");
        let run = RunRecord { tool: "vllm".into(), version: "0.33.0".into(), date: "2026-11-23".into() };
        let written = |field: &str, run| with_run(&page(field), "vllm", run).unwrap_or_default();
        let vllm = "runs:\n  - {tool: vllm, version: \"0.33.0\", date: 2026-11-23}\n";
        assert_eq!(written("", Some(&run)), page(vllm));
        assert_eq!(written(vllm, None), page(""));
        let other =
            "verified_with: {pip: \"1\"}\nruns:\n  - {tool: pip, version: \"26.1\", date: 2026-11-01}\n";
        let both = format!("{other}  - {{tool: vllm, version: \"0.33.0\", date: 2026-11-23}}\n");
        assert_eq!(written(other, Some(&run)), page(&both));
        assert_eq!(written(&both, None), page(other));
        assert!(with_run(&page("runs: 1\n"), "vllm", Some(&run)).is_err());
    }
}
