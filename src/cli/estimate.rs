//! `kbgen estimate`: reads configurations as CSV and appends the estimates.

mod engine;
mod estimator;
mod row;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};

use anyhow::{Context, Error, Result, anyhow};
use csv::ByteRecord;
use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::build::{Build, UnknownBuild};
use rayon::prelude::*;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, EstimateOptions};
use crate::cli::environment;
use crate::cli::estimate::estimator::RowEstimator;
use crate::cli::estimate::row::Columns;
use crate::cli::fit as fit_command;
use crate::cli::knowledge_base::KnowledgeBase;
use crate::cli::terminal::Terminal;
use crate::fit;
use crate::site::{Kind, Names};

/// Rows per thread that are read at once. Bounds memory for batches of any length.
const ROWS_PER_THREAD: usize = 2048;

pub(super) fn run(arguments: &Arguments, options: &EstimateOptions, terminal: &Terminal) -> Result<Outcome> {
    let base = KnowledgeBase::find(arguments)?;
    base.announce(terminal);
    let site = fit_command::pages(&base, fit_command::is_used);
    let models: BTreeMap<String, Architecture> = site
        .models
        .iter()
        .filter_map(|page| {
            Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
        })
        .collect();
    let build = match &options.build {
        None => Build::default(),
        Some(build) => parse_build(build)?,
    };
    let input = environment::input(options.file.as_deref())?;
    estimate_csv(input, io::stdout().lock(), &models, &Names::new(&site, Kind::Model), build)?;
    Ok(Outcome::Success)
}

/// Parses a build of llama.cpp.
///
/// # Errors
/// If it is neither a number nor a date.
pub(super) fn parse_build(build: &str) -> Result<Build> {
    build.parse().map_err(|unknown: UnknownBuild| anyhow!("invalid build `{build}`; {unknown}"))
}

/// Estimates every row in parallel for a build of llama.cpp, unless the row has its own, and writes the results in order, up to the first error.
///
/// # Errors
/// Returns the first error with its line.
pub fn estimate_csv(
    input: impl Read,
    output: impl Write,
    models: &BTreeMap<String, Architecture>,
    names: &Names,
    build: Build,
) -> Result<()> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).buffer_capacity(1 << 16).from_reader(BufReader::new(input));
    let mut header = reader.byte_headers().context("line 1: cannot read the header")?.clone();
    let columns = Columns::of(&header, build)?;
    header.push_field(b"estimate_bytes");
    header.push_field(b"status");
    let mut output = CsvOutput { output, closed: false };
    let mut written = csv::Writer::from_writer(Vec::new());
    written.write_byte_record(&header)?;
    output.write(&written.into_inner()?)?;

    let mut threads: Vec<RowEstimator<'_>> =
        (0..rayon::current_num_threads()).map(|_| RowEstimator::new(models, names)).collect();
    let mut rows = vec![ByteRecord::new(); ROWS_PER_THREAD * threads.len()];
    let mut ended = false;
    while !ended && !output.closed {
        let mut count = 0;
        let mut fault = None;
        while !ended && count < rows.len() {
            match reader.read_byte_record(&mut rows[count]) {
                Ok(true) => count += 1,
                Ok(false) => ended = true,
                Err(error) => {
                    fault = Some(Error::new(error).context("cannot parse the CSV"));
                    ended = true;
                }
            }
        }
        let share = count.div_ceil(threads.len()).max(1);
        let parts = threads.par_iter_mut().zip(rows[..count].par_chunks(share));
        let parts: Vec<RowBatch> =
            parts.map(|(thread, rows)| estimate_rows(rows, &columns, thread)).collect();
        for part in parts {
            output.write(&part.text)?;
            part.fault.map_or(Ok(()), Err)?;
        }
        output.flush()?;
        fault.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Results of consecutive rows, up to the first error.
struct RowBatch {
    text: Vec<u8>,
    fault: Option<Error>,
}

fn estimate_rows(rows: &[ByteRecord], columns: &Columns, estimator: &mut RowEstimator<'_>) -> RowBatch {
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(rows.len() * 128));
    let fault = rows.iter().try_for_each(|row| {
        let line = row.position().map_or(0, csv::Position::line);
        let answer = estimate_row(row, columns, estimator).with_context(|| format!("line {line}"))?;
        let (bytes, status) = match answer {
            Ok(bytes) => (bytes.to_string(), "ok".to_string()),
            Err(reason) => (String::new(), format!("not covered: {reason}")),
        };
        writer.write_record(row.iter().chain([bytes.as_bytes(), status.as_bytes()]))?;
        Ok(())
    });
    // Writing to memory does not fail.
    RowBatch { text: writer.into_inner().unwrap_or_default(), fault: fault.err() }
}

