//! `kbgen build`: writes the site to a folder, and with `--bundle` also to one file.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::arguments::{Arguments, BuildOptions};
use crate::cli::build_cache::BuildCache;
use crate::cli::progress::Progress;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::compress;
use crate::config::placeholders;
use crate::diag::Diagnostic;
use crate::emit::{OutputTarget, Permission, Published, Report, SingleFile, StagedOutput};
use crate::files::{BegunFiles, Key, Sink, Sources};
use crate::host_limits::{SiteStats, format_bytes};
use crate::load::{self, Drafts};
use crate::pipeline::{self, RenderStatus, SiteOptions};
use crate::progress::{BuildProgress, Stage};
use crate::render::{Audience, BUNDLE_MARK};
use crate::site::format_count;

/// Folder below the root that a site is written to by default.
pub(super) const DEFAULT_OUTPUT: &str = "public";

pub(super) fn run(
    arguments: &Arguments,
    options: &BuildOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root_with_pages(arguments.root.as_deref())?;
    let progress = Progress::new(options.timings);
    progress.start_stage(Stage::Read, 0);
    let (sources, faults) = load::read(&root)?;
    if options.publish {
        let found = placeholders(&sources, options.base_url.as_deref());
        if !found.is_empty() {
            progress.hide();
            return Ok(report_refusal(terminal, &found, &sources));
        }
    }
    let folder = options.output_dir.clone().unwrap_or_else(|| root.join(DEFAULT_OUTPUT));
    let made_of = load::INPUTS.map(|name| root.join(name));
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
    let cache = BuildCache::open(&root, &options.cache, terminal);
    let site_options = site_options(options, &cache);
    let refuse = |found: &[Diagnostic]| {
        progress.hide();
        cache.save(&site_options.engine, terminal);
        Ok(report_refusal(terminal, found, &sources))
    };
    let mut analysis = pipeline::analyze(&sources, faults, &site_options, &progress)?;
    if analysis.has_errors() {
        return refuse(&analysis.findings);
    }
    let target = OutputTarget { folder: &folder, sources: &made_of, permission };
    let output =
        StagedOutput::begin(&target).inspect_err(|_| terminal.findings(&analysis.findings, &sources))?;
    let output = output.with_record(cache.record());
    let sink = OutputSink { output: &output, options, size: Mutex::default(), begun: BegunFiles::default() };
    if pipeline::render(&sources, &mut analysis, &site_options, &progress, &sink) == RenderStatus::Failed {
        return refuse(&analysis.findings);
    }
    pipeline::pictures(&sources, &analysis, &site_options, &progress, &sink);
    let size = sink.size.into_inner().unwrap_or_else(PoisonError::into_inner);
    let bundle = single.as_ref().map(|_| pipeline::bundle(&sources, &analysis, &site_options)).transpose();
    let bundle = match bundle {
        Ok(bundle) => bundle,
        Err(faults) => return refuse(&[analysis.findings, faults].concat()),
    };
    progress.hide();
    terminal.findings(&analysis.findings, &sources);
    progress.start_stage(Stage::Publish, 0);
    let Published { report, record } =
        output.finish().inspect_err(|_| cache.save(&site_options.engine, terminal))?;
    cache.save_published(&site_options.engine, record.as_ref(), terminal);
    let pages = analysis.site.heads().count();
    terminal.message(summary(pages, size.files, &folder, &report));
    size.report().iter().for_each(|line| terminal.message(line));
    if let Some((single, bytes)) = single.zip(bundle) {
        single.write(&bytes)?;
        let size = format_bytes(bytes.len() as u64);
        terminal.message(format!("bundle in {}: {size}", single.path.display()));
    }
    if options.timings {
        progress.report().iter().for_each(|line| terminal.message(line));
    }
    // Freeing millions of allocations one by one takes time, and the process ends here.
    std::mem::forget((analysis, sources, site_options));
    Ok(Outcome::Success)
}

fn site_options(options: &BuildOptions, cache: &BuildCache) -> SiteOptions {
    SiteOptions {
        today: options.date.unwrap_or_else(environment::today),
        drafts: if options.drafts { Drafts::Include } else { Drafts::Exclude },
        base_url: options.base_url.clone(),
        audience: Audience::World,
        engine: Arc::new(cache.engine()),
    }
}

/// Describes what was written.
fn summary(pages: usize, files: u64, folder: &Path, report: &Report) -> String {
    format!(
        "{} pages, {} files in {}: {} written, {} unchanged, {} removed",
        format_count(pages as u64),
        format_count(files),
        folder.display(),
        format_count(report.written as u64),
        format_count(report.unchanged as u64),
        format_count(report.removed as u64)
    )
}

/// Reports the findings that prevent the build.
fn report_refusal(terminal: &Terminal, found: &[Diagnostic], sources: &Sources) -> Outcome {
    terminal.findings(found, sources);
    terminal.message("nothing was written");
    Outcome::Findings
}

/// Writes files with their precompressed copies and counts them for the limits of hosts.
struct OutputSink<'b> {
    output: &'b StagedOutput,
    options: &'b BuildOptions,
    size: Mutex<SiteStats>,
    /// Files whose precompressed copies need the whole content.
    begun: BegunFiles,
}

impl OutputSink<'_> {
    /// Returns another key for files with precompressed copies.
    fn key(&self, key: &Key) -> Key {
        if self.options.precompress { Key::of([key.as_ref(), b"precompressed"]) } else { *key }
    }

    fn with_precompressed(&self, files: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
        if !self.options.precompress {
            return files;
        }
        let whole = |(path, rest): (String, Vec<u8>)| (path.clone(), self.begun.complete(&path, rest));
        let files: Vec<_> = files.into_iter().map(whole).collect();
        let precompressed: Vec<_> =
            files.iter().flat_map(|(path, bytes)| compress::precompressed(path, bytes)).collect();
        files.into_iter().chain(precompressed).collect()
    }

    fn count(&self, add: impl FnOnce(&mut SiteStats)) {
        add(&mut self.size.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Sink for OutputSink<'_> {
    fn reuse_group(&self, key: &Key) -> bool {
        let Some(lengths) = self.output.reuse_known(&self.key(key)) else { return false };
        self.count(|size| lengths.into_iter().for_each(|length| size.add_file(length)));
        true
    }

    fn write_group(&self, key: &Key, files: Vec<(String, Vec<u8>)>) {
        let files = self.with_precompressed(files);
        self.count(|size| files.iter().for_each(|(path, bytes)| size.add(path, bytes)));
        self.output.write_group(&self.key(key), files);
    }

    fn write(&self, path: String, bytes: Vec<u8>) {
        for (path, bytes) in self.with_precompressed(vec![(path, bytes)]) {
            self.count(|size| size.add(&path, &bytes));
            self.output.write(path, bytes);
        }
    }

    fn append(&self, path: &str, bytes: &[u8]) {
        if self.options.precompress {
            return self.begun.append(path, bytes);
        }
        self.count(|size| size.begin(path, bytes.len() as u64));
        self.output.append(path, bytes);
    }
}
