//! Sources and outputs in memory, and the places in them.

mod key;
mod outputs;
mod picture;
mod place;
mod scratch;
mod source;

pub use key::{Key, PROGRAM};
pub use outputs::{Built, Memory, Outputs, Rebuilt, Sink};
pub use picture::picture_size;
pub use place::{Placed, Position, Span};
pub use scratch::is_scratch;
pub use source::{Source, SourceId, Sources};
