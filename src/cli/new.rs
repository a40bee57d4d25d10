//! `kbgen new`: the file of a new page, ready to be filled in.

mod guess;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cli::arguments::{Arguments, NewKind, NewOptions};
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::config::Config;
use crate::diagnosis::{self, CompiledSignatures, MIN_ASSERTING_BITS};
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::schema::is_slug;
use crate::site::{Kind, Site};

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
            bail!("`{part}` cannot be the name of a page or folder: small letters, digits, hyphens and dots");
        }
    }
    refuse_taken(&site, options.kind, slug)?;
    let log_message = match &options.from_log {
        Some(_) if options.kind != NewKind::Error => bail!("`--from-log` goes with `new error` only"),
        Some(path) => match log_message(&site, &sources, path)? {
            LogMessage::New(line) => Some(line),
            LogMessage::Known(page) => {
                terminal.say(format!("a signature matches this log already: {page}"));
                return Ok(Outcome::Findings);
            }
        },
        None => None,
    };
    let today = options.date.unwrap_or_else(environment::today);
    let (config, _) = Config::read(&sources);
    let text = pages::page(options.kind, slug, log_message.as_deref(), today, &config.base_url)?;
    let path = page_path(&root, options.kind, folder, slug);
    write(&path, &text)?;
    terminal.print(format!("{}\n", path.display()));
    if let Some(bits) =
        log_message.as_deref().and_then(|line| diagnosis::specificity(&guess::pattern_of(line)))
    {
        terminal.say(describe_specificity(bits));
    }
    terminal
        .say("a draft: replace its sentences and addresses, hold it against `kbgen check`, then take the line `draft: true` out");
    if options.kind == NewKind::Error && folder.is_none() {
        terminal.say("move it into the folder of its category, or name that first: `kbgen new error out-of-memory/SLUG`");
    }
    Ok(Outcome::Success)
}

/// How much the proposed signature tells.
fn describe_specificity(bits: u32) -> String {
    match bits < MIN_ASSERTING_BITS {
        true => format!(
            "the signature tells {bits} bits, too little to assert an error, which takes {MIN_ASSERTING_BITS}: add literal \
             text that only this message has"
        ),
        false => format!("the signature tells {bits} bits; {MIN_ASSERTING_BITS} assert an error"),
    }
}

fn refuse_taken(site: &Site, kind: NewKind, slug: &str) -> Result<()> {
    let kind = page_kind(kind);
    match site.heads().find(|head| head.id.kind == kind && head.id.slug == slug) {
        Some(head) => bail!("the name `{slug}` is taken by `{}`", head.path),
        None => Ok(()),
    }
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
    fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    let mut file = fs::File::create_new(path).with_context(|| format!("cannot make `{}`", path.display()))?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// What a log says.
enum LogMessage {
    /// A line that no page knows.
    New(String),
    /// The page that knows it.
    Known(String),
}

fn log_message(site: &Site, sources: &Sources, path: &Path) -> Result<LogMessage> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let log = String::from_utf8_lossy(&bytes);
    if let Some(hit) =
        CompiledSignatures::new(site, sources).index.diagnose(&log).matches.iter().find(|hit| !hit.weak)
    {
        let known = site.errors.iter().find(|error| error.head.id.slug == hit.slug);
        return Ok(LogMessage::Known(known.map_or(hit.slug.clone(), |page| page.head.path.clone())));
    }
    match guess::error_line(&log) {
        Some(line) if guess::is_specific(&line) => Ok(LogMessage::New(line)),
        Some(line) => bail!(
            "the line `{line}` would match too many logs: cut `{}` down to the message that tells this error \
             from others, or leave out `--from-log`",
            path.display()
        ),
        None => bail!("`{}` holds no line of text", path.display()),
    }
}
