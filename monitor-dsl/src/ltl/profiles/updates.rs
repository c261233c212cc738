//! How the profile of a word follows from its first letter and the profile of the rest.
//!
//! Each element has a diagram over the letter, the elements *here* (at the first position) and those
//! *there* (at the next). They have a store of their own, in which the parts of a letter are tested
//! just before the first element that depends on them: with all of the letter first, every diagram
//! that joins several elements would have to remember it.
//!
//! The event of a letter is such a part, and with many events one that all elements depend on. So each of them has a variable of
//! its own, and it is [said](Updates::possible) that no two of them are in a letter.

use rustc_hash::FxHashMap;

use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, Variable, View},
    ltl::{
        elements::{Element, Elements},
        kernel::{Formula, Kernel, Shape},
        unfold::Position,
    },
};

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A place of the letter.
    Letter(usize),
    /// Whether the event of the letter is this one: a cell of its first place.
    Event(usize),
    /// An element, by its place in the list, at the first position.
    Here(usize),
    /// An element at the next position.
    There(usize),
}

pub(super) struct Updates {
    pub(super) store: Diagrams,
    /// What each variable stands for.
    pub(super) roles: Vec<Role>,
    pub(super) here: Vec<Variable>,
    pub(super) there: Vec<Variable>,
    pub(super) elements: Vec<Update>,
    /// The sets of letters that the updates depend on.
    pub(super) letter_sets: Vec<Diagram>,
    /// What can be said of the events of one letter.
    pub(super) possible: Diagram,
}

/// The place of the event in a letter.
const EVENT: usize = 0;

/// The variables of the parts of a letter, as far as elements depend on them.
struct Parts {
    /// By cell of the first place.
    events: Vec<Option<Variable>>,
    /// By place, but for the first.
    others: Vec<Option<Variable>>,
}

/// Of the branches of a test, the one that most cells take, the first of several. What is the same for all others need not be asked.
fn usual(branches: &[Diagram]) -> Diagram {
    let count = |one: &Diagram| branches.iter().filter(|other| *other == one).count();
    let most = branches.iter().map(count).max();
    let first = branches.iter().find(|branch| Some(count(branch)) == most);
    *first.expect("a test has branches")
}

/// What is known of an element.
pub(super) struct Update {
    /// The value here of an obligation; of a memory, the value there.
    pub(super) value: Diagram,
    /// The same if no position follows.
    pub(super) last: Diagram,
    pub(super) is_memory: bool,
    /// For an until: when it is not put off to the next position, and when it is fulfilled here.
    pub(super) until: Option<Until>,
}

#[derive(Clone, Copy)]
pub(super) struct Until {
    pub(super) decided: Diagram,
    pub(super) fulfilled: Diagram,
}

impl Updates {
    /// The updates of all elements; sets of letters are copied from `diagrams`.
    pub(super) fn new(
        diagrams: &Diagrams,
        alphabet: &Alphabet,
        kernel: &Kernel,
        elements: &Elements,
    ) -> Updates {
        let mut updates = Updates {
            store: Diagrams::new(diagrams.budget()),
            roles: Vec::new(),
            here: Vec::new(),
            there: Vec::new(),
            elements: Vec::new(),
            letter_sets: Vec::new(),
            possible: Diagram::TRUE,
        };
        let parts = updates.declare(diagrams, alphabet, kernel, elements);
        updates.possible = updates.one_event(&parts);
        let mut neighbours = Neighbours {
            kernel,
            elements,
            letters: diagrams,
            parts: &parts,
            updates: &mut updates,
            known: FxHashMap::default(),
            is_last: false,
        };
        let found: Vec<Update> = elements
            .list()
            .iter()
            .map(|&element| neighbours.update(element))
            .collect();
        updates.elements = found;
        updates
    }

    /// Makes the variables; returns those of the parts of a letter.
    fn declare(
        &mut self,
        diagrams: &Diagrams,
        alphabet: &Alphabet,
        kernel: &Kernel,
        elements: &Elements,
    ) -> Parts {
        let events = alphabet.places()[EVENT].cells as usize;
        let mut parts = Parts {
            events: vec![None; events],
            others: vec![None; alphabet.places().len()],
        };
        for (index, element) in elements.list().iter().enumerate() {
            let (Element::Obligation(formula) | Element::Memory(formula)) = *element;
            for set in elements.sets_below(kernel, formula) {
                // The event is tested first, if it is tested.
                if diagrams.view(set) == View::Test(Variable(EVENT as u32)) {
                    let branches = diagrams.branches(set);
                    let usual = usual(branches);
                    for (cell, part) in parts.events.iter_mut().enumerate() {
                        if branches[cell] != usual {
                            part.get_or_insert_with(|| {
                                self.roles.push(Role::Event(cell));
                                self.store.variable(2)
                            });
                        }
                    }
                }
                diagrams.for_each_test(set, |variable| {
                    let place = variable.0 as usize;
                    if place != EVENT {
                        parts.others[place].get_or_insert_with(|| {
                            self.roles.push(Role::Letter(place));
                            self.store.variable(diagrams.arity(variable))
                        });
                    }
                });
            }
            self.roles.extend([Role::Here(index), Role::There(index)]);
            self.here.push(self.store.variable(2));
            self.there.push(self.store.variable(2));
        }
        parts
    }

