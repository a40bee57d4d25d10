//! `kbgen fit`: whether a model runs on a machine, what it needs there, and what to type.

mod answer;
mod commands;
mod human;
mod layout;
mod machine;
mod python;
mod question;
mod speed;
mod tables;

use anyhow::Result;

use crate::cli::arguments::{AnswerFormat, Arguments, FitOptions};
use crate::cli::fit::question::Question;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::load::{self, Drafts};

pub(super) fn run(arguments: &Arguments, options: &FitOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let (site, _) = load::pages(&sources, Drafts::Include);
    let question = Question::new(&site, options)?;
    let answer = answer::answer(&site, &question)?;
    match options.format {
        AnswerFormat::Json => terminal.print_json(&answer),
        AnswerFormat::Human => {
            terminal.print(human::describe(&answer, question.quant.is_some()));
        }
    }
    Ok(Outcome::Fine)
}
