//! `kbgen build`: the site into a folder, and on request as one file.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::arguments::{Arguments, BuildOptions};
use crate::cli::kept::Kept;
use crate::cli::progress::Progress;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::compress;
use crate::config::placeholders;
use crate::diag::Diagnostic;
use crate::emit::{OutputTarget, Permission, Published, SingleFile, StagedOutput};
use crate::files::{Key, Sink, Sources};
use crate::host_limits::{SiteStats, size as in_words};
use crate::load::{self, Drafts};
use crate::pipeline::{self, RenderStatus, SiteOptions};
use crate::progress::{BuildProgress, Stage};
use crate::render::{Audience, BUNDLE_MARK};

pub(super) fn run(
    arguments: &Arguments,
    options: &BuildOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let progress = Progress::new();
    progress.start_stage(Stage::Read, 0);
    let (sources, faults) = load::read(&root)?;
    if options.publish {
        let found = placeholders(&sources, options.base_url.as_deref());
        if !found.is_empty() {
            progress.hide();
            return Ok(refused(terminal, &found, &sources));
        }
    }
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = SiteOptions {
        today: options.date.unwrap_or_else(world::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: options.base_url.clone(),
        audience: Audience::World,
        engine: Arc::new(kept.engine()),
    };
    let folder = options.output_dir.clone().unwrap_or_else(|| root.join("public"));
    let made_of = ["site.toml", "content", "templates", "static", "i18n"].map(|name| root.join(name));
    let permission = if options.force { Permission::TakeOver } else { Permission::OnlyOurs };
    let single = options.bundle.as_deref().map(|path| SingleFile {
        path,
        mark: BUNDLE_MARK.as_bytes(),
        sources: &made_of,
        permission,
    });
    if let Some(single) = &single {
        single.check_owner()?;
    }
    let mut draft = pipeline::analyze(&sources, faults, &order, &progress)?;
    if draft.has_errors() {
        kept.leave(&order.engine, terminal);
        return Ok(refused(terminal, &draft.findings, &sources));
    }
    let target = OutputTarget { folder: &folder, sources: &made_of, permission };
    let publication =
        StagedOutput::begin(&target).inspect_err(|_| terminal.findings(&draft.findings, &sources))?;
    let publication = publication.with_record(kept.record());
    let outgoing = Outgoing { publication: &publication, options, size: Mutex::default() };
    let whole = pipeline::render(&sources, &mut draft, &order, &progress, &outgoing);
    if whole == RenderStatus::Failed {
        progress.hide();
        kept.leave(&order.engine, terminal);
        return Ok(refused(terminal, &draft.findings, &sources));
    }
    pipeline::pictures(&sources, &draft, &order, &progress, &outgoing);
    progress.hide();
    let size = outgoing.size.into_inner().unwrap_or_else(PoisonError::into_inner);
    terminal.findings(&draft.findings, &sources);
    let bundle = match &single {
        None => None,
        Some(single) => match pipeline::bundle(&sources, &draft, &order) {
            Ok(bytes) => Some((single, bytes)),
            Err(faults) => {
                kept.leave(&order.engine, terminal);
                return Ok(refused(terminal, &faults, &sources));
            }
        },
    };
    progress.start_stage(Stage::Publish, 0);
    let Published { report, record } =
        publication.finish().inspect_err(|_| kept.leave(&order.engine, terminal))?;
    kept.leave_published(&order.engine, record.as_ref(), terminal);
    terminal.say(format!(
        "{} pages, {} files in {}: {} written, {} unchanged, {} removed",
        draft.site.heads().count(),
        size.files,
        folder.display(),
        report.written,
        report.unchanged,
        report.removed
    ));
    size.report().iter().for_each(|line| terminal.say(line));
    if let Some((single, bytes)) = bundle {
        single.write(&bytes)?;
        terminal.say(format!("one file in {}: {}", single.path.display(), in_words(bytes.len() as u64)));
    }
    if options.timings {
        progress.report().iter().for_each(|line| terminal.say(line));
    }
    // The program ends here: the system takes its memory at once, and millions of pieces one by one take their time.
    std::mem::forget((draft, sources, order));
    Ok(Outcome::Fine)
}

/// What stands in the way of a build.
fn refused(terminal: &Terminal, found: &[Diagnostic], sources: &Sources) -> Outcome {
    terminal.findings(found, sources);
    terminal.say("nothing was written");
    Outcome::Findings
}

/// The way of each file to the disk: its twins go with it, and it is counted for the limits of hosts.
struct Outgoing<'b> {
    publication: &'b StagedOutput,
    options: &'b BuildOptions,
    size: Mutex<SiteStats>,
}

impl Outgoing<'_> {
    /// Files with their twins are others than those without.
    fn key(&self, key: &Key) -> Key {
        if self.options.precompress { Key::of([key.as_ref(), b"precompressed"]) } else { *key }
    }

    fn with_twins(&self, files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
        if !self.options.precompress {
            return files;
        }
        let twins: Vec<_> =
            files.iter().flat_map(|(path, bytes)| compress::precompressed(path, bytes)).collect();
        files.into_iter().chain(twins).collect()
    }

    fn count(&self, add: impl FnOnce(&mut SiteStats)) {
        add(&mut self.size.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Sink for Outgoing<'_> {
    fn reuse_group(&self, key: &Key) -> bool {
        let Some(lengths) = self.publication.reuse_known(&self.key(key)) else { return false };
        self.count(|size| lengths.into_iter().for_each(|length| size.add_file(length)));
        true
    }

    fn write_group(&self, key: &Key, files: Vec<(String, Vec<u8>)>) {
        let files = self.with_twins(files);
        self.count(|size| files.iter().for_each(|(path, bytes)| size.add(path, bytes)));
        self.publication.write_group(&self.key(key), files);
    }

    fn write(&self, path: String, bytes: Vec<u8>) {
        for (path, bytes) in self.with_twins(vec![(path, bytes)]) {
            self.count(|size| size.add(&path, &bytes));
            self.publication.write(path, bytes);
        }
    }
}
