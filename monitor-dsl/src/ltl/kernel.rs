//! Formulas in negation normal form over a small kernel of operators, hash-consed.
//!
//! Everything derives from next, until, release, yesterday, since and trigger, each strong or weak
//! where the end (or the beginning) of the run makes a difference. Whatever depends on the present
//! letter alone is one diagram. A formula without future operators may be negated as it is, since
//! its value is known at once; negation is pushed through all others.

use rustc_hash::FxHashMap;

use super::tree::{Ltl, LtlOp};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams},
    syntax::Distance,
};

/// A formula, by its number in the [`Kernel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Formula(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// A function of the present letter.
    State(Diagram),
    /// Not a formula of the past; the operand has no future operator.
    Not(Formula),
    And(Box<[Formula]>),
    Or(Box<[Formula]>),
    Next(Strength, Formula),
    Until(Formula, Formula),
    Release(Formula, Formula),
    Previous(Strength, Formula),
    Since(Formula, Formula),
    Trigger(Formula, Formula),
}

/// Whether an operator is false (strong) or true (weak) beyond the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Strength {
    Strong,
    Weak,
}

/// The store of formulas.
pub(super) struct Kernel<'a> {
    alphabet: &'a Alphabet,
    shapes: Vec<Shape>,
    /// Whether the formula has an operator of the future, and one of the past.
    tenses: Vec<(bool, bool)>,
    known: FxHashMap<Shape, Formula>,
    negations: FxHashMap<Formula, Formula>,
}

impl<'a> Kernel<'a> {
    pub(super) fn new(alphabet: &'a Alphabet) -> Self {
        Kernel {
            alphabet,
            shapes: Vec::new(),
            tenses: Vec::new(),
            known: FxHashMap::default(),
            negations: FxHashMap::default(),
        }
    }

    pub(super) fn shape(&self, formula: Formula) -> &Shape {
        &self.shapes[formula.0 as usize]
    }

    /// Whether the truth of the formula is known as soon as its position is.
    pub(super) fn is_past(&self, formula: Formula) -> bool {
        !self.tenses[formula.0 as usize].0
    }

    /// Whether the truth of the formula depends on earlier positions.
    pub(super) fn has_past(&self, formula: Formula) -> bool {
        self.tenses[formula.0 as usize].1
    }

    /// The operands of a formula.
    pub(super) fn parts(&self, formula: Formula) -> Vec<Formula> {
        match self.shape(formula) {
            Shape::State(_) => Vec::new(),
            Shape::Not(a) | Shape::Next(_, a) | Shape::Previous(_, a) => vec![*a],
            Shape::And(parts) | Shape::Or(parts) => parts.to_vec(),
            Shape::Until(a, b)
            | Shape::Release(a, b)
            | Shape::Since(a, b)
            | Shape::Trigger(a, b) => vec![*a, *b],
        }
    }

