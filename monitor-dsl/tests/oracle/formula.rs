//! Syntax trees of LTL formulas and extended regular expressions, and how to make them simpler.

/// A prefix operator of LTL, `start(..)` and `end(..)` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Not,
    Next,
    WeakNext,
    Eventually,
    Always,
    Yesterday,
    WeakYesterday,
    Once,
    Historically,
    Start,
    End,
    /// This many times.
    Times(Step, u32),
    /// At some position that is at least and at most this many steps away.
    Somewhere(Direction, u32, u32),
    /// At every such position that exists.
    Everywhere(Direction, u32, u32),
}

/// An operator that looks one step away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Next,
    WeakNext,
    Yesterday,
    WeakYesterday,
}

/// Where a counted operator looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Ahead,
    Back,
}

/// An infix operator of LTL, the interval `[.., ..)` included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Since,
    WeakSince,
    Trigger,
    Interval,
}

/// An LTL formula; propositions are indices into the case's list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formula {
    Const(bool),
    Prop(usize),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
}

/// An extended regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ere {
    Epsilon,
    Empty,
    /// Any step.
    Any,
    /// The bare name of an event, by its proposition.
    Event(usize),
    /// A step in which all of these (boolean) formulas hold.
    Step(Vec<Formula>),
    /// The least and the greatest number of copies.
    Repeat(Box<Ere>, u32, Option<u32>),
    Complement(Box<Ere>),
    Concat(Box<Ere>, Box<Ere>),
    Intersect(Box<Ere>, Box<Ere>),
    Union(Box<Ere>, Box<Ere>),
}

