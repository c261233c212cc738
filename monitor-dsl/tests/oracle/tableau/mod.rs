//! Exact LTL3 verdicts from a closure tableau.
//!
//! An *atom* says everything about one position of a run: the letter there; for every future operator whether its
//! argument (`X`, `N`) or the operator itself (all others) holds at the next position; for every past operator whether
//! its argument (`Y`, `Z`, `start`, `end`) or the operator itself held at the previous one. From these bits the truth of
//! every subformula at the position follows. What an atom says about its neighbour must be true there, so atoms are
//! glued along *links*: an atom leads from the link (what was promised about this position, what is remembered of the
//! last one) to the link (what it promises about the next one, what it lets remember). A sequence of atoms that fits,
//! begins with "there was no past", and is *fair* (an `F`, `U` or `M` that is true is fulfilled at last; a `G`, `W` or `R`
//! that is false is refuted at last) describes exactly one infinite run, and every infinite run has one.
//!
//! So a link has a future if a fair strongly connected component can be reached from it, and the verdict of a finite run
//! depends on the links that its atoms can lead to: those of atom sequences that began with the formula true, and those
//! that began with it false. Which letters there are is the caller's business: those that can occur.

mod closure;

use std::collections::HashMap;

use closure::{Closure, intern};

use super::case::Letter;
use super::finite;
use super::formula::Formula;
use super::{Oracle, Truth};

/// What is promised about a position and remembered from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Link {
    /// Bit `k`: the `k`-th future operator's argument or itself holds at the position.
    promised: u32,
    /// Bit `k`: the `k`-th past operator's argument or itself held at the position before.
    remembered: u32,
}

/// One position of a run, as an edge between links.
#[derive(Clone, Copy, Debug)]
struct Atom {
    letter: usize,
    from: usize,
    to: usize,
    /// Whether the whole formula holds here.
    holds: bool,
    /// The fairness conditions that this atom meets, as a bit set.
    fair: u32,
}

/// The tableau of one formula.
pub(crate) struct Tableau {
    formula: Formula,
    letters: Vec<Letter>,
    links: Vec<Link>,
    atoms: Vec<Atom>,
    /// `edges[link][letter]`: atoms from the link with the letter.
    edges: Vec<Vec<Vec<usize>>>,
    /// Atoms that can be at the first position.
    first: Vec<usize>,
    /// Whether a link has a fair infinite continuation.
    alive: Vec<bool>,
    /// What a run that ends promises about the position after its last.
    end_of_run: u32,
    /// The strongly connected component of every link, and whether it is fair.
    component: Vec<usize>,
    fair_component: Vec<bool>,
    /// All fairness conditions.
    all_fair: u32,
}

/// The links that the atoms of a run can lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Belief {
    /// The empty run.
    NoLetterYet,
    /// Links of atom sequences that began with the formula true, and with it false.
    Links {
        holds: Vec<usize>,
        fails: Vec<usize>,
    },
}

impl Tableau {
    /// The tableau of `formula` over the letters that can occur.
    pub(crate) fn new(formula: &Formula, letters: &[Letter]) -> Tableau {
        let mut nodes = Vec::new();
        let root = intern(formula, &mut nodes);
        let closure = Closure::new(nodes);
        let mut tableau = Tableau {
            formula: formula.clone(),
            letters: letters.to_vec(),
            links: Vec::new(),
            atoms: Vec::new(),
            edges: Vec::new(),
            first: Vec::new(),
            alive: Vec::new(),
            end_of_run: closure.end_of_run(),
            component: Vec::new(),
            fair_component: Vec::new(),
            all_fair: (0..closure.future.len())
                .filter(|&k| closure.is_fairness(k))
                .map(|k| 1 << k)
                .sum(),
        };
        tableau.add_atoms(&closure, root);
        tableau.find_components();
        tableau.find_alive();
        tableau
    }

