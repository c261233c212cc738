//! "Did you mean": the known name that a wrong one was probably meant to be.

/// The candidate that is closest to `word`, if it is close at all.
///
/// ```
/// use portent_monitor_core::suggest::closest;
///
/// assert_eq!(closest("wirte", ["read", "write"]), Some("write"));
/// assert_eq!(closest("jump", ["read", "write"]), None);
/// ```
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=5 => 1.max(word.len() / 3),
        length => length / 3,
    };
    // A long text is no misspelt name; comparing it would only take time.
    if word.len() > 100 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
