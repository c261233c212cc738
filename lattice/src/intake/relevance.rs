//! Which events of a run are steps of a property, and what the property sees of them.
//!
//! An event is a step if it writes a variable that the property's body mentions, or is one of the
//! events that the property declares or mentions. Details that the contract leaves open:
//!
//! - An event declared with an argument list is one with exactly that many arguments; if a
//!   parameter stands in the list twice, both arguments must be the same value.
//! - An event or variable with `matches` is recognised by text only, not also by name. If several
//!   events match one text, the first that is declared holds; in a letter there is at most one.
//! - A group of a regular expression that took no part in the match makes it no match.
//!
//! Most events are no steps, and most steps were there before. So what was found out about an id is
//! remembered, and whatever is written here is written into buffers that are used again.

use std::{fmt::Write, sync::Arc};

use portent_monitor_core::{Event, NameId, Spelling, Symbols, Type, Value, VarId};
use portent_monitor_dsl::{EventId, Monitor, Pattern, VariableId};
use regex::CaptureLocations;
use rustc_hash::FxHashSet;

use super::{
    binding::{Binding, Bindings},
    step::Step,
};
use crate::error::Error;

/// The text of the event that is looked at, spelled when the first property asks for it.
#[derive(Debug)]
pub(super) struct EventText<'a> {
    event: &'a Event,
    symbols: &'a Symbols,
    /// Empty until somebody asks; no spelling is.
    buffer: &'a mut String,
}

impl<'a> EventText<'a> {
    pub(super) fn new(event: &'a Event, symbols: &'a Symbols, buffer: &'a mut String) -> Self {
        buffer.clear();
        EventText {
            event,
            symbols,
            buffer,
        }
    }

    /// What `matches` reads: the event's own text or, if it has none, its spelling.
    fn get(&mut self) -> &str {
        if let Some(text) = self.event.text() {
            return text;
        }
        if self.buffer.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(self.buffer, "{}", Spelling::new(self.event, self.symbols));
        }
        self.buffer
    }
}

/// What a property sees of an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) step: Step,
    /// For each parameter of the property the value that the event gives it.
    pub(super) binding: Binding,
}

/// The eyes of one property.
#[derive(Clone, Debug)]
pub(super) struct Relevance {
    monitor: Monitor,
    /// What was found out about a name of the trace; `None` where nobody has looked yet.
    names: Vec<Option<Option<EventId>>>,
    vars: Vec<Option<Option<VariableId>>>,
    /// Events and variables that are recognised by text.
    text_events: Vec<TextEvent>,
    text_variables: Vec<TextVariable>,
    texts: Texts,
}

/// An event that is recognised by text.
#[derive(Clone, Debug)]
struct TextEvent {
    event: EventId,
    groups: Groups,
    /// For each argument the parameter that it binds and the number of its group.
    arguments: Vec<(usize, usize)>,
}

impl TextEvent {
    /// Whether a text is the event, with a value for each of its arguments.
    fn is_in(&mut self, text: &str) -> bool {
        self.groups.look(text) && { self.arguments.iter() }
            .all(|&(_, group)| self.groups.found.get(group).is_some())
    }
}

/// A variable whose values are read out of text.
#[derive(Clone, Debug)]
struct TextVariable {
    variable: VariableId,
    groups: Groups,
    /// The number of its group.
    group: usize,
}

/// A regular expression, and where its groups were found.
#[derive(Clone, Debug)]
struct Groups {
    pattern: Pattern,
    found: CaptureLocations,
}

impl Groups {
    fn new(pattern: &Pattern) -> Groups {
        Groups {
            found: pattern.regex().capture_locations(),
            pattern: pattern.clone(),
        }
    }

    /// The number of the group of this name, if there is one.
    fn number(&self, name: &str) -> Option<usize> {
        let mut names = self.pattern.regex().capture_names();
        names.position(|group| group == Some(name))
    }

    fn look(&mut self, text: &str) -> bool {
        let regex = self.pattern.regex();
        regex.captures_read(&mut self.found, text).is_some()
    }

    fn get<'t>(&self, group: usize, text: &'t str) -> Option<&'t str> {
        let (start, end) = self.found.get(group)?;
        Some(&text[start..end])
    }
}

