//! `kbgen new`: creates a page from a template.

mod guess;
mod model_page;
mod pages;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kbgen_signature::LogEnd;

use crate::cli::arguments::{Arguments, NewKind, NewOptions};
use crate::cli::diagnose::is_binary;
use crate::cli::fit::remote;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::diag::nearest;
use crate::diagnosis::{self, DiagnosisDb, MIN_ASSERTING_BITS};
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::schema::{is_slug, title_of};
use crate::site::{Kind, Site, why_reserved};

pub(super) fn run(arguments: &Arguments, options: &NewOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let (folder, slug) = match options.slug.rsplit_once('/') {
        Some((folder, slug)) => (Some(folder), slug),
        None => (None, options.slug.as_str()),
    };
    for part in folder.into_iter().flat_map(|folder| folder.split('/')).chain([slug]) {
        if !is_slug(part) {
            bail!("invalid name `{part}`; use lowercase letters, digits, hyphens, underscores and dots");
        }
    }
    if let Some(why) = why_reserved(page_kind(options.kind), slug) {
        bail!("the name `{slug}` is reserved: {why}");
    }
    let taken = taken(&site, options.kind, slug);
    let mut read_pages = BTreeSet::new();
    let log_message = match &options.from_log {
        Some(_) if options.kind != NewKind::Error => bail!("`--from-log` is only valid with `new error`"),
        Some(path) => match log_message(&site, &sources, path)? {
            LogMessage::New { line, pages } => {
                read_pages = pages;
                Some(line)
            }
            LogMessage::Known(page) => {
                terminal.message(format!("a signature already matches this log: {page}"));
                return Ok(Outcome::Findings);
            }
        },
        None => None,
    };
    if let Some(path) = taken {
        let Some(line) = &log_message else { bail!("the name `{slug}` is already used by `{path}`") };
        terminal.print(pages::signature(line)?);
        terminal.message(format!("add this signature to `signatures:` of `{path}`, with its source"));
        return Ok(Outcome::Success);
    }
    let today = options.date.unwrap_or_else(environment::today);
    if options.fetch && !options.from.as_deref().is_some_and(remote::is_address) {
        bail!("`--fetch` needs an address in `--from`: hf:OWNER/NAME, hf:OWNER/NAME:FILE or https://…");
    }
    let path = page_path(&root, options.kind, folder, slug);
    let text = match &options.from {
        Some(_) if options.kind != NewKind::Model => bail!("`--from` is only valid with `new model`"),
        Some(from) => model_page::page(&title_of(slug), from, options.fetch)?,
        None => {
            let folders = path.strip_prefix(&root)?.components().count() - 1;
            let tools = example_tool(&site);
            pages::page(options.kind, slug, log_message.as_deref(), tools, today, folders)?
        }
    };
    write(&path, &text)?;
    terminal.print(format!("{}\n", path.display()));
    if let Some(bits) =
        log_message.as_deref().and_then(|line| diagnosis::specificity(&guess::pattern_of(line)))
    {
        terminal.message(describe_specificity(bits));
    }
    terminal.message(
        "created a draft; replace the placeholder text, remove `draft: true`, then run `kbgen check`",
    );
    for page in read_pages {
        terminal.message(format!(
            "a reading of this log names `{page}`; if it covers the error, improve it instead"
        ));
    }
    if let (NewKind::Error, Some(folder)) = (options.kind, folder) {
        new_category(&site, folder).into_iter().for_each(|text| terminal.message(text));
    }
    if options.kind == NewKind::Error && folder.is_none() {
        terminal.message(
            "move the page to the folder of its category, or pass it: `kbgen new error out-of-memory/SLUG`",
        );
    }
    Ok(Outcome::Success)
}

