//! Sources and outputs in memory, and the places in them.

mod key;
mod outputs;
mod place;
mod source;

pub use key::{Key, PROGRAM};
pub use outputs::{Built, Memory, Outputs, Rebuilt, Sink};
pub use place::{Placed, Position, Span};
pub use source::{Source, SourceId, Sources, is_scratch, picture_size};
