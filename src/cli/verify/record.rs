//! Writes the version of a checked source into the front matter of pages.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// Name of the field.
const FIELD: &str = "verified_with:";

/// Returns the text of a page with `tool: "version"` in its `verified_with`, which comes after `verified` if it is new.
///
/// # Errors
/// If the page has no front matter with `verified`, or its `verified_with` is not a mapping of texts.
pub(super) fn with_version(text: &str, tool: &str, version: &str) -> Result<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = lines.iter().skip(1).position(|line| line.trim_end() == "---").map_or(0, |at| at + 1);
    let front = &lines[..end];
    let Some(verified) = front.iter().position(|line| line.starts_with("verified:")) else {
        bail!("it has no `verified`");
    };
    let start = front.iter().position(|line| line.starts_with(FIELD));
    let length = start.map_or(0, |start| {
        1 + front[start + 1..].iter().take_while(|line| line.starts_with([' ', '\t'])).count()
    });
    let at = start.unwrap_or(verified + 1);
    let old = lines[at..at + length].concat();
    let mut versions: BTreeMap<String, String> = match old.strip_prefix(FIELD) {
        Some(value) => {
            serde_yaml::from_str(value).context("its `verified_with` is not a mapping of texts")?
        }
        None => BTreeMap::new(),
    };
    versions.insert(tool.to_string(), version.to_string());
    let pairs: Vec<String> = versions
        .iter()
        .map(|(tool, version)| Ok(format!("{tool}: {}", serde_json::to_string(version)?)))
        .collect::<Result<_>>()?;
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let new = format!("{FIELD} {{{}}}{ending}", pairs.join(", "));
    lines.splice(at..at + length, [new.as_str()]);
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
}
