//! Range requests (RFC 9110, section 14).

use std::ops::Range;

use hyper::header::{HeaderMap, HeaderValue, IF_RANGE, RANGE};

/// Part of a file to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    /// The whole file.
    Full,
    /// A byte range.
    Bytes(Range<usize>),
    /// A range outside the file.
    Unsatisfiable,
}

/// Returns the requested part of a file of `bytes` bytes.
///
/// Requests for several ranges, other units or with invalid syntax get the whole file, as the standard allows.
pub(crate) fn requested_range(headers: &HeaderMap, tag: &HeaderValue, bytes: usize) -> RequestedRange {
    let mut ranges = headers.get_all(RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else { return RequestedRange::Full };
    if headers.get(IF_RANGE).is_some_and(|known| known != tag) {
        return RequestedRange::Full;
    }
    range.to_str().ok().and_then(|range| one(range, bytes)).unwrap_or(RequestedRange::Full)
}

/// Parses one range such as `bytes=0-99`, `bytes=100-` or `bytes=-100`.
fn one(range: &str, bytes: usize) -> Option<RequestedRange> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let requested = match (first, last) {
        ("", last) => bytes.saturating_sub(number(last)?)..bytes,
        (first, "") => number(first)?..bytes,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(bytes)
        }
    };
    Some(if requested.is_empty() { RequestedRange::Unsatisfiable } else { RequestedRange::Bytes(requested) })
}

/// Parses decimal digits. Larger numbers saturate.
fn number(digits: &str) -> Option<usize> {
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(range: &'static str) -> RequestedRange {
        let headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static(range))]);
        requested_range(&headers, &HeaderValue::from_static("\"tag\""), 10)
    }

    #[test]
    fn one_range_is_cut_to_the_file() {
        for (range, bytes) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-4", 2..5),
            ("Bytes=8-", 8..10),
            ("bytes=8-99999999999999999999999999", 8..10),
            ("bytes=-3", 7..10),
            ("bytes=-99999999999999999999999999", 0..10),
        ] {
            assert_eq!(asked(range), RequestedRange::Bytes(bytes), "{range}");
        }
        for range in ["bytes=10-", "bytes=10-12", "bytes=99999999999999999999-", "bytes=-0"] {
            assert_eq!(asked(range), RequestedRange::Unsatisfiable, "{range}");
        }
    }

    #[test]
    fn other_requests_get_the_whole_file() {
        for range in [
            "bytes=0-1,3-4",
            "bytes=0-,0-",
            "bytes=4-2",
            "bytes=-",
            "bytes=--1",
            "bytes=+1-2",
            "bytes=0x1-2",
            "bytes=a-b",
            "bytes",
            "bytes=",
            "lines=0-1",
            "",
        ] {
            assert_eq!(asked(range), RequestedRange::Full, "{range}");
        }
    }
}
