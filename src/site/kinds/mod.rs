//! Data of each kind of page, and the definitions of its front matter.

mod category;
mod common;
mod device;
mod document;
mod entry;
mod error;
mod extractor;
mod guide;
mod include;
mod model;
mod quant;
mod reading;
mod term;
mod tool;

pub use category::CategoryData;
pub use common::{ALIASES, CommandRun, DRAFT, Evidence, MORE_SOURCES, PUBLISH_ON, TITLE, VERIFIED};
pub use device::{Benchmark, DeviceClass, DeviceData, System, Vendor, VisibleMemory};
pub use document::DocumentData;
pub use entry::EntryData;
pub use error::{
    Cause, ChangelogEntry, Cost, ErrorData, ErrorKind, Platform, Severity, Signature, SignatureText,
    Solution, Status, is_check_section, with_vocabularies,
};
pub use extractor::{ExtractorData, PlaceText, SampleText, VerdictText};
pub use guide::{GuideData, Illustration};
pub use include::IncludeData;
pub use model::{ARCHITECTURE, ArchitectureData, ModelData, given};
pub use quant::QuantData;
pub use reading::{LookupText, ReadingData, ReadingSample, Role, SaysText};
pub use term::TermData;
pub use tool::ToolData;

use crate::schema::{Field, Record};
use crate::site::kind::Kind;

/// Returns the front-matter key of a record member, for `Head::knows`; the compiler checks that the member exists.
macro_rules! key {
    ($record:ident.$member:ident) => {{
        let _ = |record: &$record| {
            let _ = &record.$member;
        };
        stringify!($member)
    }};
}

pub(crate) use key;

/// Returns the front-matter fields of a kind.
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
        Kind::Entry => EntryData::FIELDS,
        Kind::Include => IncludeData::FIELDS,
    }
}
