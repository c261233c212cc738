//! Which events of a run are steps of a property, and what the property sees of them.
//!
//! An event is a step if it writes a variable that the property's body mentions, or is one of the
//! events that the property declares or mentions. Details that the contract leaves open:
//!
//! - An event declared with an argument list is one with exactly that many arguments; if a
//!   parameter stands in the list twice, both arguments must be equal.
//! - An event or variable with `matches` is recognised by text only, not also by name. If several
//!   events match one text, the first that is declared holds; in a letter there is at most one.
//! - A group of a regular expression that took no part in the match makes it no match.

use portent_monitor_core::{Event, NameId, Symbols, Type, Value, VarId};
use portent_monitor_dsl::{EventId, Monitor, VariableId};

use crate::error::Error;

/// What a property sees of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Which of the property's events it is.
    pub(crate) event: Option<EventId>,
    /// The arguments: those of the trace, or what a regular expression found for the parameters.
    pub(crate) args: Vec<Value>,
    /// For each parameter of the property the value that the event gives it.
    pub(crate) binding: Vec<Option<Value>>,
    /// The property's variables that it writes, values being of the right type.
    pub(crate) writes: Vec<(VariableId, Value)>,
}

/// The eyes of one property.
#[derive(Clone, Debug)]
pub(crate) struct Relevance {
    monitor: Monitor,
    /// What was found out about a name of the trace; `None` where nobody has looked yet.
    names: Vec<Option<Option<EventId>>>,
    vars: Vec<Option<Option<VariableId>>>,
    /// Events and variables that are recognised by text.
    text_events: Vec<EventId>,
    text_variables: Vec<VariableId>,
}

impl Relevance {
    pub(crate) fn new(monitor: Monitor) -> Relevance {
        let alphabet = monitor.alphabet();
        let events = alphabet.events().iter().filter(|e| e.matches.is_some());
        let text_events = events.filter_map(|e| alphabet.event(&e.name)).collect();
        let variables = alphabet.variables().iter();
        let text_variables = variables
            .filter(|v| v.matches.is_some())
            .filter_map(|v| alphabet.variable(&v.name))
            .collect();
        Relevance {
            names: Vec::new(),
            vars: Vec::new(),
            text_events,
            text_variables,
            monitor,
        }
    }

    pub(crate) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// What the property sees of `event`; `None` if it is no step.
    pub(crate) fn see(&mut self, event: &Event, symbols: &Symbols) -> Result<Option<Seen>, Error> {
        let mut seen = Seen {
            binding: vec![None; self.monitor.property().parameters().len()],
            ..Seen::default()
        };
        for (var, value) in event.writes() {
            let Some(variable) = self.variable(var, symbols) else {
                continue;
            };
            let Some(value) = value else {
                return Err(Error::NoValue {
                    property: self.monitor.property().name().to_owned(),
                    variable: symbols.vars.name(var).to_owned(),
                    place: place(event),
                });
            };
            let value = fit(&self.monitor, variable, value.clone(), || place(event))?;
            seen.writes.push((variable, value));
        }
        self.see_name(event, symbols, &mut seen);
        if !self.text_events.is_empty() || !self.text_variables.is_empty() {
            self.see_text(event, &symbols.text_of(event), &mut seen)?;
        }
        let step = seen.event.is_some() || !seen.writes.is_empty();
        Ok(step.then_some(seen))
    }

    fn see_name(&mut self, event: &Event, symbols: &Symbols, seen: &mut Seen) {
        let Some(action) = event.action() else { return };
        let Some(id) = action.name.and_then(|name| self.event(name, symbols)) else {
            return;
        };
        let declared = &self.monitor.alphabet().events()[id.index()];
        if let Some(parameters) = &declared.parameters {
            if parameters.len() != action.args.len() {
                return;
            }
            for (&parameter, value) in parameters.iter().zip(&action.args) {
                let bound = &mut seen.binding[parameter];
                if bound.as_ref().is_some_and(|other| other != value) {
                    seen.binding.fill(None);
                    return;
                }
                *bound = Some(value.clone());
            }
        }
        seen.event = Some(id);
        seen.args.clone_from(&action.args);
    }

