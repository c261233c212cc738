//! From the pairs of the grammar to the syntax tree.
//!
//! One [`Reader`] reads it all; its methods stand with what they read. Here are whole properties and names.

mod counted;
mod declaration;
mod ere;
mod formula;
mod literal;
mod pattern;

use pest::{Parser, iterators::Pair};
use pest_derive::Parser;
use std::sync::Arc;

use self::literal::unquote;
use super::{
    message,
    tree::{Body, Declaration, Name, PropertyTree, Span},
};
use crate::{diagnostic::Source, error::Error};

pub(crate) use literal::number;

#[derive(Parser)]
#[grammar = "grammar.pest"]
pub(super) struct Grammar;

/// The properties of a file.
pub(crate) fn parse_file(source: &Arc<Source>) -> Result<Vec<PropertyTree>, Error> {
    let file = Reader { source }.run(Rule::file)?;
    file.into_inner()
        .filter(|pair| pair.as_rule() == Rule::property)
        .map(|pair| Reader { source }.property(pair))
        .collect()
}

/// A bare formula, or a single property.
pub(crate) fn parse_bare(source: &Arc<Source>) -> Result<PropertyTree, Error> {
    let reader = Reader { source };
    let bare = reader.run(Rule::bare)?;
    let span = span_of(&bare);
    let body = bare.into_inner().next().expect("a body");
    let body = match body.as_rule() {
        Rule::expression => Body::Ltl(reader.expression(body)?),
        _ => reader.body(body)?,
    };
    Ok(PropertyTree {
        name: None,
        parameters: vec![],
        constraints: vec![],
        declarations: vec![],
        body,
        span,
    })
}

/// Whether the text begins like a property and not like a bare formula.
pub(crate) fn begins_property(source: &Source) -> bool {
    Grammar::parse(Rule::opening, &source.text).is_ok()
}

fn span_of(pair: &Pair<Rule>) -> Span {
    let span = pair.as_span();
    Span {
        start: span.start(),
        end: span.end(),
    }
}

struct Reader<'a> {
    source: &'a Arc<Source>,
}

impl<'a> Reader<'a> {
    fn run(&self, rule: Rule) -> Result<Pair<'a, Rule>, Error> {
        let mut pairs = Grammar::parse(rule, &self.source.text)
            .map_err(|error| message::syntax_error(self.source, &error))?;
        Ok(pairs.next().expect("the start rule"))
    }

    fn property(&self, pair: Pair<'a, Rule>) -> Result<PropertyTree, Error> {
        let span = span_of(&pair);
        let mut name = None;
        let mut parameters = Vec::new();
        let mut constraints = Vec::new();
        let mut declarations = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::property_word | Rule::open_brace => {}
                Rule::name => name = Some(self.name(part)),
                Rule::parameters => parameters = self.names(part),
                Rule::constraints => {
                    constraints = { part.into_inner() }
                        .filter(|part| part.as_rule() == Rule::constraint)
                        .map(|constraint| self.constraint(constraint))
                        .collect();
                }
                Rule::variable => declarations.push(self.variable(part)?),
                Rule::definition => {
                    let mut parts = part.into_inner().skip(1);
                    let name = self.name(parts.next().expect("a name"));
                    let value = self.expression(parts.nth(1).expect("an expression"))?;
                    declarations.push(Declaration::Let { name, value });
                }
                Rule::events => {
                    for event in part.into_inner().skip(1) {
                        declarations.push(self.event(event));
                    }
                }
                _ => {
                    let body = self.body(part)?;
                    return Ok(PropertyTree {
                        name,
                        parameters,
                        constraints,
                        declarations,
                        body,
                        span,
                    });
                }
            }
        }
        unreachable!("the grammar gives a body")
    }

    fn name(&self, pair: Pair<'a, Rule>) -> Name {
        let span = span_of(&pair);
        let inner = pair.into_inner().next().expect("a name");
        let text = match inner.as_rule() {
            Rule::quoted => unquote(inner.as_str()),
            _ => inner.as_str().to_owned(),
        };
        Name { text, span }
    }

    fn names(&self, pair: Pair<'a, Rule>) -> Vec<Name> {
        pair.into_inner().map(|name| self.name(name)).collect()
    }

    fn body(&self, pair: Pair<'a, Rule>) -> Result<Body, Error> {
        let rule = pair.as_rule();
        let content = pair.into_inner().nth(1).expect("a body has content");
        Ok(match rule {
            Rule::ltl_body => Body::Ltl(self.expression(content)?),
            Rule::ere_body => Body::Ere(self.ere(content)?),
            Rule::never_body => Body::Never(self.ere(content)?),
            Rule::pattern_body => self.pattern(content)?,
            other => unreachable!("{other:?} is not a body"),
        })
    }
}
