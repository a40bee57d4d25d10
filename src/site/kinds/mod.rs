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
mod reading;
mod term;
mod tool;

pub use category::CategoryData;
pub use common::{ALIASES, DRAFT, Evidence, TITLE, VERIFIED};
pub use device::{DeviceClass, DeviceData, Vendor};
pub use document::DocumentData;
pub use error::{
    Cause, Change, Cost, ErrorData, ErrorKind, Platform, Severity, Signature, SignatureText, Solution,
    Status, is_check_section,
};
pub use extractor::{ExtractorData, PlaceText, SampleText, VerdictText};
pub use guide::GuideData;
pub use model::{ARCHITECTURE, ArchitectureData, ModelData, given};
pub use quant::QuantData;
pub use reading::{LookupText, ReadingData, ReadingSample, SaysText};
pub use term::TermData;
pub use tool::ToolData;

use crate::schema::{Field, Record};
use crate::site::kind::Kind;

/// The key of a member of a record, as `Head::knows` asks for it; the compiler knows the member.
macro_rules! key {
    ($record:ident.$member:ident) => {{
        let _ = |record: &$record| {
            let _ = &record.$member;
        };
        stringify!($member)
    }};
}

pub(crate) use key;

/// The front matter of a kind.
pub fn fields(kind: Kind) -> &'static [Field] {
    match kind {
        Kind::Error => ErrorData::FIELDS,
        Kind::Category => CategoryData::FIELDS,
        Kind::Extractor => ExtractorData::FIELDS,
        Kind::Reading => ReadingData::FIELDS,
        Kind::Tool => ToolData::FIELDS,
        Kind::Guide => GuideData::FIELDS,
        Kind::Model => ModelData::FIELDS,
        Kind::Hardware => DeviceData::FIELDS,
        Kind::Quant => QuantData::FIELDS,
        Kind::Term => TermData::FIELDS,
        Kind::Document => DocumentData::FIELDS,
    }
}
