//! Finds known error messages in a log: patterns, extracted figures, the signature index, and a full-text index for other pages.
#![doc = include_str!("../README.md")]

mod anchor;
mod anchor_search;
mod exception;
mod expression;
mod extractor;
mod figure;
mod grammar;
mod index;
mod lazy;
mod log_line;
mod matcher;
mod native_stack;
mod normal;
mod parse_error;
mod parts;
mod pattern;
mod placeholder;
mod prefix;
mod quote;
mod ranking;
mod reading;
mod role;
mod scanner;
mod similarity;
mod specificity;
mod step_budget;
mod stream;
mod table;
mod template;
mod text_index;
mod text_search;
mod traceback;
mod traceback_lines;
mod truncated;

pub use expression::Expression;
pub use extractor::{
    DerivedFigure, Extractor, FigureField, PLACE_FIGURE, PlaceRule, VERDICT_FIGURE, Verdict,
};
pub use figure::{Figure, Figures};
pub use index::{Diagnosis, Index, Match};
pub use lazy::Lazy;
pub use log_line::is_quiet;
pub use normal::without_color_codes;
pub use parse_error::ParseError;
pub use parts::{PatternPartition, PatternUses, TableParts, TextIndexParts};
pub use pattern::Pattern;
pub use quote::Quote;
pub use reading::{LogEnd, Lookup, Reading, ReadingPage, ReadingRule, ReadingText, ReadingTexts};
pub use role::ReadingRole;
pub use scanner::is_failed_import;
pub use similarity::similar_pages;
pub use specificity::MIN_ASSERTING_BITS;
pub use step_budget::{MAX_STEPS_PER_WINDOW, PatternCost, STEPS_PER_WINDOW};
pub use table::{Cause, Kind, Page, SearchTable, Signature, Table, TablePage};
pub use template::Template;
pub use text_index::{Document, TermCounts, TextIndex, TextIndexBuilder};
pub use text_search::{Questions, SearchHit, TitleMatch, is_question, is_typed};
pub use traceback::Traceback;
