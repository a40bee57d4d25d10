//! Sources and outputs in memory, and the places in them.

mod kept;
mod outputs;
mod picture;
mod place;
mod source;

pub use kept::{Kept, Key};
pub use outputs::{Memory, Nowhere, Outputs, Sink};
pub use picture::picture_size;
pub use place::{Placed, Position, Span};
pub use source::{Source, SourceId, Sources};