impl Relevance {
    pub(super) fn new(monitor: Monitor) -> Relevance {
        let alphabet = monitor.alphabet();
        let parameters = monitor.property().parameters();
        let text_event = |declared: &portent_monitor_dsl::Event| {
            let groups = Groups::new(declared.matches.as_ref()?);
            let arguments = declared.parameters.iter().flatten();
            Some(TextEvent {
                event: alphabet.event(&declared.name)?,
                arguments: arguments
                    .map(|&parameter| Some((parameter, groups.number(&parameters[parameter])?)))
                    .collect::<Option<_>>()?,
                groups,
            })
        };
        let text_variable = |declared: &portent_monitor_dsl::StateVariable| {
            let groups = Groups::new(declared.matches.as_ref()?);
            Some(TextVariable {
                variable: alphabet.variable(&declared.name)?,
                group: groups.number(&declared.name)?,
                groups,
            })
        };
        Relevance {
            names: Vec::new(),
            vars: Vec::new(),
            text_events: alphabet.events().iter().filter_map(text_event).collect(),
            text_variables: alphabet
                .variables()
                .iter()
                .filter_map(text_variable)
                .collect(),
            texts: Texts::default(),
            monitor,
        }
    }

    pub(super) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Forgets what ids mean: the next events may come with other symbols.
    pub(super) fn forget_ids(&mut self) {
        self.names.clear();
        self.vars.clear();
    }

    /// Looks at an event: `seen.step` is [nothing](Step::is_nothing) afterwards if it is no step.
    pub(super) fn see(
        &mut self,
        text: &mut EventText<'_>,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        seen.step.clear();
        seen.binding.clear();
        let parameters = self.monitor.property().parameters().len();
        seen.binding.resize(parameters, None);
        let (event, symbols) = (text.event, text.symbols);
        self.see_writes(event, symbols, &mut seen.step)?;
        self.see_name(event, symbols, bindings, seen);
        if !self.text_events.is_empty() || !self.text_variables.is_empty() {
            let text = text.get();
            self.see_text_event(text, bindings, seen);
            self.see_text_variables(text, event, &mut seen.step)?;
        }
        Ok(())
    }

    fn see_writes(
        &mut self,
        event: &Event,
        symbols: &Symbols,
        step: &mut Step,
    ) -> Result<(), Error> {
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
            step.writes.push((variable, value));
        }
        Ok(())
    }

    fn see_name(
        &mut self,
        event: &Event,
        symbols: &Symbols,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) {
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
                let value = bindings.spelling(value);
                if *seen.binding[parameter].get_or_insert(value) != value {
                    seen.binding.fill(None);
                    return;
                }
            }
        }
        seen.step.event = Some(id);
        seen.step.args.extend(action.args.iter().cloned());
    }

    fn see_text_event(&mut self, text: &str, bindings: &mut Bindings, seen: &mut Seen) {
        if seen.step.event.is_some() {
            return;
        }
        let mut events = self.text_events.iter_mut();
        let Some(found) = events.find_map(|event| event.is_in(text).then_some(&*event)) else {
            return;
        };
        seen.step.event = Some(found.event);
        for &(parameter, group) in &found.arguments {
            if let Some(text) = found.groups.get(group, text) {
                let (spelling, value) = bindings.spelling_of_text(text);
                seen.binding[parameter] = Some(spelling);
                seen.step.args.push(value);
            }
        }
    }

    fn see_text_variables(
        &mut self,
        text: &str,
        event: &Event,
        step: &mut Step,
    ) -> Result<(), Error> {
        for read in &mut self.text_variables {
            if !read.groups.look(text) {
                continue;
            }
            let Some(found) = read.groups.get(read.group, text) else {
                continue;
            };
            let variable = &self.monitor.alphabet().variables()[read.variable.index()];
            let value = match variable.type_of {
                Type::Bool => found.parse().ok().map(Value::Bool),
                Type::Int => found.parse().ok().map(Value::Int),
                Type::Float => found.parse().ok().map(Value::Float),
                Type::Str => Some(Value::Str(self.texts.get(found))),
            };
            let value = value.ok_or_else(|| Error::BadText {
                property: self.monitor.property().name().to_owned(),
                variable: variable.name.clone(),
                expected: variable.type_of,
                text: found.to_owned(),
                place: place(event),
            })?;
            step.writes.push((read.variable, value));
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

/// Texts that were lately the value of a variable, so that one which comes again is not copied again.
#[derive(Clone, Debug, Default)]
struct Texts(FxHashSet<Arc<str>>);

impl Texts {
    /// When there are this many, all are forgotten: a variable may take ever new values.
    const MOST: usize = 4096;

    fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        if self.0.len() == Self::MOST {
            self.0.clear();
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}

fn place(event: &Event) -> String {
    match event.line {
        Some(line) => format!("line {line}"),
        None => "the program".to_owned(),
    }
}

/// The values of the property's variables before anything happens: those that `initial` gives by
/// their names, or else those of the declarations.
pub(super) fn initial_values(
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
