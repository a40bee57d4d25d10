//! The nearest of the names that would have been right.

/// The candidate that `written` is most likely a slip of, if one is near enough.
///
/// Near is a Damerau-Levenshtein distance of at most a third of the longer name (at least one), ignoring case.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = written.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= (written.chars().count().max(candidate.chars().count()) / 3).max(1)
        })
        .min_by_key(|(distance, candidate)| (*distance, candidate.len(), *candidate))
        .map(|(_, candidate)| candidate)
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
