//! kbgen.
