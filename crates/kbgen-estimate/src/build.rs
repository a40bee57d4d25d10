//! Builds of llama.cpp whose buffers differ from the current ones.

use std::fmt;
use std::str::FromStr;

/// Period of llama.cpp builds with the same buffers, named by its first month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Build {
    /// Before July 2025: the gate and its product are separate operations in a feed-forward network.
    Earliest,
    /// The gate and its product are one operation (<https://github.com/ggml-org/llama.cpp/pull/14158>).
    July2025,
    /// The cache is written by row indices, which are inputs (<https://github.com/ggml-org/llama.cpp/pull/14959>).
    August2025,
    /// Graphs have inputs for tokens and for vectors (<https://github.com/ggml-org/llama.cpp/pull/18898>).
    February2026,
    /// Quantized caches are rotated (<https://github.com/ggml-org/llama.cpp/pull/21038>).
    April2026,
    /// Flash attention has an F16 mask (<https://github.com/ggml-org/llama.cpp/pull/23764>) and on CUDA keeps F16 copies
    /// of a quantized cache in the compute buffer (<https://github.com/ggml-org/llama.cpp/pull/23907>); the server
    /// limits the logits (<https://github.com/ggml-org/llama.cpp/pull/23861>).
    June2026,
    /// CUDA weights and sums the results of experts in one kernel
    /// (<https://github.com/ggml-org/llama.cpp/pull/25952>).
    #[default]
    September2026,
}

/// First build number and first day of each period. Numbers are interpolated between builds with a known date: b5781 of
/// June 29 and b5912 of July 16, 2025; b6123 of August 10, 2025; b7847 of January 28, b8651 of April 3, b9272 of May 22,
/// b9670 of June 17, and b10760 of September 2, 2026. A change can be a few days and some dozen builds off.
const STARTS: [(Build, u64, &str); 6] = [
    (Build::July2025, 5775, "2025-06-29"),
    (Build::August2025, 6074, "2025-08-02"),
    (Build::February2026, 7820, "2026-01-24"),
    (Build::April2026, 8610, "2026-04-01"),
    (Build::June2026, 9440, "2026-06-01"),
    (Build::September2026, 10_800, "2026-09-05"),
];

impl Build {
    /// Every period, the earliest first.
    pub const ALL: &'static [Build] = &[
        Build::Earliest,
        Build::July2025,
        Build::August2025,
        Build::February2026,
        Build::April2026,
        Build::June2026,
        Build::September2026,
    ];

    /// Returns whether a gate and its product are one operation.
    pub(crate) fn has_fused_gates(self) -> bool {
        self >= Build::July2025
    }

    /// Returns whether the rows of the cache that a micro-batch writes are inputs.
    pub(crate) fn has_cache_rows(self) -> bool {
        self >= Build::August2025
    }

    /// Returns whether the graph has an input for vectors besides the one for tokens.
    pub(crate) fn has_vector_input(self) -> bool {
        self >= Build::February2026
    }

    /// Returns whether quantized caches are rotated.
    pub(crate) fn rotates_cache(self) -> bool {
        self >= Build::April2026
    }

    /// Returns whether the mask of flash attention is F16 from the start, not converted from F32.
    pub(crate) fn has_half_mask(self) -> bool {
        self >= Build::June2026
    }

    /// Returns whether the compute buffer contains the F16 copies of a quantized cache. In earlier builds,
    /// CUDA allocated them in its own pool at run time.
    pub fn reserves_copies(self) -> bool {
        self >= Build::June2026
    }

    /// Returns whether the states of all tokens after the last layer are kept where a draft model can use them
    /// (<https://github.com/ggml-org/llama.cpp/pull/22673>, <https://github.com/ggml-org/llama.cpp/pull/24025>).
    pub(crate) fn keeps_hidden_states(self) -> bool {
        self >= Build::June2026
    }

    /// Returns whether the results of experts and their weights stay until the sum on CUDA.
    pub(crate) fn keeps_expert_results(self) -> bool {
        self >= Build::September2026
    }

    /// Returns whether the server keeps the logits of one token per slot only.
    pub fn limits_logits(self) -> bool {
        self >= Build::June2026
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Build::Earliest => "before July 2025",
            Build::July2025 => "July 2025",
            Build::August2025 => "August 2025 to January 2026",
            Build::February2026 => "February and March 2026",
            Build::April2026 => "April and May 2026",
            Build::June2026 => "June to August 2026",
            Build::September2026 => "since September 2026",
        })
    }
}

/// Neither a build number nor a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBuild;

impl fmt::Display for UnknownBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a build number such as `b9000`, or a date such as `2026-05`")
    }
}

impl std::error::Error for UnknownBuild {}

impl FromStr for Build {
    type Err = UnknownBuild;

    /// Parses a build number such as `b9000`, or a date such as `2026-05` or `2026-05-31`.
    fn from_str(text: &str) -> Result<Build, UnknownBuild> {
        let number = text.strip_prefix(['b', 'B']).unwrap_or(text);
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_digits(number) && number.len() <= 6 {
            let number: u64 = number.parse().map_err(|_| UnknownBuild)?;
            return Ok(period(|(_, first, _)| *first <= number));
        }
        let parts: Vec<&str> = text.split('-').collect();
        let (year, month, day) = match parts.as_slice() {
            [year, month] => (*year, *month, "01"),
            [year, month, day] => (*year, *month, *day),
            _ => return Err(UnknownBuild),
        };
        let two =
            |text: &str, most: &str| text.len() == 2 && is_digits(text) && ("01"..=most).contains(&text);
        if year.len() != 4 || !is_digits(year) || !two(month, "12") || !two(day, "31") {
            return Err(UnknownBuild);
        }
        let date = format!("{year}-{month}-{day}");
        Ok(period(|(_, _, first)| *first <= date.as_str()))
    }
}

/// Returns the last period that has started.
fn period(has_started: impl Fn(&&(Build, u64, &str)) -> bool) -> Build {
    STARTS.iter().rev().find(has_started).map_or(Build::Earliest, |(build, ..)| *build)
}

#[cfg(test)]
mod tests {
    use super::{Build, UnknownBuild};

    #[test]
    fn a_build_is_known_by_its_number_or_its_date() {
        let period = |text: &str| text.parse::<Build>();
        assert_eq!(period("b5192"), Ok(Build::Earliest));
        assert_eq!(period("2025-04"), Ok(Build::Earliest));
        assert_eq!(period("B6646"), Ok(Build::August2025));
        assert_eq!(period("8193"), Ok(Build::February2026));
        assert_eq!(period("2026-05-31"), Ok(Build::April2026));
        assert_eq!(period("b9670"), Ok(Build::June2026));
        assert_eq!(period("2026-06"), Ok(Build::June2026));
        assert_eq!(period("2026-10-01"), Ok(Build::September2026));
        assert_eq!(Build::default(), *Build::ALL.last().unwrap());
        for text in
            ["", "b", "latest", "2026", "2026-13", "2026-5", "2026-05-32", "1-2-3-4", "b99999999999999999999"]
        {
            // a year alone is read as a build number
            let expected = if text == "2026" { Ok(Build::Earliest) } else { Err(UnknownBuild) };
            assert_eq!(period(text), expected, "{text}");
        }
    }
}
