//! "Did you mean": the known name that was probably intended.

/// The candidate that is closest to `word`, if any is close.
///
/// ```
/// use portent_monitor_core::suggest::closest;
///
/// assert_eq!(closest("wirte", ["read", "write"]), Some("write"));
/// assert_eq!(closest("lgn", ["logout", "login"]), Some("login"));
/// assert_eq!(closest("jump", ["read", "write"]), None);
/// ```
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=2 => return None,
        3..=5 => 1.max(word.len() / 3),
        length => length / 3,
    };
    // A long text is not a misspelt name; comparing it would only take time.
    if word.len() > 100 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (mistakes(word, candidate), candidate))
        .filter(|(mistakes, _)| *mistakes <= allowed)
        // Among equally distant ones, one that was only shortened, or else the one with the longest common beginning.
        .min_by(|(less, one), (more, other)| {
            let shortened = |candidate| is_short_for(word, candidate);
            let alike = |candidate| strsim::jaro_winkler(word, candidate);
            less.cmp(more)
                .then_with(|| shortened(other).cmp(&shortened(one)))
                .then_with(|| alike(other).total_cmp(&alike(one)))
        })
        .map(|(_, candidate)| candidate)
}

/// The number of mistakes that turn the candidate into the word: wrong, missing, extra or swapped letters. If
/// letters were left out of the middle, as in `lgn` for `login`, that is one mistake as long as most of them are there.
fn mistakes(word: &str, candidate: &str) -> usize {
    if is_short_for(word, candidate) {
        return 1;
    }
    strsim::damerau_levenshtein(word, candidate)
}

fn is_short_for(word: &str, candidate: &str) -> bool {
    let ends = |text: &str| (text.chars().next(), text.chars().next_back());
    let mut letters = candidate.chars();
    ends(word) == ends(candidate)
        && 5 * word.chars().count() >= 3 * candidate.chars().count()
        && word
            .chars()
            .all(|letter| letters.any(|other| other == letter))
}
