//! `kbgen explain`: prints an error page in the terminal.

use std::sync::Arc;

use anyhow::bail;

use crate::cli::arguments::{Arguments, ExplainOptions};
use crate::cli::build_cache::BuildCache;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::diag::nearest;
use crate::escape::{Style, TerminalText, one_line};
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::markdown;
use crate::pipeline::{self, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;
use crate::site::kinds::ErrorData;
use crate::site::{self, Page};

pub(super) fn run(
    arguments: &Arguments,
    options: &ExplainOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let order = SiteOptions {
        today: environment::today(),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(BuildCache::open(&root, &options.cache, terminal).engine()),
    };
    let draft = pipeline::analyze(&sources, faults, &order, &NoProgress)?;
    let slug = options.slug.trim_matches('/').trim_start_matches("errors/");
    let Some(error) = draft.site.errors.iter().find(|error| error.head.id.slug == slug) else {
        match nearest(slug, draft.site.slugs(site::Kind::Error)) {
            Some(near) => bail!("no error page `{slug}`; did you mean `{near}`?"),
            None => bail!("no error page `{slug}`; `kbgen diagnose` finds pages by message"),
        }
    };
    let mut text = front(error);
    text.push(body(&draft, &sources, error));
    terminal.print(text);
    Ok(Outcome::Success)
}

fn front(error: &Page<ErrorData>) -> TerminalText {
    let data = &error.data;
    let tools: Vec<&str> = data.tools.iter().map(|tool| tool.value.as_str()).collect();
    let mut text = TerminalText::styled(Style::Title, &one_line(&error.head.title.value));
    text.push(format!("\n{}, {}; {}\n", data.severity.name(), data.kind.name(), tools.join(", ")));
    if let Some(verified) = &error.head.verified {
        text.push(format!("verified {}\n", verified.value));
    }
    for signature in &data.signatures {
        for sample in &signature.samples {
            text.push("\n    ");
            text.push(TerminalText::styled(Style::Muted, &sample.value.trim_end().replace('\n', "\n    ")));
            text.push("\n");
        }
    }
    text.push("\n");
    text.push(TerminalText::styled(Style::Strong, "Causes, most likely first"));
    text.push("\n");
    for (cause, number) in data.causes.iter().zip(1..) {
        let solutions: Vec<&str> = cause.solutions.iter().map(|id| id.value.as_str()).collect();
        text.push(format!(
            "{number:>3}. {}\n     check: {}\n     fixes: {}\n",
            one_line(&markdown::plain_inline(&cause.title.value)),
            one_line(&markdown::plain_inline(&cause.tell.value)),
            solutions.join(", ")
        ));
    }
    text.push("\n");
    text
}

/// Returns the Markdown source of the body with its figures filled in.
fn body(draft: &pipeline::Analysis, sources: &Sources, error: &Page<ErrorData>) -> TerminalText {
    let written = sources.text(error.head.body.span);
    let mut text = String::new();
    let mut at = 0;
    let figures = draft.figures.get(error.head.path.as_str());
    for call in &error.head.body.outline.calls {
        if let Some(figure) = figures.and_then(|figures| figures.get(&call.range.start)) {
            text.push_str(&written[at..call.range.start]);
            text.push_str(&figure.text);
            at = call.range.end;
        }
    }
    text.push_str(&written[at..]);
    let mut shown = TerminalText::default();
    for line in text.trim().lines() {
        shown.push(match line.strip_prefix("## ") {
            Some(heading) => {
                let (title, _id) = heading.rsplit_once(" {#").unwrap_or((heading, ""));
                TerminalText::styled(Style::Strong, title)
            }
            None => line.into(),
        });
        shown.push("\n");
    }
    shown
}