    fn intern(&mut self, shape: Shape) -> Formula {
        if let Some(&formula) = self.known.get(&shape) {
            return formula;
        }
        let formula = Formula(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        let (mut future, mut past) = match &shape {
            Shape::Next(..) | Shape::Until(..) | Shape::Release(..) => (true, false),
            Shape::Previous(..) | Shape::Since(..) | Shape::Trigger(..) => (false, true),
            _ => (false, false),
        };
        for part in self.parts(formula) {
            let tense = self.tenses[part.0 as usize];
            (future, past) = (future || tense.0, past || tense.1);
        }
        self.tenses.push((future, past));
        self.known.insert(shape, formula);
        formula
    }

    pub(super) fn state(&mut self, set: Diagram) -> Formula {
        self.intern(Shape::State(set))
    }

    pub(super) fn and(&mut self, diagrams: &mut Diagrams, parts: Vec<Formula>) -> Formula {
        self.join(diagrams, parts, true)
    }

    pub(super) fn or(&mut self, diagrams: &mut Diagrams, parts: Vec<Formula>) -> Formula {
        self.join(diagrams, parts, false)
    }

    /// A conjunction or disjunction: flat, sorted, with one diagram for all state formulas in it.
    fn join(&mut self, diagrams: &mut Diagrams, parts: Vec<Formula>, and: bool) -> Formula {
        let (unit, zero) = match and {
            true => (Diagram::TRUE, Diagram::FALSE),
            false => (Diagram::FALSE, Diagram::TRUE),
        };
        let mut state = unit;
        let mut rest = Vec::with_capacity(parts.len());
        for part in parts {
            match (self.shape(part), and) {
                (Shape::State(set), true) => state = diagrams.and(state, *set),
                (Shape::State(set), false) => state = diagrams.or(state, *set),
                (Shape::And(inner), true) | (Shape::Or(inner), false) => {
                    for &part in inner.clone().iter() {
                        match (self.shape(part), and) {
                            (Shape::State(set), true) => state = diagrams.and(state, *set),
                            (Shape::State(set), false) => state = diagrams.or(state, *set),
                            _ => rest.push(part),
                        }
                    }
                }
                _ => rest.push(part),
            }
        }
        if state == zero {
            return self.state(zero);
        }
        if state != unit || rest.is_empty() {
            rest.push(self.state(state));
        }
        rest.sort_unstable();
        rest.dedup();
        match rest.as_slice() {
            [single] => *single,
            _ if and => self.intern(Shape::And(rest.into())),
            _ => self.intern(Shape::Or(rest.into())),
        }
    }

    pub(super) fn not(&mut self, diagrams: &mut Diagrams, formula: Formula) -> Formula {
        if let Some(&known) = self.negations.get(&formula) {
            return known;
        }
        let negation = match self.shape(formula).clone() {
            Shape::State(set) => {
                let complement = diagrams.not(set);
                self.state(complement)
            }
            Shape::Not(operand) => operand,
            _ if self.is_past(formula) => self.intern(Shape::Not(formula)),
            Shape::And(parts) => {
                let parts = parts.iter().map(|&part| self.not(diagrams, part)).collect();
                self.or(diagrams, parts)
            }
            Shape::Or(parts) => {
                let parts = parts.iter().map(|&part| self.not(diagrams, part)).collect();
                self.and(diagrams, parts)
            }
            Shape::Next(strength, a) => {
                let a = self.not(diagrams, a);
                self.intern(Shape::Next(strength.dual(), a))
            }
            Shape::Previous(strength, a) => {
                let a = self.not(diagrams, a);
                self.intern(Shape::Previous(strength.dual(), a))
            }
            Shape::Until(a, b) => self.dual(diagrams, a, b, Shape::Release),
            Shape::Release(a, b) => self.dual(diagrams, a, b, Shape::Until),
            Shape::Since(a, b) => self.dual(diagrams, a, b, Shape::Trigger),
            Shape::Trigger(a, b) => self.dual(diagrams, a, b, Shape::Since),
        };
        self.negations.insert(formula, negation);
        self.negations.insert(negation, formula);
        negation
    }

    fn dual(
        &mut self,
        diagrams: &mut Diagrams,
        a: Formula,
        b: Formula,
        shape: impl FnOnce(Formula, Formula) -> Shape,
    ) -> Formula {
        let (a, b) = (self.not(diagrams, a), self.not(diagrams, b));
        self.intern(shape(a, b))
    }

    /// The kernel formula for what the user wrote.
    pub(super) fn translate(&mut self, diagrams: &mut Diagrams, ltl: &Ltl) -> Formula {
        use LtlOp::*;
        use Strength::{Strong, Weak};
        let mut parts: Vec<Formula> = ltl
            .parts
            .iter()
            .map(|part| self.translate(diagrams, part))
            .collect();
        let a = parts.first().copied();
        let b = parts.get(1).copied();
        let a = move || a.expect("an operand");
        let b = move || b.expect("a second operand");
        let yes = self.state(Diagram::TRUE);
        let no = self.state(Diagram::FALSE);
        match ltl.op {
            True => yes,
            False => no,
            Proposition(index) => {
                let set = self.alphabet.set_of(diagrams, index);
                self.state(set)
            }
            Not => self.not(diagrams, a()),
            And => self.and(diagrams, std::mem::take(&mut parts)),
            Or => self.or(diagrams, std::mem::take(&mut parts)),
            Implies => {
                let left = self.not(diagrams, a());
                self.or(diagrams, vec![left, b()])
            }
            Iff => self.equivalence(diagrams, a(), b()),
            Xor => {
                let right = self.not(diagrams, b());
                self.equivalence(diagrams, a(), right)
            }
            Next => self.intern(Shape::Next(Strong, a())),
            WeakNext => self.intern(Shape::Next(Weak, a())),
            Eventually => self.intern(Shape::Until(yes, a())),
            Always => self.intern(Shape::Release(no, a())),
            Until => self.intern(Shape::Until(a(), b())),
            WeakUntil => {
                let either = self.or(diagrams, vec![a(), b()]);
                self.intern(Shape::Release(b(), either))
            }
            Release => self.intern(Shape::Release(a(), b())),
            StrongRelease => {
                let both = self.and(diagrams, vec![a(), b()]);
                self.intern(Shape::Until(b(), both))
            }
            Yesterday => self.intern(Shape::Previous(Strong, a())),
            WeakYesterday => self.intern(Shape::Previous(Weak, a())),
            Once => self.intern(Shape::Since(yes, a())),
            Historically => self.intern(Shape::Trigger(no, a())),
            Since => self.intern(Shape::Since(a(), b())),
            WeakSince => {
                let either = self.or(diagrams, vec![a(), b()]);
                self.intern(Shape::Trigger(b(), either))
            }
            Trigger => self.intern(Shape::Trigger(a(), b())),
            Start => {
                let before = self.intern(Shape::Previous(Strong, a()));
                let not_before = self.not(diagrams, before);
                self.and(diagrams, vec![a(), not_before])
            }
            End => {
                let before = self.intern(Shape::Previous(Strong, a()));
                let not_now = self.not(diagrams, a());
                self.and(diagrams, vec![not_now, before])
            }
            Interval => {
                let open = self.not(diagrams, b());
                let begins = self.and(diagrams, vec![a(), open]);
                self.intern(Shape::Since(open, begins))
            }
            EventuallyIn(distance) => {
                let next = |formula| Shape::Next(Strong, formula);
                self.within(diagrams, a(), distance, Self::or, next)
            }
            AlwaysIn(distance) => {
                let next = |formula| Shape::Next(Weak, formula);
                self.within(diagrams, a(), distance, Self::and, next)
            }
            OnceIn(distance) => {
                let previous = |formula| Shape::Previous(Strong, formula);
                self.within(diagrams, a(), distance, Self::or, previous)
            }
            HistoricallyIn(distance) => {
                let previous = |formula| Shape::Previous(Weak, formula);
                self.within(diagrams, a(), distance, Self::and, previous)
            }
        }
    }

    /// A formula at the positions so far away, one step at a time, joined from the farthest to the nearest.
    fn within(
        &mut self,
        diagrams: &mut Diagrams,
        formula: Formula,
        distance: Distance,
        join: fn(&mut Self, &mut Diagrams, Vec<Formula>) -> Formula,
        step: fn(Formula) -> Shape,
    ) -> Formula {
        let mut whole = formula;
        for _ in distance.least..distance.most {
            let beyond = self.intern(step(whole));
            whole = join(self, diagrams, vec![formula, beyond]);
        }
        for _ in 0..distance.least {
            whole = self.intern(step(whole));
        }
        whole
    }

    fn equivalence(&mut self, diagrams: &mut Diagrams, a: Formula, b: Formula) -> Formula {
        let (not_a, not_b) = (self.not(diagrams, a), self.not(diagrams, b));
        let forth = self.or(diagrams, vec![not_a, b]);
        let back = self.or(diagrams, vec![a, not_b]);
        self.and(diagrams, vec![forth, back])
    }

    /// All formulas below `root` and `root` itself, operands before what they are operands of.
    pub(super) fn closure(&self, root: Formula) -> Vec<Formula> {
        let mut order = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![(root, false)];
        while let Some((formula, done)) = stack.pop() {
            if done {
                order.push(formula);
            } else if seen.insert(formula) {
                stack.push((formula, true));
                stack.extend(self.parts(formula).into_iter().map(|part| (part, false)));
            }
        }
        order
    }
}

impl Strength {
    pub(super) fn dual(self) -> Self {
        match self {
            Strength::Strong => Strength::Weak,
            Strength::Weak => Strength::Strong,
        }
    }
}
