//! Which events of a run are steps of a property, and what the property sees of them.
//!
//! An event is a step if it writes a variable that the property's body mentions, or is one of the
//! events that the property declares or mentions. Details that the specification leaves open:
//!
//! - An event declared with an argument list is one with exactly that many arguments; if a
//!   parameter stands in the list twice, both arguments must be the same value.
//! - An event or variable with `matches` is recognised by text only, not also by name; an event with `on` by
//!   its operation only.
//! - If an event matches several of the property's events, then for each instance the first declared one counts whose binding
//!   is part of the instance; a letter has at most one. So with `a by t on write` and `b by u on write` a write by T1 is `a`
//!   if `t` is T1, and `b` if only `u` is.
//! - A group of a regular expression that took no part in the match makes it no match.
//!
//! Most events are not steps, and most steps repeat earlier ones. So the results for an id are
//! remembered, and everything is written into reused buffers.

use portent_monitor_core::{Event, NameId, Symbols, Type, Value, VarId};
use portent_monitor_dsl::{EventId, Monitor, Object, On, VariableId};
use smallvec::SmallVec;

use super::{
    binding::{Binding, Bindings},
    seen::Seen,
    spelling::SpellingId,
    step::Step,
    text::{EventText, TextEvent, TextVariable, Texts},
    values::fit,
};
use crate::error::Error;

/// Matches the events of one property.
#[derive(Clone, Debug)]
pub(super) struct Relevance {
    monitor: Monitor,
    /// The result for a name of the trace; `None` if it was not looked up yet.
    names: Vec<Option<Option<EventId>>>,
    vars: Vec<Option<Option<VariableId>>>,
    /// The events not recognised by their names, in the order of their declarations.
    nameless: Vec<Nameless>,
    text_variables: Vec<TextVariable>,
    texts: Texts,
    /// What the current event would be; kept for its memory.
    draft: Draft,
}

/// An event that is not recognised by its name.
#[derive(Clone, Debug)]
struct Nameless {
    event: EventId,
    mark: Mark,
}

/// How it is recognised.
#[derive(Clone, Debug)]
enum Mark {
    Text(TextEvent),
    Operation(On),
}

/// A candidate: one of the property's events that an event may match.
#[derive(Clone, Debug, Default)]
struct Draft {
    binding: Binding,
    args: SmallVec<[Value; 2]>,
}

impl Draft {
    fn begin(&mut self, parameters: usize) {
        self.binding.clear();
        self.binding.resize(parameters, None);
        self.args.clear();
    }

    /// Gives a parameter a value; fails if it has another one.
    fn bind(&mut self, parameter: usize, value: SpellingId) -> bool {
        *self.binding[parameter].get_or_insert(value) == value
    }
}

impl Relevance {
    pub(super) fn new(monitor: Monitor) -> Relevance {
        let alphabet = monitor.alphabet();
        let parameters = monitor.property().parameters();
        let nameless = |declared: &portent_monitor_dsl::Event| {
            let event = alphabet.event(&declared.name)?;
            let mark = match &declared.on {
                Some(on) => Mark::Operation(on.clone()),
                None => Mark::Text(TextEvent::new(declared, parameters)?),
            };
            Some(Nameless { event, mark })
        };
        let text_variable = |declared: &portent_monitor_dsl::StateVariable| {
            TextVariable::new(declared, alphabet.variable(&declared.name)?)
        };
        Relevance {
            names: Vec::new(),
            vars: Vec::new(),
            nameless: alphabet.events().iter().filter_map(nameless).collect(),
            text_variables: alphabet
                .variables()
                .iter()
                .filter_map(text_variable)
                .collect(),
            texts: Texts::default(),
            draft: Draft::default(),
            monitor,
        }
    }

    pub(super) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Forgets the meaning of ids, because the symbols may be replaced.
    pub(super) fn forget_ids(&mut self) {
        self.names.clear();
        self.vars.clear();
    }

