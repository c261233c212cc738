//! What the streaming engine needs to know about a property: its automaton, and the class of each step.
//!
//! All events of a property are known at compile time, but not the values they will write. When a step writes a new value,
//! there is a new action, and an automaton that includes it replaces the old one.

use portent_monitor_core::Value;
use portent_monitor_dsl::{Monitor, StateId, shape::Saturated};

use crate::{
    automaton::{AutomatonShape, Product},
    engine::streaming::{Class, Moves, Stage},
    goal::Goal,
    intake::Step,
    options::Options,
};

/// The table of a product may have at most this many entries.
const MAX_ENTRIES: usize = 1 << 20;
/// A property with more different actions than this is not streamed.
const MAX_ACTIONS: usize = 64;

/// A property, ready to be streamed.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) product: Product,
    pub(super) moves: Moves,
    /// The class of each action.
    classes: Vec<Class>,
    /// The class of each event that writes nothing.
    of_event: Vec<Option<Class>>,
    /// Whether there can be no other actions.
    pub(super) is_complete: bool,
}

impl Plan {
    /// A plan for a run that begins with these values; `None` if there is no small automaton.
    pub(super) fn new(monitor: &Monitor, initial: &[Value], options: &Options) -> Option<Plan> {
        let alphabet = monitor.alphabet();
        let mut variables = alphabet.variables().iter().zip(initial);
        // If a comparison reads several variables, every value is a separate action.
        let has_cells = variables.all(|(variable, value)| {
            let id = alphabet.variable(&variable.name);
            id.and_then(|id| alphabet.cells(id, value)).is_some()
        });
        let product = Product::new(monitor.clone(), initial);
        has_cells.then(|| Plan::of_product(product, monitor, &[], options))?
    }

    /// A plan for a run that has reached a state with these values, with the actions of these steps.
    pub(super) fn beginning<'s>(
        monitor: &Monitor,
        (state, values): &(StateId, Vec<Value>),
        steps: impl Iterator<Item = &'s Step>,
        options: &Options,
    ) -> Option<Plan> {
        let product = Product::beginning(monitor.clone(), *state, values);
        let steps: Vec<&Step> = steps.collect();
        Plan::of_product(product, monitor, &steps, options)
    }

    /// The plan with another action; `None` if there are too many.
    pub(super) fn with(&self, monitor: &Monitor, step: &Step, options: &Options) -> Option<Plan> {
        Plan::of_product(self.product.clone(), monitor, &[step], options)
    }

    fn of_product(
        mut product: Product,
        monitor: &Monitor,
        steps: &[&Step],
        options: &Options,
    ) -> Option<Plan> {
        if options.goal.complete || options.lookahead.is_some() {
            // A run that is bad only because it ended is not a bad prefix; and a lookahead needs levels.
            return None;
        }
        let alphabet = monitor.alphabet();
        let events = alphabet.events().iter().map(|event| Step {
            event: alphabet.event(&event.name),
            ..Step::default()
        });
        for event in events.clone() {
            product.act(event.event, &event.writes);
        }
        for step in steps {
            product.act(step.event, &step.writes);
        }
        if product.actions() > MAX_ACTIONS.max(alphabet.events().len()) {
            return None;
        }
        let (automaton, numbers) = product.table(options.max_states, MAX_ENTRIES)?;
        let (automaton, merged) = Goal::default().automaton(&automaton);
        let saturated: Saturated = AutomatonShape::new(&automaton).ok()?.saturated?;
        let classes: Vec<Class> = { numbers.iter() }
            .map(|number| saturated.class_of(merged[number.0 as usize]))
            .map(|class| Class(class.0))
            .collect();
        let of_event = events
            .map(|event| Some(classes[product.find(event.event, &event.writes)?.0 as usize]))
            .collect();
        Some(Plan {
            moves: Moves::of_saturated(&saturated),
            of_event,
            classes,
            is_complete: alphabet.variables().is_empty(),
            product,
        })
    }

    /// The class of a step; `None` if its action is not known.
    pub(super) fn class(&self, step: &Step) -> Option<Class> {
        if let Some(event) = step.event
            && step.writes.is_empty()
        {
            return self.of_event[event.index()];
        }
        let action = self.product.find(step.event, &step.writes)?;
        self.classes.get(action.0 as usize).copied()
    }

    /// Whether its steps will always be streamed: all actions are known.
    pub(super) fn keeps_little(&self) -> bool {
        self.is_complete && !self.is_violated_at_once()
    }

    /// Whether every run is violated before its first event.
    pub(super) fn is_violated_at_once(&self) -> bool {
        self.moves.initial().contains(&Stage::BAD)
    }
}
