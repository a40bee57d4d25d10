//! Binary of kbgen. See the library for the implementation.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    kbgen::run(std::env::args_os())
}
