//! Derivatives by all letters at once, and the machine they make.
//!
//! The derivative of an expression is a diagram from letters to expressions. Unions and
//! intersections of many parts are taken in one descent through all their diagrams, because the
//! states of `.* a .{12}` are unions of a dozen parts each, and building those pairwise would make
//! more intermediate expressions than there are states.

use rustc_hash::FxHashMap;

use super::{
    Mode,
    regex::{Construct, Regex, Regexes},
    tree::Ere,
};
use crate::{
    alphabet::Alphabet,
    diagram::{Budget, Diagram, Diagrams, Variable, View},
    machine::{Machine, TooLarge},
    verdict::Verdict,
};

/// A new expression costs as much as this many steps of operations on diagrams.
const STEPS_PER_EXPRESSION: usize = 10;

/// The machine of `expression`: deterministic, with exact verdicts, not minimal.
pub(crate) fn synthesize(
    expression: &Ere,
    mode: Mode,
    alphabet: &Alphabet,
    max_states: usize,
    budget: Budget,
) -> Result<Machine, TooLarge> {
    let mut diagrams = Diagrams::new(budget);
    alphabet.declare(&mut diagrams);
    let mut regexes = Regexes::new();
    let root = regexes.translate(&mut diagrams, alphabet, expression);
    let mut derivation = Derivation {
        diagrams,
        regexes,
        derivatives: FxHashMap::default(),
    };
    let begins_silent = alphabet.reads_variables();
    let (states, transitions) = derivation.explore(root, mode, begins_silent, max_states)?;
    let accepting: Vec<bool> = states
        .iter()
        .map(|&regex| derivation.regexes.is_nullable(regex))
        .collect();
    let mut machine = Machine {
        diagrams: derivation.diagrams,
        verdicts: Vec::new(),
        transitions,
    };
    machine.verdicts = verdicts(&machine, &accepting, mode);
    Ok(machine)
}

struct Derivation {
    diagrams: Diagrams,
    regexes: Regexes,
    /// Diagrams from letters to expressions.
    derivatives: FxHashMap<Regex, Diagram>,
}

impl Derivation {
    /// All derivatives of `root`, and their transitions with states for leaves. With
    /// `begins_silent` the first letter carries no event.
    fn explore(
        &mut self,
        root: Regex,
        mode: Mode,
        begins_silent: bool,
        max_states: usize,
    ) -> Result<(Vec<Regex>, Vec<Diagram>), TooLarge> {
        let mut states = vec![root];
        let mut index: FxHashMap<Regex, u32> = FxHashMap::default();
        if !begins_silent {
            // Otherwise the same expression later in the run has other letters to read.
            index.insert(root, 0);
        }
        let mut transitions = Vec::new();
        while transitions.len() < states.len() {
            let state = states[transitions.len()];
            let mut derivative = if mode == Mode::Never && self.regexes.is_nullable(state) {
                // Permanently violated: nothing that follows matters.
                self.diagrams.leaf(state.0)
            } else {
                self.derivative(state)?
            };
            if begins_silent && transitions.is_empty() {
                derivative = self.diagrams.branch(derivative, Variable(0), 0);
            }
            let mut relabelled = FxHashMap::default();
            let transition = self.relabel(derivative, &mut relabelled, &mut |regex| {
                *index.entry(regex).or_insert_with(|| {
                    states.push(regex);
                    states.len() as u32 - 1
                })
            });
            transitions.push(transition);
            self.diagrams.check()?;
            if states.len() > max_states {
                return Err(TooLarge::States);
            }
        }
        Ok((states, transitions))
    }

    fn relabel(
        &mut self,
        diagram: Diagram,
        memo: &mut FxHashMap<Diagram, Diagram>,
        state: &mut impl FnMut(Regex) -> u32,
    ) -> Diagram {
        if let Some(&known) = memo.get(&diagram) {
            return known;
        }
        let result = match self.diagrams.view(diagram) {
            View::Leaf(regex) => {
                let id = state(Regex(regex));
                self.diagrams.leaf(id)
            }
            View::Test(variable) => {
                let branches = self.diagrams.branches(diagram).to_vec();
                let branches: Vec<Diagram> = branches
                    .into_iter()
                    .map(|branch| self.relabel(branch, memo, state))
                    .collect();
                self.diagrams.test(variable, &branches)
            }
        };
        memo.insert(diagram, result);
        result
    }

    fn derivative(&mut self, regex: Regex) -> Result<Diagram, TooLarge> {
        if let Some(&known) = self.derivatives.get(&regex) {
            return Ok(known);
        }
        let result = match self.regexes.shape(regex).clone() {
            Construct::Empty | Construct::Epsilon => self.diagrams.leaf(Regexes::EMPTY.0),
            Construct::Letter(set) => {
                let word = self.diagrams.leaf(Regexes::EPSILON.0);
                let none = self.diagrams.leaf(Regexes::EMPTY.0);
                self.choose(set, word, none)
            }
            Construct::Concat(..) => self.derivative_of_concat(regex)?,
            Construct::Union(parts) => {
                let parts = self.derivatives_of(&parts)?;
                self.join(&parts, |regexes, parts| regexes.union(parts))?
            }
            Construct::Intersection(parts) => {
                let parts = self.derivatives_of(&parts)?;
                self.join(&parts, |regexes, parts| regexes.intersection(parts))?
            }
            Construct::Complement(inner) => {
                let inner = self.derivative(inner)?;
                self.join(&[inner], |regexes, parts| regexes.complement(parts[0]))?
            }
            Construct::Repeat(inner, min, max) => {
                let rest =
                    self.regexes
                        .repeat(inner, min.saturating_sub(1), max.map(|max| max - 1));
                let inner = self.derivative(inner)?;
                self.join(&[inner], |regexes, parts| regexes.concat(parts[0], rest))?
            }
        };
        self.derivatives.insert(regex, result);
        Ok(result)
    }