    /// Makes all atoms whose memories can arise from "there was no past", one set of memories after the other.
    fn add_atoms(&mut self, closure: &Closure, root: usize) {
        let no_past = closure.no_past();
        let mut ids: HashMap<Link, usize> = HashMap::new();
        let mut memories = vec![no_past];
        let mut done = 0;
        while done < memories.len() {
            let remembered = memories[done];
            done += 1;
            for letter in 0..self.letters.len() {
                for promises in 0..1_u32 << closure.future.len() {
                    let truth = closure.truth(self.letters[letter].valuation, promises, remembered);
                    let from = Link {
                        promised: closure.promised(&truth),
                        remembered,
                    };
                    let to = Link {
                        promised: promises,
                        remembered: closure.memory(&truth),
                    };
                    if !memories.contains(&to.remembered) {
                        memories.push(to.remembered);
                    }
                    let mut id = |link: Link| {
                        *ids.entry(link).or_insert_with(|| {
                            self.links.push(link);
                            self.links.len() - 1
                        })
                    };
                    let atom = Atom {
                        letter,
                        from: id(from),
                        to: id(to),
                        holds: truth[root],
                        fair: closure.fair(&truth),
                    };
                    if remembered == no_past && self.letters[letter].initial {
                        self.first.push(self.atoms.len());
                    }
                    self.atoms.push(atom);
                }
            }
        }
        self.edges = vec![vec![Vec::new(); self.letters.len()]; self.links.len()];
        for (a, atom) in self.atoms.iter().enumerate() {
            self.edges[atom.from][atom.letter].push(a);
        }
    }

    /// Kosaraju's algorithm; then a component is fair if it has an edge inside and its edges meet all conditions.
    fn find_components(&mut self) {
        let n = self.links.len();
        let mut forward = vec![Vec::new(); n];
        let mut backward = vec![Vec::new(); n];
        for atom in &self.atoms {
            forward[atom.from].push(atom.to);
            backward[atom.to].push(atom.from);
        }
        let mut order = Vec::new();
        let mut seen = vec![false; n];
        for root in 0..n {
            if seen[root] {
                continue;
            }
            seen[root] = true;
            let mut stack = vec![(root, 0)];
            while let Some((link, next)) = stack.pop() {
                match forward[link].get(next) {
                    None => order.push(link),
                    Some(&to) => {
                        stack.push((link, next + 1));
                        if !seen[to] {
                            seen[to] = true;
                            stack.push((to, 0));
                        }
                    }
                }
            }
        }
        self.component = vec![usize::MAX; n];
        let mut components = 0;
        for &root in order.iter().rev() {
            if self.component[root] != usize::MAX {
                continue;
            }
            self.component[root] = components;
            let mut stack = vec![root];
            while let Some(link) = stack.pop() {
                for &from in &backward[link] {
                    if self.component[from] == usize::MAX {
                        self.component[from] = components;
                        stack.push(from);
                    }
                }
            }
            components += 1;
        }
        let mut met = vec![None; components];
        for atom in &self.atoms {
            if self.component[atom.from] == self.component[atom.to] {
                *met[self.component[atom.from]].get_or_insert(0) |= atom.fair;
            }
        }
        self.fair_component = met.iter().map(|&met| met == Some(self.all_fair)).collect();
    }

