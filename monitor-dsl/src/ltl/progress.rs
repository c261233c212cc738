//! Progression: the deterministic machine of a formula.
//!
//! After a prefix of the run, what is left to be shown is a Boolean function of *obligations*
//! "ψ at the next position", strong ones (there must be a next position) and weak ones. A letter
//! replaces each obligation by the unfolding of its formula. The previous values of past operators
//! are kept beside it; where a past operator has future operators below it, that value is not yet
//! known, and is a function of obligations too. All of these are diagrams, so equal functions are
//! equal states.

use rustc_hash::FxHashMap;

use super::{
    emptiness::{Context, Tableau},
    kernel::{Formula, Kernel, Shape, Strength},
    tree::Ltl,
};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, Variable, View},
    machine::{MAX_PAST, Machine, TooLarge},
    scc,
    verdict::Verdict,
};

/// The variables below the letter in the order, and what they stand for.
#[derive(Default)]
pub(super) struct Obligations {
    roles: Vec<Role>,
    known: FxHashMap<Role, Variable>,
    first: Option<Variable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// The formula holds at the next position.
    Obligation(Strength, Formula),
    /// The until is put off (only in the tableau).
    Promise(Formula),
    /// The value of a past operator at this position (only in the tableau).
    Past(usize),
}

impl Obligations {
    pub(super) fn variable(&mut self, diagrams: &mut Diagrams, role: Role) -> Variable {
        *self.known.entry(role).or_insert_with(|| {
            self.roles.push(role);
            let variable = diagrams.variable(2);
            self.first.get_or_insert(variable);
            variable
        })
    }

    pub(super) fn role(&self, variable: Variable) -> Role {
        let first = self.first.expect("a variable was made");
        self.roles[(variable.0 - first.0) as usize]
    }
}

/// The past operators of a formula, numbered: their previous values are part of a state.
pub(super) struct PastOperators {
    operators: Vec<Formula>,
}

impl PastOperators {
    fn new(kernel: &Kernel, root: Formula) -> Result<Self, TooLarge> {
        let mut past = PastOperators {
            operators: Vec::new(),
        };
        for formula in kernel.closure(root) {
            if matches!(
                kernel.shape(formula),
                Shape::Previous(..) | Shape::Since(..) | Shape::Trigger(..)
            ) {
                past.operators.push(formula);
            }
        }
        if past.operators.len() > MAX_PAST {
            return Err(TooLarge::Past);
        }
        Ok(past)
    }

    pub(super) fn len(&self) -> usize {
        self.operators.len()
    }

    /// The formula whose value at one position is what the operator looks at from the next.
    pub(super) fn remembered(&self, kernel: &Kernel, operator: usize) -> Formula {
        let formula = self.operators[operator];
        match kernel.shape(formula) {
            Shape::Previous(_, operand) => *operand,
            _ => formula,
        }
    }

    /// The value before the first position.
    fn initial(&self, kernel: &Kernel, operator: usize) -> Diagram {
        match kernel.shape(self.operators[operator]) {
            Shape::Previous(Strength::Strong, _) | Shape::Since(..) => Diagram::FALSE,
            _ => Diagram::TRUE,
        }
    }

    /// In the tableau: the previous value of a past operator, or of the negation of one.
    pub(super) fn previous(
        &self,
        kernel: &mut Kernel,
        diagrams: &mut Diagrams,
        past: u128,
        formula: Formula,
    ) -> Diagram {
        let index = |formula| {
            self.operators
                .iter()
                .position(|&operator| operator == formula)
        };
        let value = match index(formula) {
            Some(operator) => past & (1 << operator) != 0,
            None => {
                let negation = kernel.not(diagrams, formula);
                let operator = index(negation).expect("an operator of the formula, or its dual");
                past & (1 << operator) == 0
            }
        };
        if value { Diagram::TRUE } else { Diagram::FALSE }
    }

    /// The operators whose previous values may matter to `formulas`.
    pub(super) fn relevant_to(&self, kernel: &Kernel, formulas: &[Formula]) -> u128 {
        if self.operators.is_empty() || !formulas.iter().any(|&formula| kernel.has_past(formula)) {
            return 0;
        }
        // All of them as soon as one matters: more states than strictly needed, but never wrong.
        u128::MAX >> (u128::BITS as usize - self.operators.len())
    }
}

