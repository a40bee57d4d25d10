//! One program for all tests that need no private names.

mod estimate;
mod markdown;
