//! The specification patterns of Dwyer, Avrunin and Corbett, written out in LTL.

use super::Resolver;
use crate::{
    error::Error,
    ltl::{Ltl, LtlOp},
    syntax::{Expression, Pattern, Scope, Span},
};

impl Resolver<'_> {
    pub(super) fn pattern(
        &mut self,
        pattern: &Pattern,
        scope: &Scope,
        span: Span,
    ) -> Result<Ltl, Error> {
        let mut proposition = |expression: &Expression| self.state_formula(expression, "a pattern");
        let shape = match pattern {
            Pattern::Absence(p) => PatternKind::Absence(proposition(p)?),
            Pattern::Existence(p) => PatternKind::Existence(proposition(p)?),
            Pattern::Universality(p) => PatternKind::Universality(proposition(p)?),
            Pattern::Precedence(s, p) => {
                let s = proposition(s)?;
                PatternKind::Precedence(s, proposition(p)?)
            }
            Pattern::Response(s, p) => {
                let s = proposition(s)?;
                PatternKind::Response(s, proposition(p)?)
            }
        };
        let scope = match scope {
            Scope::Globally => Interval::Globally,
            Scope::Before(r) => Interval::Before(proposition(r)?),
            Scope::After(q) => Interval::After(proposition(q)?),
            Scope::Between(q, r) => {
                let q = proposition(q)?;
                Interval::Between(q, proposition(r)?)
            }
            Scope::AfterUntil(q, r) => {
                let q = proposition(q)?;
                Interval::AfterUntil(q, proposition(r)?)
            }
        };
        Ok(FormulaWriter { span }.write(shape, scope))
    }
}

enum PatternKind {
    Absence(Ltl),
    Existence(Ltl),
    Universality(Ltl),
    /// The second does not happen before the first.
    Precedence(Ltl, Ltl),
    /// The first follows every second.
    Response(Ltl, Ltl),
}

enum Interval {
    Globally,
    Before(Ltl),
    After(Ltl),
    Between(Ltl, Ltl),
    AfterUntil(Ltl, Ltl),
}

/// Writes formulas whose parts all stand for the same piece of text.
struct FormulaWriter {
    span: Span,
}

impl FormulaWriter {
    fn write(&self, shape: PatternKind, scope: Interval) -> Ltl {
        match scope {
            Interval::Globally => self.globally(shape),
            Interval::Before(r) => self.before(shape, r),
            Interval::After(q) => self.after(shape, q),
            Interval::Between(q, r) => self.between(shape, q, r),
            Interval::AfterUntil(q, r) => self.after_until(shape, q, r),
        }
    }

    fn globally(&self, shape: PatternKind) -> Ltl {
        match shape {
            PatternKind::Absence(p) => self.always(self.not(p)),
            PatternKind::Existence(p) => self.eventually(p),
            PatternKind::Universality(p) => self.always(p),
            PatternKind::Precedence(s, p) => self.op(LtlOp::WeakUntil, [self.not(p), s]),
            PatternKind::Response(s, p) => self.always(self.implies(p, self.eventually(s))),
        }
    }

    fn before(&self, shape: PatternKind, r: Ltl) -> Ltl {
        if let PatternKind::Existence(p) = shape {
            let not_r = self.not(r);
            return self.op(LtlOp::WeakUntil, [not_r.clone(), self.and([not_r, p])]);
        }
        self.implies(
            self.eventually(r.clone()),
            self.held_until(shape, r, LtlOp::Until),
        )
    }

    fn after(&self, shape: PatternKind, q: Ltl) -> Ltl {
        match shape {
            PatternKind::Existence(p) => self.or([
                self.always(self.not(q.clone())),
                self.eventually(self.and([q, self.eventually(p)])),
            ]),
            PatternKind::Precedence(s, p) => {
                let precedes = self.op(LtlOp::WeakUntil, [self.not(p), s]);
                self.or([
                    self.always(self.not(q.clone())),
                    self.eventually(self.and([q, precedes])),
                ])
            }
            shape => self.always(self.implies(q, self.globally(shape))),
        }
    }

    fn between(&self, shape: PatternKind, q: Ltl, r: Ltl) -> Ltl {
        let not_r = self.not(r.clone());
        if let PatternKind::Existence(p) = shape {
            let found = self.and([not_r.clone(), p]);
            let content = self.op(LtlOp::WeakUntil, [not_r.clone(), found]);
            return self.always(self.implies(self.and([q, not_r]), content));
        }
        let closed = self.and([q, not_r, self.eventually(r.clone())]);
        self.always(self.implies(closed, self.held_until(shape, r, LtlOp::Until)))
    }

    fn after_until(&self, shape: PatternKind, q: Ltl, r: Ltl) -> Ltl {
        let not_r = self.not(r.clone());
        let content = match shape {
            PatternKind::Existence(p) => {
                let found = self.and([not_r.clone(), p]);
                self.op(LtlOp::Until, [not_r.clone(), found])
            }
            shape => self.held_until(shape, r, LtlOp::WeakUntil),
        };
        self.always(self.implies(self.and([q, not_r]), content))
    }

    /// What has to hold until `r`.
    fn held_until(&self, shape: PatternKind, r: Ltl, until: LtlOp) -> Ltl {
        match shape {
            PatternKind::Absence(p) => self.op(until, [self.not(p), r]),
            PatternKind::Universality(p) => self.op(until, [p, r]),
            PatternKind::Precedence(s, p) => self.op(until, [self.not(p), self.or([r, s])]),
            PatternKind::Response(s, p) => {
                let not_r = self.not(r.clone());
                let answer = self.op(LtlOp::Until, [not_r.clone(), self.and([not_r, s])]);
                self.op(until, [self.implies(p, answer), r])
            }
            PatternKind::Existence(_) => unreachable!("existence is written out for each scope"),
        }
    }

    fn op<const N: usize>(&self, op: LtlOp, parts: [Ltl; N]) -> Ltl {
        Ltl::new(op, parts.into(), self.span)
    }

    fn not(&self, p: Ltl) -> Ltl {
        self.op(LtlOp::Not, [p])
    }

    fn and<const N: usize>(&self, parts: [Ltl; N]) -> Ltl {
        self.op(LtlOp::And, parts)
    }

    fn or<const N: usize>(&self, parts: [Ltl; N]) -> Ltl {
        self.op(LtlOp::Or, parts)
    }

    fn implies(&self, p: Ltl, q: Ltl) -> Ltl {
        self.op(LtlOp::Implies, [p, q])
    }

    fn always(&self, p: Ltl) -> Ltl {
        self.op(LtlOp::Always, [p])
    }

    fn eventually(&self, p: Ltl) -> Ltl {
        self.op(LtlOp::Eventually, [p])
    }
}
