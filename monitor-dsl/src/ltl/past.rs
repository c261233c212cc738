//! The past operators of a formula, numbered: their previous values are part of a state.

use super::kernel::{Formula, Kernel, Shape, Strength};
use crate::{
    diagram::{Diagram, Diagrams},
    machine::{MAX_PAST, TooLarge},
};

pub(super) struct PastOperators {
    operators: Vec<Formula>,
}

fn past_operators(kernel: &Kernel, root: Formula) -> Vec<Formula> {
    let mut operators = kernel.closure(root);
    operators.retain(|&formula| {
        matches!(
            kernel.shape(formula),
            Shape::Previous(..) | Shape::Since(..) | Shape::Trigger(..)
        )
    });
    operators
}

impl PastOperators {
    pub(super) fn new(
        kernel: &mut Kernel,
        diagrams: &mut Diagrams,
        root: Formula,
    ) -> Result<Self, TooLarge> {
        let mut operators = past_operators(kernel, root);
        // A negation may have simplified away what is there again when it is taken back.
        let negation = kernel.not(diagrams, root);
        for operator in past_operators(kernel, negation) {
            let dual = kernel.not(diagrams, operator);
            if !operators.contains(&operator) && !operators.contains(&dual) {
                operators.push(operator);
            }
        }
        if operators.len() > MAX_PAST {
            return Err(TooLarge::Past);
        }
        Ok(PastOperators { operators })
    }

    pub(super) fn len(&self) -> usize {
        self.operators.len()
    }

    /// The number of an operator.
    pub(super) fn index(&self, formula: Formula) -> Option<usize> {
        let mut operators = self.operators.iter();
        operators.position(|&operator| operator == formula)
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
    pub(super) fn initial(&self, kernel: &Kernel, operator: usize) -> Diagram {
        match kernel.shape(self.operators[operator]) {
            Shape::Previous(Strength::Strong, _) | Shape::Since(..) => Diagram::FALSE,
            _ => Diagram::TRUE,
        }
    }

    /// Where the previous values are known: that of a past operator, or of the negation of one.
    pub(super) fn previous(
        &self,
        kernel: &mut Kernel,
        diagrams: &mut Diagrams,
        past: u128,
        formula: Formula,
    ) -> Diagram {
        let value = match self.index(formula) {
            Some(operator) => past & (1 << operator) != 0,
            None => {
                let negation = kernel.not(diagrams, formula);
                let operator = self.index(negation);
                let operator = operator.expect("an operator of the formula, or its dual");
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
