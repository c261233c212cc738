//! Words of letter indices, and where an oracle is after one.

use crate::oracle::{Oracle, case::Letter};

/// All words of letter indices up to a length.
pub(crate) fn words(letters: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for w in from..to {
            for letter in 0..letters {
                let word = [&all[w][..], &[letter]].concat();
                all.push(word);
            }
        }
        from = to;
    }
    all
}

/// Words whose first letter may come first.
pub(crate) fn runs(letters: &[Letter], longest: usize) -> Vec<Vec<usize>> {
    let mut words = words(letters.len(), longest);
    words.retain(|word| word.first().is_none_or(|&l| letters[l].initial));
    words
}

/// The state after a word.
pub(crate) fn after<O: Oracle>(oracle: &O, word: &[usize]) -> O::State {
    word.iter()
        .fold(oracle.start(), |state, &letter| oracle.step(&state, letter))
}