impl Unary {
    /// The operator with smaller numbers.
    fn fewer(self) -> Vec<Unary> {
        let ranges = |least: u32, most: u32| {
            let mut ranges = Vec::new();
            if least < most {
                ranges.extend([(least + 1, most), (least, most - 1)]);
            }
            if least > 0 {
                ranges.push((least - 1, most - 1));
            }
            ranges.into_iter()
        };
        match self {
            Unary::Times(step, times @ 1..) => vec![Unary::Times(step, times - 1)],
            Unary::Somewhere(to, least, most) => ranges(least, most)
                .map(|(least, most)| Unary::Somewhere(to, least, most))
                .collect(),
            Unary::Everywhere(to, least, most) => ranges(least, most)
                .map(|(least, most)| Unary::Everywhere(to, least, most))
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Formula {
    pub(crate) fn unary(op: Unary, operand: Formula) -> Formula {
        Formula::Unary(op, Box::new(operand))
    }

    pub(crate) fn binary(op: Binary, left: Formula, right: Formula) -> Formula {
        Formula::Binary(op, Box::new(left), Box::new(right))
    }

    /// Calls `visit` on every subformula, the formula itself first.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Formula)) {
        visit(self);
        match self {
            Formula::Const(_) | Formula::Prop(_) => {}
            Formula::Unary(_, a) => a.each(visit),
            Formula::Binary(_, a, b) => {
                a.each(visit);
                b.each(visit);
            }
        }
    }

    /// The number of temporal operators, counted ones written out: each costs the tableau one bit.
    pub(crate) fn temporal_operators(&self) -> usize {
        let mut count = 0;
        self.each(&mut |f| match f {
            Formula::Unary(Unary::Times(_, times), _) => count += *times as usize,
            Formula::Unary(Unary::Somewhere(_, _, most) | Unary::Everywhere(_, _, most), _) => {
                count += *most as usize;
            }
            Formula::Unary(op, _) if *op != Unary::Not => count += 1,
            Formula::Binary(op, _, _) if op.level() >= 5 => count += 1,
            _ => {}
        });
        count
    }

    /// The propositions that occur, as a bit set.
    pub(crate) fn propositions(&self) -> u32 {
        let mut set = 0;
        self.each(&mut |f| {
            if let Formula::Prop(p) = f {
                set |= 1 << p;
            }
        });
        set
    }

    /// The value of a formula without temporal operators in one letter.
    pub(crate) fn holds_in(&self, letter: u32) -> bool {
        match self {
            Formula::Const(value) => *value,
            Formula::Prop(p) => letter >> p & 1 == 1,
            Formula::Unary(Unary::Not, a) => !a.holds_in(letter),
            Formula::Binary(op, a, b) => {
                let (a, b) = (a.holds_in(letter), b.holds_in(letter));
                match op {
                    Binary::And => a && b,
                    Binary::Or => a || b,
                    Binary::Xor => a != b,
                    Binary::Implies => !a || b,
                    Binary::Iff => a == b,
                    _ => panic!("{self:?} is not boolean"),
                }
            }
            Formula::Unary(..) => panic!("{self:?} is not boolean"),
        }
    }

    /// All formulas that are one step simpler: a subformula replaced by one of its operands or by a constant.
    pub(crate) fn simpler(&self) -> Vec<Formula> {
        let mut out = Vec::new();
        match self {
            Formula::Const(_) => {}
            Formula::Prop(_) => out.extend([Formula::Const(true), Formula::Const(false)]),
            Formula::Unary(op, a) => {
                out.extend([(**a).clone(), Formula::Const(true), Formula::Const(false)]);
                let fewer = op.fewer().into_iter();
                out.extend(fewer.map(|op| Formula::unary(op, (**a).clone())));
                out.extend(a.simpler().into_iter().map(|a| Formula::unary(*op, a)));
            }
            Formula::Binary(op, a, b) => {
                out.extend([(**a).clone(), (**b).clone()]);
                out.extend([Formula::Const(true), Formula::Const(false)]);
                let left = a.simpler().into_iter();
                out.extend(left.map(|a| Formula::binary(*op, a, (**b).clone())));
                let right = b.simpler().into_iter();
                out.extend(right.map(|b| Formula::binary(*op, (**a).clone(), b)));
            }
        }
        out
    }
}

impl Ere {
    pub(crate) fn repeat(operand: Ere, least: u32, most: Option<u32>) -> Ere {
        Ere::Repeat(Box::new(operand), least, most)
    }

    pub(crate) fn complement(operand: Ere) -> Ere {
        Ere::Complement(Box::new(operand))
    }

    pub(crate) fn concat(left: Ere, right: Ere) -> Ere {
        Ere::Concat(Box::new(left), Box::new(right))
    }

    pub(crate) fn intersect(left: Ere, right: Ere) -> Ere {
        Ere::Intersect(Box::new(left), Box::new(right))
    }

    pub(crate) fn union(left: Ere, right: Ere) -> Ere {
        Ere::Union(Box::new(left), Box::new(right))
    }

    /// Calls `visit` on every subexpression.
    pub(crate) fn each(&self, visit: &mut impl FnMut(&Ere)) {
        visit(self);
        match self {
            Ere::Epsilon | Ere::Empty | Ere::Any | Ere::Event(_) | Ere::Step(_) => {}
            Ere::Repeat(a, _, _) | Ere::Complement(a) => a.each(visit),
            Ere::Concat(a, b) | Ere::Intersect(a, b) | Ere::Union(a, b) => {
                a.each(visit);
                b.each(visit);
            }
        }
    }

    /// The propositions that occur, as a bit set.
    pub(crate) fn propositions(&self) -> u32 {
        let mut set = 0;
        self.each(&mut |e| match e {
            Ere::Event(p) => set |= 1 << p,
            Ere::Step(parts) => parts.iter().for_each(|f| set |= f.propositions()),
            _ => {}
        });
        set
    }

    /// Whether a step with this letter is matched by a one-letter expression.
    pub(crate) fn matches_letter(&self, letter: u32) -> bool {
        match self {
            Ere::Any => true,
            Ere::Event(p) => letter >> p & 1 == 1,
            Ere::Step(parts) => parts.iter().all(|f| f.holds_in(letter)),
            _ => panic!("{self:?} is not a letter"),
        }
    }

    /// All expressions that are one step simpler.
    pub(crate) fn simpler(&self) -> Vec<Ere> {
        let mut out = Vec::new();
        if !matches!(self, Ere::Epsilon | Ere::Empty) {
            out.extend([Ere::Epsilon, Ere::Empty]);
        }
        match self {
            Ere::Epsilon | Ere::Empty | Ere::Any => {}
            Ere::Event(_) => out.push(Ere::Any),
            Ere::Step(parts) => {
                out.push(Ere::Any);
                for (i, part) in parts.iter().enumerate() {
                    let mut fewer = parts.clone();
                    fewer.remove(i);
                    out.push(Ere::Step(fewer));
                    for simpler in part.simpler() {
                        let mut parts = parts.clone();
                        parts[i] = simpler;
                        out.push(Ere::Step(parts));
                    }
                }
            }
            Ere::Repeat(a, least, most) => {
                out.push((**a).clone());
                if *least > 0 {
                    out.push(Ere::repeat((**a).clone(), least - 1, most.map(|m| m - 1)));
                }
                out.extend(
                    a.simpler()
                        .into_iter()
                        .map(|a| Ere::repeat(a, *least, *most)),
                );
            }
            Ere::Complement(a) => {
                out.push((**a).clone());
                out.extend(a.simpler().into_iter().map(Ere::complement));
            }
            Ere::Concat(a, b) => simpler_pair(a, b, Ere::concat, &mut out),
            Ere::Intersect(a, b) => simpler_pair(a, b, Ere::intersect, &mut out),
            Ere::Union(a, b) => simpler_pair(a, b, Ere::union, &mut out),
        }
        out
    }
}

fn simpler_pair(a: &Ere, b: &Ere, build: fn(Ere, Ere) -> Ere, out: &mut Vec<Ere>) {
    out.extend([a.clone(), b.clone()]);
    out.extend(a.simpler().into_iter().map(|a| build(a, b.clone())));
    out.extend(b.simpler().into_iter().map(|b| build(a.clone(), b)));
}
