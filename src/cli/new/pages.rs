//! Text of new pages: templates filled with YAML values.

use anyhow::{Context, Result};
use jiff::civil::Date;

use crate::cli::arguments::NewKind;
use crate::cli::new::guess;
use crate::schema::title_of;
use crate::site::scaffold;

/// Fills the template of a page in a folder `folders` levels below the root. The signature of an error is derived from
/// `message`; `tools` are the programs that print it.
pub(super) fn page(
    kind: NewKind,
    slug: &str,
    message: Option<&str>,
    tools: &str,
    today: Date,
    folders: usize,
) -> Result<String> {
    let template = match kind {
        NewKind::Error => scaffold::ERROR,
        NewKind::Model => scaffold::MODEL,
        NewKind::Hardware => scaffold::HARDWARE,
        NewKind::Guide => scaffold::GUIDE,
    };
    let placeholder = scaffold::fill(scaffold::SAMPLE, &[("SLUG", slug)]);
    let sample = message.unwrap_or(&placeholder);
    let root = "../".repeat(folders);
    let values = [
        ("ROOT", root.as_str()),
        ("TITLE", &scalar(&title_of(slug))?),
        ("TOOLS", tools),
        ("TODAY", &today.to_string()),
        ("PATTERN", &scalar(&guess::pattern_of(sample))?),
        ("SAMPLE", &scalar(sample)?),
    ];
    Ok(scaffold::fill(template, &values))
}

/// Formats the signature of a message, for an existing page.
pub(super) fn signature(message: &str) -> Result<String> {
    let (pattern, sample) = (scalar(&guess::pattern_of(message))?, scalar(message)?);
    let template =
        scaffold::ERROR.lines().skip_while(|line| !line.contains("%PATTERN%")).take(4).collect::<Vec<_>>();
    Ok(scaffold::fill(&(template.join("\n") + "\n"), &[("PATTERN", &pattern), ("SAMPLE", &sample)]))
}

/// Formats a line of text as a YAML scalar, quoted if necessary.
pub(super) fn scalar(text: &str) -> Result<String> {
    let yaml = serde_yaml::to_string(text).with_context(|| format!("cannot write `{text}` as YAML"))?;
    Ok(yaml.trim_end().to_string())
}
