//! `kbgen estimate`: a batch of questions as CSV, with the answers appended.

mod answer;
mod engine;
mod row;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};

use anyhow::{Context, Error, Result};
use csv::ByteRecord;
use kbgen_estimate::architecture::Architecture;
use rayon::prelude::*;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, EstimateOptions};
use crate::cli::estimate::answer::Answerer;
use crate::cli::estimate::row::Columns;
use crate::cli::world;
use crate::fit;
use crate::load::{self, Drafts};

/// Rows that are read before they are answered, for each thread: enough to keep it busy, and
/// little memory however long the batch.
const ROWS_A_THREAD: usize = 2048;

pub(super) fn run(arguments: &Arguments, options: &EstimateOptions) -> Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let models: BTreeMap<String, Architecture> = site
        .models
        .iter()
        .filter_map(|page| {
            Some((page.head.id.slug.clone(), fit::architecture(&page.data.architecture).ok()??))
        })
        .collect();
    let input = world::input(options.file.as_deref())?;
    answer_all(input, io::stdout().lock(), &models)?;
    Ok(Outcome::Fine)
}

/// Answers row by row, in order. Rows are answered side by side, but what is written and which
/// line is named are those of one after the other: nothing is written after the first fault.
///
/// # Errors
/// The first fault of the batch, with its line.
pub fn answer_all(
    input: impl Read,
    output: impl Write,
    models: &BTreeMap<String, Architecture>,
) -> Result<()> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).buffer_capacity(1 << 16).from_reader(BufReader::new(input));
    let mut header = reader.byte_headers().context("line 1: the header cannot be read")?.clone();
    let columns = Columns::of(&header)?;
    header.push_field(b"estimate_bytes");
    header.push_field(b"status");
    let mut output = Output { output, gone: false };
    let mut written = csv::Writer::from_writer(Vec::new());
    written.write_byte_record(&header)?;
    output.write(&written.into_inner()?)?;

    let mut threads: Vec<Answerer<'_>> =
        (0..rayon::current_num_threads()).map(|_| Answerer::new(models)).collect();
    let mut rows = vec![ByteRecord::new(); ROWS_A_THREAD * threads.len()];
    let mut ended = false;
    while !ended && !output.gone {
        let mut count = 0;
        let mut fault = None;
        while !ended && count < rows.len() {
            match reader.read_byte_record(&mut rows[count]) {
                Ok(true) => count += 1,
                Ok(false) => ended = true,
                Err(error) => {
                    fault = Some(Error::new(error).context("the CSV cannot be read"));
                    ended = true;
                }
            }
        }
        let share = count.div_ceil(threads.len()).max(1);
        let parts = threads.par_iter_mut().zip(rows[..count].par_chunks(share));
        let parts: Vec<Part> = parts.map(|(thread, rows)| answer_rows(rows, &columns, thread)).collect();
        for part in parts {
            output.write(&part.text)?;
            part.fault.map_or(Ok(()), Err)?;
        }
        output.flush()?;
        fault.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Answers to rows that follow each other, up to the first fault.
struct Part {
    text: Vec<u8>,
    fault: Option<Error>,
}

fn answer_rows(rows: &[ByteRecord], columns: &Columns, answerer: &mut Answerer<'_>) -> Part {
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(rows.len() * 128));
    let fault = rows.iter().try_for_each(|row| {
        let line = row.position().map_or(0, csv::Position::line);
        let answer = answer_row(row, columns, answerer).with_context(|| format!("line {line}"))?;
        let (bytes, status) = match answer {
            Ok(bytes) => (bytes.to_string(), "ok".to_string()),
            Err(reason) => (String::new(), format!("not covered: {reason}")),
        };
        writer.write_record(row.iter().chain([bytes.as_bytes(), status.as_bytes()]))?;
        Ok(())
    });
    // a writer into memory does not fail
    Part { text: writer.into_inner().unwrap_or_default(), fault: fault.err() }
}

/// The figure that a row asks for, or why there is none.
fn answer_row(
    row: &ByteRecord,
    columns: &Columns,
    answerer: &mut Answerer<'_>,
) -> Result<Result<u64, String>> {
    columns.fits(row)?;
    match engine::vllm(columns, row, answerer.models)? {
        Some(answer) => Ok(answer),
        None => Ok(columns.question(row)?.and_then(|question| answerer.answer(&question))),
    }
}

/// Where answers go.
struct Output<W> {
    output: W,
    /// The reader has gone away and wants no more rows.
    gone: bool,
}

impl<W: Write> Output<W> {
    fn write(&mut self, text: &[u8]) -> Result<()> {
        let written = if self.gone { Ok(()) } else { self.output.write_all(text) };
        self.judge(written)
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = if self.gone { Ok(()) } else { self.output.flush() };
        self.judge(flushed)
    }

    fn judge(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            other => other.context("the answers cannot be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::cli::estimate::answer_all;

    /// What is written, and the fault that ended it.
    fn answered(batch: &[u8]) -> (String, Option<String>) {
        let mut written = Vec::new();
        let fault = answer_all(batch, &mut written, &BTreeMap::new()).err();
        (String::from_utf8(written).unwrap(), fault.map(|fault| format!("{fault:#}")))
    }

    #[test]
    fn the_first_fault_is_named_and_every_row_before_it_is_answered() {
        let mut batch = String::from("kind,catalogue_id,quant,device,ctx\n");
        for line in 2..20_000 {
            let context = if line == 7001 || line == 7002 || line == 19_000 { "-1" } else { "4096" };
            batch += &format!("total,model-{line},Q4_K_M,gpu0,{context}\n");
        }
        let (written, fault) = answered(batch.as_bytes());
        assert_eq!(fault.unwrap(), "line 7001: `ctx` is `-1`, not a whole number between 0 and 1000000000");
        assert_eq!(written.lines().count(), 7000);
        let lines = written.lines().skip(1).zip(2..);
        for (row, line) in lines {
            assert!(row.starts_with(&format!("total,model-{line},")), "{row}");
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_named_with_its_column() {
        let (_, fault) = answered(b"kind,catalogue_id,quant,device\ntotal,caf\xe9,Q4_K_M,gpu0\n");
        assert_eq!(fault.unwrap(), "line 2: `catalogue_id` is not UTF-8 text; save the file as UTF-8");
        let (_, fault) = answered(b"kind,catalogue_id,quant,caf\xe9\n");
        assert!(fault.unwrap().starts_with("line 1: the name of a column is not UTF-8"));
    }

    #[test]
    fn an_empty_batch_is_one_without_columns() {
        assert_eq!(answered(b"").1.unwrap(), "line 1: the column `kind` is missing");
        assert_eq!(answered(b"kind,catalogue_id,quant,device\n").1, None);
    }
}