/// Returns the estimate for a row, or the reason why it is not covered.
fn estimate_row(
    row: &ByteRecord,
    columns: &Columns,
    estimator: &mut RowEstimator<'_>,
) -> Result<Result<u64, String>> {
    columns.fits(row)?;
    match engine::vllm(columns, row, estimator)? {
        Some(answer) => Ok(answer),
        None => Ok(columns.query(row)?.and_then(|query| estimator.answer(&query))),
    }
}

/// Writer of the results.
struct CsvOutput<W> {
    output: W,
    /// The reader closed the pipe.
    closed: bool,
}

impl<W: Write> CsvOutput<W> {
    fn write(&mut self, text: &[u8]) -> Result<()> {
        let written = if self.closed { Ok(()) } else { self.output.write_all(text) };
        self.check_write(written)
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = if self.closed { Ok(()) } else { self.output.flush() };
        self.check_write(flushed)
    }

    fn check_write(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            other => other.context("cannot write the results"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kbgen_estimate::build::Build;

    use crate::cli::estimate::estimate_csv;
    use crate::site::{Kind, Names};

    /// Returns the output and the error that ended it.
    fn answered(batch: &[u8]) -> (String, Option<String>) {
        let mut written = Vec::new();
        let names = Names::empty(Kind::Model);
        let fault = estimate_csv(batch, &mut written, &BTreeMap::new(), &names, Build::default()).err();
        (String::from_utf8(written).unwrap(), fault.map(|fault| format!("{fault:#}")))
    }

    #[test]
    fn the_first_error_is_reported_after_all_rows_before_it() {
        let mut batch = String::from("kind,catalogue_id,quant,device,ctx\n");
        for line in 2..20_000 {
            let context = if line == 7001 || line == 7002 || line == 19_000 { "-1" } else { "4096" };
            batch += &format!("total,model-{line},Q4_K_M,gpu0,{context}\n");
        }
        let (written, fault) = answered(batch.as_bytes());
        assert_eq!(fault.unwrap(), "line 7001: `ctx` is `-1`; expected a whole number from 0 to 1000000000");
        assert_eq!(written.lines().count(), 7000);
        let lines = written.lines().skip(1).zip(2..);
        for (row, line) in lines {
            assert!(row.starts_with(&format!("total,model-{line},")), "{row}");
        }
    }

    #[test]
    fn invalid_utf_8_is_reported_with_its_column() {
        let (_, fault) = answered(b"kind,catalogue_id,quant,device\ntotal,caf\xe9,Q4_K_M,gpu0\n");
        assert_eq!(fault.unwrap(), "line 2: `catalogue_id` is not UTF-8; save the file as UTF-8");
        let (_, fault) = answered(b"kind,catalogue_id,quant,caf\xe9\n");
        assert!(fault.unwrap().starts_with("line 1: a column name is not UTF-8"));
    }

    #[test]
    fn an_empty_batch_lacks_columns() {
        assert_eq!(answered(b"").1.unwrap(), "line 1: missing column `kind`");
        assert_eq!(answered(b"kind,catalogue_id,quant,device\n").1, None);
    }
}
