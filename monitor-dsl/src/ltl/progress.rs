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
    context::{Context, Obligations, Role},
    emptiness::Tableau,
    kernel::{Formula, Kernel, Strength},
    past::PastOperators,
    tree::Ltl,
    unfold::Position,
};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, Variable, View},
    machine::{Machine, TooLarge},
    scc,
    verdict::Verdict,
};

/// One state of the progression.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// What is left to be shown, a function of obligations.
    left: Diagram,
    /// The previous values of the past operators.
    past: Box<[Diagram]>,
}

struct Progression<'a> {
    context: Context<'a>,
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
    let past = PastOperators::new(&mut kernel, &mut diagrams, root)?;
    let mut progression = Progression {
        context: Context {
            diagrams,
            kernel,
            obligations: Obligations::default(),
            past,
            bound: alphabet.bound(),
        },
        states: Vec::new(),
        index: FxHashMap::default(),
        splits: FxHashMap::default(),
        max_states,
    };
    let transitions = progression.explore(root, alphabet.reads_variables())?;
    let verdicts = progression.verdicts(&transitions, formula.on_empty_run())?;
    Ok(Machine {
        diagrams: progression.context.diagrams,
        verdicts,
        transitions,
    })
}

impl Progression<'_> {
    /// All states and their transitions. State 0 is the one before the first letter.
    fn explore(&mut self, root: Formula, begins_silent: bool) -> Result<Vec<Diagram>, TooLarge> {
        let role = Role::Obligation(Strength::Weak, root);
        let left = self.context.variable(role);
        let Context { kernel, past, .. } = &self.context;
        let past = (0..past.len())
            .map(|operator| past.initial(kernel, operator))
            .collect();
        // Not in the index: the same tuple later in the run may have another verdict.
        self.states.push(State { left, past });
        let mut unfoldings: FxHashMap<Box<[Diagram]>, Unfolding> = FxHashMap::default();
        let mut transitions = Vec::new();
        while transitions.len() < self.states.len() {
            let State { left, past } = self.states[transitions.len()].clone();
            let mut here = OpenPast {
                context: &mut self.context,
                past: &past,
                unfolding: unfoldings.entry(past.clone()).or_default(),
            };
            let mut parts = here.parts(left);
            if transitions.is_empty() && begins_silent {
                for part in &mut parts {
                    *part = self.context.diagrams.branch(*part, Variable(0), 0);
                }
            }
            let transition = self.split(&parts);
            transitions.push(transition);
            if self.context.diagrams.exhausted() {
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
        if !self
            .context
            .diagrams
            .tests_before(parts, self.context.bound)
        {
            return self.successor(parts);
        }
        if let Some(&known) = self.splits.get(parts) {
            return known;
        }
        let top = self.context.diagrams.top(parts);
        let mut branches = Vec::with_capacity(self.context.diagrams.arity(top));
        self.context
            .diagrams
            .spend(parts.len() * self.context.diagrams.arity(top));
        if self.context.diagrams.exhausted() || self.states.len() > self.max_states {
            return Diagram::FALSE;
        }
        for cell in 0..self.context.diagrams.arity(top) {
            let split: Vec<Diagram> = parts
                .iter()
                .map(|&part| self.context.diagrams.branch(part, top, cell))
                .collect();
            branches.push(self.split(&split));
        }
        let result = self.context.diagrams.test(top, &branches);
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
        self.context.diagrams.leaf(id)
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
                self.context
                    .diagrams
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
                let alive =
                    escapes || (cyclic && self.can_continue(&mut tableau, members[0], positive)?);
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

    /// Whether some infinite continuation from a state satisfies, or unless `positive` falsifies,
    /// what is left.
    fn can_continue(
        &mut self,
        tableau: &mut Tableau,
        state: u32,
        positive: bool,
    ) -> Result<bool, TooLarge> {
        let State { left, past } = &self.states[state as usize];
        match *left {
            Diagram::TRUE => Ok(positive),
            Diagram::FALSE => Ok(!positive),
            left => tableau.satisfiable(&mut self.context, left, past, positive),
        }
    }

    /// The truth of a function of obligations when no position follows.
    fn at_the_end(&self, mut function: Diagram) -> bool {
        while let View::Test(variable) = self.context.diagrams.view(function) {
            let weak = matches!(
                self.context.obligations.role(variable),
                Role::Obligation(Strength::Weak, _)
            );
            function = self
                .context
                .diagrams
                .branch(function, variable, usize::from(weak));
        }
        function == Diagram::TRUE
    }
}

/// Values of formulas at a position, given the previous values of the past operators.
#[derive(Default)]
struct Unfolding {
    values: FxHashMap<Formula, Diagram>,
    composed: FxHashMap<Diagram, Diagram>,
}

/// A position before which the past operators were functions of obligations.
struct OpenPast<'p, 'a> {
    context: &'p mut Context<'a>,
    past: &'p [Diagram],
    unfolding: &'p mut Unfolding,
}

impl OpenPast<'_, '_> {
    /// The parts of the next state: what is left of `left`, and the values of the past operators.
    fn parts(&mut self, left: Diagram) -> Vec<Diagram> {
        let mut parts = Vec::with_capacity(self.past.len() + 1);
        parts.push(self.progress(left));
        for operator in 0..self.past.len() {
            let Context { kernel, past, .. } = &self.context;
            let remembered = past.remembered(kernel, operator);
            parts.push(self.value(remembered));
        }
        parts
    }

    /// A function of obligations, one position later.
    fn progress(&mut self, function: Diagram) -> Diagram {
        let View::Test(variable) = self.context.diagrams.view(function) else {
            return function;
        };
        if let Some(&known) = self.unfolding.composed.get(&function) {
            return known;
        }
        let Role::Obligation(_, formula) = self.context.obligations.role(variable) else {
            unreachable!("states are functions of obligations");
        };
        let [low, high] = [0, 1].map(|cell| self.context.diagrams.branch(function, variable, cell));
        let low = self.progress(low);
        let high = self.progress(high);
        let condition = self.value(formula);
        // The function is monotone, so `low` implies `high`.
        let with = self.context.diagrams.and(condition, high);
        let result = self.context.diagrams.or(low, with);
        self.unfolding.composed.insert(function, result);
        result
    }
}

impl<'a> Position<'a> for OpenPast<'_, 'a> {
    fn context(&mut self) -> &mut Context<'a> {
        self.context
    }

    fn known(&self, formula: Formula) -> Option<Diagram> {
        self.unfolding.values.get(&formula).copied()
    }

    fn remember(&mut self, formula: Formula, value: Diagram) {
        self.unfolding.values.insert(formula, value);
    }

    /// If it was a function of obligations, they are about formulas below the operator, so this ends.
    fn previous(&mut self, operator: Formula) -> Diagram {
        let operator = self.context.past.index(operator);
        self.progress(self.past[operator.expect("an operator of the formula")])
    }

    fn next(&mut self, strength: Strength, formula: Formula) -> Diagram {
        self.context.next(strength, formula)
    }

    fn put_off(&mut self, until: Formula) -> Diagram {
        self.context.next(Strength::Strong, until)
    }
}
