//! A formula over a finite prefix, in three-valued logic: true or false if the letters that were
//! seen already force it, unknown otherwise.

use crate::{
    alphabet::{Alphabet, Letter},
    ltl::{Ltl, LtlOp},
    syntax::Distance,
};

/// The letters that were seen.
pub(super) struct Prefix<'a> {
    alphabet: &'a Alphabet,
    run: &'a [Letter],
}

/// The part of a formula that forced its truth.
pub(super) struct Cause<'f> {
    pub(super) part: &'f Ltl,
    pub(super) position: usize,
    pub(super) truth: bool,
}

type Truth = Option<bool>;

fn not(a: Truth) -> Truth {
    a.map(|a| !a)
}

fn and(a: Truth, b: Truth) -> Truth {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Truth, b: Truth) -> Truth {
    not(and(not(a), not(b)))
}

impl<'a> Prefix<'a> {
    pub(super) fn new(alphabet: &'a Alphabet, run: &'a [Letter]) -> Self {
        Prefix { alphabet, run }
    }

    /// The part of `formula` that makes it `truth` at the first position, if the prefix forces that.
    pub(super) fn decided<'f>(&self, formula: &'f Ltl, truth: bool) -> Option<Cause<'f>> {
        if self.run.is_empty() || self.value(formula, 0) != Some(truth) {
            return None;
        }
        Some(self.cause(formula, 0, truth))
    }

    pub(super) fn value(&self, formula: &Ltl, position: usize) -> Truth {
        self.values(formula).get(position).copied().flatten()
    }

    /// The parts that make `formula` true or false at a position: of a conjunction those that are
    /// false, of a disjunction those that are true, of everything else itself.
    pub(super) fn decisive<'f>(
        &self,
        formula: &'f Ltl,
        position: usize,
        truth: bool,
    ) -> Vec<&'f Ltl> {
        let mut decisive = Vec::new();
        let mut open = vec![formula];
        while let Some(part) = open.pop() {
            let joins = matches!((part.op, truth), (LtlOp::And, false) | (LtlOp::Or, true));
            if !joins || !is_written_out(part) {
                decisive.push(part);
                continue;
            }
            let operands = part.parts.iter().rev();
            open.extend(operands.filter(|operand| self.value(operand, position) == Some(truth)));
        }
        decisive
    }

    /// The truth at every position that was seen.
    fn values(&self, formula: &Ltl) -> Vec<Truth> {
        use LtlOp::*;
        let length = self.run.len();
        let parts: Vec<Vec<Truth>> = formula.parts.iter().map(|part| self.values(part)).collect();
        let part = |index: usize, at: usize| parts[index][at];
        let every = |value: &dyn Fn(usize) -> Truth| (0..length).map(value).collect();
        // Beyond the prefix everything is unknown; before it, weak operators are true.
        let future = |step: &dyn Fn(usize, Truth) -> Truth| {
            let mut values = vec![None; length];
            let mut later = None;
            for at in (0..length).rev() {
                later = step(at, later);
                values[at] = later;
            }
            values
        };
        let past = |before: bool, step: &dyn Fn(usize, Truth) -> Truth| {
            let mut earlier = Some(before);
            (0..length)
                .map(|at| {
                    earlier = step(at, earlier);
                    earlier
                })
                .collect()
        };
        let previous = |before: bool, at: usize| match at {
            0 => Some(before),
            _ => part(0, at - 1),
        };
        // The operand at the positions so far away: those that were not seen yet may still come, and
        // before the first there is none.
        let ahead = |at: usize, distance: Distance| {
            let positions = at + distance.least as usize..=at + distance.most as usize;
            positions.map(|at| parts[0].get(at).copied().flatten())
        };
        let behind = |at: usize, distance: Distance| {
            let steps = distance.least as usize..=distance.most as usize;
            steps
                .filter_map(move |steps| at.checked_sub(steps))
                .map(|at| part(0, at))
        };
        match formula.op {
            True => vec![Some(true); length],
            False => vec![Some(false); length],
            Proposition(index) => every(&|at| Some(self.alphabet.holds(self.run[at], index))),
            Not => every(&|at| not(part(0, at))),
            And => every(&|at| {
                let values = parts.iter().map(|part| part[at]);
                values.reduce(and).unwrap_or(Some(true))
            }),
            Or => every(&|at| {
                let values = parts.iter().map(|part| part[at]);
                values.reduce(or).unwrap_or(Some(false))
            }),
            Implies => every(&|at| or(not(part(0, at)), part(1, at))),
            Iff => every(&|at| Some(part(0, at)? == part(1, at)?)),
            Xor => every(&|at| Some(part(0, at)? != part(1, at)?)),
            Next | WeakNext => every(&|at| parts[0].get(at + 1).copied().flatten()),
            Eventually => future(&|at, later| or(part(0, at), later)),
            Always => future(&|at, later| and(part(0, at), later)),
            Until | WeakUntil => future(&|at, later| or(part(1, at), and(part(0, at), later))),
            Release => future(&|at, later| and(part(1, at), or(part(0, at), later))),
            StrongRelease => future(&|at, later| and(part(1, at), or(part(0, at), later))),
            Yesterday => every(&|at| previous(false, at)),
            WeakYesterday => every(&|at| previous(true, at)),
            Once => past(false, &|at, earlier| or(part(0, at), earlier)),
            Historically => past(true, &|at, earlier| and(part(0, at), earlier)),
            Since => past(false, &|at, earlier| {
                or(part(1, at), and(part(0, at), earlier))
            }),
            WeakSince => past(true, &|at, earlier| {
                or(part(1, at), and(part(0, at), earlier))
            }),
            Trigger => past(true, &|at, earlier| {
                and(part(1, at), or(part(0, at), earlier))
            }),
            Start => every(&|at| and(part(0, at), not(previous(false, at)))),
            End => every(&|at| and(not(part(0, at)), previous(false, at))),
            Interval => past(false, &|at, earlier| {
                and(not(part(1, at)), or(part(0, at), earlier))
            }),
            EventuallyIn(distance) => every(&|at| ahead(at, distance).reduce(or).flatten()),
            AlwaysIn(distance) => every(&|at| ahead(at, distance).reduce(and).flatten()),
            OnceIn(distance) => every(&|at| behind(at, distance).reduce(or).unwrap_or(Some(false))),
            HistoricallyIn(distance) => {
                every(&|at| behind(at, distance).reduce(and).unwrap_or(Some(true)))
            }
        }
    }

    /// Follows the truth of `formula` at a position down to the part that forced it.
    fn cause<'f>(&self, formula: &'f Ltl, position: usize, truth: bool) -> Cause<'f> {
        use LtlOp::*;
        let here = Cause {
            part: formula,
            position,
            truth,
        };
        let first_part = |wanted: bool| {
            formula
                .parts
                .iter()
                .find(|part| self.value(part, position) == Some(wanted))
        };
        let first_position = |wanted: bool| {
            let values = self.values(&formula.parts[0]);
            (position..values.len()).find(|&at| values[at] == Some(wanted))
        };
        match (formula.op, truth) {
            (Not, _) if formula.parts[0].op.is_temporal() => {
                self.cause(&formula.parts[0], position, !truth)
            }
            (And, false) | (Or, true) => match first_part(truth) {
                Some(part) => self.cause(part, position, truth),
                None => here,
            },
            (Next | WeakNext, _) => self.cause(&formula.parts[0], position + 1, truth),
            (Always, false) | (Eventually, true) => match first_position(truth) {
                Some(at) => self.cause(&formula.parts[0], at, truth),
                None => here,
            },
            (AlwaysIn(distance), false) | (EventuallyIn(distance), true) => {
                let values = self.values(&formula.parts[0]);
                let end = values.len().min(position + distance.most as usize + 1);
                let mut positions = position + distance.least as usize..end;
                match positions.find(|&at| values[at] == Some(truth)) {
                    Some(at) => self.cause(&formula.parts[0], at, truth),
                    None => here,
                }
            }
            (Until | WeakUntil, true) => {
                let values = self.values(&formula.parts[1]);
                match (position..values.len()).find(|&at| values[at] == Some(true)) {
                    Some(at) => self.cause(&formula.parts[1], at, true),
                    None => here,
                }
            }
            (Release | StrongRelease, false) => {
                let values = self.values(&formula.parts[1]);
                match (position..values.len()).find(|&at| values[at] == Some(false)) {
                    Some(at) => self.cause(&formula.parts[1], at, false),
                    None => here,
                }
            }
            // The last operand that gives way is where the waiting ended.
            (Until | WeakUntil, false) | (Release | StrongRelease, true) => {
                let values = self.values(&formula.parts[0]);
                let end = (position..values.len()).find(|&at| values[at] == Some(truth));
                Cause {
                    position: end.unwrap_or(position),
                    ..here
                }
            }
            _ => here,
        }
    }
}

/// Whether the operands stand where the whole stands: those of a name do not, and those of a pattern
/// all have its text.
fn is_written_out(part: &Ltl) -> bool {
    let inside = |operand: &Ltl| {
        operand.span != part.span
            && part.span.start <= operand.span.start
            && operand.span.end <= part.span.end
    };
    part.parts.iter().all(inside)
}
