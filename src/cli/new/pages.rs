//! What the files of new pages say before anything is filled in.

use anyhow::{Context, Result};
use jiff::civil::Date;

use crate::cli::new::guess;
use crate::diagnosis;
use crate::site::title_of;

/// An error page of the site published at `base_url`. With a message its pattern is guessed.
pub(super) fn error(slug: &str, message: Option<&str>, today: Date, base_url: &str) -> Result<String> {
    // With its name in it, so that two new pages do not lay claim to one message.
    let placeholder = format!("replace this with a line that the program really printed for {slug}");
    let sample = message.unwrap_or(&placeholder);
    let pattern = guess::matching_pattern(sample, |pattern| diagnosis::finds(pattern, sample));
    let quoted = |text: &str| -> Result<String> {
        // JSON's form of text is YAML too, and always on one line.
        serde_json::to_string(text).context("cannot write the message as text")
    };
    let title = quoted(&title_of(slug))?;
    let page = format!(
        "---
# yaml-language-server: $schema={base_url}schema/error.json
draft: true
title: {title}
signatures:
  - pattern: {pattern}
    source: https://example.com/where-it-was-really-seen
    samples:
      - {sample}
severity: fatal
tools: [llama-cpp]
causes:
  - id: first-cause
    title: What went wrong, in one line
    tell: How a reader tells that it is this cause
    solutions: [first-solution]
solutions:
  - id: first-solution
    title: What to do, in one line
    cost: none
related: []
verified: {today}
sources: [\"https://example.com/where-it-was-really-seen\"]
---
What happened, in one or two sentences. The first one becomes the description of the page.

## What to do, in one line {{#first-solution}}

Steps and exact commands.

```bash
nvidia-smi
```

**If it fails:** what to try next.

## Check that it worked {{#check}}

A command, and what one should see.
",
        pattern = quoted(&pattern)?,
        sample = quoted(sample)?,
    );
    // What is proposed must be YAML, whatever the log held.
    let front = page.split("---\n").nth(1).unwrap_or_default();
    serde_yaml::from_str::<serde_yaml::Value>(front).context("the message cannot be written as YAML")?;
    Ok(page)
}

/// A model page.
pub(super) fn model(slug: &str) -> String {
    format!(
        "---
draft: true
title: {}
hf_id: owner/name
family: Llama
parameters: 8030261248
architecture:
  name: llama
  layers: F32
  hidden: 4096
  heads: 32
  kv_heads: 8
  head_dim: 128
  ffn: 14336
  vocab: 128256
  tied: false
  max_ctx: 131072
sources: [\"https://huggingface.co/owner/name\"]
---
",
        title_of(slug)
    )
}

/// A hardware page.
pub(super) fn hardware(slug: &str) -> String {
    format!(
        "---
draft: true
title: {}
vendor: NVIDIA
class: gpu
memory_gb: 24
unified: false
bandwidth_gbps: 1008
sources: [\"https://example.com/data-sheet\"]
---
",
        title_of(slug)
    )
}

/// A guide.
pub(super) fn guide(slug: &str, today: Date) -> String {
    format!(
        "---
draft: true
title: {}
tools: []
related: []
verified: {today}
sources: [\"https://example.com/what-it-rests-on\"]
---
What the reader will have done at the end, in one sentence.

## First step

The command, and what it shows.
",
        title_of(slug)
    )
}
