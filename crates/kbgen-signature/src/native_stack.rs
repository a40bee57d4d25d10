//! Reads native call stacks, as gdb, systemd, LLVM, glibc, macOS and Windows programs print them: the deepest frame outside of
//! system libraries.
//!
//! `static/js/readings.js` implements the same algorithm; change both together.

use crate::figure::{Figure, Figures};

/// Fewest frames of a stack.
const MIN_FRAMES: usize = 2;
/// Longest line of a frame; templates make long names.
const MAX_LINE_LENGTH: usize = 2000;
/// Most characters of a name that are kept.
const MAX_LENGTH: usize = 160;
/// Beginnings of the file names of libraries that only pass a failure on.
const SYSTEM: [&str; 22] = [
    "libc.so",
    "libc-2",
    "libpthread",
    "ld-linux",
    "libstdc++",
    "libgcc_s",
    "libm.so",
    "libdl",
    "libsystem_",
    "dyld",
    "libc++",
    "libobjc",
    "libdispatch",
    "ntdll",
    "kernel32",
    "kernelbase",
    "ucrtbase",
    "vcruntime",
    "msvcp",
    "python",
    "libpython",
    "linux-vdso",
];
/// Parts of the names of functions that report a failure, in lower case.
const REPORTING: [&str; 9] = [
    "abort",
    "backtrace",
    "stacktrace",
    "signalhandler",
    "terminate",
    "unexpected",
    "throw",
    "raise",
    "c10::error",
];
/// Most frames that report a failure, some of them without a name.
const MAX_REPORTING: usize = 8;

/// Returns the 1-based line of the deepest frame outside of system libraries, with `library`, `function` and the number of `frames`.
pub(crate) fn read(log: &str) -> Option<(usize, Figures)> {
    let frames: Vec<(usize, &str, &str)> = log
        .split('\n')
        .enumerate()
        .filter_map(|(at, line)| frame(line).map(|(path, function)| (at + 1, path, function)))
        .collect();
    let is_reporting = |(_, _, function): &(usize, &str, &str)| {
        let function = function.to_ascii_lowercase();
        REPORTING.iter().any(|part| function.contains(part))
    };
    let is_own = |(_, path, _): &&(usize, &str, &str)| {
        let library = file_name(path).to_ascii_lowercase();
        !SYSTEM.iter().any(|system| library.starts_with(system))
    };
    let top = &frames[..frames.len().min(MAX_REPORTING)];
    let begin = top.iter().rposition(is_reporting).map_or(0, |at| at + 1);
    let own = frames[begin..].iter().filter(|frame| !is_reporting(frame)).find(is_own);
    let (line, path, function) = own.filter(|_| frames.len() >= MIN_FRAMES)?;
    let mut figures = Figures::default();
    for (name, text) in [("library", file_name(path)), ("function", function.split('(').next()?.trim())] {
        if !text.is_empty() && text != "??" && text != "n/a" {
            figures.add(name, Figure::Text(text.chars().take(MAX_LENGTH).collect()));
        }
    }
    figures.add("frames", Figure::Number(frames.len() as f64));
    Some((*line, figures))
}

/// Returns the library and the function of a frame.
fn frame(line: &str) -> Option<(&str, &str)> {
    if line.len() > MAX_LINE_LENGTH {
        return None;
    }
    let line = line.trim();
    let line =
        line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(line, |(_, rest)| rest.trim());
    if let Some(numbered) =
        line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = without_address(rest.strip_prefix(' ')?.trim_start());
        let rest = rest.strip_prefix("in ").unwrap_or(rest);
        // gdb: `ggml_abort () from libggml-base.so`
        if let Some((function, path)) = rest.rsplit_once(" from ") {
            return (!path.contains(' ') && function.contains('(')).then_some((path, function));
        }
        // LLVM and systemd: `raise (libc.so.6 + 0x3bf25)`
        let (function, place) = rest.strip_suffix(')')?.rsplit_once('(')?;
        let (path, offset) = place.rsplit_once('+')?;
        return offset.trim_start().starts_with("0x").then(|| (path.trim_end(), function.trim_end()));
    }
    if let Some((before, _)) = line.strip_suffix(']').and_then(|rest| rest.rsplit_once("[0x")) {
        // glibc: `libggml.so(ggml_abort+0x152) [0x7f0c]`
        let (path, place) = before.trim_end().strip_suffix(')')?.split_once('(')?;
        let (function, _) = place.rsplit_once("+0x")?;
        return (!path.contains(' ')).then_some((path, function));
    }
    // macOS: `9   libmlx.dylib   0x104 mlx::core::gpu::check_error(MTL::CommandBuffer*) + 244`
    let (number, rest) = line.split_once(' ')?;
    let (library, rest) = rest.trim_start().split_once(' ')?;
    let (function, offset) = without_address(rest.trim_start()).rsplit_once(" + ")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(number) && is_number(offset) && library.ends_with(".dylib")).then_some((library, function))
}

