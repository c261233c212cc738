//! Progression modulo realisable profiles: the deterministic machine of a formula.
//!
//! After a prefix of the run, what is left to be shown is a Boolean function of obligations at the
//! next position, and so are the memories of past operators: `Y F p` is not known yet when its
//! position is. A letter replaces each obligation by its unfolding. So far this is progression
//! (Bacchus and Kabanza), and its states are Boolean functions. But these are asked about
//! [profiles](super::profiles) of words only, and two functions that agree there are the same state.
//! They are made equal by [`Diagrams::constrain`]; as that commutes with Boolean operations, it is
//! applied to single obligations already, and functions never get larger than they are on profiles.
//!
//! Memories make the question finer still: a profile that is possible with some memories need
//! not be with those of a state. So a successor is constrained once more, with its own memories put
//! into the set of profiles.
//!
//! *Soundness.* A state is evaluated at the profile of a real continuation, and there it has the value
//! that progression gives it. A run is violated iff no profile of an infinite word satisfies what is
//! left, which is exact LTL3. The empty continuation has no profile; what it makes true is a bit of
//! its own. Without past operators, states are the classes of runs that no continuation tells apart
//! (Brzozowski's derivatives); verdicts may merge more of them, so the result is not yet minimal.

use rustc_hash::FxHashMap;

use super::{
    elements::{Element, Elements},
    kernel::{Formula, Kernel, Shape},
    profiles::Profiles,
    tree::Ltl,
    unfold::Position,
};
use crate::{
    alphabet::Alphabet,
    diagram::{Budget, Diagram, Diagrams, Quantifier, Variable, View},
    machine::{Machine, TooLarge},
    verdict::{Verdict, Verdicts},
};

/// The machine of `formula`: deterministic, with exact verdicts, not minimal. With three verdicts the
/// open ones are not distinguished, but not yet [`Verdict::Unknown`] either.
pub(crate) fn synthesize(
    formula: &Ltl,
    alphabet: &Alphabet,
    verdicts: Verdicts,
    max_states: usize,
    budget: Budget,
) -> Result<Machine, TooLarge> {
    let mut diagrams = Diagrams::new(budget);
    alphabet.declare(&mut diagrams);
    let mut kernel = Kernel::new(alphabet);
    let root = kernel.translate(&mut diagrams, formula);
    let elements = Elements::new(&kernel, root);
    let variables: Vec<Variable> = elements
        .list()
        .iter()
        .map(|_| diagrams.variable(2))
        .collect();
    let four = verdicts == Verdicts::Four;
    let profiles = Profiles::new(&mut diagrams, alphabet, &kernel, &elements, four);
    diagrams.check()?;
    let mut context = Context {
        diagrams,
        kernel,
        elements,
        obligations: Vec::new(),
        bound: alphabet.bound(),
    };
    context.constrain_obligations(&variables, profiles.all);
    let mut progression = Progression {
        context,
        profiles,
        four,
        states: Vec::new(),
        index: FxHashMap::default(),
        splits: FxHashMap::default(),
        known_profiles: FxHashMap::default(),
        max_states,
    };
    let transitions = progression.explore(root, alphabet.reads_variables())?;
    let verdicts = progression.verdicts(transitions[0], formula.on_empty_run());
    Ok(Machine {
        diagrams: progression.context.diagrams,
        verdicts,
        transitions,
    })
}

/// What a run has come to.
#[derive(Clone, PartialEq, Eq, Hash)]
enum State {
    /// Nothing has been read yet. The same may be left to be shown later, with another verdict.
    Start,
    Violated,
    Satisfied,
    Open(Open),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Open {
    /// Whether the formula is true if no position follows; false if that is not needed.
    holds_now: bool,
    /// What is left to be shown.
    left: Diagram,
    /// What the past operators see from the next position, in the order of the elements.
    memories: Box<[Diagram]>,
}

struct Context<'a> {
    diagrams: Diagrams,
    kernel: Kernel<'a>,
    elements: Elements,
    /// By place in the elements: the obligation as a function, constrained to profiles.
    obligations: Vec<Diagram>,
    /// The first variable that is not one of the letter.
    bound: Variable,
}

struct Progression<'a> {
    context: Context<'a>,
    profiles: Profiles,
    four: bool,
    states: Vec<State>,
    index: FxHashMap<State, u32>,
    /// Transition functions of whole tuples, by their parts.
    splits: FxHashMap<Box<[Diagram]>, Diagram>,
    /// The profiles that are possible with memories.
    known_profiles: FxHashMap<Box<[Diagram]>, Profiles>,
    max_states: usize,
}

