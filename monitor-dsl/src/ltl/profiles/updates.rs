//! How the profile of a word follows from its first letter and the profile of the rest.
//!
//! Each element has a diagram over the letter, the elements *here* (at the first position) and those
//! *there* (at the next). They have a store of their own, in which the parts of a letter are tested
//! just before the first element that depends on them: with all of the letter first, every diagram
//! that joins several elements would have to remember it.

use rustc_hash::FxHashMap;

use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams, Variable},
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
        };
        let places = updates.declare(diagrams, alphabet, kernel, elements);
        let mut neighbours = Neighbours {
            kernel,
            elements,
            letters: diagrams,
            places: &places,
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

    /// Makes the variables; returns those of the places of a letter.
    fn declare(
        &mut self,
        diagrams: &Diagrams,
        alphabet: &Alphabet,
        kernel: &Kernel,
        elements: &Elements,
    ) -> Vec<Option<Variable>> {
        let mut places = vec![None; alphabet.places().len()];
        for (index, element) in elements.list().iter().enumerate() {
            let (Element::Obligation(formula) | Element::Memory(formula)) = *element;
            for set in elements.sets_below(kernel, formula) {
                diagrams.for_each_test(set, |variable| {
                    let place = variable.0 as usize;
                    places[place].get_or_insert_with(|| {
                        self.roles.push(Role::Letter(place));
                        self.store.variable(diagrams.arity(variable))
                    });
                });
            }
            self.roles.extend([Role::Here(index), Role::There(index)]);
            self.here.push(self.store.variable(2));
            self.there.push(self.store.variable(2));
        }
        places
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
    places: &'u [Option<Variable>],
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
        let rename = |variable: Variable| {
            let place = self.places[variable.0 as usize];
            place.expect("every place that the formula depends on has a variable")
        };
        let set = self.letters.transfer(
            &mut self.updates.store,
            set,
            &rename,
            &mut FxHashMap::default(),
        );
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
