//! Checks of the oracles themselves: examples worked out by hand, the tableau against lassos, the automata against the
//! matcher. If one of these fails, no other test file here means anything.
//!
//! `PORTENT_CASES=n` makes each of the random checks here try `n` cases instead of its usual number.

mod expressions;
mod finite_truth;
mod futures;
mod letters;
mod sizes;
mod words;

use crate::oracle::formula::{Binary, Formula, Unary};
use crate::oracle::random::Subject;

/// What random cases are about, in turn.
const SUBJECTS: [Subject; 5] = [
    Subject::Flags,
    Subject::Events,
    Subject::Comparisons,
    Subject::Mixed,
    Subject::Floats,
];

fn p(i: usize) -> Formula {
    Formula::Prop(i)
}

fn un(op: Unary, a: Formula) -> Formula {
    Formula::unary(op, a)
}

fn bin(op: Binary, a: Formula, b: Formula) -> Formula {
    Formula::binary(op, a, b)
}
