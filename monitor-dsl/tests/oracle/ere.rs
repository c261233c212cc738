//! Verdicts of extended regular expressions.
//!
//! Whether a run is in the language is asked of the matcher. Whether it has a continuation in the language (and whether all its
//! continuations are) cannot be read off a word, so it is decided on an explicit automaton.

use super::backtrack::Matcher;
use super::case::{Body, Letter};
use super::dfa::Dfa;
use super::formula::Ere;
use super::{Oracle, Truth};

/// The verdicts of an `ere:` or `never:` body.
pub(crate) struct EreOracle {
    ere: Ere,
    never: bool,
    letters: Vec<Letter>,
    dfa: Dfa,
    /// Per state, whether it can still get into the language, and whether it can get out of it (or is out).
    can_match: Vec<bool>,
    can_miss: Vec<bool>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    state: usize,
    /// The run is empty: then only some letters may follow.
    empty: bool,
    /// The run or a prefix of it is in the language.
    hit: bool,
}

impl EreOracle {
    /// The oracle of a body that is not `ltl:`, or nothing if its automaton is too large.
    pub(crate) fn new(body: &Body, letters: &[Letter]) -> Option<EreOracle> {
        let (ere, never) = match body {
            Body::Ere(ere) => (ere, false),
            Body::Never(ere) => (ere, true),
            Body::Ltl(_) => panic!("not an expression"),
        };
        let valuations: Vec<u32> = letters.iter().map(|l| l.valuation).collect();
        let dfa = Dfa::new(ere, &valuations)?;
        Some(EreOracle {
            ere: ere.clone(),
            never,
            letters: letters.to_vec(),
            can_match: dfa.can_reach(true),
            can_miss: dfa.can_reach(false),
            dfa,
        })
    }

    /// Whether the automaton agrees with the matcher about a word.
    pub(crate) fn agrees_with_itself(&self, word: &[usize]) -> bool {
        let valuations = self.valuations(word);
        self.dfa.accepts(word) == Matcher::new(&valuations).matches(&self.ere)
    }

    fn valuations(&self, word: &[usize]) -> Vec<u32> {
        word.iter().map(|&l| self.letters[l].valuation).collect()
    }

    /// Whether the run's place, or one that a continuation leads to, has the property. From the empty run only the
    /// letters that may come first count.
    fn reaches(&self, place: Place, here: bool, later: &[bool]) -> bool {
        if !place.empty {
            return later[place.state];
        }
        let firsts = (0..self.letters.len()).filter(|&l| self.letters[l].initial);
        here || firsts
            .into_iter()
            .any(|l| later[self.dfa.next[place.state][l]])
    }

    fn decide(&self, place: Place, member: bool, hit: bool) -> Truth {
        let can_match = self.reaches(place, member, &self.can_match);
        let can_miss = self.reaches(place, !member, &self.can_miss);
        match (self.never, hit) {
            (true, true) => Truth::Violated,
            (true, false) if !can_match => Truth::Satisfied,
            (true, false) => Truth::Ok,
            (false, _) => Truth::from_futures(can_match, can_miss, member),
        }
    }
}

impl Oracle for EreOracle {
    type State = Place;

    fn start(&self) -> Place {
        Place {
            state: 0,
            empty: true,
            hit: self.dfa.accepting[0],
        }
    }

    fn step(&self, place: &Place, letter: usize) -> Place {
        let state = self.dfa.next[place.state][letter];
        Place {
            state,
            empty: false,
            hit: place.hit || self.dfa.accepting[state],
        }
    }

    fn verdict(&self, place: &Place) -> Truth {
        self.decide(*place, self.dfa.accepting[place.state], place.hit)
    }

    fn verdict_of_word(&self, place: &Place, word: &[usize]) -> Truth {
        let valuations = self.valuations(word);
        let mut matcher = Matcher::new(&valuations);
        let member = matcher.matches(&self.ere);
        let hit = matcher.matches_prefix(&self.ere);
        self.decide(*place, member, hit)
    }
}
