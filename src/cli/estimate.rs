//! `kbgen estimate`: a batch of questions as CSV, with the answers appended.

mod engine;
mod row;

use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Read, Write};

use anyhow::{Context, Result};
use csv::StringRecord;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, EstimateOptions};
use crate::cli::estimate::row::{Columns, Question};
use crate::cli::world;
use crate::estimate::architecture::Architecture;
use crate::estimate::estimator::{Estimate, estimate, file_bytes};
use crate::estimate::placement::Device;
use crate::estimate::settings::Settings;
use crate::fit;
use crate::load::{self, Drafts};

pub(super) fn run(arguments: &Arguments, options: &EstimateOptions) -> Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let models = site
        .models
        .iter()
        .filter_map(|page| {
            Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
        })
        .collect();
    let input = world::input(options.file.as_deref())?;
    answer_all(input, io::stdout().lock(), &mut Estimator { models, known: BTreeMap::new() })?;
    Ok(Outcome::Fine)
}

fn answer_all(input: impl Read, output: impl Write, estimator: &mut Estimator) -> Result<()> {
    let mut reader = csv::Reader::from_reader(BufReader::new(input));
    let mut writer = csv::Writer::from_writer(BufWriter::new(output));
    let mut header = reader.headers().context("line 1: the header cannot be read")?.clone();
    let columns = Columns::of(&header)?;
    header.push_field("estimate_bytes");
    header.push_field("status");
    let mut written = writer.write_record(&header);
    let mut row = StringRecord::new();
    while written.is_ok() && reader.read_record(&mut row).context("the CSV cannot be read")? {
        let line = row.position().map_or(0, csv::Position::line);
        let at_line = || format!("line {line}");
        let answer = match engine::vllm(&columns, &row, &estimator.models).with_context(at_line)? {
            Some(answer) => answer,
            None => {
                columns.question(&row).with_context(at_line)?.and_then(|question| estimator.answer(&question))
            }
        };
        match answer {
            Ok(bytes) => {
                row.push_field(&bytes.to_string());
                row.push_field("ok");
            }
            Err(reason) => {
                row.push_field("");
                row.push_field(&format!("not covered: {reason}"));
            }
        }
        written = writer.write_record(&row);
    }
    // A reader that has gone away wants no more rows.
    match written.and_then(|()| writer.flush().map_err(csv::Error::from)) {
        Err(error) if matches!(error.kind(), csv::ErrorKind::Io(io) if io.kind() == io::ErrorKind::BrokenPipe) => {
            Ok(())
        }
        other => other.context("the answers cannot be written"),
    }
}

/// Models by slug, and the runs that were computed already: the rows of a batch come in runs.
struct Estimator {
    models: BTreeMap<String, Architecture>,
    known: BTreeMap<String, Vec<KnownRun>>,
}

/// A run and what it needs, or why that is not known.
type KnownRun = (Settings, Result<Estimate, String>);

/// Runs of a model that are kept.
const KEPT: usize = 8;

impl Estimator {
    fn answer(&mut self, question: &Question) -> Result<u64, String> {
        let Some(model) = self.models.get(&question.model) else {
            return Err(format!("there is no model `{}`", question.model));
        };
        if question.kind == "model_bytes" && question.device == "file" {
            return Ok(file_bytes(model, question.settings.quantization).0);
        }
        let known = self.known.entry(question.model.clone()).or_default();
        if !known.iter().any(|(settings, _)| *settings == question.settings) {
            if known.len() == KEPT {
                drop(known.remove(0));
            }
            let run = estimate(model, &question.settings).map_err(|reason| reason.0);
            known.push((question.settings.clone(), run));
        }
        let run = known.iter().find(|(settings, _)| *settings == question.settings).map(|(_, run)| run);
        figure(run.expect("it was computed above").as_ref().map_err(Clone::clone)?, question)
    }
}

fn figure(run: &Estimate, question: &Question) -> Result<u64, String> {
    let devices: Vec<_> = match question.device.as_str() {
        "all" => run.devices.iter().collect(),
        "host" => run.device(Device::Host).into_iter().collect(),
        name => match name.strip_prefix("gpu").and_then(|index| index.parse().ok()) {
            Some(index) => run.device(Device::Gpu(index)).into_iter().collect(),
            None => return Err(format!("there is no device `{name}`")),
        },
    };
    if devices.is_empty() {
        return Err(format!("the run has no device `{}`", question.device));
    }
    let sum = devices.iter().map(|device| match question.kind.as_str() {
        "model_bytes" => Some(device.weights.bytes.0),
        "kv_bytes" => Some(device.cache.bytes.0),
        "compute_bytes" => Some(device.compute.bytes.0),
        "total" => Some(device.total().0),
        _ => None,
    });
    sum.sum::<Option<u64>>().ok_or_else(|| format!("there is no figure `{}`", question.kind))
}
