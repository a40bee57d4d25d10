//! Healthy logs and input that is not a log produce a message, never a panic.

use std::fs;

use crate::expect::{self, files, repository};
use crate::knowledge::Knowledge;

#[test]
fn a_healthy_log_matches_nothing() {
    let logs = files("tests/data/healthy", ".txt");
    assert!(logs.len() > 10);
    for path in logs {
        let log = fs::read_to_string(&path).expect("a log is text");
        let found = Knowledge::read().diagnose(&log);
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
}

/// Returns the exit code and standard output of `kbgen diagnose` for these bytes.
fn diagnose(input: &[u8], format: &str) -> (Option<i32>, String) {
    let output = expect::diagnose(input, format);
    (output.status.code(), String::from_utf8(output.stdout).expect("the answer is text"))
}

#[test]
fn binary_and_empty_input_is_reported() {
    let binary: Vec<u8> = (0u32..300_000).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let long_line = b"x y ".repeat(50 << 18);
    let warnings = fs::read(repository("tests/data/healthy/warnings-only.txt")).unwrap();
    let other_encoding = b"\xd6\xd0\xce\xc4 the answer is \xc2\xd2\xc2\xeb".as_slice();
    for (name, input, begins) in [
        ("empty", &b""[..], "the log is empty"),
        ("white space", b" \n\t\r\n", "the log is empty"),
        ("binary", &binary, "input looks binary"),
        ("another encoding", other_encoding, "no known error"),
        ("a line of 50 MiB", &long_line, "no known error"),
        ("warnings", &warnings, "no known error"),
    ] {
        let (code, answer) = diagnose(input, "human");
        assert!(code == Some(1) && answer.starts_with(begins), "{name}: {code:?} {answer}");
        let (code, answer) = diagnose(input, "json");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("the answer is JSON");
        let exact = answer["matches"].as_array().unwrap().iter().any(|found| found["exact"] == true);
        assert!(code == Some(1) && !exact, "{name}: {code:?} {answer}");
    }
}

#[test]
fn a_message_is_found_among_bytes_that_are_no_utf8() {
    let message = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB";
    let latin = [b"caf\xe9 \xf0\x9f ".as_slice(), message.as_bytes(), b"\xe2\x82"].concat();
    let wide: Vec<u8> = message.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16 = [b"\xff\xfe".as_slice(), &wide].concat();
    for input in [latin, utf16] {
        let (code, answer) = diagnose(&input, "human");
        assert!(code == Some(0) && answer.starts_with("CUDA out of memory\n"), "{answer}");
    }
}

/// The log is read in chunks, whose boundaries must not affect matches.
#[test]
fn a_message_behind_a_long_log_is_quoted_with_its_line() {
    let filler = "INFO 03-01 10:22:33 [core.py:708] 解 step 17 of 100, loss 0.25\n".repeat(40_000);
    let log = format!("{filler}RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n{filler}");
    let (code, answer) = diagnose(log.as_bytes(), "human");
    assert_eq!(code, Some(0));
    assert!(answer.contains("  line 40001: RuntimeError: CUDA out of memory. Tried"), "{answer}");
}