impl Context<'_> {
    fn constrain_obligations(&mut self, variables: &[Variable], profiles: Diagram) {
        let letters = std::iter::repeat_n(false, self.bound.0 as usize);
        let elements = self.elements.list().iter();
        let memories = elements.map(|element| matches!(element, Element::Memory(_)));
        let diagrams = &mut self.diagrams;
        let possible =
            Quantifier::new(letters.chain(memories).collect()).exists(diagrams, profiles);
        let constrained = |&variable: &Variable| {
            let obligation = diagrams.among(variable, |cell| cell == 1);
            diagrams.constrain(obligation, possible)
        };
        self.obligations = variables.iter().map(constrained).collect();
    }

    fn element(&self, variable: Variable) -> Element {
        self.elements.list()[(variable.0 - self.bound.0) as usize]
    }
}

impl Progression<'_> {
    /// All states and their transitions. State 0 is the one before the first letter.
    fn explore(&mut self, root: Formula, begins_silent: bool) -> Result<Vec<Diagram>, TooLarge> {
        self.states.push(State::Start);
        let nothing: Box<[Diagram]> =
            vec![Diagram::FALSE; self.context.elements.memories().count()].into();
        let mut unfoldings: FxHashMap<Box<[Diagram]>, [Unfolding; 2]> = FxHashMap::default();
        let mut transitions = Vec::new();
        while transitions.len() < self.states.len() {
            let state = self.states[transitions.len()].clone();
            let (left, memories) = match state {
                State::Start => (None, nothing.clone()),
                State::Open(open) => (Some(open.left), open.memories),
                State::Violated | State::Satisfied => {
                    let itself = self.context.diagrams.leaf(transitions.len() as u32);
                    transitions.push(itself);
                    continue;
                }
            };
            let [inner, last] = unfoldings.entry(memories.clone()).or_default();
            let mut parts = Vec::with_capacity(memories.len() + 2);
            let mut here = Here {
                context: &mut self.context,
                memories: &memories,
                unfolding: last,
                is_last: true,
            };
            parts.push(match (self.four, left) {
                (false, _) => Diagram::FALSE,
                (true, Some(left)) => here.progress(left),
                (true, None) => here.value(root),
            });
            let mut here = Here {
                unfolding: inner,
                is_last: false,
                ..here
            };
            parts.push(match left {
                Some(left) => here.progress(left),
                None => here.value(root),
            });
            here.remember_all(&mut parts);
            if transitions.is_empty() && begins_silent {
                for part in &mut parts {
                    *part = self.context.diagrams.branch(*part, Variable(0), 0);
                }
            }
            let transition = self.split(&parts);
            transitions.push(transition);
            self.context.diagrams.check()?;
            if self.states.len() > self.max_states {
                return Err(TooLarge::States);
            }
        }
        Ok(transitions)
    }

    /// Branches on the letter until only functions of obligations are left: the next state.
    fn split(&mut self, parts: &[Diagram]) -> Diagram {
        if parts[1] == Diagram::FALSE {
            return self.state(State::Violated);
        }
        if parts[1] == Diagram::TRUE {
            return self.state(State::Satisfied);
        }
        if let Some(&known) = self.splits.get(parts) {
            return known;
        }
        let bound = self.context.bound;
        let result = if self.context.diagrams.tests_before(parts, bound) {
            let top = self.context.diagrams.top(parts);
            let arity = self.context.diagrams.arity(top);
            self.context.diagrams.spend(parts.len() * arity);
            if self.context.diagrams.exhausted() || self.states.len() > self.max_states {
                return Diagram::FALSE;
            }
            let mut branches = Vec::with_capacity(arity);
            for cell in 0..arity {
                let split: Vec<Diagram> = parts
                    .iter()
                    .map(|&part| self.context.diagrams.branch(part, top, cell))
                    .collect();
                branches.push(self.split(&split));
            }
            self.context.diagrams.test(top, &branches)
        } else {
            self.successor(parts)
        };
        self.splits.insert(parts.into(), result);
        result
    }

    fn successor(&mut self, parts: &[Diagram]) -> Diagram {
        let (left, memories) = (parts[1], &parts[2..]);
        let possible = self.possible(memories);
        let diagrams = &mut self.context.diagrams;
        let holds = diagrams.and(left, possible.infinite);
        if holds == Diagram::FALSE {
            return self.state(State::Violated);
        }
        if holds == possible.infinite {
            return self.state(State::Satisfied);
        }
        let open = Open {
            holds_now: parts[0] == Diagram::TRUE,
            left: diagrams.constrain(left, possible.all),
            memories: memories
                .iter()
                .map(|&memory| diagrams.constrain(memory, possible.all))
                .collect(),
        };
        self.state(State::Open(open))
    }

    fn state(&mut self, state: State) -> Diagram {
        let id = *self.index.entry(state.clone()).or_insert_with(|| {
            self.states.push(state);
            self.states.len() as u32 - 1
        });
        self.context.diagrams.leaf(id)
    }

    /// The profiles of words after a position that past operators see as `memories` say.
    fn possible(&mut self, memories: &[Diagram]) -> Profiles {
        if memories.is_empty() {
            return self.profiles;
        }
        if let Some(&known) = self.known_profiles.get(memories) {
            return known;
        }
        let places = self.context.elements.memories().map(|(place, _)| place);
        let given: FxHashMap<Variable, Diagram> = places
            .map(|place| Variable(self.context.bound.0 + place as u32))
            .zip(memories.iter().copied())
            .collect();
        let mut memo = FxHashMap::default();
        let mut put_in = |set| self.context.diagrams.substitute(set, &given, &mut memo);
        let possible = Profiles {
            all: put_in(self.profiles.all),
            infinite: put_in(self.profiles.infinite),
        };
        self.known_profiles.insert(memories.into(), possible);
        possible
    }

    /// The verdicts of all states, given the transitions of the first.
    fn verdicts(&self, first: Diagram, on_empty_run: bool) -> Vec<Verdict> {
        let of_state = |state: &State| match state {
            State::Start => self.verdict_at_start(first, on_empty_run),
            State::Violated => Verdict::Violated,
            State::Satisfied => Verdict::Satisfied,
            State::Open(open) => Verdict::if_ended(open.holds_now),
        };
        self.states.iter().map(of_state).collect()
    }

    /// Before the first letter a verdict is final if it is after every letter that can come first.
    fn verdict_at_start(&self, first: Diagram, on_empty_run: bool) -> Verdict {
        let mut successors = Vec::new();
        let diagrams = &self.context.diagrams;
        diagrams.for_each_leaf(first, |state| successors.push(state as usize));
        let all = |state: State| successors.iter().all(|&other| self.states[other] == state);
        if all(State::Violated) {
            Verdict::Violated
        } else if all(State::Satisfied) {
            Verdict::Satisfied
        } else {
            Verdict::if_ended(on_empty_run)
        }
    }
}

