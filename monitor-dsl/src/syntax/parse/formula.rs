//! Formulas: the flat lists of the grammar are handed to the builder of trees, operand by operand.

use pest::iterators::Pair;

use super::{Reader, Rule, literal::unquote, span_of};
use crate::{
    comparison::Comparison,
    diagnostic::Diagnostic,
    error::Error,
    suggest,
    syntax::{
        message,
        precedence::{ExpressionBuilder, apply},
        tree::{Expression, ExpressionKind, Operator, Span},
    },
};

impl<'a> Reader<'a> {
    pub(super) fn expression(&self, pair: Pair<'a, Rule>) -> Result<Expression, Error> {
        let mut builder = ExpressionBuilder::new(self.source);
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::prefix => self.prefix(part, &mut builder)?,
                Rule::infix => match infix(part.as_str()) {
                    Some(operator) => builder.infix(operator, span)?,
                    None => {
                        let message = "`=` is not an operator of the language";
                        let diagnostic =
                            Diagnostic::error(self.source, span, message, "a comparison?")
                                .help("write `==` to compare");
                        return Err(Error::syntax(diagnostic));
                    }
                },
                _ => builder.operand(self.operand(part)?),
            }
        }
        builder.finish()
    }

    fn operand(&self, part: Pair<'a, Rule>) -> Result<Expression, Error> {
        let span = span_of(&part);
        Ok(match part.as_rule() {
            Rule::number => leaf(ExpressionKind::Number(part.as_str().to_owned()), span),
            Rule::text => leaf(ExpressionKind::Text(unquote(part.as_str())), span),
            Rule::group => {
                let inner = part.into_inner().next().expect("an expression");
                let inner = self.expression(inner)?;
                Expression {
                    span,
                    parenthesised: true,
                    ..inner
                }
            }
            Rule::edge => {
                let mut parts = part.into_inner();
                let operator = match parts.next().expect("start or end").as_str() {
                    "start" => Operator::Start,
                    _ => Operator::End,
                };
                let inner = self.expression(parts.next().expect("an operand"))?;
                apply(self.source, operator, vec![inner], span)?
            }
            Rule::interval => {
                let operands: Result<Vec<Expression>, Error> = part
                    .into_inner()
                    .map(|operand| self.expression(operand))
                    .collect();
                apply(self.source, Operator::Interval, operands?, span)?
            }
            Rule::call => return Err(self.call(part)),
            _ => leaf(ExpressionKind::Name(part.as_str().to_owned()), span),
        })
    }

    fn call(&self, pair: Pair<'a, Rule>) -> Error {
        let span = span_of(&pair);
        let name = pair
            .into_inner()
            .next()
            .expect("a name")
            .as_str()
            .to_owned();
        let message = format!("`{name}` is not a function");
        let diagnostic = Diagnostic::error(self.source, span, message, "looks like a call");
        if let Some(here) = message::elsewhere(&name) {
            let help = format!("`{name}` is no operator here; {here}");
            return Error::syntax(diagnostic.help(help));
        }
        Error::syntax(match suggest::closest(&name, message::words()) {
            Some(word) => diagnostic.help(format!("did you mean `{word}`?")),
            None => diagnostic.help(format!(
                "write just `{name}` for the event; its parameters are bound by its declaration, \
                 `event {name}(...)`"
            )),
        })
    }
}

pub(super) fn leaf(kind: ExpressionKind, span: Span) -> Expression {
    Expression {
        kind,
        span,
        depth: 1,
        parenthesised: false,
    }
}

/// `None` for a single `=`, which the grammar lets through for the sake of the message.
fn infix(text: &str) -> Option<Operator> {
    Some(match text {
        "=" => return None,
        "*" => Operator::Times,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "==" => Operator::Compare(Comparison::Equal),
        "!=" => Operator::Compare(Comparison::NotEqual),
        "<" => Operator::Compare(Comparison::Less),
        "<=" => Operator::Compare(Comparison::AtMost),
        ">" => Operator::Compare(Comparison::Greater),
        ">=" => Operator::Compare(Comparison::AtLeast),
        "&&" | "&" | "and" => Operator::And,
        "||" | "|" | "or" => Operator::Or,
        "^" | "xor" => Operator::Xor,
        "->" | "=>" | "implies" => Operator::Implies,
        "<->" | "<=>" | "iff" => Operator::Iff,
        "U" | "until" => Operator::Until,
        "W" | "unless" => Operator::WeakUntil,
        "R" | "release" => Operator::Release,
        "M" => Operator::StrongRelease,
        "S" | "since" => Operator::Since,
        "WS" | "wsince" => Operator::WeakSince,
        "T" | "trigger" => Operator::Trigger,
        other => unreachable!("{other} is not an infix of the grammar"),
    })
}