    /// That a letter has at most one event; and that it has one, if each has a variable.
    fn one_event(&mut self, parts: &Parts) -> Diagram {
        let variables = (0..).map(Variable).zip(&self.roles);
        let events: Vec<Variable> = variables
            .filter(|(_, role)| matches!(role, Role::Event(_)))
            .map(|(variable, _)| variable)
            .collect();
        let has_others = events.len() < parts.events.len();
        let mut none_before = if has_others {
            Diagram::TRUE
        } else {
            Diagram::FALSE
        };
        let mut one_before = Diagram::TRUE;
        for &event in events.iter().rev() {
            none_before = self.store.test(event, &[none_before, one_before]);
            one_before = self.store.test(event, &[one_before, Diagram::FALSE]);
        }
        none_before
    }

    /// The element at this position, as a function.
    pub(super) fn element_here(&mut self, place: usize) -> Diagram {
        self.store.among(self.here[place], |cell| cell == 1)
    }

    /// The element at the next position, as a function.
    pub(super) fn element_there(&mut self, place: usize) -> Diagram {
        self.store.among(self.there[place], |cell| cell == 1)
    }
}

/// A position between two others of which nothing is known.
struct Neighbours<'u, 'k> {
    kernel: &'u Kernel<'k>,
    elements: &'u Elements,
    letters: &'u Diagrams,
    parts: &'u Parts,
    updates: &'u mut Updates,
    known: FxHashMap<(bool, Formula), Diagram>,
    is_last: bool,
}

impl Neighbours<'_, '_> {
    fn update(&mut self, element: Element) -> Update {
        let (formula, is_memory) = match element {
            Element::Obligation(formula) => (formula, false),
            Element::Memory(formula) => (formula, true),
        };
        let mut at = |is_last| {
            self.is_last = is_last;
            match *self.kernel.shape(formula) {
                Shape::Previous(operand) if is_memory => self.value(operand),
                _ => self.unfold(formula),
            }
        };
        let last = at(true);
        let value = at(false);
        let until = match *self.kernel.shape(formula) {
            Shape::Until(a, b) => {
                let (a, fulfilled) = (self.value(a), self.value(b));
                let refuted = self.diagrams().not(a);
                let decided = self.diagrams().or(fulfilled, refuted);
                Some(Until { decided, fulfilled })
            }
            _ => None,
        };
        Update {
            value,
            last,
            is_memory,
            until,
        }
    }
}

impl Position for Neighbours<'_, '_> {
    fn kernel(&self) -> &Kernel<'_> {
        self.kernel
    }

    fn diagrams(&mut self) -> &mut Diagrams {
        &mut self.updates.store
    }

    /// Obligations here are elements of the profile themselves.
    fn known(&mut self, formula: Formula) -> Option<Diagram> {
        match self.elements.obligation(formula) {
            Some(place) => Some(self.updates.element_here(place)),
            None => self.known.get(&(self.is_last, formula)).copied(),
        }
    }

    fn remember(&mut self, formula: Formula, value: Diagram) {
        self.known.insert((self.is_last, formula), value);
    }

    fn letters(&mut self, set: Diagram) -> Diagram {
        let parts = self.parts;
        let test = |store: &mut Diagrams, variable: Variable, branches: &[Diagram]| {
            let place = variable.0 as usize;
            if place != EVENT {
                let part = parts.others[place];
                let part = part.expect("every place that the formula depends on has a variable");
                return store.select(part, branches);
            }
            let usual = usual(branches);
            let mut copy = usual;
            for (&branch, event) in branches.iter().zip(&parts.events) {
                if branch != usual {
                    let event =
                        event.expect("every event that the formula depends on has a variable");
                    let is_event = store.among(event, |cell| cell == 1);
                    copy = store.if_then_else(is_event, branch, copy);
                }
            }
            copy
        };
        let store = &mut self.updates.store;
        let set = { self.letters }.transfer(store, set, &test, &mut FxHashMap::default());
        self.updates.letter_sets.push(set);
        set
    }

    fn memory(&mut self, operator: Formula) -> Diagram {
        let place = self.elements.memory(operator);
        self.updates.element_here(place)
    }

    fn is_last(&self) -> bool {
        self.is_last
    }

    fn obligation(&mut self, formula: Formula) -> Diagram {
        let place = self.elements.obligation(formula);
        self.updates
            .element_there(place.expect("an obligation of the formula"))
    }
}
