//! Explicit automata of extended regular expressions, built bottom up from complete deterministic automata: products for
//! intersection and union, exchange of accepting states for complement, sets of states for concatenation and repetition,
//! each result minimised by naive refinement. No derivatives.

use std::collections::HashMap;

use super::formula::Ere;

/// A complete deterministic automaton over letters `0..letters`; state 0 is the start.
#[derive(Clone, Debug)]
pub(super) struct Dfa {
    pub(super) next: Vec<Vec<usize>>,
    pub(super) accepting: Vec<bool>,
}

/// Larger automata are given up.
const MOST_STATES: usize = 3000;

impl Dfa {
    /// The automaton of an expression, or nothing if it (or one on the way) grows too large.
    pub(super) fn new(ere: &Ere, letters: &[u32]) -> Option<Dfa> {
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
    pub(super) fn accepts(&self, word: &[usize]) -> bool {
        self.accepting[word.iter().fold(0, |s, &letter| self.next[s][letter])]
    }

    /// The states from which, by the empty word or more, a state with the given acceptance can be reached.
    pub(super) fn can_reach(&self, accepting: bool) -> Vec<bool> {
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
