//! One property that watches the events of a run.

use std::sync::OnceLock;

use portent_monitor_core::{Exact, Value};
use portent_monitor_dsl::{Monitor, shape::Conjunction};

use super::{
    binding::{BindingId, Bindings, Inequalities},
    occurrence::Occurrence,
    relevance::Relevance,
    seen::{Interpretation, Seen},
    step::Step,
    text::EventText,
    values::initial_values,
};
use crate::error::Error;

/// A property, the initial values of its variables, and the bindings of its parameters that it
/// has met.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    relevance: Relevance,
    initial: Vec<Value>,
    bindings: Bindings,
    /// The number of its steps, and which of its names they used.
    steps: u64,
    occurrence: Occurrence,
    /// What it sees of the current event; kept for its memory.
    seen: Seen,
    /// Computed when an engine first needs it.
    conjunctions: OnceLock<Option<Vec<Conjunction>>>,
}

impl Viewer {
    /// A property before the first event; `initial` are the values that the trace gives.
    pub(super) fn new(
        monitor: Monitor,
        initial: impl FnMut(&str) -> Option<Value>,
        max_bindings: usize,
    ) -> Result<Viewer, Error> {
        let initial = initial_values(&monitor, initial)?;
        let property = monitor.property();
        let inequalities = Inequalities::new(property.inequalities());
        let bindings = Bindings::new(property.parameters().len(), inequalities, max_bindings);
        Ok(Viewer {
            relevance: Relevance::new(monitor),
            initial,
            bindings,
            steps: 0,
            occurrence: Occurrence::default(),
            seen: Seen::default(),
            conjunctions: OnceLock::new(),
        })
    }

    /// Examines an event, and returns whether it is a step. This has no consequences yet, so that an
    /// event that fails another check can still be dropped.
    pub(super) fn look(&mut self, text: &mut EventText<'_>) -> Result<bool, Error> {
        self.relevance
            .see(text, &mut self.bindings, &mut self.seen)?;
        Ok(!self.seen.step.is_nothing())
    }

    /// Takes the step just examined; `None` if there is no room for its binding. A step that is not confined to one
    /// binding is always taken.
    pub(super) fn take(&mut self) -> Option<BindingId> {
        self.steps += 1;
        self.occurrence.note(&self.seen.step);
        let is_of_one = self.seen.others.is_empty() && self.seen.step.writes.is_empty();
        if is_of_one && !self.bindings.admits(&self.seen.binding) {
            return None;
        }
        let first = self.bindings.intern(&self.seen.binding);
        for other in &mut self.seen.others {
            self.occurrence.note(&other.step);
            other.binding_id = self.bindings.intern(other.binding());
        }
        Some(first)
    }

    /// The step that was examined last.
    pub(super) fn step(&self) -> &Step {
        &self.seen.step
    }

    /// Whether the arguments of that step are the values of its binding, and nothing is written.
    pub(crate) fn is_bound(&self) -> bool {
        let Step {
            event: Some(event),
            args,
            writes,
        } = &self.seen.step
        else {
            return false;
        };
        let declared = &self.monitor().alphabet().events()[event.index()];
        let parameters = declared.parameters.as_deref().unwrap_or_default();
        let bound = |parameter: usize| Some(self.bindings.value(self.seen.binding[parameter]?));
        writes.is_empty() && parameters.len() == args.len() && { parameters.iter().zip(args) }
            .all(|(&parameter, arg)| bound(parameter).map(Exact) == Some(Exact(arg)))
    }

    /// Its other readings, for instances that do not contain its first binding: the first of these counts
    /// whose binding is part of the instance.
    pub(crate) fn others(&self) -> &[Interpretation] {
        &self.seen.others
    }

    /// Forgets the run, and the meaning of the ids of its symbols.
    pub(super) fn restart(&mut self) {
        self.relevance.forget_ids();
        self.bindings.clear();
        self.steps = 0;
        self.occurrence = Occurrence::default();
    }

    pub(crate) fn monitor(&self) -> &Monitor {
        self.relevance.monitor()
    }

    pub(crate) fn name(&self) -> &str {
        self.monitor().property().name()
    }

    /// The initial values of the variables.
    pub(crate) fn initial(&self) -> &[Value] {
        &self.initial
    }

    pub(crate) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The number of steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Which of its events and variables have occurred.
    pub(crate) fn occurrence(&self) -> &Occurrence {
        &self.occurrence
    }

    /// The conjunctions that violate the property, if it is of that kind.
    pub(crate) fn conjunctions(&self) -> Option<&[Conjunction]> {
        let conjunctions = self
            .conjunctions
            .get_or_init(|| self.monitor().conjunctions());
        conjunctions.as_deref()
    }
}
