//! `kbgen man`: writes a man page for each command, generated from the command line.

use std::fs;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, ManOptions};
use crate::cli::terminal::Terminal;

pub(super) fn run(options: &ManOptions, terminal: &Terminal) -> Result<Outcome> {
    let folder = options.dir.display();
    fs::create_dir_all(&options.dir).with_context(|| format!("cannot create `{folder}`"))?;
    clap_mangen::generate_to(Arguments::command(), &options.dir)
        .with_context(|| format!("cannot write man pages to `{folder}`"))?;
    terminal.message(format!("wrote man pages to {folder}"));
    Ok(Outcome::Success)
}
