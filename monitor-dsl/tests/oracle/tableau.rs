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

use std::collections::HashMap;

use super::case::Letter;
use super::finite;
use super::formula::{Binary, Formula, Unary};
use super::{Oracle, Truth};

/// A subformula, with its operands as indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Const(bool),
    Prop(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
}

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

/// Adds a formula's subformulas, equal ones once, operands first; returns its index.
fn intern(formula: &Formula, nodes: &mut Vec<Node>) -> usize {
    let node = match formula {
        Formula::Const(value) => Node::Const(*value),
        Formula::Prop(p) => Node::Prop(*p),
        Formula::Unary(op, a) => Node::Unary(*op, intern(a, nodes)),
        Formula::Binary(op, a, b) => {
            let a = intern(a, nodes);
            Node::Binary(*op, a, intern(b, nodes))
        }
    };
    nodes.iter().position(|n| *n == node).unwrap_or_else(|| {
        nodes.push(node);
        nodes.len() - 1
    })
}

/// The subformulas, and which of them need a bit in the links.
struct Closure {
    nodes: Vec<Node>,
    /// The future operators, by node.
    future: Vec<usize>,
    /// The past operators, by node.
    past: Vec<usize>,
}

impl Closure {
    fn new(nodes: Vec<Node>) -> Closure {
        let indices =
            |test: fn(&Node) -> bool| (0..nodes.len()).filter(|&i| test(&nodes[i])).collect();
        let future: Vec<usize> = indices(|node| {
            matches!(
                node,
                Node::Unary(
                    Unary::Next | Unary::WeakNext | Unary::Eventually | Unary::Always,
                    _
                ) | Node::Binary(
                    Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease,
                    _,
                    _
                )
            )
        });
        let past: Vec<usize> = indices(|node| {
            matches!(
                node,
                Node::Unary(
                    Unary::Yesterday
                        | Unary::WeakYesterday
                        | Unary::Once
                        | Unary::Historically
                        | Unary::Start
                        | Unary::End,
                    _
                ) | Node::Binary(
                    Binary::Since | Binary::WeakSince | Binary::Trigger | Binary::Interval,
                    _,
                    _
                )
            )
        });
        assert!(
            future.len() <= 16 && past.len() <= 16,
            "too many temporal operators for the tableau"
        );
        Closure {
            nodes,
            future,
            past,
        }
    }

    /// The truth of all subformulas at a position.
    fn truth(&self, letter: u32, promises: u32, remembered: u32) -> Vec<bool> {
        let bit = |list: &[usize], set: u32, node: usize| {
            list.iter()
                .position(|&n| n == node)
                .is_some_and(|k| set >> k & 1 == 1)
        };
        let mut truth: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let next = bit(&self.future, promises, i);
            let last = bit(&self.past, remembered, i);
            truth.push(match *node {
                Node::Const(value) => value,
                Node::Prop(p) => letter >> p & 1 == 1,
                Node::Unary(op, a) => {
                    let a = truth[a];
                    match op {
                        Unary::Not => !a,
                        Unary::Next | Unary::WeakNext => next,
                        Unary::Eventually => a || next,
                        Unary::Always => a && next,
                        Unary::Yesterday | Unary::WeakYesterday => last,
                        Unary::Once => a || last,
                        Unary::Historically => a && last,
                        Unary::Start => a && !last,
                        Unary::End => !a && last,
                    }
                }
                Node::Binary(op, a, b) => {
                    let (a, b) = (truth[a], truth[b]);
                    match op {
                        Binary::And => a && b,
                        Binary::Or => a || b,
                        Binary::Xor => a != b,
                        Binary::Implies => !a || b,
                        Binary::Iff => a == b,
                        Binary::Until | Binary::WeakUntil => b || a && next,
                        Binary::Release | Binary::StrongRelease => b && (a || next),
                        Binary::Since | Binary::WeakSince => b || a && last,
                        Binary::Trigger => b && (a || last),
                        Binary::Interval => !b && (a || last),
                    }
                }
            });
        }
        truth
    }

    /// What a predecessor must have promised about a position with this truth.
    fn promised(&self, truth: &[bool]) -> u32 {
        let value = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Next | Unary::WeakNext, a) => truth[a],
            _ => truth[node],
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What a position with this truth lets its successor remember.
    fn memory(&self, truth: &[bool]) -> u32 {
        let value = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Yesterday | Unary::WeakYesterday | Unary::Start | Unary::End, a) => {
                truth[a]
            }
            _ => truth[node],
        };
        self.past
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What the first position remembers: `Z`, `H`, `WS` and `T` begin true, everything else false.
    fn no_past(&self) -> u32 {
        let value = |node: usize| {
            matches!(
                self.nodes[node],
                Node::Unary(Unary::WeakYesterday | Unary::Historically, _)
                    | Node::Binary(Binary::WeakSince | Binary::Trigger, _, _)
            )
        };
        self.past
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// What the last position of a finite run promises: `N`, `G`, `W` and `R` end true, everything else false.
    fn end_of_run(&self) -> u32 {
        let value = |node: usize| {
            matches!(
                self.nodes[node],
                Node::Unary(Unary::WeakNext | Unary::Always, _)
                    | Node::Binary(Binary::WeakUntil | Binary::Release, _, _)
            )
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(value(node)) << k)
            .sum()
    }

    /// Whether the `k`-th future operator has a fairness condition: all but the two nexts.
    fn is_fairness(&self, k: usize) -> bool {
        !matches!(
            self.nodes[self.future[k]],
            Node::Unary(Unary::Next | Unary::WeakNext, _)
        )
    }

    /// The fairness conditions that a position meets: the operator is not waiting there.
    fn fair(&self, truth: &[bool]) -> u32 {
        let meets = |node: usize| match self.nodes[node] {
            Node::Unary(Unary::Eventually, a) => !truth[node] || truth[a],
            Node::Unary(Unary::Always, a) => truth[node] || !truth[a],
            Node::Binary(Binary::Until, _, b) => !truth[node] || truth[b],
            Node::Binary(Binary::WeakUntil, a, b) => truth[node] || !truth[a] && !truth[b],
            Node::Binary(Binary::Release, _, b) => truth[node] || !truth[b],
            Node::Binary(Binary::StrongRelease, a, _) => !truth[node] || truth[a],
            _ => false,
        };
        self.future
            .iter()
            .enumerate()
            .map(|(k, &node)| u32::from(meets(node)) << k)
            .sum()
    }
}