/// One state of the progression.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// What is left to be shown, a function of obligations.
    left: Diagram,
    /// The previous values of the past operators.
    past: Box<[Diagram]>,
}

/// Values of formulas at a position, given the previous values of the past operators.
#[derive(Default)]
struct Unfolding {
    values: FxHashMap<Formula, Diagram>,
    composed: FxHashMap<Diagram, Diagram>,
}

struct Progression<'a> {
    diagrams: Diagrams,
    kernel: Kernel<'a>,
    obligations: Obligations,
    past: PastOperators,
    bound: Variable,
    states: Vec<State>,
    index: FxHashMap<State, u32>,
    /// Transition functions of whole tuples, by their parts.
    splits: FxHashMap<Box<[Diagram]>, Diagram>,
    max_states: usize,
}

/// The machine of `formula`: deterministic, with exact verdicts, not minimal.
pub(crate) fn synthesize(
    formula: &Ltl,
    alphabet: &Alphabet,
    max_states: usize,
    budget: usize,
) -> Result<Machine, TooLarge> {
    let mut diagrams = Diagrams::new(budget);
    alphabet.declare(&mut diagrams);
    let mut kernel = Kernel::new(alphabet);
    let root = kernel.translate(&mut diagrams, formula);
    let past = PastOperators::new(&kernel, root)?;
    let mut progression = Progression {
        diagrams,
        kernel,
        obligations: Obligations::default(),
        past,
        bound: alphabet.bound(),
        states: Vec::new(),
        index: FxHashMap::default(),
        splits: FxHashMap::default(),
        max_states,
    };
    let transitions = progression.explore(root, alphabet.reads_variables())?;
    let verdicts = progression.verdicts(&transitions, formula.on_empty_run())?;
    Ok(Machine {
        diagrams: progression.diagrams,
        verdicts,
        transitions,
    })
}

