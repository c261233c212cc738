//! Extended regular expressions, decided twice.
//!
//! *Membership* of a word is decided by a memoised matcher that tries all ways to split the word, straight from the
//! meaning of the operators: complement is "does not match this piece", intersection "matches it both ways".
//!
//! Whether a run has a continuation in the language (and whether all its continuations are) cannot be read off a word, so
//! it is decided on an explicit automaton, built bottom up from complete deterministic automata: products for
//! intersection and union, exchange of accepting states for complement, sets of states for concatenation and
//! repetition, each result minimised by naive refinement. No derivatives.

use std::collections::HashMap;

use super::case::{Body, Letter};
use super::formula::Ere;
use super::{Oracle, Truth};

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

/// A complete deterministic automaton over letters `0..letters`; state 0 is the start.
#[derive(Clone, Debug)]
pub(crate) struct Dfa {
    next: Vec<Vec<usize>>,
    accepting: Vec<bool>,
}

/// Larger automata are given up.
const MOST_STATES: usize = 3000;

impl Dfa {
    /// The automaton of an expression, or nothing if it (or one on the way) grows too large.
    pub(crate) fn new(ere: &Ere, letters: &[u32]) -> Option<Dfa> {
        match ere {
            Ere::Empty => Some(Dfa {
                next: vec![vec![0; letters.len()]],
                accepting: vec![false],
            }),
            Ere::Epsilon => Some(Dfa::epsilon(letters.len())),
            Ere::Any | Ere::Event(_) | Ere::Step(_) => {
                // 0: nothing read; 1: matched; 2: too late
                let first = letters
                    .iter()
                    .map(|&l| if ere.matches_letter(l) { 1 } else { 2 })
                    .collect();
                let dead = vec![2; letters.len()];
                Some(Dfa {
                    next: vec![first, dead.clone(), dead],
                    accepting: vec![false, true, false],
                })
            }
            Ere::Complement(a) => {
                let mut dfa = Dfa::new(a, letters)?;
                dfa.accepting
                    .iter_mut()
                    .for_each(|accepting| *accepting = !*accepting);
                Some(dfa)
            }
            Ere::Union(a, b) => {
                Dfa::new(a, letters)?.product(&Dfa::new(b, letters)?, |a, b| a || b)
            }
            Ere::Intersect(a, b) => {
                Dfa::new(a, letters)?.product(&Dfa::new(b, letters)?, |a, b| a && b)
            }
            Ere::Concat(a, b) => Dfa::new(a, letters)?.concat(&Dfa::new(b, letters)?),
            Ere::Repeat(a, least, most) => {
                let a = Dfa::new(a, letters)?;
                let epsilon = Dfa::epsilon(letters.len());
                let mut all = epsilon.clone();
                for _ in 0..*least {
                    all = all.concat(&a)?;
                }
                match most {
                    None => all.concat(&a.star()?),
                    Some(most) => {
                        let perhaps = a.product(&epsilon, |a, b| a || b)?;
                        for _ in *least..*most {
                            all = all.concat(&perhaps)?;
                        }
                        Some(all)
                    }
                }
            }
        }
    }

    fn epsilon(letters: usize) -> Dfa {
        Dfa {
            next: vec![vec![1; letters]; 2],
            accepting: vec![true, false],
        }
    }

    fn letters(&self) -> usize {
        self.next[0].len()
    }

    /// Explores from `start`; every state knows whether it accepts.
    fn explore<S: Clone + Eq + std::hash::Hash>(
        letters: usize,
        start: S,
        step: impl Fn(&S, usize) -> S,
        accepts: impl Fn(&S) -> bool,
    ) -> Option<Dfa> {
        let mut ids = HashMap::from([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut dfa = Dfa {
            next: Vec::new(),
            accepting: Vec::new(),
        };
        while dfa.next.len() < states.len() {
            let state = states[dfa.next.len()].clone();
            dfa.accepting.push(accepts(&state));
            let row = (0..letters).map(|letter| {
                let to = step(&state, letter);
                *ids.entry(to.clone()).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                })
            });
            dfa.next.push(row.collect());
            if states.len() > MOST_STATES {
                return None;
            }
        }
        Some(dfa.minimal())
    }

    fn product(&self, other: &Dfa, combine: impl Fn(bool, bool) -> bool) -> Option<Dfa> {
        Dfa::explore(
            self.letters(),
            (0, 0),
            |&(a, b), letter| (self.next[a][letter], other.next[b][letter]),
            |&(a, b)| combine(self.accepting[a], other.accepting[b]),
        )
    }

    /// Runs `self`; whenever it accepts, a run of `other` may begin.
    fn concat(&self, other: &Dfa) -> Option<Dfa> {
        let enter = |a: usize, mut set: Vec<usize>| {
            if self.accepting[a] {
                set.push(0);
            }
            set.sort_unstable();
            set.dedup();
            (a, set)
        };
        Dfa::explore(
            self.letters(),
            enter(0, Vec::new()),
            |(a, set), letter| {
                enter(
                    self.next[*a][letter],
                    set.iter().map(|&b| other.next[b][letter]).collect(),
                )
            },
            |(_, set)| set.iter().any(|&b| other.accepting[b]),
        )
    }

    /// Whenever a copy accepts, the next one may begin. The flag is for the empty word.
    fn star(&self) -> Option<Dfa> {
        let step = |set: &[usize], letter: usize| {
            let mut to: Vec<usize> = set.iter().map(|&s| self.next[s][letter]).collect();
            if to.iter().any(|&s| self.accepting[s]) {
                to.push(0);
            }
            to.sort_unstable();
            to.dedup();
            to
        };
        Dfa::explore(
            self.letters(),
            (true, vec![0]),
            |(_, set), letter| (false, step(set, letter)),
            |(nothing_read, set)| *nothing_read || set.iter().any(|&s| self.accepting[s]),
        )
    }

    /// Merges equivalent states.
    fn minimal(&self) -> Dfa {
        let mut class: Vec<usize> = self.accepting.iter().map(|&a| usize::from(a)).collect();
        let mut classes = 0;
        loop {
            let mut ids = HashMap::new();
            let refined: Vec<usize> = (0..class.len())
                .map(|s| {
                    let row: Vec<usize> = self.next[s].iter().map(|&t| class[t]).collect();
                    let fresh = ids.len();
                    *ids.entry((class[s], row)).or_insert(fresh)
                })
                .collect();
            class = refined;
            if ids.len() == classes {
                break;
            }
            classes = ids.len();
        }
        // Classes are numbered by their first state, so the start stays 0.
        let mut dfa = Dfa {
            next: vec![Vec::new(); classes],
            accepting: vec![false; classes],
        };
        for (s, &c) in class.iter().enumerate() {
            dfa.next[c] = self.next[s].iter().map(|&t| class[t]).collect();
            dfa.accepting[c] = self.accepting[s];
        }
        dfa
    }

    /// Whether the automaton accepts a word of letter indices.
    pub(crate) fn accepts(&self, word: &[usize]) -> bool {
        self.accepting[word.iter().fold(0, |s, &letter| self.next[s][letter])]
    }

    /// The states from which, by the empty word or more, a state with the given acceptance can be reached.
    fn can_reach(&self, accepting: bool) -> Vec<bool> {
        let mut can: Vec<bool> = self.accepting.iter().map(|&a| a == accepting).collect();
        loop {
            let before = can.clone();
            for s in 0..can.len() {
                can[s] = can[s] || self.next[s].iter().any(|&t| can[t]);
            }
            if can == before {
                return can;
            }
        }
    }
}

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
