//! The nearest of the names that would have been right.

/// Most characters that are compared: no name is longer, and the work grows with both lengths.
const LONGEST: usize = 120;

/// The candidate that `written` is most likely a slip of, if one is near enough.
///
/// Near is a Damerau-Levenshtein distance of at most a third of the longer name (at least one), ignoring case.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(written, candidates)
        .filter(|(distance, _, candidate)| {
            *distance <= (written.chars().count().max(candidate.chars().count()) / 3).max(1)
        })
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// The candidate at the least distance, however far; none where there are none.
pub fn closest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    ranked(written, candidates).min().map(|(_, _, candidate)| candidate)
}

/// Distance, length and name of each: what is nearer is less, of equals the shorter.
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