impl Progression<'_> {
    /// All states and their transitions. State 0 is the one before the first letter.
    fn explore(&mut self, root: Formula, begins_silent: bool) -> Result<Vec<Diagram>, TooLarge> {
        let role = Role::Obligation(Strength::Weak, root);
        let first = self.obligations.variable(&mut self.diagrams, role);
        let left = self.diagrams.among(first, |cell| cell == 1);
        let past = (0..self.past.len())
            .map(|index| self.past.initial(&self.kernel, index))
            .collect();
        // Not in the index: the same tuple later in the run may have another verdict.
        self.states.push(State { left, past });
        let mut unfoldings: FxHashMap<Box<[Diagram]>, Unfolding> = FxHashMap::default();
        let mut transitions = Vec::new();
        while transitions.len() < self.states.len() {
            let State { left, past } = self.states[transitions.len()].clone();
            let unfolding = unfoldings.entry(past.clone()).or_default();
            let mut parts = Vec::with_capacity(past.len() + 1);
            parts.push(self.progress(unfolding, &past, left));
            for operator in 0..past.len() {
                let remembered = self.past.remembered(&self.kernel, operator);
                parts.push(self.value(unfolding, &past, remembered));
            }
            if transitions.is_empty() && begins_silent {
                for part in &mut parts {
                    *part = self.diagrams.branch(*part, Variable(0), 0);
                }
            }
            let transition = self.split(&parts);
            transitions.push(transition);
            if self.diagrams.exhausted() {
                return Err(TooLarge::Work);
            }
            if self.states.len() > self.max_states {
                return Err(TooLarge::States);
            }
        }
        Ok(transitions)
    }

    /// Branches on the letter until only functions of obligations are left: the next state.
    fn split(&mut self, parts: &[Diagram]) -> Diagram {
        if parts[0].is_constant() {
            return self.successor(&vec![parts[0]; parts.len()]);
        }
        if !self.diagrams.tests_before(parts, self.bound) {
            return self.successor(parts);
        }
        if let Some(&known) = self.splits.get(parts) {
            return known;
        }
        let top = self.diagrams.top(parts);
        let mut branches = Vec::with_capacity(self.diagrams.arity(top));
        self.diagrams.spend(parts.len() * self.diagrams.arity(top));
        if self.diagrams.exhausted() || self.states.len() > self.max_states {
            return Diagram::FALSE;
        }
        for cell in 0..self.diagrams.arity(top) {
            let split: Vec<Diagram> = parts
                .iter()
                .map(|&part| self.diagrams.branch(part, top, cell))
                .collect();
            branches.push(self.split(&split));
        }
        let result = self.diagrams.test(top, &branches);
        self.splits.insert(parts.into(), result);
        result
    }

    fn successor(&mut self, parts: &[Diagram]) -> Diagram {
        let state = State {
            left: parts[0],
            past: parts[1..].into(),
        };
        let id = *self.index.entry(state.clone()).or_insert_with(|| {
            self.states.push(state);
            self.states.len() as u32 - 1
        });
        self.diagrams.leaf(id)
    }

    /// A function of obligations, one position later.
    fn progress(
        &mut self,
        unfolding: &mut Unfolding,
        past: &[Diagram],
        function: Diagram,
    ) -> Diagram {
        let View::Test(variable) = self.diagrams.view(function) else {
            return function;
        };
        if let Some(&known) = unfolding.composed.get(&function) {
            return known;
        }
        let Role::Obligation(_, formula) = self.obligations.role(variable) else {
            unreachable!("states are functions of obligations");
        };
        let (low, high) = (
            self.diagrams.branch(function, variable, 0),
            self.diagrams.branch(function, variable, 1),
        );
        let low = self.progress(unfolding, past, low);
        let high = self.progress(unfolding, past, high);
        let condition = self.value(unfolding, past, formula);
        // The function is monotone, so `low` implies `high`.
        let with = self.diagrams.and(condition, high);
        let result = self.diagrams.or(low, with);
        unfolding.composed.insert(function, result);
        result
    }

    /// A formula as a function of the letter and the obligations for the next position.
    fn value(&mut self, unfolding: &mut Unfolding, past: &[Diagram], formula: Formula) -> Diagram {
        if let Some(&known) = unfolding.values.get(&formula) {
            return known;
        }
        let value = match self.kernel.shape(formula).clone() {
            Shape::State(set) => set,
            Shape::Not(a) => {
                let a = self.value(unfolding, past, a);
                self.diagrams.not(a)
            }
            Shape::And(parts) => parts.iter().fold(Diagram::TRUE, |so_far, &part| {
                let value = self.value(unfolding, past, part);
                self.diagrams.and(so_far, value)
            }),
            Shape::Or(parts) => parts.iter().fold(Diagram::FALSE, |so_far, &part| {
                let value = self.value(unfolding, past, part);
                self.diagrams.or(so_far, value)
            }),
            Shape::Next(strength, a) => self.next(strength, a),
            Shape::Until(a, b) => {
                let (a, b) = (
                    self.value(unfolding, past, a),
                    self.value(unfolding, past, b),
                );
                let again = self.next(Strength::Strong, formula);
                let wait = self.diagrams.and(a, again);
                self.diagrams.or(b, wait)
            }
            Shape::Release(a, b) => {
                let (a, b) = (
                    self.value(unfolding, past, a),
                    self.value(unfolding, past, b),
                );
                let again = self.next(Strength::Weak, formula);
                let free = self.diagrams.or(a, again);
                self.diagrams.and(b, free)
            }
            Shape::Previous(..) => self.previous(unfolding, past, formula),
            Shape::Since(a, b) => {
                let (a, b) = (
                    self.value(unfolding, past, a),
                    self.value(unfolding, past, b),
                );
                let before = self.previous(unfolding, past, formula);
                let still = self.diagrams.and(a, before);
                self.diagrams.or(b, still)
            }
            Shape::Trigger(a, b) => {
                let (a, b) = (
                    self.value(unfolding, past, a),
                    self.value(unfolding, past, b),
                );
                let before = self.previous(unfolding, past, formula);
                let free = self.diagrams.or(a, before);
                self.diagrams.and(b, free)
            }
        };
        unfolding.values.insert(formula, value);
        value
    }

    /// What a past operator was one position earlier. If that was a function of obligations, they
    /// are about formulas below the operator, so this ends.
    fn previous(
        &mut self,
        unfolding: &mut Unfolding,
        past: &[Diagram],
        formula: Formula,
    ) -> Diagram {
        let operator = self
            .past
            .operators
            .iter()
            .position(|&operator| operator == formula);
        self.progress(
            unfolding,
            past,
            past[operator.expect("an operator of the formula")],
        )
    }

    /// The obligation that `formula` holds at the next position; it distributes over and and or.
    fn next(&mut self, strength: Strength, formula: Formula) -> Diagram {
        match (self.kernel.shape(formula).clone(), strength) {
            (Shape::State(Diagram::TRUE), Strength::Weak) => Diagram::TRUE,
            (Shape::State(Diagram::FALSE), Strength::Strong) => Diagram::FALSE,
            (Shape::And(parts), _) => parts.iter().fold(Diagram::TRUE, |so_far, &part| {
                let part = self.next(strength, part);
                self.diagrams.and(so_far, part)
            }),
            (Shape::Or(parts), _) => parts.iter().fold(Diagram::FALSE, |so_far, &part| {
                let part = self.next(strength, part);
                self.diagrams.or(so_far, part)
            }),
            _ => {
                let role = Role::Obligation(strength, formula);
                let variable = self.obligations.variable(&mut self.diagrams, role);
                self.diagrams.among(variable, |cell| cell == 1)
            }
        }
    }

    /// The verdicts of all states. A state is live iff a successor is; so only a cycle that nothing
    /// live can be reached from has to be looked at, and one state of it answers for all.
    fn verdicts(
        &mut self,
        transitions: &[Diagram],
        on_empty_run: bool,
    ) -> Result<Vec<Verdict>, TooLarge> {
        let successors: Vec<Vec<u32>> = transitions
            .iter()
            .map(|&transition| {
                let mut targets = Vec::new();
                self.diagrams
                    .for_each_leaf(transition, |target| targets.push(target));
                targets
            })
            .collect();
        let components = scc::components(transitions.len(), |state| &successors[state]);
        let mut tableau = Tableau::default();
        // Whether some continuation satisfies, and whether some falsifies.
        let mut live = vec![[false; 2]; transitions.len()];
        for members in components.members() {
            let component = components.of[members[0] as usize];
            for (side, positive) in [(0, true), (1, false)] {
                let targets = || {
                    members
                        .iter()
                        .flat_map(|&member| &successors[member as usize])
                        .copied()
                };
                let escapes = targets().any(|target| live[target as usize][side]);
                let cyclic = targets().any(|target| components.of[target as usize] == component);
                let alive = escapes
                    || (cyclic && {
                        let State { left, past } = self.states[members[0] as usize].clone();
                        match left {
                            Diagram::TRUE => positive,
                            Diagram::FALSE => !positive,
                            _ => {
                                let mut context = Context {
                                    diagrams: &mut self.diagrams,
                                    kernel: &mut self.kernel,
                                    obligations: &mut self.obligations,
                                    past: &self.past,
                                    bound: self.bound,
                                };
                                tableau.satisfiable(&mut context, left, &past, positive)?
                            }
                        }
                    });
                for &member in &members {
                    live[member as usize][side] = alive;
                }
            }
        }
        Ok((0..transitions.len())
            .map(|state| match live[state] {
                [false, _] => Verdict::Violated,
                [_, false] => Verdict::Satisfied,
                _ if state == 0 => Verdict::if_ended(on_empty_run),
                _ => Verdict::if_ended(self.at_the_end(self.states[state].left)),
            })
            .collect())
    }

    /// The truth of a function of obligations when no position follows.
    fn at_the_end(&self, mut function: Diagram) -> bool {
        while let View::Test(variable) = self.diagrams.view(function) {
            let weak = matches!(
                self.obligations.role(variable),
                Role::Obligation(Strength::Weak, _)
            );
            function = self.diagrams.branch(function, variable, usize::from(weak));
        }
        function == Diagram::TRUE
    }
}
