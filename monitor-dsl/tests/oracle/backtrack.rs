//! Membership of a word in an extended regular expression, by a memoised matcher that tries all ways to split the word, straight
//! from the meaning of the operators: complement is "does not match this piece", intersection "matches it both ways".

use std::collections::HashMap;

use super::formula::Ere;

/// A matcher for one word; asks for pieces `i..j` of it.
pub(crate) struct Matcher<'a> {
    word: &'a [u32],
    /// For a subexpression (by address) and a beginning `i`, the ends `j` such that `i..j` matches, as a bit set.
    memo: HashMap<(*const Ere, usize), u64>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(word: &'a [u32]) -> Matcher<'a> {
        assert!(word.len() < 64, "ends are kept in 64 bits");
        Matcher {
            word,
            memo: HashMap::new(),
        }
    }

    /// Whether the whole word is in the language.
    pub(crate) fn matches(&mut self, ere: &Ere) -> bool {
        self.ends(ere, 0) >> self.word.len() & 1 == 1
    }

    /// Whether the word or a prefix of it, the empty one included, is in the language.
    pub(crate) fn matches_prefix(&mut self, ere: &Ere) -> bool {
        self.ends(ere, 0) != 0
    }

    /// The ends of all pieces that begin at `i` and match.
    fn ends(&mut self, ere: &Ere, i: usize) -> u64 {
        let key = (std::ptr::from_ref(ere), i);
        if let Some(&ends) = self.memo.get(&key) {
            return ends;
        }
        let ends = match ere {
            Ere::Empty => 0,
            Ere::Epsilon => 1 << i,
            Ere::Any | Ere::Event(_) | Ere::Step(_) => match self.word.get(i) {
                Some(&letter) if ere.matches_letter(letter) => 1 << (i + 1),
                _ => 0,
            },
            Ere::Concat(a, b) => {
                let middles = self.ends(a, i);
                self.then(middles, b)
            }
            Ere::Union(a, b) => self.ends(a, i) | self.ends(b, i),
            Ere::Intersect(a, b) => self.ends(a, i) & self.ends(b, i),
            Ere::Complement(a) => {
                let pieces = (i..=self.word.len()).map(|j| 1_u64 << j).sum::<u64>();
                pieces & !self.ends(a, i)
            }
            Ere::Repeat(a, least, most) => self.repeat(a, *least, *most, i),
        };
        self.memo.insert(key, ends);
        ends
    }

    /// The ends of pieces that begin at one of `starts` and match.
    fn then(&mut self, starts: u64, ere: &Ere) -> u64 {
        (0..=self.word.len())
            .filter(|j| starts >> j & 1 == 1)
            .fold(0, |ends, j| ends | self.ends(ere, j))
    }

    fn repeat(&mut self, ere: &Ere, least: u32, most: Option<u32>, i: usize) -> u64 {
        let mut at = 1 << i;
        for _ in 0..least {
            at = self.then(at, ere);
        }
        let mut all = at;
        match most {
            Some(most) => {
                for _ in least..most {
                    at = self.then(at, ere);
                    all |= at;
                }
            }
            None => loop {
                let more = all | self.then(all, ere);
                if more == all {
                    break;
                }
                all = more;
            },
        }
        all
    }
}
