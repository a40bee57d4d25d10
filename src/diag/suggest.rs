//! Suggestions for misspelled names.

/// Maximum number of compared characters. Time grows with the product of both lengths.
const LONGEST: usize = 120;

/// Returns the candidate that `written` is most likely a misspelling of.
///
/// The Damerau-Levenshtein distance, ignoring case, must be at most a third of the longer name, or 1.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(written, candidates)
        .filter(|(distance, _, candidate)| {
            *distance <= (written.chars().count().max(candidate.chars().count()) / 3).max(1)
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Returns the candidate with the smallest distance, without a limit.
pub fn closest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(written, candidates).min().map(|(_, _, candidate)| candidate)
}

/// Returns distance, length and name of each candidate, so that the minimum is the best match.
fn ranked<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = (usize, usize, &'a str)> {
    let lower: String = written.chars().take(LONGEST).collect::<String>().to_lowercase();
    candidates.into_iter().map(move |candidate| {
        let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
        (distance, candidate.len(), candidate)
    })
}
#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        assert_eq!(nearest("severty", ["severity", "sources", "title"]), Some("severity"));
        assert_eq!(nearest("Fatal", ["fatal", "degraded"]), Some("fatal"));
        assert_eq!(nearest("weather", ["severity", "sources", "title"]), None);
    }
}
