//! The steps of a run that some search still needs, and their rendering.

use std::{num::NonZeroU64, sync::Arc};

use portent_monitor_core::{Event, Symbols, ThreadId, Value};
use portent_monitor_dsl::{EventId, Monitor, StateId};

use crate::{
    intake::{Arrival, Binding, Bindings, LineNote, Step, is_silent},
    options::Options,
    order::EventIndex,
    report::{Actor, Overtaking, Predicted, Row, Rows},
    witness::{self, Replay, RunSteps},
};

/// The data that the searches of one property share, with the binding of this search if it is known.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) initial: &'a [Value],
    pub(super) symbols: &'a Symbols,
    pub(super) options: &'a Options,
    pub(super) bindings: &'a Bindings,
    pub(super) binding: Option<&'a Binding>,
}

impl Context<'_> {
    /// The arguments of an event that are values of the binding.
    pub(super) fn bound_args(&self, event: EventId) -> impl Iterator<Item = Value> {
        let declared = &self.monitor.alphabet().events()[event.index()];
        let parameters = declared.parameters.iter().flatten();
        let ids = parameters.filter_map(|&parameter| self.binding?[parameter]);
        ids.map(|id| self.bindings.value(id).clone())
    }
}

/// A step, kept as long as some search needs it.
#[derive(Debug)]
pub(super) struct KeptStep {
    pub(super) thread: ThreadId,
    pub(super) line: Option<NonZeroU64>,
    /// Its number in the run, counting all events.
    pub(super) number: u64,
    pub(super) step: Step,
    pub(super) note: Option<Box<LineNote>>,
    /// Whether only its event is kept: its arguments are left out because they are the values of its binding.
    pub(super) is_bound: bool,
}

impl KeptStep {
    /// Keeps the rest of an event's information.
    fn note(&mut self, event: &Event) {
        if self.note.is_some() || !is_silent(event) {
            self.note.get_or_insert_default().set(event);
        }
    }
}

/// Steps that no search needs any more; new steps reuse their memory. There are never more of them than were needed at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Spares {
    free: Vec<Arc<KeptStep>>,
}

impl Spares {
    /// Keeps what an event is to a property, without its arguments.
    pub(super) fn show_bound(&mut self, arrival: &Arrival<'_>, step: &Step) -> Arc<KeptStep> {
        let bare = Step {
            event: step.event,
            ..Step::default()
        };
        let mut kept = self.keep(arrival, &bare);
        if let Some(kept) = Arc::get_mut(&mut kept) {
            kept.is_bound = true;
        }
        kept
    }

    /// Keeps what an event is to a property.
    pub(super) fn keep(&mut self, arrival: &Arrival<'_>, step: &Step) -> Arc<KeptStep> {
        let event = arrival.event;
        if let Some(mut spare) = self.free.pop()
            && let Some(kept) = Arc::get_mut(&mut spare)
        {
            kept.thread = event.thread;
            kept.line = event.line;
            kept.number = arrival.number;
            kept.step.event = step.event;
            kept.step.args.clone_from(&step.args);
            kept.step.writes.clone_from(&step.writes);
            kept.is_bound = false;
            kept.note(event);
            return spare;
        }
        let mut kept = KeptStep {
            thread: event.thread,
            line: event.line,
            number: arrival.number,
            step: step.clone(),
            note: None,
            is_bound: false,
        };
        kept.note(event);
        Arc::new(kept)
    }

    /// Releases one use of a step.
    pub(super) fn let_go(&mut self, mut kept: Arc<KeptStep>) {
        if Arc::get_mut(&mut kept).is_some() {
            self.free.push(kept);
        }
    }
}

/// The steps of a run that are kept.
#[derive(Clone, Copy)]
pub(super) struct KeptRun<'a> {
    pub(super) steps: &'a [Arc<KeptStep>],
    /// The number of steps before the first one.
    pub(super) forgotten: u64,
}

impl KeptRun<'_> {
    /// The rows of the steps in the given order.
    pub(super) fn rows(
        self,
        replay: Replay<'_>,
        run: &[EventIndex],
        context: Context<'_>,
    ) -> Vec<Row> {
        let mut rows = Rows::new(replay, context.symbols);
        let row = |&event: &EventIndex| {
            let kept = &self.steps[event.index()];
            rows.step(&kept.step);
            let actor = Actor {
                thread: kept.thread,
                line: kept.line,
                note: kept
                    .note
                    .as_ref()
                    .and_then(|note| note.note(context.symbols)),
            };
            rows.row(self.forgotten as u32 + event.0, &kept.step, actor)
        };
        run.iter().map(row).collect()
    }

    /// The observed run, which was violated after `violated_at` steps; the forgotten steps led to `before`.
    pub(super) fn observed(
        self,
        before: &(StateId, Vec<Value>),
        violated_at: Option<u64>,
        context: Context<'_>,
    ) -> Predicted {
        let replay = Replay::at(context.monitor, before.clone());
        let run: Vec<EventIndex> = (0..self.steps.len() as u32).map(EventIndex).collect();
        Predicted {
            violated: true,
            witness: Some(self.rows(replay, &run, context)),
            violated_at,
            shortest: violated_at.is_some_and(|steps| steps <= 1),
            forgotten: self.forgotten,
            ..Predicted::default()
        }
    }
    /// Which events overtake which in a run of these steps.
    pub(super) fn overtakings(
        self,
        start: &Replay<'_>,
        run: &[EventIndex],
        violated_at: usize,
    ) -> Vec<Overtaking> {
        let mut all = witness::overtakings(start, &self, run, violated_at);
        for overtaking in &mut all {
            let events = std::iter::once(&mut overtaking.event).chain(&mut overtaking.overtaken);
            events.for_each(|event| *event += self.forgotten as u32);
        }
        all
    }
}

impl RunSteps for KeptRun<'_> {
    fn step(&self, event: EventIndex) -> &Step {
        &self.steps[event.index()].step
    }

    fn thread(&self, event: EventIndex) -> ThreadId {
        self.steps[event.index()].thread
    }
}
