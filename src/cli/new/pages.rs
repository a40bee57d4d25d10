//! Text of new pages: templates filled with YAML values.

use anyhow::{Context, Result};
use jiff::civil::Date;

use crate::cli::arguments::NewKind;
use crate::cli::new::guess;
use crate::schema::title_of;
use crate::site::scaffold;

/// Fills the template of a page. The signature of an error is derived from `message`.
pub(super) fn page(
    kind: NewKind,
    slug: &str,
    message: Option<&str>,
    today: Date,
    base_url: &str,
) -> Result<String> {
    let template = match kind {
        NewKind::Error => scaffold::ERROR,
        NewKind::Model => scaffold::MODEL,
        NewKind::Hardware => scaffold::HARDWARE,
        NewKind::Guide => scaffold::GUIDE,
    };
    let placeholder = scaffold::fill(scaffold::SAMPLE, &[("SLUG", slug)]);
    let sample = message.unwrap_or(&placeholder);
    let values = [
        ("BASE_URL", base_url),
        ("TITLE", &scalar(&title_of(slug))?),
        ("TODAY", &today.to_string()),
        ("PATTERN", &scalar(&guess::pattern_of(sample))?),
        ("SAMPLE", &scalar(sample)?),
    ];
    Ok(scaffold::fill(template, &values))
}

/// Formats a line of text as a YAML scalar, quoted if necessary.
pub(super) fn scalar(text: &str) -> Result<String> {
    let yaml = serde_yaml::to_string(text).with_context(|| format!("cannot write `{text}` as YAML"))?;
    Ok(yaml.trim_end().to_string())
}
