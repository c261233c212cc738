//! Unfolding: a formula at a position, as a function of the letter there and of what must hold at the next position.
//!
//! Progression and tableau unfold alike. They differ in what they know of the past and in what they ask of the future.

use super::{
    context::Context,
    kernel::{Formula, Shape, Strength},
};
use crate::diagram::Diagram;

/// A position of the run whose letter is open, and what is known of the past there.
pub(super) trait Position<'a> {
    fn context(&mut self) -> &mut Context<'a>;

    /// The value of a formula, if it was found before.
    fn known(&self, formula: Formula) -> Option<Diagram>;

    fn remember(&mut self, formula: Formula, value: Diagram);

    /// What a past operator was one position earlier, or for [`Shape::Previous`] its operand.
    fn previous(&mut self, operator: Formula) -> Diagram;

    /// The obligation that a formula holds at the next position.
    fn next(&mut self, strength: Strength, formula: Formula) -> Diagram;

    /// The obligation that an until, not fulfilled here, holds at the next position.
    fn put_off(&mut self, until: Formula) -> Diagram;

    /// A formula as a function of the letter and the obligations for the next position.
    fn value(&mut self, formula: Formula) -> Diagram {
        if let Some(known) = self.known(formula) {
            return known;
        }
        let value = match self.context().kernel.shape(formula).clone() {
            Shape::State(set) => set,
            Shape::Not(a) => {
                let a = self.value(a);
                self.context().diagrams.not(a)
            }
            Shape::And(parts) => parts.iter().fold(Diagram::TRUE, |so_far, &part| {
                let value = self.value(part);
                self.context().diagrams.and(so_far, value)
            }),
            Shape::Or(parts) => parts.iter().fold(Diagram::FALSE, |so_far, &part| {
                let value = self.value(part);
                self.context().diagrams.or(so_far, value)
            }),
            Shape::Next(strength, a) => self.next(strength, a),
            Shape::Previous(..) => self.previous(formula),
            Shape::Until(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let again = self.put_off(formula);
                let wait = self.context().diagrams.and(a, again);
                self.context().diagrams.or(b, wait)
            }
            Shape::Release(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let again = self.next(Strength::Weak, formula);
                let free = self.context().diagrams.or(a, again);
                self.context().diagrams.and(b, free)
            }
            Shape::Since(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let before = self.previous(formula);
                let still = self.context().diagrams.and(a, before);
                self.context().diagrams.or(b, still)
            }
            Shape::Trigger(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let before = self.previous(formula);
                let free = self.context().diagrams.or(a, before);
                self.context().diagrams.and(b, free)
            }
        };
        self.remember(formula, value);
        value
    }
}
