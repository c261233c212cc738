//! From the pairs of the grammar to the syntax tree.

use pest::{Parser, iterators::Pair};
use pest_derive::Parser;
use portent_monitor_core::Value;
use std::sync::Arc;

use super::{
    message,
    precedence::{EreBuilder, ExpressionBuilder, apply},
    tree::*,
};
use crate::{
    diagnostic::{Diagnostic, Source},
    error::Error,
    suggest,
};

#[derive(Parser)]
#[grammar = "grammar.pest"]
pub(super) struct Grammar;

/// A counted repetition goes up to this.
const MAX_REPETITION: u32 = 10_000;

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
        let mut declarations = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::property_word => {}
                Rule::name => name = Some(self.name(part)),
                Rule::parameters => parameters = self.names(part),
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

    fn variable(&self, pair: Pair<'a, Rule>) -> Result<Declaration, Error> {
        let mut parts = pair.into_inner().skip(1);
        let name = self.name(parts.next().expect("a name"));
        let type_name = parts.nth(1).expect("a type after the colon");
        let type_name = Name {
            text: type_name.as_str().to_owned(),
            span: span_of(&type_name),
        };
        let (mut initial, mut matches) = (None, None);
        for part in parts {
            match part.as_rule() {
                Rule::value => initial = Some((self.value(part.clone())?, span_of(&part))),
                _ => matches = Some(self.matches(part)),
            }
        }
        Ok(Declaration::Variable {
            name,
            type_name,
            initial,
            matches,
        })
    }

    fn value(&self, pair: Pair<'a, Rule>) -> Result<Value, Error> {
        let whole = pair.clone();
        let mut negative = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::minus => negative = true,
                Rule::text => return Ok(Value::from(unquote(part.as_str()).as_str())),
                Rule::truth => return Ok(Value::Bool(part.as_str() == "true")),
                _ => {
                    let digits = part.as_str();
                    let signed = if negative {
                        format!("-{digits}")
                    } else {
                        digits.to_owned()
                    };
                    return number(&signed).ok_or_else(|| self.bad_number(span_of(&whole)));
                }
            }
        }
        unreachable!("the grammar gives a value")
    }

    fn bad_number(&self, span: Span) -> Error {
        let message = "this number does not fit 64 bits";
        Error::syntax(Diagnostic::error(self.source, span, message, "too large"))
    }

    fn matches(&self, pair: Pair<'a, Rule>) -> Name {
        let text = pair.into_inner().nth(1).expect("a text");
        let quoted = text.as_str();
        // Verbatim: a backslash belongs to the regular expression.
        Name {
            text: quoted[1..quoted.len() - 1].to_owned(),
            span: span_of(&text),
        }
    }

    fn event(&self, pair: Pair<'a, Rule>) -> Declaration {
        let mut parts = pair.into_inner();
        let name = self.name(parts.next().expect("a name"));
        let (mut parameters, mut matches) = (None, None);
        for part in parts {
            match part.as_rule() {
                Rule::parameters => parameters = Some(self.names(part)),
                _ => matches = Some(self.matches(part)),
            }
        }
        Declaration::Event {
            name,
            parameters,
            matches,
        }
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

    fn pattern(&self, pair: Pair<'a, Rule>) -> Result<Body, Error> {
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

    fn expression(&self, pair: Pair<'a, Rule>) -> Result<Expression, Error> {
        let mut builder = ExpressionBuilder::new(self.source);
        for part in pair.into_inner() {
            let span = span_of(&part);
            match part.as_rule() {
                Rule::prefix => builder.prefix(prefix(part.as_str()), span),
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
        Error::syntax(match suggest::closest(&name, message::words()) {
            Some(word) => diagnostic.help(format!("did you mean `{word}`?")),
            None => diagnostic.help(format!(
                "write just `{name}` for the event; its parameters are bound by its declaration, \
                 `event {name}(...)`"
            )),
        })
    }

    fn ere(&self, pair: Pair<'a, Rule>) -> Result<EreTree, Error> {
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

fn leaf(kind: ExpressionKind, span: Span) -> Expression {
    Expression {
        kind,
        span,
        depth: 1,
        parenthesised: false,
    }
}

/// The text between quotes, with its escapes resolved; an unknown escape stands for itself.
fn unquote(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted[1..quoted.len() - 1].chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(same @ ('"' | '\\')) => text.push(same),
                other => text.extend(std::iter::once('\\').chain(other)),
            },
            plain => text.push(plain),
        }
    }
    text
}

/// The value of a number, if it fits.
pub(crate) fn number(text: &str) -> Option<Value> {
    if text.contains(['.', 'e', 'E']) {
        text.parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .map(Value::Float)
    } else {
        text.parse().ok().map(Value::Int)
    }
}

fn prefix(text: &str) -> Operator {
    match text {
        "-" => Operator::Negate,
        "!" | "not" => Operator::Not,
        "X" | "next" => Operator::Next,
        "N" | "wnext" => Operator::WeakNext,
        "F" | "<>" | "eventually" => Operator::Eventually,
        "G" | "[]" | "always" => Operator::Always,
        "Y" | "prev" => Operator::Yesterday,
        "Z" | "wprev" => Operator::WeakYesterday,
        "O" | "once" => Operator::Once,
        "H" | "historically" => Operator::Historically,
        other => unreachable!("{other} is not a prefix of the grammar"),
    }
}

/// `None` for a single `=`, which the grammar lets through for the sake of the message.
fn infix(text: &str) -> Option<Operator> {
    Some(match text {
        "=" => return None,
        "*" => Operator::Times,
        "+" => Operator::Plus,
        "-" => Operator::Minus,
        "==" => Operator::Equal,
        "!=" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::AtMost,
        ">" => Operator::Greater,
        ">=" => Operator::AtLeast,
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
