//! Specification patterns and their scopes.

use pest::iterators::Pair;

use super::{Reader, Rule, formula::leaf, span_of};
use crate::{
    error::Error,
    syntax::tree::{Body, Expression, ExpressionKind, Pattern, Scope},
};

impl<'a> Reader<'a> {
    pub(super) fn pattern(&self, pair: Pair<'a, Rule>) -> Result<Body, Error> {
        let span = span_of(&pair);
        let mut parts = pair.into_inner();
        let kind = parts.next().expect("a pattern");
        let rule = kind.as_rule();
        let mut operands = self.propositions(kind)?.into_iter();
        let mut operand = || operands.next().expect("the grammar counts operands");
        let pattern = match rule {
            Rule::absence => Pattern::Absence(operand()),
            Rule::existence => Pattern::Existence(operand()),
            Rule::universality => Pattern::Universality(operand()),
            Rule::precedence => Pattern::Precedence(operand(), operand()),
            _ => Pattern::Response(operand(), operand()),
        };
        let scope = match parts.next() {
            None => Scope::Globally,
            Some(scope) => {
                let scope = scope.into_inner().next().expect("a scope");
                let rule = scope.as_rule();
                let mut operands = self.propositions(scope)?.into_iter();
                let mut operand = || operands.next().expect("the grammar counts operands");
                match rule {
                    Rule::globally => Scope::Globally,
                    Rule::before => Scope::Before(operand()),
                    Rule::after => Scope::After(operand()),
                    Rule::between => Scope::Between(operand(), operand()),
                    _ => Scope::AfterUntil(operand(), operand()),
                }
            }
        };
        Ok(Body::Pattern {
            pattern,
            scope,
            span,
        })
    }

    fn propositions(&self, pair: Pair<'a, Rule>) -> Result<Vec<Expression>, Error> {
        pair.into_inner()
            .filter(|part| part.as_rule() == Rule::proposition)
            .map(|part| {
                let span = span_of(&part);
                let inner = part.into_inner().next().expect("a proposition");
                match inner.as_rule() {
                    Rule::expression => self.expression(inner),
                    _ => {
                        let name = self.name(inner);
                        Ok(leaf(ExpressionKind::Name(name.text), span))
                    }
                }
            })
            .collect()
    }
}