/// Describes the specificity of the proposed signature.
fn describe_specificity(bits: u32) -> String {
    match bits < MIN_ASSERTING_BITS {
        true => format!(
            "the signature has {bits} bits of specificity, below the {MIN_ASSERTING_BITS} needed to identify an error; add \
             literal text unique to this message"
        ),
        false => {
            format!("the signature has {bits} bits of specificity; {MIN_ASSERTING_BITS} identify an error")
        }
    }
}

/// Returns the path of the page that has a name.
fn taken<'s>(site: &'s Site, kind: NewKind, slug: &str) -> Option<&'s str> {
    let kind = page_kind(kind);
    let head = site.heads().find(|head| head.id.kind == kind && head.id.slug == slug);
    head.map(|head| head.path.as_str())
}

/// Returns the tool named in new error pages: llama.cpp, or else the first of the site, or an empty text if it has none.
fn example_tool(site: &Site) -> &str {
    let tools = || site.heads().filter(|head| head.id.kind == Kind::Tool).map(|head| head.id.slug.as_str());
    tools().find(|slug| *slug == "llama-cpp").or_else(|| tools().min()).unwrap_or_default()
}

/// Returns a message if an error begins a new category.
fn new_category(site: &Site, category: &str) -> Option<String> {
    let known = || site.errors.iter().map(|error| error.data.category.as_str());
    if known().any(|name| name == category) {
        return None;
    }
    Some(match nearest(category, known()) {
        Some(near) => format!("`{category}` is a new category; did you mean `{near}`?"),
        None => format!(
            "`{category}` is a new category; write its title and a sentence about it into `content/errors/{category}/_index.md`"
        ),
    })
}

fn page_kind(kind: NewKind) -> Kind {
    match kind {
        NewKind::Error => Kind::Error,
        NewKind::Model => Kind::Model,
        NewKind::Hardware => Kind::Hardware,
        NewKind::Guide => Kind::Guide,
    }
}

fn page_path(root: &Path, kind: NewKind, folder: Option<&str>, slug: &str) -> PathBuf {
    let base = root.join("content").join(page_kind(kind).folder());
    let base = match (folder, kind) {
        (Some(folder), _) => base.join(folder),
        (None, NewKind::Error) => base.join("unsorted"),
        (None, _) => base,
    };
    base.join(format!("{slug}.md"))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let parent = path.parent().expect("the file lies in a folder");
    fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
    let mut file =
        fs::File::create_new(path).with_context(|| format!("cannot create `{}`", path.display()))?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Error message found in a log.
enum LogMessage {
    /// A line that no signature matches, and the paths of the pages that readings of the log name.
    New { line: String, pages: BTreeSet<String> },
    /// Path of the page whose signature matches.
    Known(String),
}

fn log_message(site: &Site, sources: &Sources, path: &Path) -> Result<LogMessage> {
    let mut log = String::new();
    environment::read_chunks(Some(path), |chunk| log.push_str(chunk))?;
    if is_binary(&log) {
        bail!("`{}` looks binary; pass the log output of the program", path.display());
    }
    let path_of = |slug: &str| site.error(slug).map_or(slug.to_string(), |page| page.head.path.clone());
    let db = DiagnosisDb::new(site, sources);
    let found = db.index.diagnose(&log);
    if let Some(hit) = found.matches.iter().find(|hit| !hit.weak) {
        return Ok(LogMessage::Known(path_of(&hit.slug)));
    }
    match guess::error_line(&log) {
        Some(line) if guess::is_specific(&line) => {
            let readings = diagnosis::read_log(&db, &found, &LogEnd::new(&log, 0), &mut []);
            let pages = readings.iter().flat_map(|reading| &reading.pages);
            Ok(LogMessage::New { line, pages: pages.map(|page| path_of(&page.slug)).collect() })
        }
        Some(line) => bail!(
            "the line `{line}` is too generic for a signature; shorten `{}` to the message specific to this \
             error, or omit `--from-log`",
            path.display()
        ),
        None => bail!("`{}` contains no text", path.display()),
    }
}
