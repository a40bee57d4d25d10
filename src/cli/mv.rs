//! `kbgen mv`: moves or renames a page, with the links and references to it.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};

use crate::cli::arguments::Arguments;
use crate::cli::arguments::upkeep::MvOptions;
use crate::cli::rewrite::{self, Rewritten};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::diag::{Diagnostic, Rule, Severity};
use crate::files::{self, Edit, Sources};
use crate::link::{Move, Unwritable};
use crate::load;
use crate::pipeline::Analysis;
use crate::schema::is_slug;
use crate::site::{Kind, PageId};

const RULE: Rule = Rule {
    code: "moved-link",
    requirement: "links and references to a page that moves are written without escapes",
    why: "only their text is replaced",
};

pub(super) fn run(arguments: &Arguments, options: &MvOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let before = rewrite::analyze(&sources, faults.clone())?;
    let old = site_path(&root, &options.old)?;
    let Some(page) = before.site.heads().find(|head| head.path == old && sources.find(&old).is_some()) else {
        bail!("`{old}` is not a page; pass its file, such as `content/guides/start.md`");
    };
    let new = new_path(&root, &options.new, &old)?;
    let id = check_target(&root, &page.id, &new)?;
    let plan =
        Move { site: &before.site, links: &before.links, sources: &sources, page, path: &new, id: &id };
    let edits = match plan.edits() {
        Ok(edits) => edits,
        Err(places) => {
            return Ok(report(&places.iter().map(unwritable).collect::<Vec<_>>(), &sources, terminal));
        }
    };
    let lines = changes(&edits, &sources);
    let texts = files::apply(edits, &sources);
    let mut after = sources.clone();
    texts.iter().for_each(|(file, text)| after.replace(*file, text.clone()));
    after.rename(&old, &new);
    let found = new_errors(&before, rewrite::analyze(&after, faults)?, (&old, &new));
    if !found.is_empty() {
        return Ok(report(&found, &after, terminal));
    }
    if !options.dry_run {
        rewrite::write_all(&root, &rewritten(&sources, &after, &texts, (&old, &new)))?;
    }
    terminal.print(format!("{old} -> {new}\n{lines}"));
    let others = texts.keys().filter(|file| **file != page.source).count();
    let others = match others {
        0 => "no other file".to_string(),
        1 => "1 other file".to_string(),
        count => format!("{count} other files"),
    };
    terminal.message(match options.dry_run {
        true => format!("would move the page and change {others}"),
        false => format!("moved the page and changed {others}"),
    });
    Ok(Outcome::Success)
}

fn report(found: &[Diagnostic], sources: &Sources, terminal: &Terminal) -> Outcome {
    terminal.print_findings(found, sources);
    terminal.message("no file changed");
    Outcome::Findings
}

/// Returns the path in the site of a file: as given below `content/`, or else relative to the current folder.
fn site_path(root: &Path, given: &Path) -> Result<String> {
    let outside =
        || format!("`{}` is not below `content/` of the site `{}`", given.display(), root.display());
    let path = match given.starts_with("content") {
        true => given.to_path_buf(),
        false => {
            let (root, given) = (std::path::absolute(root)?, std::path::absolute(given)?);
            given.strip_prefix(root).ok().with_context(outside)?.to_path_buf()
        }
    };
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let parts = parts.filter(|parts| is_plain && parts.first() == Some(&"content"));
    parts.map(|parts| parts.join("/")).with_context(outside)
}

/// Returns the new path; in a folder, the file keeps its name.
fn new_path(root: &Path, given: &Path, old: &str) -> Result<String> {
    let new = site_path(root, given)?;
    let name = old.rsplit('/').next().unwrap_or(old);
    Ok(if root.join(&new).is_dir() { format!("{new}/{name}") } else { new })
}

/// Returns the id of the page at its new path.
fn check_target(root: &Path, page: &PageId, new: &str) -> Result<PageId> {
    let Some(id) = PageId::of_path(new) else {
        bail!("`{new}` is not a path of a page, such as `content/guides/start.md`");
    };
    if page.kind == Kind::Category || id.kind == Kind::Category {
        bail!("an `_index.md` describes its folder; move the other pages of the folder instead");
    }
    if id.kind == Kind::Entry && id.folder() != page.folder() {
        bail!("`{new}` is outside the folder of the page, `content/{}/`", page.folder());
    }
    if id.kind != page.kind {
        bail!(
            "`{new}` is the path of {}, but the page is {}",
            id.kind.with_article(),
            page.kind.with_article()
        );
    }
    let names = new.trim_end_matches(".md").split('/');
    if let Some(name) = names.into_iter().find(|name| !is_slug(name)) {
        bail!("invalid name `{name}`; use lowercase letters, digits, hyphens, underscores and dots");
    }
    if root.join(new).symlink_metadata().is_ok() {
        bail!("`{new}` already exists");
    }
    Ok(id)
}

fn unwritable(place: &Unwritable) -> Diagnostic {
    Diagnostic::error(&RULE, place.0, "this link or reference to the page contains escapes")
        .help("write it without escapes, then move the page again")
}

/// Lists edits, one per line.
fn changes(edits: &[Edit], sources: &Sources) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (&sources.get(edit.span.source).path, edit.span));
    edits.dedup();
    let line = |edit: &&Edit| {
        let source = sources.get(edit.span.source);
        let line = source.position(edit.span.start).line;
        match sources.text(edit.span) {
            "" => format!("{}:{line}: add {}\n", source.path, edit.text.trim()),
            old => format!("{}:{line}: {old} -> {}\n", source.path, edit.text),
        }
    };
    edits.iter().map(line).collect()
}

/// Returns the errors that the site did not have before.
fn new_errors(before: &Analysis, after: Analysis, (old, new): (&str, &str)) -> Vec<Diagnostic> {
    let mut known: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for finding in &before.findings {
        *known.entry((finding.code, finding.message.replace(old, new))).or_default() += 1;
    }
    let mut is_new = |finding: &Diagnostic| {
        let count = known.get_mut(&(finding.code, finding.message.clone())).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_none() && finding.severity == Severity::Error
    };
    after.findings.into_iter().filter(|finding| is_new(finding)).collect()
}

/// Returns the files to write: the page at its new path, the other changed pages, and the removal of the old file.
fn rewritten(
    before: &Sources,
    after: &Sources,
    texts: &BTreeMap<files::SourceId, String>,
    (old, new): (&str, &str),
) -> Vec<Rewritten> {
    let text =
        |sources: &Sources, path: &str| sources.find(path).map(|file| sources.get(file).text.to_string());
    let file = |path: &str| Rewritten {
        path: path.into(),
        moved_from: (path == new).then(|| old.into()),
        old: text(before, path),
        new: text(after, path),
    };
    let others = texts.keys().map(|file| before.get(*file).path.as_str()).filter(|path| *path != old);
    [new].into_iter().chain(others).chain([old]).map(file).collect()
}
