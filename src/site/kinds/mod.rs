//! What pages of each kind hold, and the definitions of their front matter.

mod category;
mod common;
mod device;
mod document;
mod error;
mod extractor;
mod guide;
mod model;
mod quant;
mod term;
mod tool;

pub use category::CategoryData;
pub use common::Evidence;
pub use device::{CLASS, DeviceData, VENDOR};
pub use document::DocumentData;
pub use error::{
    COST, Cause, ErrorData, ErrorKind, KIND, PLATFORM, SEVERITY, STATUS, Signature, SignatureText,
    is_check_section,
};
pub use extractor::{ExtractorData, SampleText};
pub use guide::GuideData;
pub use model::{ARCHITECTURE, ArchitectureData, ModelData, given};
pub use quant::QuantData;
pub use term::TermData;
pub use tool::ToolData;

use crate::schema::Field;
use crate::site::kind::Kind;

/// The front matter of a kind.
pub fn fields(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Error => error::FIELDS,
        Kind::Category => category::FIELDS,
        Kind::Extractor => extractor::FIELDS,
        Kind::Tool => tool::FIELDS,
        Kind::Guide => guide::FIELDS,
        Kind::Model => model::FIELDS,
        Kind::Hardware => device::FIELDS,
        Kind::Quant => quant::FIELDS,
        Kind::Term => term::FIELDS,
        Kind::Document => document::FIELDS,
    }
}