    fn see_text(&self, event: &Event, text: &str, seen: &mut Seen) -> Result<(), Error> {
        let alphabet = self.monitor.alphabet();
        for &id in &self.text_events {
            if seen.event.is_some() {
                break;
            }
            let declared = &alphabet.events()[id.index()];
            let Some(found) = declared
                .matches
                .as_ref()
                .and_then(|p| p.regex().captures(text))
            else {
                continue;
            };
            let names = self.monitor.property().parameters();
            let parameters = declared.parameters.as_deref().unwrap_or_default();
            let values: Option<Vec<Value>> = parameters
                .iter()
                .map(|&parameter| Some(Value::from(found.name(&names[parameter])?.as_str())))
                .collect();
            let Some(values) = values else { continue };
            for (&parameter, value) in parameters.iter().zip(&values) {
                seen.binding[parameter] = Some(value.clone());
            }
            seen.event = Some(id);
            seen.args = values;
        }
        for &id in &self.text_variables {
            let variable = &alphabet.variables()[id.index()];
            let found = variable
                .matches
                .as_ref()
                .and_then(|p| p.regex().captures(text));
            let Some(found) = found.as_ref().and_then(|found| found.name(&variable.name)) else {
                continue;
            };
            let value = parse(variable.type_of, found.as_str()).ok_or_else(|| Error::BadText {
                property: self.monitor.property().name().to_owned(),
                variable: variable.name.clone(),
                expected: variable.type_of,
                text: found.as_str().to_owned(),
                place: place(event),
            })?;
            seen.writes.push((id, value));
        }
        Ok(())
    }

    fn event(&mut self, name: NameId, symbols: &Symbols) -> Option<EventId> {
        let alphabet = self.monitor.alphabet();
        *known(&mut self.names, name.index()).get_or_insert_with(|| {
            let id = alphabet.event(symbols.names.name(name))?;
            let by_text = alphabet.events()[id.index()].matches.is_some();
            (!by_text).then_some(id)
        })
    }

    fn variable(&mut self, var: VarId, symbols: &Symbols) -> Option<VariableId> {
        let alphabet = self.monitor.alphabet();
        *known(&mut self.vars, var.index()).get_or_insert_with(|| {
            let id = alphabet.variable(symbols.vars.name(var))?;
            let by_text = alphabet.variables()[id.index()].matches.is_some();
            (!by_text).then_some(id)
        })
    }
}

fn known<T: Clone>(all: &mut Vec<Option<T>>, index: usize) -> &mut Option<T> {
    if index >= all.len() {
        all.resize(index + 1, None);
    }
    &mut all[index]
}

fn place(event: &Event) -> String {
    match event.line {
        Some(line) => format!("line {line}"),
        None => "the program".to_owned(),
    }
}

fn parse(type_of: Type, text: &str) -> Option<Value> {
    match type_of {
        Type::Bool => text.parse().ok().map(Value::Bool),
        Type::Int => text.parse().ok().map(Value::Int),
        Type::Float => text.parse().ok().map(Value::Float),
        Type::Str => Some(Value::from(text)),
    }
}

/// The values of the property's variables before anything happens: those that `initial` gives by
/// their names, or else those of the declarations.
pub(crate) fn initial_values(
    monitor: &Monitor,
    mut initial: impl FnMut(&str) -> Option<Value>,
) -> Result<Vec<Value>, Error> {
    let alphabet = monitor.alphabet();
    let variables = alphabet.variables().iter();
    let values = variables.map(|variable| {
        let id = alphabet.variable(&variable.name);
        let value = initial(&variable.name).or_else(|| variable.initial.clone());
        let (Some(id), Some(value)) = (id, value) else {
            return Err(Error::NoInitialValue {
                property: monitor.property().name().to_owned(),
                variable: variable.name.clone(),
            });
        };
        fit(monitor, id, value, || "the header of the trace".to_owned())
    });
    values.collect()
}

/// The value as one of the variable's type; integers are numbers too.
fn fit(
    monitor: &Monitor,
    variable: VariableId,
    value: Value,
    place: impl FnOnce() -> String,
) -> Result<Value, Error> {
    let declared = &monitor.alphabet().variables()[variable.index()];
    match (declared.type_of, value) {
        (Type::Float, Value::Int(n)) => Ok(Value::Float(n as f64)),
        (expected, value) if value.type_of() == expected => Ok(value),
        (expected, value) => Err(Error::WrongType {
            property: monitor.property().name().to_owned(),
            variable: declared.name.clone(),
            expected,
            found: value.type_of(),
            value: value.to_string(),
            place: place(),
        }),
    }
}