    fn derivatives_of(&mut self, parts: &[Regex]) -> Result<Vec<Diagram>, TooLarge> {
        parts.iter().map(|&part| self.derivative(part)).collect()
    }

    /// The first factor loses its first letter, or is skipped if it may be empty; and so on. A loop,
    /// because chains of factors can be long.
    fn derivative_of_concat(&mut self, regex: Regex) -> Result<Diagram, TooLarge> {
        let mut ways = Vec::new();
        let mut rest = regex;
        loop {
            let (factor, tail) = match *self.regexes.shape(rest) {
                Construct::Concat(factor, tail) => (factor, tail),
                _ => (rest, Regexes::EPSILON),
            };
            let derivative = self.derivative(factor)?;
            ways.push(self.join(&[derivative], |regexes, parts| {
                regexes.concat(parts[0], tail)
            })?);
            if tail == Regexes::EPSILON || !self.regexes.is_nullable(factor) {
                break;
            }
            rest = tail;
        }
        self.join(&ways, |regexes, parts| regexes.union(parts))
    }

    /// The diagram that, for every letter, combines what `parts` have there.
    fn join(
        &mut self,
        parts: &[Diagram],
        mut combine: impl FnMut(&mut Regexes, Vec<Regex>) -> Regex,
    ) -> Result<Diagram, TooLarge> {
        let joined = self.join_at(parts, &mut combine, &mut FxHashMap::default())?;
        self.diagrams.check()?;
        Ok(joined)
    }

    fn join_at(
        &mut self,
        parts: &[Diagram],
        combine: &mut impl FnMut(&mut Regexes, Vec<Regex>) -> Regex,
        memo: &mut FxHashMap<Vec<Diagram>, Diagram>,
    ) -> Result<Diagram, TooLarge> {
        self.diagrams.spend(parts.len());
        self.diagrams.check()?;
        let mut leaves = Vec::with_capacity(parts.len());
        leaves.extend(
            parts
                .iter()
                .filter_map(|&part| match self.diagrams.view(part) {
                    View::Leaf(regex) => Some(Regex(regex)),
                    View::Test(_) => None,
                }),
        );
        if leaves.len() == parts.len() {
            let before = self.regexes.len();
            let regex = combine(&mut self.regexes, leaves);
            let made = self.regexes.len() - before;
            let parts = self.regexes.parts(regex);
            self.diagrams.spend(STEPS_PER_EXPRESSION * made + parts);
            return Ok(self.diagrams.leaf(regex.0));
        }
        if let Some(&known) = memo.get(parts) {
            return Ok(known);
        }
        let top = self.diagrams.top(parts);
        let mut branches = Vec::with_capacity(self.diagrams.arity(top));
        for cell in 0..self.diagrams.arity(top) {
            let split: Vec<Diagram> = parts
                .iter()
                .map(|&part| self.diagrams.branch(part, top, cell))
                .collect();
            branches.push(self.join_at(&split, combine, memo)?);
        }
        let result = self.diagrams.test(top, &branches);
        memo.insert(parts.to_vec(), result);
        Ok(result)
    }

    /// `yes` for the letters of a set, `no` for the others.
    fn choose(&mut self, set: Diagram, yes: Diagram, no: Diagram) -> Diagram {
        match set {
            Diagram::TRUE => yes,
            Diagram::FALSE => no,
            _ => {
                let View::Test(variable) = self.diagrams.view(set) else {
                    unreachable!("a set has leaves 0 and 1");
                };
                let branches = self.diagrams.branches(set).to_vec();
                let branches: Vec<Diagram> = branches
                    .into_iter()
                    .map(|branch| self.choose(branch, yes, no))
                    .collect();
                self.diagrams.test(variable, &branches)
            }
        }
    }
}

/// The verdict of every state, from what can be reached.
fn verdicts(machine: &Machine, accepting: &[bool], mode: Mode) -> Vec<Verdict> {
    let mut predecessors = vec![Vec::new(); accepting.len()];
    for state in 0..accepting.len() {
        for target in machine.successors(state) {
            predecessors[target as usize].push(state as u32);
        }
    }
    let reaching = |wanted: bool| {
        let mut reaches = vec![false; accepting.len()];
        let mut stack: Vec<u32> = (0..accepting.len() as u32)
            .filter(|&state| accepting[state as usize] == wanted)
            .collect();
        while let Some(state) = stack.pop() {
            if !std::mem::replace(&mut reaches[state as usize], true) {
                stack.extend_from_slice(&predecessors[state as usize]);
            }
        }
        reaches
    };
    let (accept, reject) = (reaching(true), reaching(false));
    (0..accepting.len())
        .map(|state| match mode {
            Mode::Prefix if !accept[state] => Verdict::Violated,
            Mode::Prefix if !reject[state] => Verdict::Satisfied,
            Mode::Prefix => Verdict::if_ended(accepting[state]),
            Mode::Never if accepting[state] => Verdict::Violated,
            Mode::Never if !accept[state] => Verdict::Satisfied,
            Mode::Never => Verdict::Ok,
        })
        .collect()
}