    /// Examines an event: `seen.step` is [nothing](Step::is_nothing) afterwards if it is not a step.
    pub(super) fn see(
        &mut self,
        text: &mut EventText<'_>,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        let parameters = self.monitor.property().parameters().len();
        seen.clear(parameters);
        let (event, symbols) = (text.event, text.symbols);
        self.see_writes(event, symbols, &mut seen.step)?;
        if !self.text_variables.is_empty() {
            self.see_text_variables(text.get(), event, &mut seen.step)?;
        }
        // In the order of declarations, until a reading without a binding applies to every instance.
        let mut named = self.named(event, symbols);
        for place in 0..self.nameless.len() {
            if seen.is_decided() {
                return Ok(());
            }
            let id = self.nameless[place].event;
            if let Some(earlier) = named.take_if(|named| *named < id) {
                self.see_named(earlier, text, bindings, seen);
            }
            self.see_nameless(place, text, bindings, seen);
        }
        if let Some(id) = named
            && !seen.is_decided()
        {
            self.see_named(id, text, bindings, seen);
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

    /// The event of the property that has the event's name.
    fn named(&mut self, event: &Event, symbols: &Symbols) -> Option<EventId> {
        let name = event.action()?.name?;
        self.event(name, symbols)
    }

    fn see_named(
        &mut self,
        id: EventId,
        text: &EventText<'_>,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) {
        let Some(action) = text.event.action() else {
            return;
        };
        let declared = &self.monitor.alphabet().events()[id.index()];
        self.draft.begin(seen.binding.len());
        if let Some(parameters) = &declared.parameters {
            if parameters.len() != action.args.len() {
                return;
            }
            for (&parameter, value) in parameters.iter().zip(&action.args) {
                if !self.draft.bind(parameter, bindings.spelling(value)) {
                    return;
                }
            }
        }
        self.draft.args.extend(action.args.iter().cloned());
        self.see_draft(id, text, bindings, seen);
    }

    fn see_nameless(
        &mut self,
        place: usize,
        text: &mut EventText<'_>,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) {
        let Nameless { event: id, mark } = &mut self.nameless[place];
        self.draft.begin(seen.binding.len());
        match mark {
            Mark::Text(expected) => {
                let Some(arguments) = expected.arguments(text.get()) else {
                    return;
                };
                for (parameter, found) in arguments {
                    let (spelling, value) = bindings.spelling_of_text(found);
                    if !self.draft.bind(parameter, spelling) {
                        return;
                    }
                    self.draft.args.push(value);
                }
            }
            Mark::Operation(on) => {
                let op = &text.event.op;
                if op.operation() != Some(on.operation) {
                    return;
                }
                match (&on.object, op.object(text.symbols)) {
                    (None, _) => {}
                    (Some(Object::Name(expected)), Some(found)) if expected == found => {}
                    (Some(Object::Parameter(parameter)), Some(found)) => {
                        let (spelling, _) = bindings.spelling_of_text(found);
                        self.draft.binding[*parameter] = Some(spelling);
                    }
                    _ => return,
                }
            }
        }
        let id = *id;
        self.see_draft(id, text, bindings, seen);
    }

    /// Accepts the event as one of the property's if its thread and its `where` condition match too. An operation of several
    /// threads is done by each of them.
    fn see_draft(
        &mut self,
        id: EventId,
        text: &EventText<'_>,
        bindings: &mut Bindings,
        seen: &mut Seen,
    ) {
        let Some(actor) = self.monitor.alphabet().events()[id.index()].by else {
            self.add_draft(id, bindings, seen);
            return;
        };
        let (given, args) = (self.draft.binding[actor], self.draft.args.len());
        for thread in text.event.threads() {
            let (spelling, _) = bindings.spelling_of_text(text.symbols.threads.name(thread));
            if self.draft.bind(actor, spelling) {
                self.add_draft(id, bindings, seen);
            }
            self.draft.binding[actor] = given;
            self.draft.args.truncate(args);
        }
    }

    fn add_draft(&mut self, id: EventId, bindings: &mut Bindings, seen: &mut Seen) {
        let declared = &self.monitor.alphabet().events()[id.index()];
        if !bindings.allows(&self.draft.binding) {
            return;
        }
        // An operation has no arguments: the declared ones are its thread and its object.
        if declared.on.is_some() {
            for &parameter in declared.parameters.iter().flatten() {
                let value = self.draft.binding[parameter].map(|id| bindings.value(id).clone());
                self.draft.args.extend(value);
            }
        }
        seen.add(id, &self.draft.args, &self.draft.binding);
    }

    fn see_text_variables(
        &mut self,
        text: &str,
        event: &Event,
        step: &mut Step,
    ) -> Result<(), Error> {
        for read in &mut self.text_variables {
            let Some(found) = read.find(text) else {
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
            let declared = &alphabet.events()[id.index()];
            let by_name = declared.matches.is_none() && declared.on.is_none();
            by_name.then_some(id)
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