/// Values of formulas at a position, given what the past operators see from there.
#[derive(Default)]
struct Unfolding {
    values: FxHashMap<Formula, Diagram>,
    progressed: FxHashMap<Diagram, Diagram>,
}

/// The position that is read next. What was left to be shown, and the memories, are functions of
/// obligations here.
struct Here<'p, 'a> {
    context: &'p mut Context<'a>,
    memories: &'p [Diagram],
    unfolding: &'p mut Unfolding,
    is_last: bool,
}

impl Here<'_, '_> {
    /// A function of obligations here, as one of the letter and of obligations at the next position.
    fn progress(&mut self, function: Diagram) -> Diagram {
        let View::Test(variable) = self.context.diagrams.view(function) else {
            return function;
        };
        if let Some(&known) = self.unfolding.progressed.get(&function) {
            return known;
        }
        let Element::Obligation(formula) = self.context.element(variable) else {
            unreachable!("states are functions of obligations");
        };
        let [low, high] = [0, 1].map(|cell| self.context.diagrams.branch(function, variable, cell));
        let (low, high) = (self.progress(low), self.progress(high));
        let condition = self.value(formula);
        let result = self.context.diagrams.if_then_else(condition, high, low);
        self.unfolding.progressed.insert(function, result);
        result
    }

    /// Adds what the past operators will see from the next position.
    fn remember_all(&mut self, parts: &mut Vec<Diagram>) {
        let operators: Vec<Formula> = self
            .context
            .elements
            .memories()
            .map(|(_, operator)| operator)
            .collect();
        for operator in operators {
            let seen = match *self.context.kernel.shape(operator) {
                Shape::Previous(operand) => operand,
                _ => operator,
            };
            parts.push(self.value(seen));
        }
    }
}

impl Position for Here<'_, '_> {
    fn kernel(&self) -> &Kernel<'_> {
        &self.context.kernel
    }

    fn diagrams(&mut self) -> &mut Diagrams {
        &mut self.context.diagrams
    }

    fn known(&mut self, formula: Formula) -> Option<Diagram> {
        self.unfolding.values.get(&formula).copied()
    }

    fn remember(&mut self, formula: Formula, value: Diagram) {
        self.unfolding.values.insert(formula, value);
    }

    fn letters(&mut self, set: Diagram) -> Diagram {
        set
    }

    /// A function of obligations that come before the operator in the order of the elements, so this
    /// ends.
    fn memory(&mut self, operator: Formula) -> Diagram {
        let mut memories = self.context.elements.memories();
        let index = memories.position(|(_, other)| other == operator);
        let index = index.expect("an operator of the formula");
        drop(memories);
        self.progress(self.memories[index])
    }

    fn is_last(&self) -> bool {
        self.is_last
    }

    fn obligation(&mut self, formula: Formula) -> Diagram {
        let place = self.context.elements.obligation(formula);
        self.context.obligations[place.expect("an obligation of the formula")]
    }
}
