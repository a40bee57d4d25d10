//! Binary of kbgen. See the library for the implementation.

use std::process::ExitCode;

fn main() -> ExitCode {
    kbgen::run(std::env::args_os())
}
