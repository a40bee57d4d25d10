//! The `kbgen` binary; see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kbgen::run(std::env::args_os())
}
