//! Regular expressions, likewise, and how often something is repeated.

use pest::iterators::Pair;

use super::{Reader, Rule, formula::leaf, span_of};
use crate::{
    diagnostic::Diagnostic,
    error::Error,
    syntax::{
        precedence::EreBuilder,
        tree::{EreJoin, EreKind, EreTree, Expression, ExpressionKind},
    },
};

/// A counted repetition goes up to this.
const MAX_REPETITION: u32 = 10_000;

impl<'a> Reader<'a> {
    pub(super) fn ere(&self, pair: Pair<'a, Rule>) -> Result<EreTree, Error> {
        let mut builder = EreBuilder::new(self.source);
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::ere_prefix => builder.complement(span)?,
                Rule::ere_infix => builder.join(match part.as_str() {
                    ";" => EreJoin::Concat,
                    "&" | "&&" => EreJoin::Intersection,
                    _ => EreJoin::Union,
                })?,
                Rule::ere_postfix => {
                    let (min, max) = self.repetition(part)?;
                    builder.repeat(min, max, span)?;
                }
                _ => builder.operand(self.ere_operand(part)?)?,
            }
        }
        builder.finish()
    }

    fn ere_operand(&self, part: Pair<'a, Rule>) -> Result<EreTree, Error> {
        let span = span_of(&part);
        let kind = match part.as_rule() {
            Rule::dot => EreKind::Dot,
            Rule::letter => {
                let parts: Result<Vec<Expression>, Error> = part
                    .into_inner()
                    .map(|part| self.expression(part))
                    .collect();
                EreKind::Letter(parts?)
            }
            Rule::ere_group => {
                let inner = self.ere(part.into_inner().next().expect("an expression"))?;
                return Ok(EreTree {
                    span,
                    parenthesised: true,
                    ..inner
                });
            }
            _ => EreKind::Name(leaf(ExpressionKind::Name(self.name(part).text), span)),
        };
        Ok(EreTree {
            kind,
            span,
            depth: 1,
            parenthesised: false,
        })
    }

    fn repetition(&self, part: Pair<'a, Rule>) -> Result<(u32, Option<u32>), Error> {
        let span = span_of(&part);
        match part.as_str() {
            "*" => return Ok((0, None)),
            "+" => return Ok((1, None)),
            "?" => return Ok((0, Some(1))),
            _ => {}
        }
        let count = part.into_inner().next().expect("a count");
        let (mut numbers, mut comma) = (Vec::new(), false);
        for part in count.into_inner() {
            if part.as_rule() == Rule::comma {
                comma = true;
                continue;
            }
            let number = part
                .as_str()
                .parse::<u32>()
                .ok()
                .filter(|&n| n <= MAX_REPETITION);
            numbers.push(number.ok_or_else(|| {
                let message = format!("a counted repetition goes up to {MAX_REPETITION}");
                let label = "too many times";
                Error::limit(Diagnostic::error(
                    self.source,
                    span_of(&part),
                    message,
                    label,
                ))
            })?);
        }
        match (numbers.as_slice(), comma) {
            ([min, max], _) if min > max => {
                let message = format!("between {min} and {max} times is never");
                let diagnostic = Diagnostic::error(self.source, span, message, "empty range").help(
                    format!("write `{{{max},{min}}}`, or `empty` to match nothing"),
                );
                Err(Error::syntax(diagnostic))
            }
            ([min, max], _) => Ok((*min, Some(*max))),
            ([min], true) => Ok((*min, None)),
            ([exactly], false) => Ok((*exactly, Some(*exactly))),
            _ => unreachable!("the grammar gives one or two numbers"),
        }
    }
}
