//! Formulas over a small kernel of operators, hash-consed, with negation for free.
//!
//! Everything derives from next, until, yesterday and since, which are false beyond the end (or the
//! beginning) of the run; weak operators are negations of these. A formula carries its sign, so that
//! it and its negation are one node. Whatever depends on the present letter alone is one diagram.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::ops::Not;

use super::tree::{Ltl, LtlOp};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams},
    syntax::Distance,
};

/// A formula: its number in the [`Kernel`], and in the lowest bit whether it is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Formula(u32);

impl Formula {
    pub(super) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The formula without its sign.
    pub(super) fn positive(self) -> Formula {
        Formula(self.0 & !1)
    }
}

impl Not for Formula {
    type Output = Formula;

    fn not(self) -> Formula {
        Formula(self.0 ^ 1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// A function of the present letter; of it and its complement the one that was made first.
    State(Diagram),
    And(Box<[Formula]>),
    Next(Formula),
    Until(Formula, Formula),
    Previous(Formula),
    Since(Formula, Formula),
}

/// The store of formulas.
pub(super) struct Kernel<'a> {
    alphabet: &'a Alphabet,
    shapes: Vec<Shape>,
    /// How deep operators nest in each.
    depths: Vec<u32>,
    known: FxHashMap<Shape, Formula>,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(alphabet: &'a Alphabet) -> Self {
        Kernel {
            alphabet,
            shapes: Vec::new(),
            depths: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// What a formula is, its sign apart.
    pub(super) fn shape(&self, formula: Formula) -> &Shape {
        &self.shapes[formula.0 as usize / 2]
    }

    /// The operands of a formula, its sign apart.
    pub(super) fn parts(&self, formula: Formula) -> SmallVec<[Formula; 2]> {
        match self.shape(formula) {
            Shape::State(_) => SmallVec::new(),
            Shape::And(parts) => parts.iter().copied().collect(),
            Shape::Next(a) | Shape::Previous(a) => smallvec![*a],
            Shape::Until(a, b) | Shape::Since(a, b) => smallvec![*a, *b],
        }
    }

    fn depth(&self, formula: Formula) -> u32 {
        self.depths[formula.0 as usize / 2]
    }

    fn intern(&mut self, shape: Shape) -> Formula {
        if let Some(&formula) = self.known.get(&shape) {
            return formula;
        }
        let formula = Formula(2 * self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        let parts = self.parts(formula);
        let below = parts.iter().map(|&part| self.depth(part)).max();
        self.depths.push(below.map_or(0, |depth| depth + 1));
        self.known.insert(shape, formula);
        formula
    }

    fn state(&mut self, diagrams: &mut Diagrams, set: Diagram) -> Formula {
        let complement = diagrams.not(set);
        if set < complement {
            self.intern(Shape::State(set))
        } else {
            !self.intern(Shape::State(complement))
        }
    }

    /// The letters in which a formula holds, if it is a function of the letter.
    pub(super) fn set(&self, diagrams: &mut Diagrams, formula: Formula) -> Option<Diagram> {
        match *self.shape(formula) {
            Shape::State(set) if formula.is_negated() => Some(diagrams.not(set)),
            Shape::State(set) => Some(set),
            _ => None,
        }
    }

    /// The value of a formula that is always true or always false.
    pub(super) fn constant(&self, formula: Formula) -> Option<bool> {
        match *self.shape(formula) {
            Shape::State(set) if set.is_constant() => {
                Some((set == Diagram::TRUE) != formula.is_negated())
            }
            _ => None,
        }
    }

    /// A conjunction: flat, sorted, with one diagram for all functions of the letter in it.
    fn and(
        &mut self,
        diagrams: &mut Diagrams,
        parts: impl IntoIterator<Item = Formula>,
    ) -> Formula {
        let mut set = Diagram::TRUE;
        let mut rest = Vec::new();
        let mut pending: Vec<Formula> = parts.into_iter().collect();
        while let Some(part) = pending.pop() {
            match self.shape(part) {
                Shape::And(inner) if !part.is_negated() => pending.extend(inner),
                _ => match self.set(diagrams, part) {
                    Some(other) => set = diagrams.and(set, other),
                    None => rest.push(part),
                },
            }
        }
        rest.sort_unstable();
        rest.dedup();
        if set == Diagram::FALSE || rest.windows(2).any(|pair| pair[0] == !pair[1]) {
            return self.state(diagrams, Diagram::FALSE);
        }
        if set != Diagram::TRUE || rest.is_empty() {
            rest.push(self.state(diagrams, set));
        }
        match rest.as_slice() {
            [single] => *single,
            _ => self.intern(Shape::And(rest.into())),
        }
    }

    fn or(&mut self, diagrams: &mut Diagrams, a: Formula, b: Formula) -> Formula {
        !self.and(diagrams, [!a, !b])
    }

    fn equal(&mut self, diagrams: &mut Diagrams, a: Formula, b: Formula) -> Formula {
        let forth = self.or(diagrams, !a, b);
        let back = self.or(diagrams, a, !b);
        self.and(diagrams, [forth, back])
    }

    fn next(&mut self, a: Formula) -> Formula {
        match self.constant(a) {
            Some(false) => a,
            _ => self.intern(Shape::Next(a)),
        }
    }

    fn previous(&mut self, a: Formula) -> Formula {
        match self.constant(a) {
            Some(false) => a,
            _ => self.intern(Shape::Previous(a)),
        }
    }

    /// `a U b`. `a U a U b` is `a U b`, and `F G F b` is `G F b`, on finite and infinite words alike.
    fn until(&mut self, a: Formula, b: Formula) -> Formula {
        match (self.constant(a), self.constant(b)) {
            (_, Some(_)) | (Some(false), _) => return b,
            _ => {}
        }
        let repeats = |formula: Formula, negated: bool| match *self.shape(formula) {
            Shape::Until(other, operand) if other == a && formula.is_negated() == negated => {
                Some(operand)
            }
            _ => None,
        };
        let forever = self.constant(a) == Some(true)
            && repeats(b, true).is_some_and(|inner| repeats(inner, true).is_some());
        if repeats(b, false).is_some() || forever {
            b
        } else {
            self.intern(Shape::Until(a, b))
        }
    }

    /// `a S b`; `a S a S b` is `a S b`.
    fn since(&mut self, a: Formula, b: Formula) -> Formula {
        let repeats = matches!(*self.shape(b), Shape::Since(other, _) if other == a);
        match (self.constant(a), self.constant(b)) {
            (_, Some(_)) | (Some(false), _) => b,
            _ if repeats && !b.is_negated() => b,
            _ => self.intern(Shape::Since(a, b)),
        }
    }

    /// The kernel formula for what the user wrote.
    pub(super) fn translate(&mut self, diagrams: &mut Diagrams, ltl: &Ltl) -> Formula {
        use LtlOp::*;
        let parts: Vec<Formula> = ltl
            .parts
            .iter()
            .map(|part| self.translate(diagrams, part))
            .collect();
        let yes = self.state(diagrams, Diagram::TRUE);
        // Operators with one operand do not look at `b`.
        let a = parts.first().copied().unwrap_or(yes);
        let b = parts.get(1).copied().unwrap_or(yes);
        match ltl.op {
            True => yes,
            False => !yes,
            Proposition(index) => {
                let set = self.alphabet.set_of(diagrams, index);
                self.state(diagrams, set)
            }
            Not => !a,
            And => self.and(diagrams, parts),
            Or => !self.and(diagrams, parts.into_iter().map(|part| !part)),
            Implies => self.or(diagrams, !a, b),
            Iff => self.equal(diagrams, a, b),
            Xor => self.equal(diagrams, a, !b),
            Next => self.next(a),
            WeakNext => !self.next(!a),
            Eventually => self.until(yes, a),
            Always => !self.until(yes, !a),
            Until => self.until(a, b),
            Release => !self.until(!a, !b),
            WeakUntil => {
                let neither = self.and(diagrams, [!a, !b]);
                !self.until(!b, neither)
            }
            StrongRelease => {
                let both = self.and(diagrams, [a, b]);
                self.until(b, both)
            }
            Yesterday => self.previous(a),
            WeakYesterday => !self.previous(!a),
            Once => self.since(yes, a),
            Historically => !self.since(yes, !a),
            Since => self.since(a, b),
            Trigger => !self.since(!a, !b),
            WeakSince => {
                let neither = self.and(diagrams, [!a, !b]);
                !self.since(!b, neither)
            }
            Start => {
                let before = self.previous(a);
                self.and(diagrams, [a, !before])
            }
            End => {
                let before = self.previous(a);
                self.and(diagrams, [!a, before])
            }
            Interval => {
                let begins = self.and(diagrams, [a, !b]);
                self.since(!b, begins)
            }
            EventuallyIn(distance) => self.within(diagrams, a, distance, Self::next),
            AlwaysIn(distance) => !self.within(diagrams, !a, distance, Self::next),
            OnceIn(distance) => self.within(diagrams, a, distance, Self::previous),
            HistoricallyIn(distance) => !self.within(diagrams, !a, distance, Self::previous),
        }
    }

    /// A formula at one of the positions so far away, `step` by `step`.
    fn within(
        &mut self,
        diagrams: &mut Diagrams,
        formula: Formula,
        distance: Distance,
        step: fn(&mut Self, Formula) -> Formula,
    ) -> Formula {
        let mut whole = formula;
        for _ in distance.least..distance.most {
            let beyond = step(self, whole);
            whole = self.or(diagrams, formula, beyond);
        }
        for _ in 0..distance.least {
            whole = step(self, whole);
        }
        whole
    }

    /// All formulas below `root` and `root` itself, without signs, operands before what they are
    /// operands of. Of several operands the deepest comes first, so that what is small comes just
    /// before it is needed.
    pub(super) fn closure(&self, root: Formula) -> Vec<Formula> {
        let mut order = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![(root.positive(), false)];
        while let Some((formula, done)) = stack.pop() {
            if done {
                order.push(formula);
            } else if seen.insert(formula) {
                stack.push((formula, true));
                let mut parts = self.parts(formula);
                parts.sort_by_key(|&part| self.depth(part));
                stack.extend(parts.into_iter().map(|part| (part.positive(), false)));
            }
        }
        order
    }
}
