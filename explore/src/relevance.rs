//! The steps that properties refer to: application events and writes of named variables.
//!
//! Such a step is an event of the run, with its place in the causal order, and a *label*: everything that a property can ask about it.
//! Labels are the same in all runs of an exploration.

use indexmap::IndexSet;
use portent_hooks::control::{Callsite, GivenName, given_name};
use portent_monitor_core::{Exact, Value};
use portent_monitor_dsl::Monitor;
use rustc_hash::FxBuildHasher;

use crate::{error::Error, run::Place};

/// What a property may ask about a step. Names are numbers of [`Relevance::events`] and [`Relevance::variables`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Label {
    Event(u32, Vec<Exact<Value>>),
    Write(u32, Exact<Value>),
}

/// A step of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelevantStep {
    /// Which event of the run it is.
    pub(crate) event: u32,
    /// Who did it.
    pub(crate) thread: u8,
    /// The number of its label.
    pub(crate) label: u32,
    /// Of an application event, where it is in the source.
    pub(crate) callsite: Option<&'static Callsite>,
    /// Of a write.
    pub(crate) place: Place,
}

impl RelevantStep {
    /// Where it is in the source.
    pub(crate) fn spelled_place(&self) -> Option<String> {
        match (self.callsite, self.place) {
            (Some(callsite), _) => {
                let (file, line, column) = callsite.place();
                Some(format!("{file}:{line}:{column}"))
            }
            (None, place) => place.map(ToString::to_string),
        }
    }
}

/// What properties are about, and the steps of the run that they see.
#[derive(Debug, Default)]
pub(crate) struct Relevance {
    pub(crate) events: Vec<String>,
    pub(crate) variables: Vec<String>,
    /// For each name that was given to an object, by its number, whether properties call a variable so; `None` of one that was not
    /// met yet.
    given: Vec<Option<Option<u32>>>,
    labels: IndexSet<Label, FxBuildHasher>,
    /// For each variable what it was before its first write in this run; `None` if there was none, or nobody knows.
    pub(crate) initial: Vec<Option<Exact<Value>>>,
    /// Whether a variable was written in this run.
    written: Vec<bool>,
    pub(crate) steps: Vec<RelevantStep>,
}

impl Relevance {
    pub(crate) fn new(monitors: &[Monitor]) -> Result<Relevance, Error> {
        let mut relevance = Relevance::default();
        for monitor in monitors {
            let alphabet = monitor.alphabet();
            for event in alphabet.events() {
                if event.on.is_some() || event.matches.is_some() {
                    return Err(Error::Unseen {
                        property: monitor.property().name().to_owned(),
                        event: event.declaration(monitor.property().parameters()),
                    });
                }
                add(&mut relevance.events, &event.name);
            }
            for variable in alphabet.variables() {
                add(&mut relevance.variables, &variable.name);
            }
        }
        relevance.initial = vec![None; relevance.variables.len()];
        Ok(relevance)
    }

    /// There is another run.
    pub(crate) fn begin(&mut self) {
        self.steps.clear();
        self.initial.fill(None);
        self.written.clear();
        self.written.resize(self.variables.len(), false);
    }

    /// The number of a variable that properties call so.
    pub(crate) fn variable(&mut self, given: Option<GivenName>) -> Option<u32> {
        let given = given.filter(GivenName::is_variable)?;
        let number = given.number() as usize;
        if self.given.len() <= number {
            self.given.resize(number + 1, None);
        }
        *self.given[number].get_or_insert_with(|| position(&self.variables, &given_name(given)))
    }

    /// Whether properties have an event of this name.
    pub(crate) fn wants(&self, event: &str) -> bool {
        position(&self.events, event).is_some()
    }

    /// The number of the label of an application event.
    pub(crate) fn event(&mut self, name: &str, args: &[Value]) -> Option<u32> {
        let name = position(&self.events, name)?;
        let args = args.iter().cloned().map(Exact).collect();
        Some(self.label(Label::Event(name, args)))
    }

    /// A variable was written: the number of the label.
    pub(crate) fn wrote(&mut self, variable: u32, before: Option<Value>, value: Value) -> u32 {
        let index = variable as usize;
        if !std::mem::replace(&mut self.written[index], true) {
            self.initial[index] = before.map(Exact);
        }
        self.label(Label::Write(variable, Exact(value)))
    }

    fn label(&mut self, label: Label) -> u32 {
        match self.labels.get_index_of(&label) {
            Some(number) => number as u32,
            None => self.labels.insert_full(label).0 as u32,
        }
    }

    /// All labels that were met, by their numbers.
    pub(crate) fn labels(&self) -> &IndexSet<Label, FxBuildHasher> {
        &self.labels
    }

    /// The names that no run had anything of so far.
    pub(crate) fn missing(&self) -> Vec<String> {
        let has_event = |number| {
            { self.labels.iter() }
                .any(|label| matches!(label, Label::Event(name, _) if *name == number))
        };
        let has_write = |number| {
            { self.labels.iter() }
                .any(|label| matches!(label, Label::Write(name, _) if *name == number))
        };
        let events = (0..).zip(&self.events);
        let events = events.filter(|(number, _)| !has_event(*number));
        let variables = (0..).zip(&self.variables);
        let variables = variables.filter(|(number, _)| !has_write(*number));
        events
            .map(|(_, name)| format!("no run had an event `{name}`"))
            .chain(
                variables
                    .map(|(_, name)| format!("no run wrote a variable that is called `{name}`")),
            )
            .collect()
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if position(names, name).is_none() {
        names.push(name.to_owned());
    }
}

fn position(names: &[String], name: &str) -> Option<u32> {
    { names.iter() }
        .position(|other| other == name)
        .map(|position| position as u32)
}
