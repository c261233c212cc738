//! Comparisons: types are checked, and what is compared is brought into the form that gauges read.

use portent_monitor_core::{Type, Value};
use std::sync::Arc;

use super::{Resolver, Symbol, with_article};
use crate::{
    alphabet::{
        StateVariable, VariableId,
        arithmetic::{FloatTerm, IntegerSum, MAX_PRODUCTS, Outgrown},
        gauge::GaugeCondition,
    },
    comparison::Comparison,
    error::Error,
    ltl::{Ltl, LtlOp},
    spelling,
    syntax::{Expression, ExpressionKind, Operator, Span, number},
};

/// One side of a comparison.
enum Operand {
    /// Twice: exactly, and as it would be in a comparison with floats.
    Integer(IntegerSum, FloatTerm),
    Float(FloatTerm),
    Literal(Arc<str>),
    Text(VariableId),
    Truth(Ltl),
}

impl Operand {
    fn describe(&self) -> &'static str {
        with_article(match self {
            Operand::Integer(..) => Type::Int,
            Operand::Float(_) => Type::Float,
            Operand::Literal(_) | Operand::Text(_) => Type::Str,
            Operand::Truth(_) => Type::Bool,
        })
    }

    fn into_float(self) -> Option<FloatTerm> {
        match self {
            Operand::Integer(_, term) | Operand::Float(term) => Some(term),
            _ => None,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        operands: &[Expression],
        whole: &Expression,
    ) -> Result<Ltl, Error> {
        let left = self.side(&operands[0])?;
        let right = self.side(&operands[1])?;
        let span = whole.span;
        let equality = !comparison.is_order();
        let condition = match (left, right) {
            (Operand::Integer(left, _), Operand::Integer(right, _)) => {
                self.integers(left, comparison, right, span)?
            }
            (Operand::Truth(left), Operand::Truth(right)) if equality => {
                let op = if comparison == Comparison::Equal {
                    LtlOp::Iff
                } else {
                    LtlOp::Xor
                };
                return Ok(Ltl::new(op, vec![left, right], span));
            }
            (Operand::Literal(a), Operand::Literal(b)) if equality => Err(comparison.holds(a, b)),
            (Operand::Text(variable), Operand::Literal(literal))
            | (Operand::Literal(literal), Operand::Text(variable))
                if equality =>
            {
                Ok(GaugeCondition::Text(
                    variable,
                    literal,
                    comparison == Comparison::Equal,
                ))
            }
            (Operand::Text(a), Operand::Text(b)) if equality => Ok(GaugeCondition::SameText(
                a.min(b),
                a.max(b),
                comparison == Comparison::Equal,
            )),
            (left, right) => {
                let (a, b) = (left.describe(), right.describe());
                if a == b && !matches!(left, Operand::Integer(..) | Operand::Float(_)) {
                    let message = format!("{a} can only be compared with `==` and `!=`");
                    return Err(Error::meaning(self.error(span, message, "has no order")));
                }
                match (left, right) {
                    (
                        left @ (Operand::Integer(..) | Operand::Float(_)),
                        right @ (Operand::Integer(..) | Operand::Float(_)),
                    ) => self.numbers(left, comparison, right, span)?,
                    _ => {
                        let message = format!("cannot compare {a} with {b}");
                        let label = format!("{a} on the left, {b} on the right");
                        return Err(Error::meaning(self.error(span, message, label)));
                    }
                }
            }
        };
        Ok(match condition {
            Ok(condition) => {
                let text = spelling::arithmetic(&Expression {
                    parenthesised: false,
                    ..whole.clone()
                });
                let proposition = self.builder.condition(text, condition);
                Ltl::new(LtlOp::Proposition(proposition), Vec::new(), span)
            }
            Err(truth) => Ltl::new(
                if truth { LtlOp::True } else { LtlOp::False },
                Vec::new(),
                span,
            ),
        })
    }

    /// `left op right` over integers: a condition, or the truth if it does not depend on anything.
    fn integers(
        &self,
        left: IntegerSum,
        comparison: Comparison,
        right: IntegerSum,
        span: Span,
    ) -> Result<Result<GaugeCondition, bool>, Error> {
        let difference = right
            .scaled(-1)
            .and_then(|right| left.plus(&right))
            .map_err(|outgrown| self.outgrown(outgrown, span))?;
        let (term, scale, constant) = difference.normalised();
        let Some(term) = term else {
            return Ok(Err(comparison.holds(constant, 0)));
        };
        // scale * term + constant op 0, that is: term op bound, where bound is -constant / scale.
        let (comparison, scale, bound) = if scale < 0 {
            (comparison.mirrored(), -scale, constant)
        } else {
            (
                comparison,
                scale,
                constant
                    .checked_neg()
                    .ok_or_else(|| self.outgrown(Outgrown::Bits, span))?,
            )
        };
        let (floor, exact) = (bound.div_euclid(scale), bound.rem_euclid(scale) == 0);
        let after = floor
            .checked_add(1)
            .ok_or_else(|| self.outgrown(Outgrown::Bits, span))?;
        let ceiling = if exact { floor } else { after };
        // `>` and `<=` become `>=` and `<`, so that `w > 26` and `w >= 27` are one proposition.
        Ok(match comparison {
            Comparison::Equal | Comparison::NotEqual if !exact => {
                Err(comparison == Comparison::NotEqual)
            }
            Comparison::Equal | Comparison::NotEqual => {
                Ok(GaugeCondition::Integer(term, comparison, floor))
            }
            Comparison::Greater => Ok(GaugeCondition::Integer(term, Comparison::AtLeast, after)),
            Comparison::AtMost => Ok(GaugeCondition::Integer(term, Comparison::Less, after)),
            Comparison::AtLeast | Comparison::Less => {
                Ok(GaugeCondition::Integer(term, comparison, ceiling))
            }
        })
    }

    /// `left op right` where at least one side is a float.
    fn numbers(
        &self,
        left: Operand,
        comparison: Comparison,
        right: Operand,
        span: Span,
    ) -> Result<Result<GaugeCondition, bool>, Error> {
        let (left, comparison, right) = match (left, right) {
            // An integer against a constant is a matter of integers.
            (Operand::Integer(left, term), Operand::Float(right)) => match right.as_constant() {
                Some(bound) => return self.integer_bound(left, comparison, bound, span),
                None => (term, comparison, right),
            },
            (Operand::Float(left), Operand::Integer(right, term)) => match left.as_constant() {
                Some(bound) => {
                    return self.integer_bound(right, comparison.mirrored(), bound, span);
                }
                None => (left, comparison, term),
            },
            (left, right) => {
                let left = left.into_float().expect("a number");
                (left, comparison, right.into_float().expect("a number"))
            }
        };
        Ok(match (left.as_constant(), right.as_constant()) {
            (Some(left), Some(right)) => Err(comparison.holds(left, right)),
            (Some(nan), None) | (None, Some(nan)) if nan.is_nan() => {
                Err(comparison == Comparison::NotEqual)
            }
            (None, Some(right)) => Ok(GaugeCondition::Float(left, comparison, right)),
            (Some(left), None) => Ok(GaugeCondition::Float(right, comparison.mirrored(), left)),
            // In one order, whichever way it was written, so that both ways share a gauge.
            (None, None) if format!("{left:?}") > format!("{right:?}") => {
                Ok(GaugeCondition::Order(right, comparison.mirrored(), left))
            }
            (None, None) => Ok(GaugeCondition::Order(left, comparison, right)),
        })
    }

    /// `left op bound` over integers, where the bound may have a fraction.
    fn integer_bound(
        &self,
        left: IntegerSum,
        comparison: Comparison,
        bound: f64,
        span: Span,
    ) -> Result<Result<GaugeCondition, bool>, Error> {
        // What is not a number or does not fit 128 bits compares with every integer as with zero.
        if bound.is_nan() || bound.abs() >= 2f64.powi(127) {
            return Ok(Err(comparison.holds(0.0, bound)));
        }
        let (comparison, bound) = match comparison {
            Comparison::Equal | Comparison::NotEqual if bound.fract() != 0.0 => {
                return Ok(Err(comparison == Comparison::NotEqual));
            }
            Comparison::Greater | Comparison::AtMost => (comparison, bound.floor()),
            _ => (comparison, bound.ceil()),
        };
        self.integers(left, comparison, IntegerSum::constant(bound as i128), span)
    }

    fn outgrown(&self, outgrown: Outgrown, span: Span) -> Error {
        match outgrown {
            Outgrown::Bits => {
                let message = "the constants of this comparison are too large to work with";
                Error::limit(self.error(span, message, "beyond 128 bits"))
            }
            Outgrown::Products => {
                let message = format!(
                    "multiplied out, this expression has more than {MAX_PRODUCTS} products"
                );
                Error::limit(self.error(span, message, "too many products"))
            }
        }
    }

    fn side(&mut self, expression: &Expression) -> Result<Operand, Error> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Number(digits) => match number(digits) {
                Some(Value::Int(n)) => Ok(Operand::Integer(
                    IntegerSum::constant(n),
                    FloatTerm::Constant(n as f64),
                )),
                Some(Value::Float(x)) => Ok(Operand::Float(FloatTerm::Constant(x))),
                _ => {
                    let message = "this number does not fit 64 bits";
                    Err(Error::meaning(self.error(span, message, "too large")))
                }
            },
            ExpressionKind::Text(text) => {
                // A name that can only be written in quotes is meant as a name where there is one.
                let quoted = spelling::name(text).starts_with('"');
                match self.symbols.get(text).map(|entry| entry.symbol.clone()) {
                    Some(Symbol::Variable(index)) if quoted => {
                        self.symbol(text);
                        self.declared(index, span)
                    }
                    _ => Ok(Operand::Literal(text.as_str().into())),
                }
            }
            ExpressionKind::Name(name) => match self.symbol(name) {
                Some(Symbol::Variable(index)) => self.declared(index, span),
                Some(_) => Ok(Operand::Truth(self.formula(expression)?)),
                None if name == "true" || name == "false" => {
                    Ok(Operand::Truth(self.formula(expression)?))
                }
                None => match self.inferred.get(name).copied() {
                    Some(type_of) => self.undeclared(name, type_of, span),
                    None => Err(self.unknown(name, span)),
                },
            },
            // The smallest number has no positive counterpart.
            ExpressionKind::Apply(Operator::Negate, operands)
                if matches!(&operands[0].kind, ExpressionKind::Number(digits)
                    if number(digits).is_none() && number(&format!("-{digits}")).is_some()) =>
            {
                let smallest = FloatTerm::Constant(i64::MIN as f64);
                Ok(Operand::Integer(IntegerSum::constant(i64::MIN), smallest))
            }
            ExpressionKind::Apply(operator, operands) => match operator {
                Operator::Negate | Operator::Times | Operator::Plus | Operator::Minus => {
                    let sides: Result<Vec<Operand>, Error> =
                        operands.iter().map(|operand| self.side(operand)).collect();
                    self.calculate(*operator, sides?, operands, span)
                }
                _ => Ok(Operand::Truth(self.formula(expression)?)),
            },
        }
    }

    fn calculate(
        &self,
        operator: Operator,
        sides: Vec<Operand>,
        operands: &[Expression],
        span: Span,
    ) -> Result<Operand, Error> {
        for (side, operand) in sides.iter().zip(operands) {
            if !matches!(side, Operand::Integer(..) | Operand::Float(_)) {
                let message = format!("cannot calculate with {}", side.describe());
                let diagnostic = self.error(operand.span, message, "not a number");
                return Err(Error::meaning(diagnostic));
            }
        }
        let exact = match sides.as_slice() {
            [Operand::Integer(a, _)] => Some(a.scaled(-1)),
            [Operand::Integer(a, _), Operand::Integer(b, _)] => Some(match operator {
                Operator::Times => a.times(b),
                Operator::Plus => a.plus(b),
                _ => b.scaled(-1).and_then(|b| a.plus(&b)),
            }),
            _ => None,
        };
        let mut terms = sides
            .into_iter()
            .map(|side| side.into_float().expect("a number"));
        let mut term = || Box::new(terms.next().expect("operands of an operator"));
        let float = match operator {
            Operator::Negate => FloatTerm::Negated(term()),
            Operator::Times => FloatTerm::Product(term(), term()),
            Operator::Plus => FloatTerm::Sum(term(), term()),
            _ => FloatTerm::Difference(term(), term()),
        };
        match exact {
            Some(sum) => {
                let sum = sum.map_err(|outgrown| self.outgrown(outgrown, span))?;
                Ok(Operand::Integer(sum, float))
            }
            None => Ok(Operand::Float(float)),
        }
    }

    fn declared(&mut self, index: usize, span: Span) -> Result<Operand, Error> {
        let type_of = self.variables[index].variable.type_of;
        let id = self.variable(index);
        Ok(self.variable_side(id, type_of, span))
    }

    /// A variable that a bare formula reads.
    fn undeclared(&mut self, name: &str, type_of: Type, span: Span) -> Result<Operand, Error> {
        let id = self.builder.find_variable(name).unwrap_or_else(|| {
            let name = name.to_owned();
            self.builder.variable(StateVariable {
                name,
                type_of,
                initial: None,
                matches: None,
            })
        });
        Ok(self.variable_side(id, type_of, span))
    }

    fn variable_side(&mut self, id: VariableId, type_of: Type, span: Span) -> Operand {
        match type_of {
            Type::Int => Operand::Integer(IntegerSum::variable(id), FloatTerm::Variable(id)),
            Type::Float => Operand::Float(FloatTerm::Variable(id)),
            Type::Str => Operand::Text(id),
            Type::Bool => {
                let text = spelling::name(&self.builder.variables()[id.index()].name);
                let proposition = self.builder.condition(text, GaugeCondition::Bool(id));
                Operand::Truth(Ltl::new(LtlOp::Proposition(proposition), Vec::new(), span))
            }
        }
    }
}
