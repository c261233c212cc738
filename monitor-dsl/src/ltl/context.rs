//! What progression and tableau work with: the diagrams, the formulas, the obligations that they have for the next position and
//! the past operators whose previous values they keep.

use rustc_hash::FxHashMap;

use super::{
    kernel::{Formula, Kernel, Shape, Strength},
    past::PastOperators,
};
use crate::diagram::{Diagram, Diagrams, Variable};

pub(super) struct Context<'a> {
    pub(super) diagrams: Diagrams,
    pub(super) kernel: Kernel<'a>,
    pub(super) obligations: Obligations,
    pub(super) past: PastOperators,
    /// The first variable that is not one of the letter.
    pub(super) bound: Variable,
}

impl Context<'_> {
    /// The variable for a role, as a function.
    pub(super) fn variable(&mut self, role: Role) -> Diagram {
        let variable = self.obligations.variable(&mut self.diagrams, role);
        self.diagrams.among(variable, |cell| cell == 1)
    }

    /// The obligation that `formula` holds at the next position; it distributes over and and or.
    pub(super) fn next(&mut self, strength: Strength, formula: Formula) -> Diagram {
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
            _ => self.variable(Role::Obligation(strength, formula)),
        }
    }
}

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
    fn variable(&mut self, diagrams: &mut Diagrams, role: Role) -> Variable {
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
