//! The kbgen command.

fn main() {}
