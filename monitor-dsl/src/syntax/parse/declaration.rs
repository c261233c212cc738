//! Declarations: variables with their initial values, events, and how they are recognised; what `where` says.

use pest::iterators::Pair;
use portent_monitor_core::Value;

use super::{
    Reader, Rule,
    literal::{number, unquote},
    span_of,
};
use crate::{
    diagnostic::Diagnostic,
    error::Error,
    syntax::tree::{Constraint, Declaration, EventSource, Name, ObjectTree, Span},
};

impl<'a> Reader<'a> {
    pub(super) fn variable(&self, pair: Pair<'a, Rule>) -> Result<Declaration, Error> {
        let mut parts = pair.into_inner().skip(1);
        let name = self.name(parts.next().expect("a name"));
        let type_name = parts.nth(1).expect("a type after the colon");
        let type_name = verbatim(&type_name);
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

    pub(super) fn event(&self, pair: Pair<'a, Rule>) -> Declaration {
        let mut parts = pair.into_inner();
        let name = self.name(parts.next().expect("a name"));
        let (mut parameters, mut by, mut source) = (None, None, EventSource::Name);
        for part in parts {
            match part.as_rule() {
                Rule::parameters => parameters = Some(self.names(part)),
                Rule::by => by = part.into_inner().nth(1).map(|name| self.name(name)),
                Rule::on => source = self.on(part),
                _ => source = EventSource::Matches(self.matches(part)),
            }
        }
        Declaration::Event {
            name,
            parameters,
            by,
            source,
        }
    }

    fn on(&self, pair: Pair<'a, Rule>) -> EventSource {
        let mut parts = pair.into_inner().skip(1);
        let operation = verbatim(&parts.next().expect("an operation"));
        let object = parts.next().map(|object| {
            let object = object.into_inner().next().expect("an object");
            match object.as_rule() {
                Rule::text => ObjectTree::Text(unquote(object.as_str()), span_of(&object)),
                _ => ObjectTree::Parameter(verbatim(&object)),
            }
        });
        EventSource::On { operation, object }
    }

    pub(super) fn constraint(&self, pair: Pair<'a, Rule>) -> Constraint {
        let mut parts = pair.into_inner();
        let left = self.name(parts.next().expect("a name"));
        let relation = verbatim(&parts.next().expect("a relation"));
        let right = self.name(parts.next().expect("a name"));
        Constraint {
            left,
            relation,
            right,
        }
    }
}

/// A word as it stands there.
fn verbatim(pair: &Pair<'_, Rule>) -> Name {
    Name {
        text: pair.as_str().to_owned(),
        span: span_of(pair),
    }
}