    /// The links from which a fair component can be reached.
    fn find_alive(&mut self) {
        self.alive = self
            .component
            .iter()
            .map(|&c| self.fair_component[c])
            .collect();
        loop {
            let mut changed = false;
            for atom in &self.atoms {
                if self.alive[atom.to] && !self.alive[atom.from] {
                    self.alive[atom.from] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether some infinite continuation satisfies the formula, and whether some violates it.
    pub(crate) fn futures(&self, belief: &Belief) -> (bool, bool) {
        match belief {
            Belief::NoLetterYet => {
                let possible = |value: bool| {
                    self.first
                        .iter()
                        .any(|&a| self.atoms[a].holds == value && self.alive[self.atoms[a].to])
                };
                (possible(true), possible(false))
            }
            Belief::Links { holds, fails } => (
                holds.iter().any(|&l| self.alive[l]),
                fails.iter().any(|&l| self.alive[l]),
            ),
        }
    }

    /// Whether the run satisfies the formula if it ends here, as the tableau sees it.
    fn holds_at_end(&self, belief: &Belief) -> bool {
        match belief {
            Belief::NoLetterYet => finite::holds_on_empty_run(&self.formula),
            Belief::Links { holds, .. } => holds
                .iter()
                .any(|&l| self.links[l].promised == self.end_of_run),
        }
    }

    /// An infinite continuation after which the formula had the given value, as prefix and cycle of letters: a proof,
    /// for whoever does not trust `futures`.
    pub(crate) fn witness(&self, belief: &Belief, value: bool) -> Option<(Vec<usize>, Vec<usize>)> {
        let mut prefix = Vec::new();
        let mut at = match belief {
            Belief::NoLetterYet => {
                let good =
                    |&&a: &&usize| self.atoms[a].holds == value && self.alive[self.atoms[a].to];
                let atom = self.atoms[*self.first.iter().find(good)?];
                prefix.push(atom.letter);
                atom.to
            }
            Belief::Links { holds, fails } => *(if value { holds } else { fails })
                .iter()
                .find(|&&l| self.alive[l])?,
        };
        let is_fair = |atom: &Atom| {
            self.component[atom.from] == self.component[atom.to]
                && self.fair_component[self.component[atom.from]]
        };
        at = self.walk(at, &mut prefix, |_| true, is_fair);
        let home = self.component[at];
        let inside =
            |atom: &Atom| self.component[atom.from] == home && self.component[atom.to] == home;
        let (start, mut cycle) = (at, Vec::new());
        for k in (0..32).filter(|k| self.all_fair >> k & 1 == 1) {
            at = self.walk(at, &mut cycle, inside, |atom| {
                inside(atom) && atom.fair >> k & 1 == 1
            });
        }
        if at != start || cycle.is_empty() {
            self.walk(at, &mut cycle, inside, |atom| {
                inside(atom) && atom.to == start
            });
        }
        Some((prefix, cycle))
    }

    /// Takes a shortest way along allowed atoms whose last atom is a goal.
    fn walk(
        &self,
        from: usize,
        word: &mut Vec<usize>,
        allowed: impl Fn(&Atom) -> bool,
        goal: impl Fn(&Atom) -> bool,
    ) -> usize {
        let mut came: HashMap<usize, Option<usize>> = HashMap::from([(from, None)]);
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(link) = queue.pop_front() {
            for &a in self.edges[link].iter().flatten() {
                let atom = &self.atoms[a];
                if goal(atom) {
                    let mut way = vec![atom.letter];
                    let mut back = link;
                    while let Some(previous) = came[&back] {
                        way.push(self.atoms[previous].letter);
                        back = self.atoms[previous].from;
                    }
                    word.extend(way.iter().rev());
                    return atom.to;
                }
                if allowed(atom) && !came.contains_key(&atom.to) {
                    came.insert(atom.to, Some(a));
                    queue.push_back(atom.to);
                }
            }
        }
        unreachable!("an alive link reaches a fair component")
    }
}

impl Oracle for Tableau {
    type State = Belief;

    fn start(&self) -> Belief {
        Belief::NoLetterYet
    }

    fn step(&self, belief: &Belief, letter: usize) -> Belief {
        let follow = |links: &[usize]| {
            let mut to: Vec<usize> = links
                .iter()
                .flat_map(|&l| &self.edges[l][letter])
                .map(|&a| self.atoms[a].to)
                .collect();
            to.sort_unstable();
            to.dedup();
            to
        };
        match belief {
            Belief::NoLetterYet => {
                let (mut holds, mut fails) = (Vec::new(), Vec::new());
                for atom in self
                    .first
                    .iter()
                    .map(|&a| &self.atoms[a])
                    .filter(|atom| atom.letter == letter)
                {
                    if atom.holds { &mut holds } else { &mut fails }.push(atom.to);
                }
                for links in [&mut holds, &mut fails] {
                    links.sort_unstable();
                    links.dedup();
                }
                Belief::Links { holds, fails }
            }
            Belief::Links { holds, fails } => Belief::Links {
                holds: follow(holds),
                fails: follow(fails),
            },
        }
    }

    fn verdict(&self, belief: &Belief) -> Truth {
        let (can_hold, can_fail) = self.futures(belief);
        Truth::from_futures(can_hold, can_fail, self.holds_at_end(belief))
    }

    fn verdict_of_word(&self, belief: &Belief, word: &[usize]) -> Truth {
        let (can_hold, can_fail) = self.futures(belief);
        let word: Vec<u32> = word.iter().map(|&l| self.letters[l].valuation).collect();
        Truth::from_futures(can_hold, can_fail, finite::holds(&self.formula, &word))
    }
}
