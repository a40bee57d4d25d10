//! Sources and outputs in memory, and spans and edits of sources.

mod edit;
mod key;
mod outputs;
mod source;
mod span;

pub use edit::{Edit, apply, compatible, replace_ranges};
pub use key::{Key, PROGRAM};
pub use outputs::{BegunFiles, BuildFiles, MemorySink, Outputs, Sink, UpdateSink};
pub use source::{Source, SourceId, Sources, is_scratch, picture_size};
pub use span::{Position, Span, Spanned};
