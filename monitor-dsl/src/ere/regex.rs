//! Regular expressions up to similarity, hash-consed.

use rustc_hash::FxHashMap;

use super::tree::{Ere, EreOp};
use crate::{
    alphabet::Alphabet,
    diagram::{Diagram, Diagrams},
    ltl::{Ltl, LtlOp},
};

/// An expression, by its number in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Regex(pub(super) u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Construct {
    Empty,
    Epsilon,
    /// One letter of a set.
    Letter(Diagram),
    /// The first is not a concatenation itself.
    Concat(Regex, Regex),
    Union(Box<[Regex]>),
    Intersection(Box<[Regex]>),
    Complement(Regex),
    /// `{min,max}`; `*` is `{0,}`.
    Repeat(Regex, u32, Option<u32>),
}

/// The store of expressions.
pub(super) struct Regexes {
    shapes: Vec<Construct>,
    /// Whether the empty word is in the language.
    nullable: Vec<bool>,
    known: FxHashMap<Construct, Regex>,
}

impl Regexes {
    pub(super) const EMPTY: Regex = Regex(0);
    pub(super) const EPSILON: Regex = Regex(1);
    /// All words.
    pub(super) const ALL: Regex = Regex(2);

    pub(super) fn new() -> Self {
        let mut regexes = Regexes {
            shapes: Vec::new(),
            nullable: Vec::new(),
            known: FxHashMap::default(),
        };
        regexes.intern(Construct::Empty);
        regexes.intern(Construct::Epsilon);
        regexes.intern(Construct::Complement(Self::EMPTY));
        regexes
    }

    pub(super) fn shape(&self, regex: Regex) -> &Construct {
        &self.shapes[regex.0 as usize]
    }

    pub(super) fn is_nullable(&self, regex: Regex) -> bool {
        self.nullable[regex.0 as usize]
    }

    /// The number of parts of a union or an intersection.
    pub(super) fn parts(&self, regex: Regex) -> usize {
        match self.shape(regex) {
            Construct::Union(parts) | Construct::Intersection(parts) => parts.len(),
            _ => 0,
        }
    }

    fn intern(&mut self, shape: Construct) -> Regex {
        if let Some(&regex) = self.known.get(&shape) {
            return regex;
        }
        let nullable = match &shape {
            Construct::Empty | Construct::Letter(_) => false,
            Construct::Epsilon => true,
            Construct::Concat(a, b) => self.is_nullable(*a) && self.is_nullable(*b),
            Construct::Union(parts) => parts.iter().any(|&part| self.is_nullable(part)),
            Construct::Intersection(parts) => parts.iter().all(|&part| self.is_nullable(part)),
            Construct::Complement(a) => !self.is_nullable(*a),
            Construct::Repeat(a, min, _) => *min == 0 || self.is_nullable(*a),
        };
        let regex = Regex(self.shapes.len() as u32);
        self.shapes.push(shape.clone());
        self.nullable.push(nullable);
        self.known.insert(shape, regex);
        regex
    }

    pub(super) fn letter(&mut self, set: Diagram) -> Regex {
        match set {
            Diagram::FALSE => Self::EMPTY,
            set => self.intern(Construct::Letter(set)),
        }
    }

    pub(super) fn concat(&mut self, first: Regex, second: Regex) -> Regex {
        if first == Self::EMPTY || second == Self::EMPTY {
            return Self::EMPTY;
        }
        if second == Self::EPSILON {
            return first;
        }
        // To the right, one factor at a time: chains can be long.
        let mut factors = Vec::new();
        let mut rest = first;
        while let Construct::Concat(factor, tail) = *self.shape(rest) {
            factors.push(factor);
            rest = tail;
        }
        factors.push(rest);
        factors
            .into_iter()
            .rev()
            .fold(second, |tail, factor| match (factor, self.shape(tail)) {
                (Self::EPSILON, _) => tail,
                (Self::ALL, Construct::Concat(Self::ALL, _)) => tail,
                (Self::ALL, _) if tail == Self::ALL => tail,
                _ => self.intern(Construct::Concat(factor, tail)),
            })
    }

