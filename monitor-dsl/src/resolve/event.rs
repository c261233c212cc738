//! Events: how they are recognised, and which parameters they bind; and what `where` says of those.

use portent_monitor_core::Operation;

use super::Resolver;
use crate::{
    alphabet::{Event, Object, On},
    error::Error,
    suggest,
    syntax::{Constraint, EventSource, Name, ObjectTree},
};

impl Resolver<'_> {
    /// Enters the inequalities between parameters.
    pub(super) fn constrain(&mut self, constraints: &[Constraint]) -> Result<(), Error> {
        for constraint in constraints {
            let Constraint {
                left,
                relation,
                right,
            } = constraint;
            let (one, other) = (self.parameter(left)?, self.parameter(right)?);
            if relation.text != "!=" {
                let message = "`where` says which parameters differ";
                let diagnostic = self.error(relation.span, message, "not an inequality");
                let help = match relation.text.as_str() {
                    "==" | "=" => format!(
                        "use one parameter in both places instead of `{}` and `{}`",
                        left.text, right.text
                    ),
                    _ => format!("write `{} != {}`", left.text, right.text),
                };
                return Err(Error::meaning(diagnostic.help(help)));
            }
            if one == other {
                let message = format!("`{}` never differs from itself", left.text);
                let span = left.span.to(right.span);
                return Err(Error::meaning(self.error(span, message, "never true")));
            }
            let pair = (one.min(other), one.max(other));
            if !self.inequalities.contains(&pair) {
                self.inequalities.push(pair);
            }
        }
        Ok(())
    }

    pub(super) fn event(
        &self,
        name: &Name,
        parameters: Option<&[Name]>,
        by: Option<&Name>,
        source: &EventSource,
    ) -> Result<Event, Error> {
        let indices = parameters.map(|parameters| {
            let indices = parameters.iter();
            indices.map(|parameter| self.parameter(parameter)).collect()
        });
        let mut event = Event {
            parameters: indices.transpose()?,
            by: by.map(|by| self.parameter(by)).transpose()?,
            ..Event::named(&name.text)
        };
        match source {
            EventSource::Name => {}
            EventSource::Matches(text) => {
                let groups = parameters.unwrap_or_default().iter();
                let groups: Vec<String> = groups.map(|name| name.text.clone()).collect();
                event.matches = Some(self.regex(text, &groups, "parameter")?);
            }
            EventSource::On { operation, object } => {
                let on = self.on(operation, object.as_ref())?;
                self.check_arguments(&event, parameters.unwrap_or_default(), &on)?;
                event.on = Some(on);
            }
        }
        Ok(event)
    }

    fn on(&self, name: &Name, object: Option<&ObjectTree>) -> Result<On, Error> {
        let Some(operation) = Operation::from_name(&name.text) else {
            let message = format!("unknown operation `{}`", name.text);
            let diagnostic = self.error(name.span, message, "not an operation of a trace");
            let names = Operation::ALL.iter().map(|operation| operation.name());
            let help = match suggest::closest(&name.text, names.clone()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!(
                    "the operations are {}",
                    names.collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(Error::meaning(diagnostic.help(help)));
        };
        let object = match object {
            None => None,
            Some(object) => {
                let span = match object {
                    ObjectTree::Parameter(name) => name.span,
                    ObjectTree::Text(_, span) => *span,
                };
                if operation.object().is_none() {
                    let message = format!("`{operation}` is not done to anything that has a name");
                    let diagnostic = self.error(span, message, "no object");
                    return Err(Error::meaning(diagnostic.help(format!(
                        "write just `on {operation}` for all of them; an application event is \
                         recognised by its name, without `on`"
                    ))));
                }
                Some(match object {
                    ObjectTree::Parameter(name) => Object::Parameter(self.parameter(name)?),
                    ObjectTree::Text(text, _) => Object::Name(text.clone()),
                })
            }
        };
        Ok(On { operation, object })
    }

    /// An operation has no arguments except its thread and its object.
    fn check_arguments(&self, event: &Event, names: &[Name], on: &On) -> Result<(), Error> {
        for name in names {
            let index = self.parameter(name)?;
            if event.by == Some(index) || on.object == Some(Object::Parameter(index)) {
                continue;
            }
            let message = format!("nothing gives `{}` a value", name.text);
            let diagnostic = self.error(name.span, message, "not bound");
            let help = match (&on.object, on.operation.object()) {
                (None, Some(object)) => format!(
                    "write `on {}({})` if it is the {object}, or `by {}` if it is who does it",
                    on.operation, name.text, name.text
                ),
                _ => format!("write `by {}` if it is who does it", name.text),
            };
            return Err(Error::meaning(diagnostic.help(help)));
        }
        Ok(())
    }
}
