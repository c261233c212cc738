//! The profiles that continuations of a run can have.
//!
//! The *profile* of a word says which [elements](super::elements) hold at its first position: the
//! memories are given from outside, the obligations follow from them and from the word. Read
//! backwards that is a function, `profile(a w) = update(a, profile(w))`, with one [update](Updates)
//! for every element. What is left to be shown after a prefix of the run is a function of the
//! profile of what follows, and is only ever asked about profiles that some word has. Usually these
//! are few: `x1 U x2` implies `x0 U x1 U x2`, so of the 2ⁿ combinations of a chain of untils n + 1 are
//! left.
//!
//! They are found element by element, operands first. The profiles known so far are the vertices of
//! a graph whose edges are the updates; a new element splits every vertex in two, and those remain
//! that finitely many edges lead from to the end of a word, or infinitely many along which every
//! until that is promised is fulfilled again and again (a fair path of Lichtenstein and Pnueli's
//! tableau). Where the graph is small it is [written down](explicit); if not, its vertices and edges
//! are diagrams, and fair paths are found by fixpoints [in them](symbolic).

mod explicit;
mod symbolic;
mod updates;

use updates::Updates;

use super::{elements::Elements, kernel::Kernel};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams},
};

/// Sets of profiles. The variable of the n-th element is the n-th after those of the letter.
#[derive(Clone, Copy)]
pub(super) struct Profiles {
    /// Of words that are not empty, be they finite or infinite; if finite ones do not matter, of
    /// infinite ones only.
    pub(super) all: Diagram,
    /// Of infinite words.
    pub(super) infinite: Diagram,
}

impl Profiles {
    /// The profiles of words over all letters of an alphabet. What it takes is taken from the budget
    /// of `diagrams`.
    pub(super) fn new(
        diagrams: &mut Diagrams,
        alphabet: &Alphabet,
        kernel: &Kernel,
        elements: &Elements,
        with_finite: bool,
    ) -> Profiles {
        let mut updates = Updates::new(diagrams, alphabet, kernel, elements);
        let found = explicit::profiles(&mut updates, diagrams, alphabet, with_finite)
            .unwrap_or_else(|| symbolic::profiles(&mut updates, diagrams, alphabet, with_finite));
        diagrams.charge(&updates.store);
        found
    }
}