/// Removes an address at the beginning.
fn without_address(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("0x") else { return text };
    rest.trim_start_matches(|c: char| c.is_ascii_hexdigit()).trim_start()
}

/// Returns the file of a path without the version of a library: `libggml-base.so` of `/usr/lib/libggml-base.so.0`.
fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.find(".so.").map_or(name, |at| &name[..at + 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(log: &str) -> Option<String> {
        let (line, figures) = read(log)?;
        let figure = |name| figures.get(name).map_or("-".to_owned(), Figure::to_string);
        Some(format!("{line} {} {}", figure("library"), figure("function")))
    }

    #[test]
    fn names_the_deepest_own_library_in_every_notation() {
        for (log, expected) in [
            (
                "#0  0x00007748fc0ea42f in __GI___wait4 () from /lib/libc.so.6\n\
                 #1  0x00007748fcb70b5b in ggml_print_backtrace () from /build/bin/libggml-base.so.0\n\
                 #2  0x00007748fcb70cf2 in ggml_abort () from /build/bin/libggml-base.so.0\n\
                 #3  0x00007748e07794b6 in ggml_cuda_error(char const*, int) () from /build/bin/libggml-cuda.so.0",
                Some("4 libggml-cuda.so ggml_cuda_error"),
            ),
            (
                " #0 0x00007c2305d7bcb0 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM-17.so+0x77)\n\
                 #1 0x00007c230dcac11e (/usr/lib/liblldb.so.17+0x4ac11e)",
                Some("2 liblldb.so -"),
            ),
            (
                "#0  0x00007fcb3ea12f25 raise (libc.so.6 + 0x3bf25)\n#6  0x00007fcb3bed45dd n/a (libigc.so.1 + 0x2fc0)",
                Some("2 libigc.so -"),
            ),
            (
                "/lib/x86_64-linux-gnu/libc.so.6(abort+0x123)[0x14ba214c2537]\n/opt/lib/libvllm.so(attend+0x89) [0x55bed353aca9]",
                Some("2 libvllm.so attend"),
            ),
            (
                "0   libsystem_kernel.dylib              __pthread_kill + 8\n8   libc++abi.dylib   __cxa_throw + 92\n\
                 9   libmlx.dylib    mlx::core::gpu::check_error(MTL::CommandBuffer*) + 244",
                Some("3 libmlx.dylib mlx::core::gpu::check_error"),
            ),
            (
                "#0 0x00007ff83fa38eb4 (C:\\Windows\\ntdll.dll+0x18eb4)\n#1 0x00007ff83fa38eb4 (C:\\venv\\bin\\amdhip64_7.dll+0x18eb4)",
                Some("2 amdhip64_7.dll -"),
            ),
            (
                "bin/libggml-base.so.0(+0x1840b) [0x7efd7074f40b]\n\
                 bin/libggml-base.so.0(ggml_print_backtrace+0x21f) [0x7efd7074f86f]\n\
                 bin/libggml-base.so.0(+0x2ba6f) [0x7efd70762a6f]\n\
                 /lib/x86_64-linux-gnu/libstdc++.so.6(+0xb344a) [0x7efd7056e44a]\n\
                 /lib/x86_64-linux-gnu/libstdc++.so.6(_ZSt10unexpectedv+0x0) [0x7efd7055c5e9]",
                None,
            ),
            ("#1  0x0000 in f () from /usr/lib/libx.so", None),
            ("# 1 from x\n#2 is from y\n1 a + 2\n[0x12]", None),
        ] {
            assert_eq!(shown(log).as_deref(), expected, "{log}");
        }
    }
}
