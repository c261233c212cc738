//! Unfolding: a formula at a position, as a function of the letter there and of the neighbours.
//!
//! `a U b` holds if `b` does, or if `a` does and `a U b` holds at the next position; and likewise
//! backwards. Progression and the search for profiles unfold alike. They differ in what they know of
//! the neighbours.

use super::kernel::{Formula, Kernel, Shape};
use crate::diagram::{Diagram, Diagrams};

/// A position of the run whose letter is open.
pub(super) trait Position {
    fn kernel(&self) -> &Kernel<'_>;

    fn diagrams(&mut self) -> &mut Diagrams;

    /// The value of a formula without sign, if it was found before.
    fn known(&mut self, formula: Formula) -> Option<Diagram>;

    fn remember(&mut self, formula: Formula, value: Diagram);

    /// A set of letters, which the kernel knows as a diagram of its own store.
    fn letters(&mut self, set: Diagram) -> Diagram;

    /// What a past operator saw at the previous position.
    fn memory(&mut self, operator: Formula) -> Diagram;

    /// Whether no position follows.
    fn is_last(&self) -> bool;

    /// Whether an obligation holds at the next position.
    fn obligation(&mut self, formula: Formula) -> Diagram;

    /// Whether a formula holds at this position.
    fn value(&mut self, formula: Formula) -> Diagram {
        let positive = formula.positive();
        let value = match self.known(positive) {
            Some(known) => known,
            None => {
                let value = self.unfold(positive);
                self.remember(positive, value);
                value
            }
        };
        self.signed(formula, value)
    }

    fn signed(&mut self, formula: Formula, value: Diagram) -> Diagram {
        if formula.is_negated() {
            self.diagrams().not(value)
        } else {
            value
        }
    }

    /// The same for a formula without sign, by what it says of the neighbours.
    fn unfold(&mut self, formula: Formula) -> Diagram {
        match self.kernel().shape(formula).clone() {
            Shape::State(set) => self.letters(set),
            Shape::And(parts) => parts.iter().fold(Diagram::TRUE, |all, &part| {
                let value = self.value(part);
                self.diagrams().and(all, value)
            }),
            Shape::Next(operand) => self.next(operand),
            Shape::Previous(_) => self.memory(formula),
            Shape::Until(a, b) => {
                let again = self.next(formula);
                self.either(b, a, again)
            }
            Shape::Since(a, b) => {
                let before = self.memory(formula);
                self.either(b, a, before)
            }
        }
    }

    /// `b`, or `a` and the same at a neighbour.
    fn either(&mut self, b: Formula, a: Formula, neighbour: Diagram) -> Diagram {
        let (a, b) = (self.value(a), self.value(b));
        let wait = self.diagrams().and(a, neighbour);
        self.diagrams().or(b, wait)
    }

    /// Whether there is a next position and a formula holds there.
    fn next(&mut self, formula: Formula) -> Diagram {
        if self.is_last() {
            Diagram::FALSE
        } else {
            self.following(formula)
        }
    }

    /// Whether a formula holds at the next position, which there is.
    fn following(&mut self, formula: Formula) -> Diagram {
        let value = match self.kernel().shape(formula).clone() {
            Shape::And(parts) => parts.iter().fold(Diagram::TRUE, |all, &part| {
                let value = self.following(part);
                self.diagrams().and(all, value)
            }),
            Shape::State(set) if set.is_constant() => set,
            _ => self.obligation(formula.positive()),
        };
        self.signed(formula, value)
    }
}