    pub(super) fn union(&mut self, parts: impl IntoIterator<Item = Regex>) -> Regex {
        let mut flat = Vec::new();
        for part in parts {
            match self.shape(part) {
                Construct::Empty => {}
                Construct::Union(inner) => flat.extend_from_slice(inner),
                _ if part == Self::ALL => return Self::ALL,
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => Self::EMPTY,
            [single] => *single,
            _ => self.intern(Construct::Union(flat.into())),
        }
    }

    pub(super) fn intersection(&mut self, parts: impl IntoIterator<Item = Regex>) -> Regex {
        let mut flat = Vec::new();
        for part in parts {
            match self.shape(part) {
                Construct::Empty => return Self::EMPTY,
                Construct::Intersection(inner) => flat.extend_from_slice(inner),
                _ if part == Self::ALL => {}
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => Self::ALL,
            [single] => *single,
            _ => self.intern(Construct::Intersection(flat.into())),
        }
    }

    pub(super) fn complement(&mut self, regex: Regex) -> Regex {
        match self.shape(regex) {
            Construct::Complement(inner) => *inner,
            _ => self.intern(Construct::Complement(regex)),
        }
    }

    pub(super) fn repeat(&mut self, regex: Regex, min: u32, max: Option<u32>) -> Regex {
        // Repeating what may be empty at least so often is repeating it up to so often.
        let min = if self.is_nullable(regex) { 0 } else { min };
        match (self.shape(regex), min, max) {
            (_, _, Some(0)) => Self::EPSILON,
            (Construct::Empty, 0, _) => Self::EPSILON,
            (Construct::Empty, ..) => Self::EMPTY,
            (Construct::Epsilon, ..) => Self::EPSILON,
            (_, 1, Some(1)) => regex,
            (_, 0, Some(1)) if self.is_nullable(regex) => regex,
            _ if regex == Self::ALL => Self::ALL,
            // A star stays as it is, however often it is repeated.
            (Construct::Repeat(_, 0, None), ..) => regex,
            (Construct::Letter(Diagram::TRUE), 0, None) => Self::ALL,
            // An option or a bounded repetition below a star adds nothing.
            (&Construct::Repeat(inner, 0 | 1, _), 0, None) => self.repeat(inner, 0, None),
            // At most m times at most n times is at most m·n times.
            (&Construct::Repeat(inner, 0, Some(most)), 0, Some(max))
                if let Some(product) = most.checked_mul(max) =>
            {
                self.repeat(inner, 0, Some(product))
            }
            _ => self.intern(Construct::Repeat(regex, min, max)),
        }
    }

    /// How many expressions there are.
    pub(super) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// The expression for what the user wrote.
    pub(super) fn translate(
        &mut self,
        diagrams: &mut Diagrams,
        alphabet: &Alphabet,
        ere: &Ere,
    ) -> Regex {
        let parts: Vec<Regex> = ere
            .parts
            .iter()
            .map(|part| self.translate(diagrams, alphabet, part))
            .collect();
        match &ere.op {
            EreOp::Empty => Self::EMPTY,
            EreOp::Epsilon => Self::EPSILON,
            EreOp::Letter(formulas) => {
                let set = formulas.iter().fold(Diagram::TRUE, |set, formula| {
                    let formula = letters(diagrams, alphabet, formula);
                    diagrams.and(set, formula)
                });
                self.letter(set)
            }
            EreOp::Concat => parts
                .into_iter()
                .rev()
                .fold(Self::EPSILON, |tail, part| self.concat(part, tail)),
            EreOp::Union => self.union(parts),
            EreOp::Intersection => self.intersection(parts),
            EreOp::Complement => self.complement(parts[0]),
            EreOp::Repeat(min, max) => self.repeat(parts[0], *min, *max),
        }
    }
}

/// The set of letters in which a state formula holds.
pub(crate) fn letters(diagrams: &mut Diagrams, alphabet: &Alphabet, formula: &Ltl) -> Diagram {
    let parts: Vec<Diagram> = formula
        .parts
        .iter()
        .map(|part| letters(diagrams, alphabet, part))
        .collect();
    match formula.op {
        LtlOp::True => Diagram::TRUE,
        LtlOp::False => Diagram::FALSE,
        LtlOp::Proposition(index) => alphabet.set_of(diagrams, index),
        LtlOp::Not => diagrams.not(parts[0]),
        LtlOp::And => parts
            .into_iter()
            .fold(Diagram::TRUE, |a, b| diagrams.and(a, b)),
        LtlOp::Or => parts
            .into_iter()
            .fold(Diagram::FALSE, |a, b| diagrams.or(a, b)),
        LtlOp::Implies => {
            let left = diagrams.not(parts[0]);
            diagrams.or(left, parts[1])
        }
        LtlOp::Iff => {
            let otherwise = diagrams.not(parts[1]);
            diagrams.if_then_else(parts[0], parts[1], otherwise)
        }
        LtlOp::Xor => {
            let otherwise = diagrams.not(parts[1]);
            diagrams.if_then_else(parts[0], otherwise, parts[1])
        }
        _ => unreachable!("a state formula has no temporal operator"),
    }
}
